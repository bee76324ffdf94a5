"""Bounds as a result: the numbers, their witnesses, and the documents to judge first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from idealist.bounding.extremes import Ends, ends
from idealist.bounding.hidden import documents_of
from idealist.bounding.setting import Case
from idealist.data import Run
from idealist.data.columns import Bools, Floats, Ints
from idealist.evaluating.summary import number
from idealist.report.draw import Grid, markdown, plain
from idealist.report.plain_data import finite

#: How many holes of each query are looked at for the ones to judge first.
CONSIDERED = 50

Witness = dict[str, dict[str, float]]


class Narrowing(NamedTuple):
    """An unjudged document, and by how much its judgment would narrow its query's bounds.

    `saved` is the mean over the grades it could get, `least` what is saved whatever it gets.
    """

    query: str
    document: str
    rank: int
    saved: float
    least: float


class Source(Protocol):
    """Where the witnesses of a result come from."""

    def witness(self, high: bool) -> Witness:
        """Give judgments of the holes that attain an end."""

    def elsewhere(self, high: bool) -> dict[str, tuple[int, float]]:
        """Give the number of documents judged elsewhere, and their grade."""

    def first(self, n: int) -> list[Narrowing]:
        """Give the holes that save most."""


@dataclass(frozen=True, eq=False)
class OneRun:
    """The bounds of one run.

    `grades` gives grades as they are written, `counted` says which queries are in the low end and
    which are in the high end.
    """

    case: Case
    run: Run
    ends: Ends
    grades: Mapping[float, float]
    counted: tuple[Bools, Bools]

    @property
    def queries(self) -> tuple[str, ...]:
        """The judged queries."""
        return self.case.placements.qrels.queries

    @cached_property
    def documents(self) -> list[str]:
        """The holes' documents."""
        return documents_of(self.case.holes, self.case.placements, self.run)

    def _completions(self, high: bool) -> Ints:
        """Say which completion is each query's: one that leaves it out, where it is not counted."""
        at = self.ends.high_at if high else self.ends.low_at
        return np.where(self.counted[int(high)] | ~self.ends.free, at, self.ends.spare)

    def witness(self, high: bool) -> Witness:
        """Give judgments of the holes that attain an end."""
        at = self._completions(high).tolist()
        made = {}
        for query, span in self.case.spans:
            given = self.ends.completions[at[query]].grades[span].tolist()
            pairs = zip(self.documents[span], given, strict=True)
            made[self.queries[query]] = {d: self.grades[grade] for d, grade in pairs}
        return made

    def elsewhere(self, high: bool) -> dict[str, tuple[int, float]]:
        """Give the number of documents judged elsewhere, and their grade."""
        at, counts = self._completions(high).tolist(), self.case.elsewhere.tolist()
        return {
            self.queries[q]: (n, self.grades[float(self.ends.completions[at[q]].elsewhere[q])])
            for q, n in enumerate(counts)
            if n
        }

    def _saved(self) -> Floats:
        """Give the width that each hole saves with each grade; a row a grade."""
        case, size = self.case, self.case.holes.counts(self.case.size)
        place = np.arange(len(case.holes)) - (np.cumsum(size) - size)[case.holes.query]
        saved = np.zeros((len(case.levels), len(case.holes)))
        for i in range(min(int(size.max(initial=0)), CONSIDERED)):
            which = place == i
            for row, grade in zip(saved, case.levels.tolist(), strict=True):
                narrowed = _width(self.ends) - _width(ends(case.fixed(which, grade)))
                row[which] = narrowed[case.holes.query[which]]
        return saved

    def first(self, n: int) -> list[Narrowing]:
        """Give the holes that save most."""
        saved, holes = self._saved(), self.case.holes
        mean, least = saved.mean(axis=0), saved.min(axis=0)
        return [
            Narrowing(
                self.queries[holes.query[i]], self.documents[i], int(holes.rank[i]),
                float(mean[i]), float(least[i]),
            )
            for i in np.lexsort((-least, -mean))[:n].tolist()
        ]  # fmt: skip


def _width(found: Ends) -> Floats:
    width: Floats = np.nan_to_num(found.high - found.low)
    return width


