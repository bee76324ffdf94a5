"""Verifying tables: what is read, what holds, what does not, and that nothing else is said."""

from __future__ import annotations

import json
import random
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from effort import tries
from idealist.cli.main import main
from idealist.errors import IdealistError
from idealist.evaluating.evaluations import Evaluations
from idealist.verifying.latex_texts import set_text
from idealist.verifying.mark_meanings import MarkMeaning, Notes
from idealist.verifying.printed_tables import PrintedCell
from idealist.verifying.table_names import TableNames
from idealist.verifying.table_texts import tables_in

QRELS, BM25, RERANKED = "examples/qrels.txt", "examples/bm25.run", "examples/reranked.run"
RUNS = [BM25, RERANKED]
#: The values of the examples, as everybody prints them.
VALUES = {
    "bm25": {"nDCG@10": "0.6742", "AP": "0.6385"},
    "reranked": {"nDCG@10": "0.8639", "AP": "0.8243"},
}


def checked(text: str, tmp_path: Path, suffix: str = "txt", **options: Any) -> il.Verification:
    path = tmp_path / f"table.{suffix}"
    path.write_text(text, encoding="utf-8")
    return il.verify(path, QRELS, RUNS, **options)


def held(found: il.Verification) -> dict[tuple[str, str], bool]:
    return {(one.claim.run, str(one.claim.measure)): one.holds for one in found.numbers}


ALL = {(run, measure): True for run, own in VALUES.items() for measure in own}

