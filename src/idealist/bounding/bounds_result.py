"""Bounds as a result: the numbers, judgments that attain them, and the documents to judge first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from idealist.bounding.bound_case import BoundCase
from idealist.bounding.extremes import Ends, ends
from idealist.conventions.signature import Signature
from idealist.data.columns import Bools, Floats, Ints
from idealist.errors import UsageError
from idealist.rendering import document as doc
from idealist.rendering.document import COUNT, TEXT, VALUE, Column, Document, Table, Text
from idealist.rendering.plain_data import finite, record, records_table
from idealist.rendering.result import Result
from idealist.rendering.wording import number

#: How many unjudged documents of each query are considered for being judged first.
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


@dataclass(frozen=True, eq=False)
class Source:
    """Where the witnesses of bounds come from.

    `written` has the grades as they are written, `counted` says which queries are in the low end
    and which are in the high end, and `named` names the unjudged documents when they are needed.
    Bounds that no judgments attain have no `spans`, those of a difference no single `case`; the
    `ends` are always such as some judgments give, also where the bounds are wider.
    """

    queries: tuple[str, ...]
    spans: list[tuple[int, slice]]
    ends: Ends
    written: Mapping[float, float]
    counted: tuple[Bools, Bools]
    named: Callable[[], list[str]]
    case: BoundCase | None = None

    @cached_property
    def documents(self) -> list[str]:
        """The unjudged documents, by query."""
        return self.named()

    def completions(self, high: bool) -> list[int]:
        """Return each query's completion: one that leaves it out, where it is not counted."""
        at = self.ends.high_at if high else self.ends.low_at
        counts = self.counted[int(high)] | ~self.ends.free
        found: list[int] = np.where(counts, at, self.ends.spare).tolist()
        return found

    def witness(self, high: bool) -> Witness:
        """Return judgments of the unjudged documents that attain an end."""
        at, made = self.completions(high), {}
        for query, span in self.spans:
            given = self.ends.completions[at[query]].grades[span].tolist()
            pairs = zip(self.documents[span], given, strict=True)
            made[self.queries[query]] = {d: self.written[grade] for d, grade in pairs}
        return made

    def elsewhere(self, high: bool) -> dict[str, tuple[int, float]]:
        """Return the number of documents judged elsewhere, and their grade."""
        at, counts = self.completions(high), self.case.elsewhere.tolist() if self.case else []
        return {
            self.queries[q]: (n, self.written[float(self.ends.completions[at[q]].elsewhere[q])])
            for q, n in enumerate(counts)
            if n
        }

    def first(self, n: int) -> list[Narrowing]:
        """Return the documents whose judgment saves most."""
        if self.case is None:
            hint = "il.pool(…, by='decisive') does; of each run, il.bounds(…).first()"
            raise UsageError("a difference does not say which documents to judge first", hint)
        saved, places = self._saved(self.case), self.case.unjudged
        mean, least = saved.mean(axis=0), saved.min(axis=0)
        return [
            Narrowing(
                self.queries[places.query[i]], self.documents[i], int(places.rank[i]),
                float(mean[i]), float(least[i]),
            )
            for i in np.lexsort((-least, -mean))[:n].tolist()
        ]  # fmt: skip

    def _saved(self, case: BoundCase) -> Floats:
        """Compute the width that each document saves with each grade, a row per grade."""
        places = case.unjudged
        size = places.counts(case.size)
        turn = np.arange(len(places)) - (np.cumsum(size) - size)[places.query]
        saved = np.zeros((len(case.levels), len(places)))
        for i in range(min(int(size.max(initial=0)), CONSIDERED)):
            which = turn == i  # one document of every query at a time
            for row, grade in zip(saved, case.levels.tolist(), strict=True):
                narrowed = self.ends.width - ends(case.fixed(which, grade)).width
                row[which] = narrowed[places.query[which]]
        return saved


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Result):
    """How far a value could move if the unjudged documents in its reach were judged.

    `value`, `low` and `high` are aggregates; `values`, `lows` and `highs` are per query, NaN where
    a query does not count, and `unjudged` counts its unjudged documents in reach. `kind` is
    ``exact`` if some judgments give both ends, ``limit`` if the low end is only approached, by ever
    more relevant documents elsewhere, or ``outer`` if the truth may be narrower.
    """

    run: str
    measure: str
    convention: str
    signature: Signature
    reach: str
    kind: str
    value: float
    low: float
    high: float
    queries: tuple[str, ...]
    values: Floats
    lows: Floats
    highs: Floats
    unjudged: Ints
    source: Source

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self.high - self.low

    @cached_property
    def lowest(self) -> Witness:
        """Judgments that give the low end: {query: {document: grade}}."""
        return self.source.witness(high=False)

    @cached_property
    def highest(self) -> Witness:
        """Judgments that give the high end: {query: {document: grade}}."""
        return self.source.witness(high=True)

    @property
    def documents(self) -> dict[str, list[str]]:
        """The unjudged documents in reach, by query and rank."""
        return {query: list(grades) for query, grades in self.lowest.items()}

    def elsewhere(self, high: bool) -> dict[str, tuple[int, float]]:
        """Return how many documents outside the list an end judges, and the grade of them all.

        This is empty unless the reach is the collection.
        """
        return self.source.elsewhere(high)

    def first(self, n: int = 10) -> list[Narrowing]:
        """Return the documents whose judgment would narrow the bounds of their query most.

        Only the first 50 unjudged documents of each query are considered.
        """
        return self.source.first(n)

    def to_judge(self, n: int = 10) -> Judging:
        """Show the documents to judge first."""
        return Judging(self, tuple(self.first(n)))

    @property
    def summary(self) -> str:
        """How far the value could move, in one sentence.

        >>> import idealist as il
        >>> print(il.bounds({"q": {"a": 1}}, {"q": ["u", "a"]}, "RR@10").summary)
        RR@10 0.5000 could be 0.5000 to 1.0000 if the one unjudged document in the list were judged
        """
        count, shown = int(self.unjudged.sum()), f"{self.measure} {number(self.value)}"
        if not count and self.reach == "list":
            return f"{shown} depends on no unjudged document of its list"
        low, high = number(self.low), number(self.high)
        which = "one unjudged document" if count == 1 else f"{count} unjudged documents"
        more = {"retrieved": ", and those below,", "collection": ", and all others,"}
        where = f"in the list{more.get(self.reach, '')}"
        kind = {"limit": " (the low end is never quite reached)", "outer": " at most"}
        span = f"could be {low} to {high}{kind.get(self.kind, '')}"
        could = span if low != high else f"would be {low}"
        return f"{shown} {could} if the {which} {where} were judged"

    def report(self) -> Document:
        """Describe the bounds: of all queries together, then of each that counts."""
        blocks = (Text(self.summary, strong=True), self.by_query())
        return Document(blocks, self.notes)

    @property
    def notes(self) -> tuple[doc.Signatures]:
        """How the numbers were made."""
        return (doc.Signatures((self.signature.by(self.convention),)),)

    def by_query(self) -> Table:
        """Tabulate the bounds of each query that counts, and of all."""
        cells = zip(*self._columns(), strict=True)
        rows = [row for row in cells if not np.isnan(row[2])]
        own = ("all", self.value, self.low, self.high, int(self.unjudged.sum()))
        names = ("query", self.measure, "low", "high", "unjudged")
        return Table(tuple(map(Column, names, (TEXT, VALUE, VALUE, VALUE, COUNT))), (*rows, own))

    def _columns(self) -> list[Any]:
        numbers = (self.values, self.lows, self.highs, self.unjudged)
        return [self.queries, *(column.tolist() for column in numbers)]

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; undefined values are None."""
        names = ("value", "low", "high", "unjudged")
        rows = zip(*self._columns(), strict=True)
        per_query = {query: finite(dict(zip(names, row, strict=True))) for query, *row in rows}
        witnesses = {"lowest": self.lowest, "highest": self.highest}
        return {**self.aggregate_data(), "per_query": per_query, **witnesses}

    def aggregate_data(self) -> dict[str, Any]:
        """Return what holds for all queries together as plain data."""
        return record({
            "run": self.run, "measure": self.measure, "reach": self.reach, "kind": self.kind,
            "value": self.value, "low": self.low, "high": self.high,
            "unjudged": int(self.unjudged.sum()), "signature": str(self.signature),
        })  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Judging(Result):
    """The bounds of a value, and the documents whose judgment would narrow them most."""

    bounds: Bounds
    first: tuple[Narrowing, ...]

    @property
    def summary(self) -> str:
        """How far the value could move, in one sentence."""
        return self.bounds.summary

    def report(self) -> Document:
        """Describe the bounds, and the documents to judge first."""
        columns = (
            Column("query", TEXT), Column("document", TEXT, shortens=True), Column("rank", COUNT),
            Column("saved", VALUE), Column("at least", VALUE),
        )  # fmt: skip
        table = Table(columns, self.first, title="Judge first the documents that narrow it most:")
        more = doc.Details("Bounds of each query", (self.bounds.by_query(),))
        return Document((Text(self.summary, strong=True), table, more), self.bounds.notes)

    def table(self) -> Table:
        """Return the documents to judge first."""
        return records_table(self._records())

    def data(self) -> dict[str, Any]:
        """Return the bounds and the documents as plain data."""
        return {**self.bounds.data(), "judge_first": self._records()}

    def _records(self) -> list[dict[str, Any]]:
        return [one._asdict() for one in self.first]
