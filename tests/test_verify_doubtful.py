"""Verifying what is easily misread: nobody is accused, and what is not understood is listed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from idealist.cli.main import main
from idealist.measures import parse
from idealist.measures.index import MEASURES
from idealist.verifying.mark_meanings import MarkMeaning, Notes
from idealist.verifying.printed_tables import PrintedCell
from idealist.verifying.table_names import TableNames
from idealist.verifying.table_texts import decorated, tables_in

QRELS, BM25, RERANKED = "examples/qrels.txt", "examples/bm25.run", "examples/reranked.run"
RUNS = [BM25, RERANKED]


@pytest.mark.parametrize("name", MEASURES)
def test_a_number_of_every_measure_is_checked(name: str) -> None:
    """Also of those whose parameters nobody gives in a table."""
    try:
        value = il.evaluate(QRELS, BM25, name)[name]
    except (il.UsageError, il.InputError):  # the judgments have not what it needs
        return
    known = {name: parse(name)}
    assert il.verify({"bm25": {name: f"{value:.4f}"}}, QRELS, BM25, measures=known)


def verified(text: str, qrels: Any, runs: Any, **options: Any) -> il.Verification:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.txt")
        path.write_text(text, encoding="utf-8")
        return il.verify(path, qrels, runs, **options)


# --- best values

#: Runs whose RR is 1/3, 1/2, 1 and 1/4.
ONE = {f"q{i}": {"x": 1} for i in range(4)}
LISTS = {"a": ["y", "z", "x"], "b": ["y", "x"], "c": ["x"], "d": ["y", "z", "w", "x"]}
FOUR = {name: dict.fromkeys(ONE, docs) for name, docs in LISTS.items()}
PRINTED = {"a": ".3333", "b": ".5", "c": "1.0", "d": ".25"}


def best_of(order: str, bold: str, caption: str = "") -> il.Verification:
    """Verify a table of runs in an order in which | is a line."""
    values = {name: rf"\textbf{{{one}}}" if name in bold else one for name, one in PRINTED.items()}
    rows = [r"\midrule" if name == "|" else rf"{name} & {values[name]} \\" for name in order]
    table = rf"\begin{{tabular}}{{lr}} run & RR \\ \midrule {' '.join(rows)} \end{{tabular}}"
    text = rf"\begin{{table}}\caption{{{caption}}} {table} \end{{table}}"
    return verified(text, ONE, FOUR)


@pytest.mark.parametrize(
    ("order", "bold", "caption", "holds"),
    [
        ("ac|b", "b", "", False),  # own results, alone behind a line
        ("a|b|c|d", "b", "", False),  # a line behind every row
        ("ab|cd", "bc", "", True),
        ("a|cd", "ac", "", True),  # every block has its best
        ("a|bd", "ab", "Best per block in bold.", True),
        ("ab|cd", "bc", "The best of each group is bold.", True),
        ("ab|cd", "bd", "The best of each group is bold.", False),
        ("ab|cd", "bc", "The best result per column is bold.", False),
        ("ab|cd", "bc", "The best results overall are bold.", False),
    ],
)
def test_what_is_best_among_what(order: str, bold: str, caption: str, holds: bool) -> None:
    found = best_of(order, bold, caption)
    assert found.best
    assert bool(found) == holds


def test_what_is_best_in_its_block_only_is_said() -> None:
    said = "1 mark of a best value holds only in its block between two lines: b RR"
    assert said in str(best_of("ab|cd", "bc"))
    assert said not in str(best_of("ab|cd", "bc", "The best of each group is bold."))
    assert said not in str(best_of("ab|cd", "c"))


def test_the_best_of_each_row_is_that_of_a_table_with_a_run_a_column() -> None:
    row = "| metric | a | b |\n|---|---|---|\n| RR | .3333 | **.5** |\n"
    turned = verified(f"Best per row in bold.\n\n{row}", ONE, FOUR)
    assert [one.holds for one in turned.best] == [True]
    wrong = verified(f"Best per row in bold.\n\n{row.replace('.3333', '**.3333**')}", ONE, FOUR)
    assert not wrong
    for caption in ("Best per column in bold.", "Best per row and best per block are bold."):
        other = verified(f"{caption}\n\n{row}", ONE, FOUR)
        assert not other.best
        assert any("bold or underlined is not checked" in words for words in other.unread)


@pytest.mark.parametrize(
    ("label", "holds"), [("Oracle", True), ("Upper bound", True), ("Other", False)]
)
def test_bounds_of_what_systems_could_reach_are_not_the_best(label: str, holds: bool) -> None:
    rows = f"| {label} | 1.0 |\n| b | **.5** |\n| a | .3333 |\n"
    found = verified(f"| run | RR |\n|---|---|\n{rows}", ONE, FOUR)
    assert [one.holds for one in found.best if one.marked] == [holds]


# --- what a caption says of marks

BASE = {"base": "base"}


def meaning(caption: str, sign: str = "†") -> MarkMeaning | str:
    return Notes.of(caption, BASE).meaning(sign)


@pytest.mark.parametrize(
    "caption",
    [
        "† and ‡ denote significantly better and worse results than base, respectively (t-test).",
        "†/‡ denote a significant improvement/degradation over base (t-test, p<0.05).",
        "† (‡) denotes significantly better (worse) than base (t-test).",
        "†: significantly better than base; ‡: significantly worse than base (t-test).",
    ],
)
def test_each_mark_has_its_direction(caption: str) -> None:
    better, worse = (meaning(caption, sign) for sign in "†‡")
    assert better == MarkMeaning("†", "base", 1, 0.05)
    assert worse == MarkMeaning("‡", "base", -1, 0.05)


@pytest.mark.parametrize(
    "caption",
    [
        "† and ‡ denote an increase or a decrease over base (t-test).",
        "† and ‡ denote increases and decreases over base at p<0.05 and p<0.01 (t-test).",
        "Results † and ‡ gain, drop, and gain over base (t-test).",
        "† differs from base with p greater than 0.05 (t-test).",
        "† differs from base with p over 0.05 (t-test).",
        "† differs from base with 0.05 < p (t-test).",
        "Significant differences from base (t-test) are those other than with †.",
        "† marks systems that are significantly outperformed by base (t-test).",
        "†: significantly improved on all measures by base (t-test).",
        "†: less significant difference from base (t-test).",
        "† marks systems than which base is significantly better (t-test).",
        "†: base is significantly better than the marked system (t-test).",
        "† indicates base significantly outperforms the system (t-test).",
    ],
)
def test_a_caption_that_says_the_reverse_of_its_words(caption: str) -> None:
    assert isinstance(meaning(caption), str)


@pytest.mark.parametrize(
    ("caption", "way"),
    [
        ("† differs from base with p lower than 0.05 (t-test).", 0),
        ("† is significantly better than base with p less than 0.05 (t-test).", 1),
        ("† is significantly greater than base (t-test).", 1),
        ("Results significantly improved over base are marked by † (t-test).", 1),
        ("† denotes an increase or decrease against base (t-test).", 0),
    ],
)
def test_a_caption_that_is_understood(caption: str, way: int) -> None:
    assert meaning(caption) == MarkMeaning("†", "base", way, 0.05)


@pytest.mark.parametrize("relation", [r"\geq", r"\ge", r"\gt", r"\nless", r"\not<", r"\mine"])
def test_a_command_that_is_not_known_is_not_passed_over(relation: str) -> None:
    caption = rf"\caption{{\small $\dagger$ \emph{{differs}} from base with $p {relation} 0.05$.}}"
    table = r"\begin{tabular}{lc} run & AP \\ base & .6 \\ \end{tabular}"
    [one] = tables_in(rf"\begin{{table}} {caption} {table} \end{{table}}")
    said = meaning(one.notes)
    assert isinstance(said, str)
    assert relation.rstrip("<") in said
    understood = one.notes.replace(relation.rstrip("<"), "<").replace("<<", "<")
    assert isinstance(meaning(" ".join(understood.split())), MarkMeaning)


@pytest.mark.parametrize(
    ("caption", "signs"),
    [
        ("*Table 1.* † is *significantly* better than base (t-test).", {"†"}),
        ("* † is significantly better than base (t-test).", {"†"}),
        ("* is significantly better than base (t-test).", {"*"}),
        ("* p<0.05, ** p<0.01 against base (t-test).", {"*", "**"}),
        (r"\* p<0.05, \*\* p<0.01 against base (t-test).", {"*", "**"}),
    ],
)
def test_stars_that_are_no_marks(caption: str, signs: set[str]) -> None:
    [one] = tables_in(f"{caption}\n\n| run | AP |\n|---|---|\n| base | 0.6 |\n", "t.md")
    assert Notes.of(one.notes, BASE).explained == signs


@pytest.mark.parametrize(
    ("cell", "marks"),
    [("*0.6*", ""), ("**0.6***", "*"), (r"**0.6**\*", "*"), ("0.6*", "*"), ("_0.6_", None)],
)
def test_italics_are_no_marks(cell: str, marks: str | None) -> None:
    number = decorated(cell).number
    assert (number.marks if number else None) == marks


def test_letters_that_mean_differences() -> None:
    """Of two runs, each has the other's letter; a direction that is not clear is not judged."""
    qrels = {f"q{i}": {"a": 1} for i in range(20)}
    runs = {"base": {q: ["x", "a"] for q in qrels}, "good": {q: ["a"] for q in qrels}}
    runs["base"]["q0"] = ["a"]
    table = (
        "{}\n\n| | run | RR |\n|---|---|---|\n"
        "| a | base | 0.525<sup>b</sup> |\n| b | good | 1.0<sup>a</sup> |\n"
    )
    differs = verified(
        table.format("Superscripts denote significant differences (t-test)."), qrels, runs
    )
    assert differs
    assert [one.holds for one in differs.marks] == [True, True]
    assert (
        "a letter is checked by the paired t-test, not corrected, at 0.05; it is read as different"
        in " ".join(differs.readings)
    )
    better = verified(table.format("Superscripts denote improvements (t-test)."), qrels, runs)
    [wrong] = [one for one in better.marks if not one.holds]
    assert wrong.why == "it is not better than good: the difference is -0.4750"
    for words in ("rows that are significantly better", "significantly worse rows"):
        unclear = verified(table.format(f"Superscripts denote {words} (t-test)."), qrels, runs)
        assert not unclear.marks
        assert any("letter means better or worse is not clear" in one for one in unclear.unread)


