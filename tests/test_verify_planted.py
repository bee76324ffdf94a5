"""Planted mistakes: a published table with five of them, all found, and nothing else is accused."""

from __future__ import annotations

import csv
import random
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from effort import IS_SLOW
from idealist.conventions import CONVENTIONS

#: The leaderboard's columns and the measures they are. RBP's gain is the grade over 2.
COVID = {
    "ndcg@10": "nDCG@10", "p@5": "P@5", "RBP(p=.5)": "RBP(p=0.5,gain=scaled(0,2))",
    "bpref": "bpref", "MAP": "AP",
}  # fmt: skip
RULES: dict[str, Any] = {"convention": "trec_eval-9", "depth": 1000}
#: How near to alpha a p-value may be whose mark is planted: there another seed could decide.
NEAR = 0.003


def number_in(cell: str) -> str:
    return re.findall(r"\d\.\d{4}", cell)[0]  # type: ignore[no-any-return]


@dataclass
class Truth:
    """The runs, what they get under all kinds of rules, and the table without mistakes."""

    qrels: il.Qrels
    runs: list[il.Run]
    comparison: il.Comparison
    rows: list[list[str]]
    text: str
    other: dict[tuple[str, str, str], str] = field(default_factory=dict)

    @property
    def measures(self) -> list[str]:
        return self.comparison.measures

    def value(self, run: str, measure: str, convention: str = "") -> str:
        """Print a value under other rules, once; nothing where they refuse."""
        key = run, measure, convention
        if key not in self.other:
            rules: dict[str, Any] = {"convention": convention} if convention else RULES
            one = next(each for each in self.runs if each.name == run)
            try:
                self.other[key] = f"{il.evaluate(self.qrels, one, measure, **rules)[measure]:.4f}"
            except il.UsageError:
                self.other[key] = ""
        return self.other[key]


@cache
def covid(folder: Path) -> Truth:
    """The sixty published values of twelve runs, the best bold, with marks of our own."""
    qrels = il.read_qrels(folder / "qrels.txt")
    runs = [il.read_run(path) for path in sorted((folder / "runs").iterdir())]
    found = il.compare(qrels, runs, [*COVID.values()], baseline="sheikh_bm25_all", **RULES)
    text = found.latex(caption="Round 1.")
    body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    rows = [line.removesuffix(r" \\").split(" & ") for line in body.splitlines()]
    with (folder / "leaderboard.csv").open() as file:
        published = {row["run"]: [row[column] for column in COVID] for row in csv.DictReader(file)}
    for run, row in zip(found.given, rows, strict=True):  # the table is that of the leaderboard
        assert [number_in(cell) for cell in row[1:]] == published[run]
    return Truth(qrels, runs, found, rows, text)


