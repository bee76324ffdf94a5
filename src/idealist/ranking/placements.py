"""Placements: where judged documents were found, which is all a measure needs of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from idealist.data import Qrels
from idealist.data.columns import Bools, Floats, Ints, starts_of
from idealist.data.qrels import Pool
from idealist.errors import UsageError
from idealist.protocol import Protocol
from idealist.ranking.chunk_lists import Coverage
from idealist.ranking.document_lists import UNNAMED, DocumentLists
from idealist.ranking.padded_lists import QUICK, PaddedLists


class Block(NamedTuple):
    """Queries in one padded array: where it holds documents, their places, and a cache."""

    pool: Pool
    found: Bools
    place: Ints
    known: dict[Any, Any]


@dataclass(frozen=True, eq=False)
class Placements:
    """Where the judged documents of each query are in a ranking.

    Per query, in the order of `qrels`: whether it is `in_run`, whether nothing was retrieved
    (`empty`), how many documents were `retrieved`, how many `duplicates` were dropped and chunks
    `merged`, whether there are `ties`, and whether `float32` would tie scores that differ. Per
    judged document found, by query and rank: the index of its `query`, its `rank`, the `first` and
    `last` rank of its tie, its `score` (NaN in a list without scores), and its `judgment`, an index
    into `qrels`. `unknown` names queries of the run without judgments, and `unscored` counts its
    rows without a score. `names` has those of unjudged documents, if they were asked for. Where
    chunks were to find evidence, `coverage` says how much of it they have; lists in another order
    than that of the run have none.
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
    unscored: int = 0
    names: DocumentLists = UNNAMED
    coverage: Coverage | None = None

    @cached_property
    def counting(self) -> Bools:
        """Which judged queries count under the protocol: those in the run, or all."""
        return self.in_run if self.protocol.missing == "skip" else np.ones_like(self.in_run)

    @cached_property
    def starts(self) -> Ints:
        """The first place of each query, with the end appended."""
        return starts_of(np.bincount(self.query, minlength=len(self.qrels.queries)))

    @cached_property
    def grade(self) -> Floats:
        """The grade at each place."""
        return self.qrels.grades[self.judgment]

    @cached_property
    def tied(self) -> bool:
        """Whether any judged document shares its score with another document."""
        return bool(np.count_nonzero(self.first < self.last))

    @cached_property
    def blocks(self) -> tuple[Ints, Ints]:
        """The first and the last place in the tie of each place."""
        n = len(self.rank)
        place = np.arange(n)
        if not self.tied:
            return place, place
        new = np.ones(n + 1, dtype=bool)
        new[1:-1] = (np.diff(self.query) != 0) | (np.diff(self.first) != 0)
        start = np.maximum.accumulate(np.where(new[:-1], place, 0))
        end = np.where(new[1:], place, n)
        return start, np.minimum.accumulate(end[::-1])[::-1]

    @cached_property
    def lists(self) -> list[tuple[Ints, PaddedLists]]:
        """The same as padded arrays: blocks of queries and their lists."""
        return [(block.pool.queries, self._lists(*block)) for block in self.layout]

    @cached_property
    def layout(self) -> list[Block]:
        """Where the documents are in padded arrays, block by block."""
        return [self._block(pool) for pool in self.qrels.pools]

    def _block(self, pool: Pool) -> Block:
        if self.protocol.negative == "drop":
            pool = pool.without_negative
        begin, end = self.starts[:-1][pool.queries], self.starts[1:][pool.queries]
        place = begin[:, None] + np.arange(max((end - begin).max(), 1))
        found = place < end[:, None]
        return Block(pool, found, np.where(found, place, 0), {})

    def _lists(self, pool: Pool, found: Bools, place: Ints, known: dict[Any, Any]) -> PaddedLists:
        def some(values: Any) -> Any:
            return values if len(values) else np.ones(1, values.dtype)  # something to pad with

        rank = first = last = some(self.rank)[place]
        start, end = None, None
        if self.tied:
            first, last = self.first[place], self.last[place]
            start, end = (np.where(found, edge[place] - place[:, :1], 0) for edge in self.blocks)
        return PaddedLists(
            QUICK,
            found=found,
            rank=rank,
            first=first,
            last=last,
            grade=some(self.grade)[place],
            place=place,
            scores=some(self.score),
            judgments=some(self.judgment),
            pool=pool.grades,
            judged=pool.judged,
            retrieved=self.retrieved[pool.queries],
            maximum=self.qrels.maximum,
            depth=int(some(self.last).max()),
            start=start,
            end=end,
            expected=self.protocol.ties == "expected",
            columns=self.qrels.numbers,
            pooled=pool.known,
            known=known,
        )

    def grid(self, k: int) -> np.ma.MaskedArray[Any, Any]:
        """Return the grades of the first k ranks: NaN where unjudged, masked beyond the list.

        This is for measures that walk down the list.
        """
        column = np.arange(1, k + 1)
        grades = np.full((len(self.qrels.queries), k), np.nan)
        near = self.rank <= k
        grades[self.query[near], self.rank[near] - 1] = self.grade[near]
        return np.ma.masked_array(grades, mask=column > self.retrieved[:, None])

    def retied(self, ties: str, worth: Floats | None = None) -> Placements:
        """Order every tie by what its documents are worth: best first, or worst first.

        `worth` defaults to the grade. Unjudged documents are worth 0, and rank below judged ones
        worth as much.
        """
        if not self.tied:
            return self
        self.check_order(ties)
        sign = -1.0 if ties == "best" else 1.0
        worth = self.grade if worth is None else worth
        order = np.lexsort((sign * worth, self.first, self.query))
        start, end = self.blocks  # sorting within ties moves no place out of its block
        place = np.arange(len(order))
        early = worth[order] >= 0 if ties == "best" else worth[order] < 0
        rank = np.where(early, self.first + (place - start), self.last - (end - place))
        return replace(
            self, rank=rank, score=self.score[order], judgment=self.judgment[order], coverage=None
        )

    def check_order(self, ties: str) -> None:
        """Refuse orders of ties that look at grades, where ties decide which chunk finds what."""
        if self.tied and self.coverage is not None:
            hint = "choose docid-desc, or look at several orders: ties=random(1), ties=random(2)"
            raise UsageError(f"ties={ties} does not work with evidence in chunks", hint)

    def cut(self, depth: int) -> Placements:
        """Keep only the first documents of each list."""
        cut = replace(self, last=np.minimum(self.last, depth))
        return cut.at(self.rank <= depth, retrieved=np.minimum(self.retrieved, depth))

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
        return moved.at(self.grade >= 0, retrieved=self.retrieved - removed)

    def condensed(self) -> Placements:
        """Take unjudged documents out of the lists (Sakai 2007)."""
        before = self.starts[self.query] - 1
        rank = first = last = np.arange(len(before)) - before
        if self.tied:
            first, last = (edge - before for edge in self.blocks)
        retrieved = self.starts[1:] - self.starts[:-1]
        condensed = replace(
            self, rank=rank, first=first, last=last, retrieved=retrieved, coverage=None
        )
        for name in ("counting", "grade", "layout", "starts"):  # the documents stay the same
            vars(condensed)[name] = getattr(self, name)
        return condensed

    def turned(self) -> Placements:
        """Turn every list round: its last document comes first."""
        both = self.starts[self.query] + self.starts[self.query + 1]
        order, end = both - 1 - np.arange(len(both)), self.retrieved[self.query] + 1
        return replace(
            self,
            rank=(end - self.rank)[order],
            first=(end - self.last)[order],
            last=(end - self.first)[order],
            score=-self.score[order],
            judgment=self.judgment[order],
            coverage=None,
        )

    def at(self, kept: Bools, retrieved: Ints) -> Placements:
        """Keep some places; `retrieved` says how long each list is."""
        names = ("query", "rank", "first", "last", "score", "judgment")
        columns = {name: getattr(self, name)[kept] for name in names}
        return replace(self, retrieved=retrieved, **columns)
