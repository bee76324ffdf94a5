"""Bounds as a result: the numbers, their witnesses, and the documents to judge first."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from idealist.bounding.source import Narrowing, Source
from idealist.draw import Grid, markdown, plain
from idealist.plain_data import finite
from idealist.summary import number
from idealist.tables.columns import Floats, Ints


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

    def to_json(self, per_query: bool = True) -> dict[str, Any]:
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

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {**self.bounds.to_json(), "judge_first": self.records()}