# --- what a cell holds


def daggers(first: str, caption: str = r"$\dagger$: better than a (t-test).") -> il.Verification:
    rows = rf"run & RR \\ \midrule a & .3333 \\ c & {first} \\"
    table = rf"\begin{{tabular}}{{lr}} {rows} \end{{tabular}}"
    return verified(rf"\begin{{table}}\caption{{{caption}}} {table} \end{{table}}", ONE, FOUR)


@pytest.mark.parametrize(
    "cell", [r"1.0\sig{}", r"1.0\sig", r"\best{1.0}", r"\res[x]{1.0}", r"\textbf{\ours{1.0}}"]
)
def test_a_macro_in_a_cell_leaves_marks_unchecked(cell: str) -> None:
    found = daggers(cell)
    assert found
    assert len(found.numbers) == 2
    assert (found.marks, found.best) == ((), ())
    said = " ".join(found.unread)
    assert "marks of significance are not checked: cells hold \\" in said
    assert "what is bold or underlined is not checked: cells hold \\" in said


def test_two_arguments_of_a_macro_are_not_one_number() -> None:
    found = daggers(r"\res{1.0}{21}")
    assert [one.claim.run for one in found.numbers] == ["a"]
    assert "c RR: 1.0 | 21 is no number" in found.unread