SHAPES = {
    "csv": "system,nDCG@10,MAP\nBM25,0.6742,0.6385\nreranked,0.8639,0.8243\n",
    "semicolons and decimal commas": "system;nDCG@10;MAP\nBM25;0,6742;0,6385\nreranked;0,8639;0,8243\n",
    "tsv": "\tndcg_cut_10\tmap\nbm25\t0.674\t0.638\nreranked\t0.864\t0.824\n",
    "long": "run,query,measure,value\nbm25,all,nDCG@10,0.6742\nbm25,all,AP,0.6385\n"
    "reranked,all,nDCG@10,0.8639\nreranked,all,AP,0.8243\n",
    "turned": "Measure,BM25,Reranked\nNDCG10,67.42,86.39\nMAP (%),63.85,82.43\n",
    "markdown": "| Model | nDCG@10 ↑ | MAP |\n|:--|--:|--:|\n| BM25 [1] | .6742 | .6385 |\n"
    "| **Reranked** (ours) | **.8639**<sup>†</sup> | **.8243** ± 0.01 |\n\nSome words.\n",
    "latex": r"""
\begin{table} \caption{Two runs, in percent.}
\begin{tabular*}{\textwidth}{@{\extracolsep{\fill}}l|rr@{}} \hline
 & \multicolumn{2}{c}{\textsc{Examples}} \\ \cline{2-3}
Model~\cite{x} & nDCG@10 & \textsc{map} \\ \hline
\multicolumn{3}{l}{\emph{Sparse}} \\
BM25 \citep[see][]{robertson} % & 0.5 & 0.5 \\
  & $67.4$ & \underline{63.85}\% \\[2pt]
\rowcolor{gray!10} {\bf Reranked}$^{1}$ & \cellcolor{blue!5}\textbf{86.4} {\small(+28\%)} & {\bfseries 82.43} \\ \hline
\end{tabular*} \end{table}""",
    "multirow": r"""\begin{tabular}{llr} \toprule Model & Metric & Value \\ \midrule
\multirow{2}{*}{\textbf{bm25}} & nDCG@10 & 0.6742 \\ & MAP & 0.6385 \\ \midrule
\multirow{2}{*}{reranked} & nDCG@10 & 0.8639 \\ & MAP & 0.8243 \\ \bottomrule \end{tabular}""",
    "cutoffs below": r"""\begin{tabular}{lcc} \toprule & nDCG & MAP \\ & @10 & \\ \midrule
bm25 & 0.674 & 0.638 \\ reranked & 0.864 & 0.824 \\ \bottomrule \end{tabular}""",
    "notes below": r"""\begin{table}\begin{threeparttable}
\caption{Ours. $\dagger$ indicates an improvement over BM25 (paired t-test, p$<$0.05).}
\begin{tabular}{l S[table-format=2.2] S} \toprule
{\textbf{Method}} & {\textbf{nDCG@10}} & {\textbf{MAP}} \\ \cmidrule(r){1-1}\cmidrule(l){2-3}
(a) BM25\tnote{1} & 67.42 & 63.85 \\
(b) \textbf{Reranked (ours)} & \textbf{86.39}\tnote{$\dagger$} & \textbf{82.43}\tnote{$\dagger$} \\ \midrule
$\Delta$ & +28.1\% & +29.1\% \\ \bottomrule
\end{tabular}\begin{tablenotes}\item[1] As in Anserini.\end{tablenotes}
\end{threeparttable}\end{table}""",
    "objects a line": "\n".join(
        json.dumps({"run": run, **values}) for run, values in VALUES.items()
    ),
    "json": json.dumps(VALUES),
    "records": json.dumps([{"name": run, **values} for run, values in VALUES.items()]),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_tables_of_all_shapes_hold(shape: str, tmp_path: Path) -> None:
    found = checked(SHAPES[shape], tmp_path)
    assert held(found) == ALL, str(found)
    assert found


@pytest.mark.parametrize("shape", SHAPES)
def test_a_wrong_digit_is_found_in_all_shapes(shape: str, tmp_path: Path) -> None:
    """The last digit of the first number is moved by three."""
    text = SHAPES[shape]
    number = next(n for n in ("0.6742", "0,6742", "67.42", ".6742", "67.4", "0.674") if n in text)
    found = checked(
        text.replace(number, number[:-1] + str((int(number[-1]) + 3) % 10), 1), tmp_path
    )
    assert {key for key, holds in held(found).items() if not holds} == {("bm25", "nDCG@10")}
    assert found.summary.startswith("3 of 4 numbers hold, 1 does not: ")


@pytest.mark.parametrize(
    ("text", "bold", "underlined", "raised", "tex"),
    [
        ("0.43", True, False, "", r"\textbf{0.43}"),
        ("0.43", True, False, "†", r"$\mathbf{0.43}^{\dagger}$"),
        ("0.43", True, True, "", r"\underline{\textbf{0.43}}"),
        ("0.43", False, False, "a,b", r"0.43\textsuperscript{a,b}"),
        ("0.43", False, False, "ab", r"\phantom{0}0.43\rlap{\textsuperscript{ab}}"),
        ("-0.43", False, False, "*", r"$-$0.43$^\ast$"),
        ("0.43 ±0.01", False, False, "", r"$0.43_{\pm 0.01}$"),
        ("0.43", False, False, "", r"\num{0.43}\label{x}\footnote{A \textbf{bold} word.}"),
        ("a_b & 50% {x}", False, False, "", r"a\_b \& 50\% \{x\}"),
        ("x--y [z]", False, False, "", r"x-{}-y {}[z]"),
        ("unclosed", True, False, "", r"\textbf{unclosed"),
    ],
)
def test_a_cell_of_latex(text: str, bold: bool, underlined: bool, raised: str, tex: str) -> None:
    assert set_text(tex) == PrintedCell(text, bold, underlined, raised)


def test_digits_are_known_as_they_are_printed(tmp_path: Path) -> None:
    text = "run,nDCG@10,AP\nbm25,0.67,0.6384\nreranked,0.864,0.82\n"
    found = checked(text, tmp_path)  # 0.63849 is cut off
    assert found
    assert [one.ending for one in found.numbers] == ["exact", "truncated", "exact", "exact"]
    assert "1 number holds if the last digit is cut off, not rounded: bm25 AP" in str(found)


def test_halves_are_told_apart() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    run = {q: ["a" if i < 1 else "x"] for i, q in enumerate(qrels)}  # P@1 is 0.125
    for claimed, ending in (("0.13", "half-up"), ("0.12", "half-even"), ("0.1", "exact")):
        found = il.verify({"r": {"P@1": claimed}}, qrels, {"r": run})
        assert found
        assert found.numbers[0].ending == ending
    assert not il.verify({"r": {"P@1": "0.11"}}, qrels, {"r": run})


def test_percent_is_recognised_by_the_numbers_and_said(tmp_path: Path) -> None:
    found = checked("run,nDCG@10,AP\nbm25,67.4,63.8\nreranked,86.39,8.24\n", tmp_path)
    assert held(found) == {**ALL, ("reranked", "AP"): False}
    assert "4 numbers are taken to be in percent" in str(found)
    [wrong] = found.failing
    assert wrong.shown == "82.4312"
    one = checked("run,nDCG@10\nbm25,67.42%\nreranked,0.8639\n", tmp_path)
    assert [each.scale for each in one.numbers] == [100, 1]
    assert one


def test_a_claim_says_what_else_it_is() -> None:
    for rules, kind in (
        ({"convention": "sklearn"}, "convention"), ({"discount": "jk(2)", "rel": 2}, "rules"),
    ):  # fmt: skip
        value = il.evaluate(QRELS, BM25, "nDCG@10", **rules)["nDCG@10"]
        [wrong] = il.verify({"bm25": {"nDCG@10": f"{value:.6f}"}}, QRELS, RUNS).failing
        assert [one.kind for one in wrong.origins] == [kind]
        assert not wrong.origins[0].chance
    at5, other = (
        f"{il.evaluate(QRELS, BM25, 'nDCG@5')['nDCG@5']:.4f}",
        VALUES["reranked"]["nDCG@10"],
    )
    found = il.verify(
        {"bm25": {"nDCG@10": at5, "AP": "0.6835"}, "reranked": {"nDCG@10": "0.8639", "AP": other}},
        QRELS, RUNS,
    )  # fmt: skip
    why = {(one.claim.run, str(one.claim.measure)): one.why for one in found.failing}
    assert why == {
        ("bm25", "nDCG@10"): "the value of nDCG@5",
        ("bm25", "AP"): "two neighbouring digits are swapped",
        ("reranked", "AP"): "the value of nDCG@10",
    }
    swapped = il.verify({"bm25": {"AP": "0.8243"}, "reranked": {"AP": "0.6385"}}, QRELS, RUNS)
    assert [one.why for one in swapped.failing] == ["the value of reranked", "the value of bm25"]


def test_few_digits_accuse_nobody_of_another_cutoff() -> None:
    value = il.evaluate(QRELS, BM25, "nDCG@5")["nDCG@5"]
    [wrong] = il.verify({"bm25": {"nDCG@10": f"{value:.2f}"}}, QRELS, RUNS).failing
    assert wrong.origins
    assert all(one.chance for one in wrong.origins)
    assert wrong.convention is None


def test_what_cannot_be_read_is_listed(tmp_path: Path) -> None:
    text = "run,nDCG@10,AP,ms,MAP@9x\nbm25,0.6742,0.63x,12,1\nDPR,0.5,0.4,10,1\nreranked,--,0.8243,9,1\n"
    found = checked(text, tmp_path)
    assert found
    assert held(found) == {("bm25", "nDCG@10"): True, ("reranked", "AP"): True}
    assert found.unread == (
        "DPR is no run here: 2 numbers are not checked; known: bm25, reranked",
        "bm25 AP: 0.63x is no number",
        "ms is no measure: 3 numbers are not checked",
        "MAP@9x is no measure: 3 numbers are not checked",
    )
    named: dict[str, Any] = {"names": {"DPR": "reranked"}, "measures": {"ms": "NumRet"}}
    ours = checked("run,ms\nDPR,120\nbm25,130\n", tmp_path, **named)
    assert held(ours) == {("reranked", "NumRet"): True, ("bm25", "NumRet"): False}


def test_a_table_of_two_collections_needs_a_title(tmp_path: Path) -> None:
    text = r"""\begin{tabular}{lcccc}\toprule & \multicolumn{2}{c}{DL 19} & \multicolumn{2}{c}{Ours} \\
run & nDCG@10 & AP & nDCG@10 & AP \\ \midrule
bm25 & 0.1 & 0.2 & 0.6742 & 0.6385 \\ reranked & 0.3 & 0.4 & 0.8639 & 0.8243 \\ \end{tabular}"""
    with pytest.raises(
        il.UsageError, match=r"bm25 has two values of nDCG@10: 0\.1 and 0\.6742"
    ) as error:
        checked(text, tmp_path)
    assert "DL 19, Ours" in error.value.hint
    assert held(checked(text, tmp_path, only="ours")) == ALL
    with pytest.raises(il.UsageError, match="no number stands under 'DL 18'"):
        checked(text, tmp_path, only="DL 18")
    rows = "run,nDCG@10\nDL 19,\nbm25,0.1\nOurs,\nbm25,0.6742\n"
    assert checked(rows, tmp_path, only="Ours")


# --- best values and marks


@pytest.mark.parametrize(
    ("best", "second", "wrong"),
    [
        ("c", "b", []),
        ("b", "c", [("b", 1), ("c", 1), ("c", 2), ("b", 2)]),
        ("c", "a", [("a", 2), ("b", 2)]),
    ],
)
def test_best_values(best: str, second: str, wrong: list[tuple[str, int]]) -> None:
    qrels = {f"q{i}": {"x": 1} for i in range(4)}
    lists = {"a": ["y", "z", "x"], "b": ["y", "x"], "c": ["x"]}
    runs = {name: dict.fromkeys(qrels, docs) for name, docs in lists.items()}
    values = {"a": "0.3333", "b": "0.5000", "c": "1.0000"}
    values[best], values[second] = f"**{values[best]}**", f"<u>{values[second]}</u>"
    lines = [
        "| run | RR |",
        "|---|---|",
        *(f"| {name} | {text} |" for name, text in values.items()),
    ]
    [table] = tables_in("\n".join(lines))
    assert table.rows[1][0].text == "a"
    path = "\n".join(lines)
    found = _verified(path, qrels, runs)
    assert [(one.run, one.rank) for one in found.best if not one.holds][: len(wrong)] == [
        one for one in wrong if one in {(each.run, each.rank) for each in found.best}
    ]
    assert all(one.holds for one in found.numbers)
    assert bool(found) == (not wrong)


def _verified(text: str, qrels: Any, runs: Any, **options: Any) -> il.Verification:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.txt")
        path.write_text(text, encoding="utf-8")
        return il.verify(path, qrels, runs, **options)


def test_the_best_of_each_block_may_be_bold() -> None:
    qrels = {f"q{i}": {"x": 1} for i in range(4)}
    lists = {"a": ["y", "z", "x"], "b": ["y", "x"], "c": ["x"], "d": ["y", "z", "w", "x"]}
    runs = {name: dict.fromkeys(qrels, docs) for name, docs in lists.items()}
    text = (
        r"\begin{tabular}{lr} \toprule run & RR \\ \midrule a & .3333 \\ b & \textbf{.5} \\ \midrule "
        r"c & \textbf{1.0} \\ d & .25 \\ \bottomrule \end{tabular}"
    )
    assert _verified(text, qrels, runs)
    assert not _verified(
        text.replace(r"\textbf{1.0}", "1.0").replace(".25", r"\textbf{.25}"), qrels, runs
    )


def marked(seed: int = 3) -> tuple[Any, Any]:
    rng = random.Random(seed)
    qrels = {f"q{i}": {"a": 1} for i in range(40)}
    chances = {"base": 0.4, "good": 0.9, "same": 0.4}
    runs = {
        name: {q: ["a", "x"] if rng.random() < chance else ["x", "a"] for q in qrels}
        for name, chance in chances.items()
    }
    return qrels, runs


@pytest.mark.parametrize(
    ("caption", "options"),
    [
        ("† is significantly better than base (paired t-test, p < 0.01).", {}),
        ("Significant improvements over base are marked with †.", {}),
        ("* is significant.", {"baseline": "base"}),
        ("† differs from base (Wilcoxon signed-rank test, Bonferroni corrected).", {}),
        ("", {"baseline": "base", "test": "randomisation", "alpha": 0.01}),
    ],
)
def test_marks_against_a_baseline(caption: str, options: dict[str, Any]) -> None:
    qrels, runs = marked()
    sign = "*" if "*" in caption else "†"
    values = {name: f"{il.evaluate(qrels, run, 'RR')['RR']:.4f}" for name, run in runs.items()}

    def table(*with_mark: str) -> str:
        rows = [
            f"| {n} | {v}{sign.replace('*', chr(92) + '*') * (n in with_mark)} |"
            for n, v in values.items()
        ]
        return "\n".join([caption, "", "| run | RR |", "|---|---|", *rows])

    right = _verified(table("good"), qrels, runs, **options)
    assert right, str(right)
    assert [(one.run, one.baseline, one.sign) for one in right.marks] == [("good", "base", sign)]
    wrong = _verified(table("good", "same"), qrels, runs, **options)
    assert [(one.run, one.marked) for one in wrong.marks if not one.holds] == [("same", True)]
    missing = _verified(table("same"), qrels, runs, **options)
    assert {(one.run, one.marked) for one in missing.marks if not one.holds} == {
        ("good", False), ("same", True),
    }  # fmt: skip


def test_marks_that_nothing_explains_are_not_judged() -> None:
    qrels, runs = marked()
    text = "| run | RR |\n|---|---|\n| base | 0.6† |\n| good | 0.9 |\n"
    found = _verified(text, qrels, runs)
    assert not found.marks
    why = "name the run it compares with by --baseline"
    assert f"the mark † of 1 number is not checked: {why}" in found.unread
    letters = _verified(text.replace("0.6†", "0.6<sup>z</sup>"), qrels, runs)
    assert "the mark z of 1 number is not checked: it stands for no run here" in letters.unread
    other = _verified("† is our own implementation.\n\n" + text, qrels, runs, baseline="good")
    assert not other.marks


DEEP = r"\begin{{tabular}}{{lc}} run & AP \\ bm25 & {}0.6{} \\ \end{{tabular}}"
MEANT = "† marks significant improvements over base ({}, paired t-test)."


@pytest.mark.parametrize(
    ("words", "alpha"),
    [
        ("p < 0.01", 0.01), ("p<.01", 0.01), ("p < .01", 0.01), ("p = 0.01", 0.01),
        ("p ≪ 0.01", 0.01), ("p less than 0.01", 0.01), ("p-value below 0.01", 0.01),
        ("p < 0,01", 0.01), ("p < 10-2", 0.01), ("p < 1e-3", 0.001), ("α = 1%", 0.01),
        ("at the 1 % level", 0.01), ("at the 10% significance level", 0.1),
        ("99% confidence", 0.01), ("at a confidence level of 0.95", 0.05),
        ("significance level 0.01", 0.01), ("two-tailed", 0.05),
    ],
)  # fmt: skip
def test_the_level_of_a_caption(words: str, alpha: float) -> None:
    found = Notes.of(MEANT.format(words), {"base": "base"})
    assert (found.test, found.problem) == ("t", "")
    assert found.meaning("†") == MarkMeaning("†", "base", 1, alpha)


@pytest.mark.parametrize(
    "words",
    [
        "one-sided", "one-tailed", "p > 0.01", "unpaired", "Welch", "Tukey HSD", "two-way ANOVA",
        "not corrected", "without correction", "level 7", "p < 0.05 or p < 0.01", "95% intervals",
    ],
)  # fmt: skip
def test_a_caption_that_is_not_surely_understood(words: str) -> None:
    found = Notes.of(MEANT.format(words), {"base": "base"})
    assert isinstance(found.meaning("†"), str)


@pytest.mark.parametrize(
    "caption",
    [
        "† is not significantly different from base (t-test).",
        "† is statistically indistinguishable from base.",
        "† is our reimplementation.",
        "† is better than base. Significance by Welch's test.",
        "† is better than the best other system.",
        "† is better than base and good.",
        "† is better than base (t-test, Wilcoxon).",
    ],
)
def test_a_mark_of_unsure_meaning_is_not_checked_and_said(caption: str) -> None:
    qrels, runs = marked()
    text = (
        f"{caption}\n\n| run | AP |\n|---|---|\n| base | 0.7† |\n| good | 0.9 |\n| same | 0.7 |\n"
    )
    found = _verified(text, qrels, runs, baseline="base")
    assert not found.marks
    assert any(words.startswith("the mark † of 1 number is not checked") for words in found.unread)


def test_each_mark_has_its_level() -> None:
    names = {"a": "a", "b": "b"}

    def read(text: str, *signs: str) -> list[Any]:
        notes = Notes.of(text, names)
        found = [notes.meaning(sign) for sign in signs]
        return [(one.baseline, one.alpha) if not isinstance(one, str) else one for one in found]

    both = "† and ‡ mark improvements over {} at p<0.05{} (t-test)."
    assert read(both.format("a", " and p<0.01"), *"†‡") == [("a", 0.05), ("a", 0.01)]
    assert read(both.format("b and a", ""), *"†‡") == [("b", 0.05), ("a", 0.05)]
    stars = "* p<0.05, ** p<0.01, *** p<0.001, paired t-test against a"
    assert read(stars, "*", "**", "***") == [("a", 0.05), ("a", 0.01), ("a", 0.001)]
    assert read("* p<0.05, ** p<0.01 and *** against a", "**") == ["its level is not clear"]


def test_a_stricter_mark_implies_the_other() -> None:
    qrels, runs = marked()
    caption = r"\* p<0.05, \*\* p<0.001, \*\*\* p<10-5, paired t-test against base."
    rows = "| run | RR |\n|---|---|\n| base | {} |\n| good | {}{} |\n| same | {} |\n"
    values = [f"{il.evaluate(qrels, runs[name], 'RR')['RR']:.4f}" for name in runs]
    for mark, holds in (("\\*", False), ("\\*\\*", True), ("\\*\\*\\*", False)):
        table = rows.format(values[0], values[1], mark, values[2])
        found = _verified(f"{caption}\n\n{table}", qrels, runs)
        assert bool(found) == holds
        assert all(one.run == "good" for one in found.marks)
    assert "** is checked against base by the paired t-test, not corrected, at 0.001" in str(found)


def test_an_improvement_is_none_where_a_run_is_worse() -> None:
    qrels, runs = marked()
    rows = "| run | AP |\n|---|---|\n| base | 0.7† |\n| good | 0.95 |\n"
    for words in ("significance over good", "significantly better than good", "gains over good"):
        found = _verified(f"†: {words} (t-test).\n\n{rows}", qrels, runs)
        assert [(one.run, one.holds) for one in found.marks] == [("base", False)]
    found = _verified(f"†: significantly different from good (t-test).\n\n{rows}", qrels, runs)
    assert [one.holds for one in found.marks] == [True]


def test_a_false_letter_is_found_beside_right_ones() -> None:
    qrels, runs = marked()
    runs["other"] = {q: ["x", "y", "z", "a"] for q in qrels}
    values = {name: f"{il.evaluate(qrels, run, 'RR')['RR']:.4f}" for name, run in runs.items()}
    raised = {"base": "d", "good": "abcd", "same": "d"}  # good is b: not better than itself

    def table(caption: str, **marks: str) -> str:
        rows = [
            f"| {letter} | {name} | {value}<sup>{ {**raised, **marks}[name] if name in raised else '' }</sup> |"
            for letter, (name, value) in zip("abcd", values.items(), strict=True)
        ]
        return "\n".join([caption, "", "| | run | RR |", "|---|---|---|", *rows])

    words = "Superscripts denote significant improvements over the row of this letter (t-test)."
    for caption in ("", words):
        assert _verified(table(caption, good="acd"), qrels, runs)
        wrong = _verified(table(caption, good="acd", same="bd"), qrels, runs)
        assert [(one.run, one.sign) for one in wrong.marks if not one.holds] == [("same", "b")]
    missing = [_verified(table(caption, good="ac"), qrels, runs) for caption in (words, "")]
    assert [bool(one) for one in missing] == [False, True]
    assert any("missing letters are not checked" in one for one in missing[1].unread)


@pytest.mark.parametrize(
    ("caption", "checked"),
    [
        ("", True), ("Best in bold.", True), ("**Table 1.** The best results are in bold.", True),
        ("The best value of each column is bold, the second best underlined.", True),
        ("The best are bold; † marks significant improvements over a.", True),
        ("Bold denotes a significant improvement.", False), ("Our results are bold.", False),
        ("Bold: best excluding the oracle.", False), ("Bold results are ours.", False),
        ("Bold and † mark significance.", False),
    ],
)  # fmt: skip
def test_bold_is_the_best_unless_a_note_says_otherwise(caption: str, checked: bool) -> None:
    qrels, runs = {"q": {"x": 1}}, {"a": {"q": ["x"]}, "b": {"q": ["y", "x"]}}
    rows = "| run | RR |\n|---|---|\n| a | 1.0 |\n| b | **0.5** |\n"
    found = _verified(f"{caption}\n\n{rows}", qrels, runs)
    assert bool(found.best) == checked
    assert checked != any("bold or underlined is not checked" in one for one in found.unread)


# --- what we write ourselves


def some_data(seed: int, count: int = 4) -> tuple[Any, dict[str, Any]]:
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(12)]
    qrels = {
        f"q{i}": {d: rng.choice([0, 1, 2]) for d in docs[:8]} for i in range(rng.randint(6, 25))
    }
    strange = ["bm25", "a_b", "x & y", "50% more", "dense [x]", "T-5 (large)", "R1", "ü"]
    names = rng.sample([*strange, *(f"run{i}" for i in range(count - 4))], count)
    runs = {n: {q: rng.sample(docs, rng.randint(1, 10)) for q in qrels} for n in names}
    return qrels, runs


