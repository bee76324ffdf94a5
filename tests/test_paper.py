"""The table of a comparison for a paper: order, bold values, marks, and names that LaTeX would obey."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
from idealist._version import __version__
from idealist.cli.main import main
from idealist.comparing import paper_table
from idealist.errors import UsageError
from idealist.files import fingerprint
from idealist.rendering.latex import escaped

QRELS, BM25, RERANKED = "examples/qrels.txt", "examples/bm25.run", "examples/reranked.run"
MEASURES = ["nDCG@10", "AP", "RR@10"]
#: Names that LaTeX would obey, refuse or set as something else.
HOSTILE = [
    r"\input{/etc/passwd}", "50% & more", "a_b^c~d", "[x] run", "* star", r"$\alpha$ #1 {x}",
    r"}\end{tabular}", "müller é ß", "new\nline\n\n\\par", "a--b ''q'' `` ?`", "<b>|x|</b>",
    "tab\there", "%comment", "^^5cinput", "bidi\u202eend\x00",
]  # fmt: skip


def made(means: dict[str, float], n: int = 40, seed: int = 1) -> tuple[Any, Any]:
    """Make judgments, and runs that find the relevant document with these chances."""
    rng = np.random.default_rng(seed)
    qrels = {f"q{i}": {"a": 2, "b": 1} for i in range(n)}
    runs = {
        name: {q: ["a", "x", "b"] if rng.random() < mean else ["x", "y", "z", "a"] for q in qrels}
        for name, mean in means.items()
    }
    return qrels, runs


def cells(text: str) -> list[list[str]]:
    """Read the rows of a table again."""
    body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    return [line.removesuffix(r" \\").split(" & ") for line in body.splitlines()]


def plain(cell: str) -> tuple[str, bool, str]:
    """Take a cell apart: the number, whether it is bold, and its marks."""
    found = re.fullmatch(
        r"(?:\\phantom\{0+\})?(\\textbf\{)?([\d.]+|\$-\$[\d.]+|--)(?(1)\})"
        r"(?:\\textsuperscript\{([a-z]+)\}|\$\^\{(\\d?dagger)\}\$)?", cell,
    )  # fmt: skip
    assert found, cell
    return found[2].replace("$-$", "-"), bool(found[1]), found[3] or found[4] or ""


WORDS = {"low": 0.2, "high": 0.9, "mid": 0.55, "other": 0.5}


@cache
def compared(all_pairs: bool) -> il.Comparison:
    return il.compare(*made(WORDS, n=24), MEASURES, all_pairs=all_pairs, baseline=2)


@pytest.mark.parametrize("all_pairs", [False, True])
@pytest.mark.parametrize("best_first", [False, True])
def test_every_cell_says_what_the_comparison_found(all_pairs: bool, best_first: bool) -> None:
    found = compared(all_pairs)
    rows = cells(found.latex(best_first=best_first, digits=3))
    values = {one.run: one for one in found.evaluations}
    runs = [row[int(all_pairs)] for row in rows]
    wanted = sorted(WORDS, key=lambda run: -values[run]["nDCG@10"]) if best_first else [*WORDS]
    assert runs == wanted
    letters = dict(zip(runs, "abcd", strict=True))
    assert all(row[0] == letters[row[1]] for row in rows if all_pairs)
    for place, label in enumerate(MEASURES):
        best = max(f"{one[label]:.3f}" for one in values.values())
        for run, row in zip(runs, rows, strict=True):
            number, bold, marks = plain(row[int(all_pairs) + 1 + place])
            assert number == f"{values[run][label]:.3f}"
            assert bold == (number == best)
            assert marks == (
                wins(found, run, label, letters) if all_pairs else dagger(found, run, label)
            )


def better(found: il.Comparison, label: str) -> set[tuple[str, str]]:
    """List who is significantly better than whom, from the plain data."""
    pairs = [one for one in found.data()["pairs"] if one["measure"] == label]
    told = [one for one in pairs if one["p_adjusted"] < found.options.alpha]
    return {
        (one["run"], one["baseline"]) if one["difference"] > 0 else (one["baseline"], one["run"])
        for one in told
    }


def wins(found: il.Comparison, run: str, label: str, letters: dict[str, str]) -> str:
    return "".join(sorted(letters[b] for a, b in better(found, label) if a == run))


def dagger(found: il.Comparison, run: str, label: str) -> str:
    known = better(found, label)
    up, down = (run, found.baseline) in known, (found.baseline, run) in known
    return r"\dagger" if up else r"\ddagger" if down else ""


def test_values_that_print_alike_are_both_bold_and_lower_may_be_better() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    lists = {"one": ["a"], "two": ["a", "x"], "three": ["x", "a"]}
    runs = {name: dict.fromkeys(qrels, docs) for name, docs in lists.items()}
    text = il.compare(qrels, runs, ["RR", "NumRet"]).latex()
    assert [plain(row[1])[:2] for row in cells(text)] == [
        ("1.0000", True), ("1.0000", True), ("0.5000", False),
    ]  # fmt: skip
    assert not any(plain(row[2])[1] for row in cells(text))  # more is not better
    lower = il.compare(qrels, runs, ["RR", "ARP"]).latex()
    assert r"run & RR & ARP $\downarrow$ \\" in lower


def test_percent_is_for_measures_that_have_a_scale() -> None:
    qrels, runs = made({"a": 0.05, "b": 0.9}, n=12)
    text = il.compare(qrels, runs, ["P@15", "DCG@10"]).latex(percent=True)
    means = il.evaluate(qrels, runs["b"], ["P@15", "DCG@10"])
    assert plain(cells(text)[1][1])[0] == f"{100 * means['P@15']:.2f}"
    assert plain(cells(text)[1][2])[0] == f"{means['DCG@10']:.4f}"
    assert r"\phantom{0}" in cells(text)[0][1]
    assert "Values are in percent, except DCG@10." in text
    assert re.search(
        r"\d\.\d &", il.compare(qrels, runs, ["P@10", "AP"]).latex(percent=True, digits=1)
    )


def test_the_caption_says_against_what_by_which_test_and_on_how_many_queries() -> None:
    text = il.compare(*made(WORDS, n=24), "nDCG@10").latex(caption="Runs.", label="tab:runs")
    assert (
        r"\caption{Runs. The best values are bold. $^{\dagger}$: significantly better than low "
        r"(two-sided randomisation test, 100,000 sign flips, corrected for 3 runs by MaxT, "
        r"$\alpha=0.05$, 24 queries).}" in text
    )
    assert text.index(r"\begin{table}") < text.index(r"\label{tab:runs}") < text.index(r"\toprule")
    bare = il.compare(*made(WORDS, n=14), "nDCG@10", all_pairs=True, alpha=0.01).latex()
    assert r"\begin{table}" not in bare
    assert (
        "% \\caption{The best values are bold. A letter marks a value significantly better" in bare
    )
    assert r"(randomised Tukey HSD test of all pairs, 100,000 permutations, $\alpha=0.01$" in bare
    one = il.compare(*made({"x": 0.5, "y": 0.5}, n=12), ["AP", "RR"])
    assert "No run is significantly better or worse than x (two-sided exact random" in one.latex()
    assert "RR is marked only where AP is." in one.latex()


def test_more_runs_than_letters_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_table, "ascii_lowercase", "abc")
    rows = cells(compared(all_pairs=True).latex())
    assert [row[0] for row in rows] == ["1", "2", "3", "4"]
    assert rows[1][2].endswith(r"\textsuperscript{1,3}")
    assert "A number marks a value" in compared(all_pairs=True).latex()


def test_a_difference_that_is_neither_good_nor_bad_is_not_denied() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(12)}
    runs = {"short": {q: ["a"] for q in qrels}, "long": {q: ["a", *"xyz"] for q in qrels}}
    found = il.compare(qrels, runs, "NumRet")
    assert found.pairs[0].significant
    assert "No run is significantly better or worse than short" in found.latex()


def test_means_of_other_queries_than_those_tested_are_said() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    runs = {"all": {q: ["x", "a"] for q in qrels}, "less": {q: ["a"] for q in [*qrels][1:]}}
    said = "Runs are tested on queries where all have a value; means are over all their own."
    assert said in il.compare(qrels, runs, "ARP").latex()
    assert said not in il.compare(qrels, runs, "RR").latex()
    nothing = il.compare(qrels | {"z": {"a": 0}}, runs, "RR", no_relevant="nan").latex()
    assert said not in nothing


def test_a_run_that_was_not_measured_has_no_value() -> None:
    qrels, runs = made({"good": 0.5, "also": 0.6})
    runs["elsewhere"] = {f"Q-{q}": ["A"] for q in qrels}
    text = il.compare(qrels, runs, "RR").latex()
    assert cells(text)[2] == ["elsewhere", "--"]
    assert text.startswith("% doubt: elsewhere: nothing was measured")


@pytest.mark.parametrize(
    "style",
    [{"digits": 10}, {"digits": -1}, {"caption": "50 % more"}, {"caption": "a {b"},
     {"caption": "}{"}, {"caption": "a & b"}, {"caption": "a\n\nb"},
     {"label": "a b"}, {"label": "a}b"}],
)  # fmt: skip
def test_a_style_that_would_break_the_table_is_refused(style: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        il.compare(*made({"x": 0.5, "y": 0.5}, n=8), "RR").latex(**style)
    assert caught.value.hint
    assert il.compare(*made({"x": 0.5, "y": 0.5}, n=8), "RR").latex(caption=r"50\,\% \emph{more}")


def test_no_name_is_obeyed() -> None:
    qrels, runs = made(dict.fromkeys(HOSTILE, 0.5), n=8)
    text = il.compare(qrels, runs, "RR", all_pairs=True).latex(caption="x")
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    commands = {word for line in lines for word in re.findall(r"\\([A-Za-z]+)", line)}
    assert commands <= {
        "begin", "end", "centering", "caption", "smallskip", "toprule", "midrule", "bottomrule",
        "textbf", "textsuperscript", "alpha", "textbackslash", "textasciicircum",
        "textasciitilde", "textless", "textgreater", "textbar", "phantom",
    }  # fmt: skip
    assert [row[1] for row in cells(text)] == list(map(escaped, HOSTILE))
    assert sum(line == r"\end{tabular}" for line in lines) == 1
    assert escaped("ä 中") == "ä 中"
    assert not set("\n\r\0\u2028") & set("".join(map(escaped, [*HOSTILE, "a\rb\u2028c"])))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_latex_sets_the_table(tmp_path: Path) -> None:
    qrels, runs = made(dict.fromkeys(HOSTILE, 0.5) | {"best": 0.9}, n=10)
    page = [
        r"\documentclass{article}\usepackage{booktabs}\usepackage[T1]{fontenc}\begin{document}",
        il.compare(qrels, runs, "AP").latex(caption="One.", label="tab:one", digits=3),
        il.compare(qrels, runs, "RR", all_pairs=True).latex(percent=True),
        r"\end{document}",
    ]
    (tmp_path / "page.tex").write_text("\n\n".join(page), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout[-1000:]
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(["compare", QRELS, BM25, RERANKED, *arguments])
    return capsys.readouterr().out


def test_the_command_says_what_the_table_was_made_of(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = ["-m", "AP", "--caption", "Two runs.", "--label", "tab:x", "--percent", "--digits", "1"]
    out = run(capsys, *asked, "-f", "latex", "--best-first")
    assert cells(out)[0][0] == "reranked"
    assert f"% idealist {__version__}, needs \\usepackage{{booktabs}}" in out
    assert (
        f"% command: idealist compare {QRELS} {BM25} {RERANKED} -m AP --caption 'Two runs.'" in out
    )
    for path in (QRELS, BM25, RERANKED):
        content = Path(path).read_bytes()
        assert (
            f"% input: {path}, {len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}"
            in out
        )
    assert "% signature: AP|trec_eval" in out
    assert out.count(r"\begin{tabular}") == 1
    target = tmp_path / "table.tex"
    run(capsys, *asked, "-o", str(target))
    assert r"\label{tab:x}" in target.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--caption", "x"], "--caption is for -f latex"),
        (["--percent", "-f", "md"], "--percent is for -f latex"),
        (["--digits", "2"], "--digits is for -f latex"),
        (["--digits", "0", "-f", "json"], "--digits is for -f latex"),
        (["--best-first"], "--best-first is for -f latex"),
        (["--per-query", "-f", "latex"], "-f latex is one table of runs, and shows no queries"),
        (["--worst", "3", "-f", "latex"], "-f latex is one table of runs, and shows no queries"),
        (["--caption", "100%", "-f", "latex"], "would break the table"),
        (["--reproduce", "--label", "x"], "--label does not go with --reproduce"),
    ],
)
def test_options_that_do_not_go_together(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(capsys, *arguments)
    assert words in capsys.readouterr().err


def test_the_fingerprint_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_bytes(b"q1 Q0 d1 1 0.5 a\n")
    wanted = (
        str(tmp_path / "a.run"), hashlib.sha256(b"q1 Q0 d1 1 0.5 a\n").hexdigest(), 17,
    )  # fmt: skip
    assert fingerprint(tmp_path / "a.run") == wanted
    assert fingerprint("-") is None
    assert fingerprint(tmp_path) is None
    assert fingerprint("a\0b") is None


def test_counts_have_no_digits_and_a_caption_ends_before_the_next_sentence() -> None:
    found = il.compare(*made({"x": 0.5, "y": 0.4}, n=24), ["nDCG@10", "NumRel"])
    text = found.latex(caption="One")
    counts = {plain(row[-1])[0] for row in cells(text)}
    assert counts == {str(int(one["NumRel"])) for one in found.evaluations}
    assert r"\caption{One. The best" in text