@pytest.mark.parametrize("cell", [r"{\small 1.0}", r"\num{1.0}", r"\makecell[c]{1.0}"])
def test_a_command_that_says_nothing_is_passed_over(cell: str) -> None:
    assert not any("not known" in words for words in daggers(cell).unread)


@pytest.mark.parametrize(
    "sign",
    [
        "circ",
        "bullet",
        "diamond",
        "triangledown",
        "blacktriangledown",
        "vartriangle",
        "prime",
        "checkmark",
        "spadesuit",
    ],
)
def test_signs_of_all_kinds_are_read(sign: str) -> None:
    found = daggers(rf"1.0$^{{\{sign}}}$", rf"$\{sign}$ denotes improvements over a (t-test).")
    [reading] = found.readings
    assert "is checked against a by the paired t-test" in reading


# --- what is a run, and what a measure


@pytest.mark.parametrize(
    ("label", "run"),
    [
        ("BM25 (ours)", "bm25"), ("bm-25 (Our model)", "bm25"), ("BM25 [12, 13]", "bm25"),
        ("BM25 (Robertson et al., 2009)", "bm25"), ("BM25 (2009)", "bm25"), ("BM25 (DL 2019)", ""), ("BM25 (zero-shot)", ""), ("BM25++", ""),
        ("BM25+", ""), ("+ BM25", ""), ("- BM25", ""), ("BM25 [large]", ""), ("BM25'", ""),
    ],
)  # fmt: skip
def test_a_name_of_another_system_is_no_run(label: str, run: str) -> None:
    cells = [PrintedCell.of(label)]
    assert TableNames(["bm25"]).runs_of(cells) == [run]