MEASURES = ["nDCG@5", "AP", "RR@10", "P@3", "RBP(p=0.8)", "DCG@5", "NumRet", "nDCG(gain=exp2)@3"]


@settings(max_examples=tries(15, 200))
@given(seed=st.integers(0, 10**6), form=st.sampled_from(["md", "latex", "csv", "tsv", "json"]))
def test_what_eval_writes_holds(seed: int, form: str) -> None:
    qrels, runs = some_data(seed)
    measures = random.Random(seed).sample(MEASURES, 4)
    evaluator = il.Evaluator(qrels, measures)
    text = Evaluations(tuple(evaluator.each(runs))).render(form)
    found = _verified(text, qrels, runs)
    assert found, text
    assert len(found.numbers) == 16


@settings(max_examples=tries(20, 400))
@given(
    seed=st.integers(0, 10**6), form=st.sampled_from(["latex", "md", "csv", "tsv", "json"]),
    count=st.sampled_from([2, 3, 12]), against=st.sampled_from(["first", "better", "all pairs"]),
    percent=st.booleans(), best_first=st.booleans(),
)  # fmt: skip
def test_what_compare_writes_holds(
    seed: int, form: str, count: int, against: str, percent: bool, best_first: bool
) -> None:
    qrels, runs = some_data(seed, count)
    names = list(runs)
    for query in qrels:  # a run that is significantly better, mostly
        runs[names[1]][query] = sorted(qrels[query], key=lambda d: -qrels[query][d])
    measures = random.Random(seed).sample(MEASURES, 3)
    options: dict[str, Any] = {"all_pairs": True} if against == "all pairs" else {}
    if against == "better":
        options["baseline"] = names[1]
    comparison = il.compare(qrels, runs, measures, **options)
    text = (
        comparison.latex(percent=percent, best_first=best_first)
        if form == "latex"
        else comparison.render(form)
    )
    found = _verified(text, qrels, runs)
    assert found, text
    assert len(found.numbers) == 3 * count
    if form in ("latex", "md") and any(one.significant and one.sense for one in comparison.pairs):
        assert found.marks