@dataclass(frozen=True, eq=False)
class Bounds:
    """How far a value could move if the unjudged documents in its reach were judged.

    `value`, `low` and `high` are aggregates; `values`, `lows` and `highs` are per query, NaN where
    a query does not count, and `holes` counts its unjudged documents in reach. `kind` is ``exact``:
    both ends are values that some judgments give, ``limit`` if the low end is only approached, by
    ever more relevant documents elsewhere, or ``outer`` if the truth may be narrower.
    """

    run: str
    measure: str
    signature: str
    reach: str
    kind: str
    value: float
    low: float
    high: float
    queries: tuple[str, ...]
    values: Floats
    lows: Floats
    highs: Floats
    holes: Ints
    source: Source = field(repr=False)

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self.high - self.low

    @cached_property
    def lowest(self) -> dict[str, dict[str, float]]:
        """Judgments of the holes that give the low end: {query: {document: grade}}."""
        return self.source.witness(high=False)

    @cached_property
    def highest(self) -> dict[str, dict[str, float]]:
        """Judgments of the holes that give the high end: {query: {document: grade}}."""
        return self.source.witness(high=True)

    @property
    def documents(self) -> dict[str, list[str]]:
        """The unjudged documents in reach, by query and rank."""
        return {query: list(grades) for query, grades in self.lowest.items()}

    def elsewhere(self, high: bool) -> dict[str, tuple[int, float]]:
        """Give how many documents outside the list an end judges too, and the grade of them all.

        This is empty unless the reach is the collection.
        """
        return self.source.elsewhere(high)

    def first(self, n: int = 10) -> list[Narrowing]:
        """Give the documents whose judgment would narrow the bounds of their query most.

        They are looked for among the first 50 unjudged documents of each query.
        """
        return self.source.first(n)

    def to_judge(self, n: int = 10) -> Grid:
        """Tabulate the documents to judge first."""
        rows = [
            [one.query, one.document, str(one.rank), number(one.saved), number(one.least)]
            for one in self.first(n)
        ]
        return Grid(["query", "document", "rank", "saved", "at least"], rows, words=2)

    def __str__(self) -> str:
        return plain(self.grid()) + "\n\n" + self.sentence()

    def markdown(self) -> str:
        """Write the bounds of all queries as a Markdown table."""
        return markdown(self.grid()) + "\n\n" + self.sentence()

    def sentence(self) -> str:
        """Say it in one sentence.

        >>> import idealist as il
        >>> print(il.bounds({"q": {"a": 1}}, {"q": ["u", "a"]}, "RR@10").sentence())
        RR@10 0.5000 could be 0.5000 to 1.0000 if the unjudged document in its reach were judged
        """
        count = int(self.holes.sum())
        shown = f"{self.measure} {number(self.value)}"
        if not count and self.reach == "list":
            return f"{shown} has no unjudged document in its reach"
        low, high = number(self.low), number(self.high)
        which = "unjudged document" if count == 1 else f"{count} unjudged documents"
        where = "in its reach" if self.reach == "list" else "in the list, and all others,"
        kind = {"limit": " (the low end only nearly)", "outer": " at most"}.get(self.kind, "")
        could = f"could be {low} to {high}{kind}" if low != high else f"would be {low}"
        return f"{shown} {could} if the {which} {where} were judged"

    def grid(self) -> Grid:
        """Tabulate the bounds of each query that counts, and of all."""
        rows = [
            [query, number(value), number(low), number(high), str(holes)]
            for query, value, low, high, holes in zip(
                self.queries, self.values, self.lows, self.highs, self.holes, strict=True
            )
            if not math.isnan(low)
        ]
        own = [number(self.value), number(self.low), number(self.high), str(self.holes.sum())]
        return Grid(["query", self.measure, "low", "high", "unjudged"], [*rows, ["all", *own]])

    def data(self, per_query: bool = True) -> dict[str, Any]:
        """Give it as plain data; undefined values are None."""
        data: dict[str, Any] = {
            "run": self.run, "measure": self.measure, "reach": self.reach, "kind": self.kind,
            "value": finite(self.value), "low": finite(self.low), "high": finite(self.high),
            "unjudged": int(self.holes.sum()), "signature": self.signature,
        }  # fmt: skip
        if per_query:
            columns = zip(self.values, self.lows, self.highs, self.holes, strict=True)
            data["per_query"] = {
                query: {"value": finite(v), "low": finite(a), "high": finite(b), "unjudged": int(n)}
                for query, (v, a, b, n) in zip(self.queries, columns, strict=True)
            }
            data["lowest"], data["highest"] = self.lowest, self.highest
        return data


@dataclass(frozen=True, eq=False)
class Judging:
    """The bounds of a value in one sentence, and the documents whose judgment would narrow them."""

    bounds: Bounds
    n: int = 10

    def grid(self) -> Grid:
        """Tabulate the documents to judge first."""
        return self.bounds.to_judge(self.n)

    def records(self) -> list[dict[str, Any]]:
        """Give the documents to judge first as plain data."""
        return [one._asdict() for one in self.bounds.first(self.n)]

    def __str__(self) -> str:
        return self._written(plain)

    def markdown(self) -> str:
        """Write it in Markdown."""
        return self._written(markdown)

    def _written(self, draw: Callable[[Grid], str]) -> str:
        grid = self.grid()
        if not grid.rows:
            return self.bounds.sentence()
        return f"{self.bounds.sentence()}\n\nJudge first what narrows it most:\n\n{draw(grid)}"

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {**self.bounds.data(), "judge_first": self.records()}