def test_a_name_that_is_exact_is_the_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "run,nDCG@10\nbm25,0.6742\nBM-25,0.44\nreranked (ours),0.8639\n"
    found = verified(text, QRELS, RUNS)
    assert found
    assert [one.claim.label for one in found.numbers] == ["bm25", "reranked (ours)"]
    assert any(words.startswith("BM-25 is no run here") for words in found.unread)
    (tmp_path / "t.csv").write_text("run,nDCG@10\nBM 25,0.6742\nBM-25,0.44\n")
    line = [str(tmp_path / "t.csv"), QRELS, BM25]
    assert command(capsys, *line)[0] == 2
    assert command(capsys, *line, "--run", "BM-25=")[:2] == (
        0, "the only number holds.\n\nBM-25 is no run here: 1 number is not checked; did you mean bm25?\n",
    )  # fmt: skip


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        main(["verify", *arguments, "-q"])
        code = 0
    except SystemExit as error:
        code = int(error.code or 0)
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    "head", ["p", "r", "f", "R1", "R2", "F2", "F-1", "S 1", "P1", "Accuracy", "Set", "set"]
)
def test_heads_that_mean_something_else_are_no_measure(head: str) -> None:
    found = verified(f"run,nDCG@10,{head}\nbm25,0.6742,0.05\n", QRELS, RUNS)
    assert found
    hint = f"--measure '{head}=…' says which one it is, if it is one"
    assert f"{head} is no measure: 1 number is not checked; {hint}" in found.unread
    assert TableNames(["bm25"], {}, {head: parse("P@5")}).measure(head) == (parse("P@5"), False)


@pytest.mark.parametrize(
    ("head", "measure"),
    [
        ("F1", "F"),
        ("P5", "P@5"),
        ("P-10", "P@10"),
        ("R100", "R@100"),
        ("R@1", "R@1"),
        ("SET", "SET"),
    ],
)
def test_heads_that_are_measures(head: str, measure: str) -> None:
    assert TableNames(["bm25"]).measure(head) == (parse(measure), False)


# --- files and claims on the command line


@pytest.mark.parametrize(
    ("claim", "said", "hint"),
    [
        ("bm52 AP 0.5", "there is no run 'bm52'", "did you mean bm25?"),
        ("bm25 nDGC@10 0.5", "'nDGC@10' is no measure", "did you mean nDCG"),
        ("bm25 AP 0.5x", "'0.5x' is no number", "write it as it is printed"),
        ("bm25 R2 0.5", "'R2' is no measure", "--measure 'R2=…'"),
    ],
)
def test_a_claim_that_is_mistyped_is_an_error(
    claim: str, said: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = command(
        capsys, QRELS, *RUNS, "--claim", "bm25 nDCG@10 0.6742", "--claim", claim
    )
    assert (code, out) == (2, "")
    assert said in err
    assert hint in err
    assert "the table" not in err


def test_files_that_do_not_belong_together_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.md"
    table.write_text("| run | AP |\n|---|---|\n| bm25 | 0.6385 |\n")
    claim = ["--claim", "bm25 AP 0.6385"]
    for line, said in (
        ([QRELS, BM25], "there is nothing to check the table against"),
        ([str(table), QRELS, BM25, *claim], "t.md is a table, beside --claim"),
    ):
        code, _, err = command(capsys, *line)
        assert code == 2
        assert said in err
        assert "--claim" in err


@pytest.mark.parametrize("name", ["tblr", "longtblr", "NiceTabular*", "deluxetable"])
def test_tables_of_other_packages_are_named(name: str) -> None:
    other = rf"\begin{{{name}}}{{ll}} run & AP \\ bm25 & 0.1 \\ \end{{{name}}}"
    with pytest.raises(il.UsageError, match="is not read: make it a tabular"):
        verified(other, QRELS, RUNS)
    whole = r"\begin{tabular}{lc} run & AP \\ bm25 & .6385 \\ \end{tabular}"
    found = verified(f"{whole}\n{other}", QRELS, RUNS)
    assert found
    assert any(f":2: {name} is not read" in words for words in found.unread)


@pytest.mark.parametrize(
    "text",
    [
        'run,"nDCG@10; cut",nDCG@10\nbm25,1,0.6742\n',
        "# run,nDCG@10\nbm25,0.6742\n",
        "#Model\tnDCG@10\nbm25\t0.6742\n",
        "# made by us, in May\nrun,nDCG@10\nbm25,0.6742\n",
    ],
)
def test_heads_of_separated_tables(text: str) -> None:
    [number] = verified(text, QRELS, RUNS).numbers
    assert (number.holds, str(number.claim.measure)) == (True, "nDCG@10")