@settings(max_examples=tries(10, 200))
@given(seed=st.integers(0, 10**6))
def test_generated_tables_with_a_planted_number(seed: int) -> None:
    """One number is moved by more than its last digit; only that one does not hold."""
    qrels, runs = some_data(seed)
    rng = random.Random(seed)
    values = {
        run: {m: f"{v:.4f}" for m, v in il.evaluate(qrels, rows, MEASURES[:5]).aggregates.items()}
        for run, rows in runs.items()
    }
    run, measure = rng.choice(list(runs)), rng.choice(MEASURES[:5])
    moved = float(values[run][measure]) + rng.choice([-1, 1]) * rng.uniform(0.0003, 0.01)
    values[run][measure] = f"{moved:.4f}"
    found = il.verify(values, qrels, runs)
    assert [(one.claim.run, str(one.claim.measure)) for one in found.failing] == [(run, measure)]


def test_not_all_rules_are_tried_for_many_numbers() -> None:
    qrels, runs = some_data(1)
    claims = {run: {f"P@{k}": "0.123456" for k in range(1, 9)} for run in runs}
    found = il.verify(claims, qrels, runs)
    assert len(found.failing) == 32
    words = "for 12 numbers, single rules were not tried: idealist reconcile does that"
    assert words in found.unread