@dataclass
class Planting:
    """A copy of the table in which mistakes are planted, and where they are."""

    truth: Truth
    draw: random.Random
    numbers: dict[tuple[str, str], str] = field(default_factory=dict)
    sources: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = [list(row) for row in self.truth.rows]
        self.runs = list(self.truth.comparison.given)

    @property
    def text(self) -> str:
        head, _, rest = self.truth.text.partition("\\midrule\n")
        lines = [" & ".join(row) + r" \\" for row in self.rows]
        return head + "\\midrule\n" + "\n".join(lines) + "\n" + rest[rest.index("\\bottomrule") :]

    def cells(self) -> list[tuple[int, int]]:
        """All cells of numbers, in random order."""
        found = [(i, j) for i in range(len(self.rows)) for j in range(1, len(self.rows[0]))]
        self.draw.shuffle(found)
        return found

    def plant(self, kind: str) -> None:
        """Put another number into the first cell that can have one of this kind."""
        for i, j in self.cells():
            key = self.runs[i], self.truth.measures[j - 1]
            now = number_in(self.rows[i][j])
            others = [
                (number, source) for number, source in getattr(self, kind)(*key, now) if number
            ]
            others = [one for one in others if abs(float(one[0]) - float(now)) > 0.00015]
            if others and key not in self.numbers:
                number, source = self.draw.choice(others)
                self.rows[i][j] = self.rows[i][j].replace(now, number)
                self.numbers[key], self.sources[key] = kind, source
                return

    def digits(self, run: str, measure: str, now: str) -> list[tuple[str, str]]:
        swaps = [now[:k] + now[k + 1] + now[k] + now[k + 2 :] for k in range(2, 5)]
        return [(one, "two neighbouring digits are swapped") for one in swaps]

    def convention(self, run: str, measure: str, now: str) -> list[tuple[str, str]]:
        names = [name for name, tool in CONVENTIONS.items() if tool.has(il.parse(measure))]
        return [(self.truth.value(run, measure, name), name) for name in names]

    def cutoff(self, run: str, measure: str, now: str) -> list[tuple[str, str]]:
        base, sign, own = measure.partition("@")
        others = [f"{base}@{k}" for k in (1, 3, 5, 10, 20, 100) if sign and str(k) != own]
        return [(self.truth.value(run, other), other) for other in others]

    def plant_best(self) -> str:
        """Make another value bold, which is printed otherwise; return the measure."""
        j = self.draw.randrange(1, len(self.rows[0]))
        bold = [row[j] for row in self.truth.rows if "textbf" in row[j]]
        plain = [i for i, row in enumerate(self.truth.rows) if "textbf" not in row[j]]
        for row in self.rows:
            row[j] = re.sub(r"\\textbf\{([\d.]+)\}", r"\1", row[j])
        i = self.draw.choice(plain)
        self.rows[i][j] = re.sub(r"(\d\.\d{4})", r"\\textbf{\1}", self.rows[i][j])
        assert bold
        return self.truth.measures[j - 1]

    def plant_mark(self) -> tuple[str, str]:
        """Add a mark of significance, or take one away; return its place."""
        base = self.truth.comparison.baseline
        for i, j in self.cells():
            run, measure = self.runs[i], self.truth.measures[j - 1]
            if run == base:
                continue
            p = self.truth.comparison.pair(run, measure=measure).p_adjusted
            if abs(p - 0.05) > NEAR:
                marked = r"dagger" in self.rows[i][j]
                plain = re.sub(r"\$\^\{\\d?dagger\}\$", "", self.rows[i][j])
                self.rows[i][j] = plain if marked else plain + r"$^{\dagger}$"
                return run, measure
        raise AssertionError("every p-value is near 0.05")


@pytest.fixture
def truth(data: Path) -> Truth:
    return covid(data / "trec-covid-r1")


def verified(text: str, truth: Truth, path: Path, **rules: Any) -> il.Verification:
    path.write_text(text, encoding="utf-8")
    return il.verify(path, truth.qrels, truth.runs, **(rules or RULES))


def test_the_published_table_holds(truth: Truth, tmp_path: Path) -> None:
    found = verified(truth.text, truth, tmp_path / "table.tex")
    assert found
    assert found.summary.startswith("all 60 numbers hold; ")
    assert len(found.numbers) == 60
    assert {one.measure for one in found.best} == set(COVID.values())
    assert len(found.marks) == sum("dagger" in cell for row in truth.rows for cell in row)
    assert not found.unread


@pytest.mark.parametrize("seed", range(200 if IS_SLOW else 8))
def test_five_planted_mistakes_are_found_and_no_other(
    seed: int, truth: Truth, tmp_path: Path
) -> None:
    planting = Planting(truth, random.Random(seed))
    for kind in ("digits", "convention", "cutoff"):
        planting.plant(kind)
    best, mark = planting.plant_best(), planting.plant_mark()
    found = verified(planting.text, truth, tmp_path / "table.tex")
    assert not found
    wrong = {(one.claim.run, str(one.claim.measure)): one for one in found.failing}
    assert wrong.keys() == planting.numbers.keys()
    assert len(wrong) == 3
    for key, kind in planting.numbers.items():
        said = {origin.kind: origin for origin in wrong[key].origins}
        assert kind in said, (key, kind, planting.sources[key], wrong[key].why)
        assert planting.sources[key] in wrong[key].why or "more" in wrong[key].why
    assert {one.measure for one in found.best if not one.holds} == {best}
    assert {(one.run, one.measure) for one in found.marks if not one.holds} == {mark}


def test_the_default_rules_disagree_where_scores_are_doubles(truth: Truth, tmp_path: Path) -> None:
    found = verified(truth.text, truth, tmp_path / "table.tex", convention="trec_eval")
    wrong = {(one.claim.run, str(one.claim.measure)): one for one in found.failing}
    assert wrong["BERT", "nDCG@10"].convention == "trec_eval-9"
    assert "0.1736" in wrong["BERT", "nDCG@10"].shown
