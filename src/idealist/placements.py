"""Placements: the places where judged documents were found, all that a measure needs of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from idealist.lists import Lists
from idealist.protocol import Protocol
from idealist.tables import Qrels
from idealist.tables.columns import Bools, Floats, Ints
from idealist.tables.pools import Pool


@dataclass(frozen=True, eq=False)
class Placements:
    """Where the judged documents of each query stand in a ranking.

    Per query of `qrels`, in its order: `in_run`, `empty`, whether nothing was retrieved at all,
    `retrieved`, the number of `duplicates` dropped
    and of chunks `merged`, whether there are `ties`, and whether `float32` would tie scores that
    differ. Per judged document found, by query and rank: the index of its `query`, its `rank`, the
    `first` and `last` rank of its tie, its `score` (NaN in a list without scores), and its
    `judgment`, an index into `qrels`.
    """

    qrels: Qrels
    protocol: Protocol
    in_run: Bools
    empty: Bools
    retrieved: Ints
    duplicates: Ints
    merged: Ints
    ties: Bools
    float32: Bools
    query: Ints
    rank: Ints
    first: Ints
    last: Ints
    score: Floats
    judgment: Ints
    unknown: tuple[str, ...] = ()

    @cached_property
    def starts(self) -> Ints:
        """The first place of each query, with the end appended."""
        return np.searchsorted(self.query, np.arange(len(self.qrels.queries) + 1))

    @cached_property
    def grade(self) -> Floats:
        """The grade at each place."""
        return self.qrels.grades[self.judgment]

    @cached_property
    def tied(self) -> bool:
        """Whether any judged document shares its score with another one."""
        return bool(np.any(self.first < self.last))

    @cached_property
    def blocks(self) -> tuple[Ints, Ints]:
        """The first and the last place that is in the same tie as each place."""
        n = len(self.rank)
        if not n:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        place = np.arange(n)
        new = np.ones(n + 1, dtype=bool)
        new[1:-1] = (np.diff(self.query) != 0) | (np.diff(self.first) != 0)
        start = np.maximum.accumulate(np.where(new[:-1], place, 0))
        end = np.where(new[1:], place, n)
        return start, np.minimum.accumulate(end[::-1])[::-1]

    @cached_property
    def lists(self) -> list[tuple[Ints, Lists]]:
        """The same as padded arrays: blocks of queries and their lists."""
        return [(pool.queries, self._lists(pool)) for pool in self.qrels.pools]

    def _lists(self, pool: Pool) -> Lists:
        begin = self.starts[pool.queries][:, None]
        size = self.starts[pool.queries + 1][:, None] - begin
        column = np.arange(max(int(size.max()), 1))
        found = column < size
        place = np.where(found, begin + column, 0)

        def padded(values: Any) -> Any:
            return (
                np.where(found, values[place], 0)
                if len(values)
                else np.zeros(found.shape, values.dtype)
            )

        start, end = self.blocks if self.tied else (None, None)
        last = padded(self.last)
        dropped = self.protocol.negative == "drop"
        return Lists(
            xp=np,
            found=found,
            rank=padded(self.rank),
            first=padded(self.first),
            last=last,
            grade=padded(self.grade),
            score=padded(self.score),
            pool=pool.grades,
            judged=pool.judged & (pool.grades >= 0) if dropped else pool.judged,
            empty=self.empty[pool.queries],
            retrieved=self.retrieved[pool.queries],
            maximum=self.qrels.maximum,
            depth=int(last.max()),
            start=None if start is None else np.where(found, padded(start) - begin, 0),
            end=None if end is None else np.where(found, padded(end) - begin, 0),
            expected=self.protocol.ties == "expected",
            judgment=padded(self.judgment),
            columns=self.qrels.numbers,
        )

    def grid(self, k: int) -> np.ma.MaskedArray[Any, Any]:
        """Give the grades of the first k ranks: NaN where unjudged, masked beyond the list.

        This is for measures that want to walk the list.
        """
        column = np.arange(1, k + 1)
        grades = np.full((len(self.qrels.queries), k), np.nan)
        near = self.rank <= k
        grades[self.query[near], self.rank[near] - 1] = self.grade[near]
        return np.ma.masked_array(grades, mask=column > self.retrieved[:, None])

    def retied(self, ties: str, worth: Floats | None = None) -> Placements:
        """Order every tie by what its documents are worth: best first, or worst first.

        `worth` is the grade where nothing else is given. Unjudged documents are worth 0, and count
        as worse than a judged one worth as much.
        """
        if not self.tied:
            return self
        sign = -1.0 if ties == "best" else 1.0
        worth = self.grade if worth is None else worth
        order = np.lexsort((sign * worth, self.first, self.query))
        start, end = self.blocks  # sorting within ties moves no place out of its block
        place = np.arange(len(order))
        early = worth[order] >= 0 if ties == "best" else worth[order] < 0
        rank = np.where(early, self.first + (place - start), self.last - (end - place))
        return replace(self, rank=rank, score=self.score[order], judgment=self.judgment[order])

    def cut(self, depth: int) -> Placements:
        """Look at the first documents of each list only."""
        cut = replace(self, last=np.minimum(self.last, depth))
        return cut._at(self.rank <= depth, retrieved=np.minimum(self.retrieved, depth))

    def without_negative(self) -> Placements:
        """Take documents with a negative grade out of the lists."""
        gone = np.concatenate(([0], np.cumsum(self.grade < 0)))  # gone[i]: removed before place i
        if not gone[-1]:
            return self
        begin = self.starts[self.query]
        start, end = self.blocks
        place = np.arange(len(self.rank))
        moved = replace(
            self,
            rank=self.rank - (gone[place] - gone[begin]),
            first=self.first - (gone[start] - gone[begin]),
            last=self.last - (gone[end + 1] - gone[begin]),
        )
        removed = gone[self.starts[1:]] - gone[self.starts[:-1]]
        return moved._at(self.grade >= 0, retrieved=self.retrieved - removed)

    def condensed(self) -> Placements:
        """Take unjudged documents out of the lists (Sakai 2007)."""
        begin = self.starts[self.query]
        start, end = self.blocks
        place = np.arange(len(self.rank))
        return replace(
            self,
            rank=place - begin + 1,
            first=start - begin + 1,
            last=end - begin + 1,
            retrieved=np.diff(self.starts),
        )

    def _at(self, kept: Bools, retrieved: Ints) -> Placements:
        names = ("query", "rank", "first", "last", "score", "judgment")
        columns = {name: getattr(self, name)[kept] for name in names}
        return replace(self, retrieved=retrieved, **columns)