# --- what was read wrongly once


def test_a_table_in_a_cell_is_its_text(tmp_path: Path) -> None:
    inner = r"\begin{tabular}[c]{@{}c@{}}%s\end{tabular}"
    head, name = inner % r"MAP\\ (all)", inner % r"bm25 \\ \begin{array}{l}(ours)\end{array}"
    deep = inner % r"MAP \\ @1000"
    rows = rf"run & nDCG@10 & {deep} & {head} \\ \hline {name} & .6742 & .639 & 1 \\"
    found = checked(rf"\begin{{tabular}}{{lccc}} {rows} \end{{tabular}}", tmp_path)
    assert held(found) == {("bm25", "nDCG@10"): True, ("bm25", "AP@1000"): True}
    assert any(words.startswith("MAP (all) is no measure: 1 number") for words in found.unread)


def test_a_table_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    whole = r"\begin{tabular}{lc} run & AP \\ bm25 & .6385 \\ \end{tabular}"
    found = checked(whole + "\n\\begin{tabular}{lc} run & AP \\\\ reranked & .9", tmp_path)
    assert held(found) == {("bm25", "AP"): True}
    assert any("table.txt:2: it has no end" in words for words in found.unread)


@pytest.mark.parametrize(
    "off", [r"\begin{comment} %s \end{comment}", r"\iffalse %s \fi", r"\iffalse %s \else \fi"]
)
def test_what_is_switched_off_is_not_read(off: str, tmp_path: Path) -> None:
    row, table = r"bm25 & 0.9 \\", r"\begin{tabular}{lc} run & AP \\ bm25 & 0.1 \\ \end{tabular}"
    text = (
        rf"{off % table} \begin{{tabular}}{{lc}} run & AP \\ {off % row} "
        rf"reranked & .8243 \\ \end{{tabular}} \end{{document}} {table}"
    )
    assert held(checked(text, tmp_path)) == {("reranked", "AP"): True}


