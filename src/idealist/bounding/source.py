"""What a result was computed from, kept for what is computed only when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from idealist.bounding.case import Case
from idealist.bounding.extremes import Ends, ends
from idealist.bounding.holes import documents_of
from idealist.tables import Run
from idealist.tables.columns import Bools, Floats, Ints

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