@pytest.mark.parametrize(
    ("text", "decimal", "in_table"),
    [
        ("2.355,0", "2355.0", "2.355,0"), ("2.355", "2355", "2.355;0,17"), ("2.355", "2.355", "2.355;0.17"),
        ("1.234.567", "1234567", "1.234.567"), ("2 355", "2355", "2 355"), ("1,234", "1234", "1,234"),
        ("1,234", "1.234", "1,234;0,17"), ("0,1736", "0.1736", "0,1736"),
    ],
)  # fmt: skip
def test_points_and_commas(text: str, decimal: str, in_table: str, tmp_path: Path) -> None:
    values = in_table.split(";")
    rows = [f"run;{';'.join(['NumRet', 'AP'][: len(values)])}", f"bm25;{in_table}"]
    [number, *_] = checked("\n".join(rows), tmp_path).numbers
    assert number.claim.number.text == text
    assert number.target.value == float(decimal)


@pytest.mark.parametrize(
    "cell", ["[0.6742]", "(0.6742)", "$0.6742$", "0.6742↓", "↑ .6742", "**$0.6742$**"]
)
def test_decorations_leave_the_number(cell: str, tmp_path: Path) -> None:
    found = checked(f"| run | nDCG\\@10 |\n|---|---|\n| bm25 | {cell} |\n", tmp_path)
    assert held(found) == {("bm25", "nDCG@10"): True}


def test_a_formula_in_markdown_keeps_its_marks(tmp_path: Path) -> None:
    found = checked("| run | AP |\n|---|---|\n| bm25 | $\\mathbf{0.6385}^{\\dagger}$ |\n", tmp_path)
    [one] = found.numbers
    assert (one.claim.cell.bold, one.claim.number.marks) == (True, "†")


def test_a_number_of_few_digits_is_not_cut_off() -> None:
    def holds(claimed: str) -> bool:
        return bool(il.verify({"bm25": {"nDCG@10": claimed}}, QRELS, RUNS))  # it is 0.6742

    held_or_not = {"0": False, "1": True, "0.6": False, "0.7": True, "0.67": True, "0.674": True}
    assert {claimed: holds(claimed) for claimed in held_or_not} == held_or_not


def test_numbers_beyond_reason_are_not_read() -> None:
    for claimed in ("1e400", "9" * 52, "1e99"):
        found = il.verify({"bm25": {"AP": claimed, "nDCG@10": "0.6742"}}, QRELS, RUNS)
        assert [str(one.claim.measure) for one in found.numbers] == ["nDCG@10"]
        assert any("AP" in words for words in found.unread)
    [wrong] = il.verify({"bm25": {"AP": "1e5"}}, QRELS, RUNS).failing
    assert wrong.target.digits == 0
    for value in ("1e400", "inf", "-inf", "9" * 52):
        with pytest.raises(il.UsageError, match="is not a number that can be reconciled"):
            il.reconcile(QRELS, BM25, "AP", value)


def test_collections_that_are_stacked_need_a_title(tmp_path: Path) -> None:
    text = r"""\begin{tabular}{llc} \toprule Data & Run & AP \\ \midrule
\multirow{2}{*}{DL 19} & bm25 & 0.1 \\ & reranked & 0.2 \\ \midrule
\multirow{2}{*}{Ours} & bm25 & 0.6385 \\ & reranked & 0.8243 \\ \bottomrule \end{tabular}"""
    with pytest.raises(il.UsageError, match="bm25 has two values of AP") as error:
        checked(text, tmp_path)
    assert "DL 19, Ours" in error.value.hint
    found = checked(text, tmp_path, only="Ours")
    assert held(found) == {("bm25", "AP"): True, ("reranked", "AP"): True}


def test_names_that_are_not_clear(tmp_path: Path) -> None:
    runs = {f"run-{i}": {"q": ["x"]} for i in range(100)} | {"RUN1": {"q": ["x"]}}
    rows = [f"thing {i},1.0" for i in range(60)]
    text = "\n".join(["run,RR", "run 1,1.0", "run 2,1.0", *rows])
    found = _verified(text, {"q": {"x": 1}}, runs)
    said = "\n".join(found.unread)
    assert "run 1 is no run here: 1 number is not checked; it is ambiguous: RUN1, run-1" in said
    assert len(said) < 1000


@pytest.mark.parametrize(
    ("head", "measure"),
    [("Prec@5", "P@5"), ("Prec.@5", "P@5"), ("R-prec", "Rprec"), ("S@5", "Success@5")],
)
def test_short_names_of_measures(head: str, measure: str) -> None:
    found = TableNames(["bm25"]).measure(head)
    assert found is not None
    assert str(found[0]) == measure


def test_a_folder_or_pattern_of_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    for path in RUNS:
        (folder / Path(path).name).write_bytes(Path(path).read_bytes())
    claim = ["--claim", "bm25 nDCG@10 0.6742", "-q"]
    for runs in (str(folder), str(folder / "*.run")):
        assert command(capsys, QRELS, runs, *claim)[:2] == (0, "the only number holds.\n")


def test_ids_that_hardly_meet_are_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "far.run"
    qrels.write_text("".join(f"q{i} 0 d{i}_{j} 1\n" for i in range(10) for j in range(10)))
    lists = (f"q{i} Q0 {'d0_0' if i + j == 0 else f'x{i}_{j}'} {j + 1} {9 - j} r\n"
             for i in range(10) for j in range(10))  # fmt: skip
    run.write_text("".join(lists))
    code, out, err = command(capsys, str(qrels), str(run), "--claim", "far P@10 0.01")
    assert (code, out) == (0, "the only number holds.\n")
    assert "doubt: the first 10 documents" in err


def test_csv_has_marks_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "t.md"
    table.write_text("| run | AP |\n|---|---|\n| bm25 | **0.6385** |\n| reranked | 0.8243 |\n")
    code, out, _ = command(capsys, str(table), QRELS, *RUNS, "-f", "csv")
    assert code == 1
    assert "bm25,AP,marked best,,no,reranked 0.824312 is higher than 0.638499" in out


# --- the command


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        main(["verify", *arguments])
        code = 0
    except SystemExit as error:
        code = int(error.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_says_what_holds_and_exits_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(SHAPES["csv"])
    bad.write_text(SHAPES["csv"].replace("0.6742", "0.6724"))
    assert command(capsys, str(good), QRELS, *RUNS)[:2] == (0, "all 4 numbers hold.\n")
    code, out, err = command(capsys, str(bad), QRELS, *RUNS, "-f", "json")
    assert code == 1
    assert err == ""
    data = json.loads(out)
    claim = {
        "run": "bm25", "measure": "nDCG@10", "claimed": 0.6724, "holds": False, "convention": None,
        "why": "two neighbouring digits are swapped",
    }  # fmt: skip
    assert claim.items() <= data["claims"][0].items()
    assert data["claims"][0]["value"] == pytest.approx(0.674156, abs=1e-6)
    assert [one["convention"] for one in data["claims"][1:]] == ["trec_eval"] * 3
    assert data["best"] == data["marks"] == []


@pytest.mark.parametrize("suffix", ["html", "md", "json", "tex", "csv", "txt"])
def test_a_report_is_written(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, report = tmp_path / "t.csv", tmp_path / f"report.{suffix}"
    table.write_text(SHAPES["csv"].replace("0.6742", "0.6724"))
    assert command(capsys, str(table), QRELS, *RUNS, "-o", str(report))[0] == 1
    assert "0.6724" in report.read_text()


def test_a_bundle_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, bundle = tmp_path / "t.csv", tmp_path / "results.ilb"
    main(["bundle", QRELS, *RUNS, "-o", str(bundle)])
    capsys.readouterr()
    table.write_text(SHAPES["csv"])
    assert command(capsys, str(table), str(bundle))[:2] == (0, "all 4 numbers hold.\n")
    other = il.evaluate(QRELS, RERANKED, "nDCG@10", convention="sklearn")["nDCG@10"]
    table.write_text(SHAPES["csv"].replace("0.8639", f"{other:.4f}").replace("0.6385", "0.6111"))
    code, out, _ = command(capsys, str(table), str(bundle), "-f", "json")
    assert code == 1
    claims = json.loads(out)["claims"]
    assert [one["holds"] for one in claims] == [True, False, False, True]
    assert (claims[1]["convention"], claims[2]["convention"]) == (None, "sklearn")
    assert claims[1]["why"] == "nothing that was tried prints it"


def test_claims_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    claims = ["--claim", "bm25 ndcg@10 0.6742", "--claim", "BM25: MAP = 63.8%"]
    assert command(capsys, QRELS, *RUNS, *claims)[0] == 0
    assert command(capsys, QRELS, *RUNS, "--claim", "bm25 nDCG@10 0.71")[0] == 1
    named = ["--claim", "ours RBP=.8 0.1", "--run", "ours=bm25"]
    assert command(capsys, QRELS, *RUNS, *named)[0] == 2


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("", [], "the file is empty"),
        ("hello world\n", [], "there is no table"),
        ("{not json", [], "cannot be read"),
        ("[1, 2]", [], "this is no table"),
        ('{"runs": 3}', [], "this is no table"),
        ('{"runs": [{"run": ["x"], "values": null}]}', [], "this is no table"),
        ('{"a": 1}\n{"b": }\n', [], "cannot be read"),
        ("[" * 100_000, [], "cannot be read"),
        ('{"bm25": {"AP": 0.6, "AP": 0.7}}', [], "an object has 'AP' twice"),
        (DEEP.format("\\textbf{" * 400, "}" * 400), [], "nested too deeply"),
        (DEEP.format(".6^{" * 3000, "}" * 3000), [], "nested too deeply"),
        ("run,latency\nbm25,3\n", [], "is named after a measure"),
        ("run,AP\nnobody,0.3\n", [], "no run is called nobody"),
        ('run,AP\n"bm25,0.3\n', [], "cannot be read|no run is called|nothing"),
        ("\\begin{tabular}{l} \\end{tabular}", [], "."),
        ("run,AP\nbm25,0.3\n", ["--run", "bm25=dense"], "names no run that is known"),
        ("run,AP\nbm25,0.3\n", ["--measure", "X=YY"], "names no measure that is known"),
        ("run,AP\nbm25,0.3\n", ["--baseline", "dense"], "dense is not in the table"),
        ("run,AP\nbm25,0.3\n", ["--only", "x"], "no number stands under 'x'"),
        ("run,AP\nbm25,0.3\n", ["--set", "foo=1"], "there is no axis 'foo'"),
        ("run,AP\nbm25,0.3\n", ["--alpha", "3", "--baseline", "bm25"], "alpha"),
        ("run,AP\nbm25,0.3\nbm25,0.4\n", [], "bm25 has two values of AP"),
    ],
)  # fmt: skip
def test_bad_input_is_explained(
    text: str, arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.txt"
    table.write_text(text)
    code, out, err = command(capsys, str(table), QRELS, *RUNS, *arguments)
    assert (code, out) == (2, "")
    assert re.search(words, err)
    assert "hint: " in err
    assert "Traceback" not in err


def test_a_table_needs_something_to_check_against(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = command(capsys, "table.tex")
    assert code == 2
    assert "nothing to check the table against" in err


@given(
    st.text(max_size=300)
    | st.lists(
        st.sampled_from(
            [
                "\\begin{tabular}",
                "{lr}",
                "{",
                "}",
                "\\\\",
                "&",
                "\\textbf",
                "run",
                "AP",
                "bm25",
                "0.3",
                "\\multicolumn",
                "\\multirow",
                "{2}",
                "{c}",
                "*",
                "^",
                "$",
                "\\end{tabular}",
                "|",
                "---",
                "\n",
                ",",
                "\\",
                "%",
                "[",
                "]",
                "_",
                "**",
                "<sup>",
                "a",
                '"',
                "\t",
            ]
        ),
        max_size=40,
    ).map("".join)
)
def test_no_text_breaks_the_reader(text: str) -> None:  # fmt: skip
    try:
        found = _verified(text, {"q": {"a": 1}}, {"bm25": {"q": ["a"]}})
    except IdealistError:
        return
    assert found.numbers
