"""Which pairs to judge first: the holes that would move the values of the runs most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from idealist.auditing.filling import Chances
from idealist.auditing.thresholds import DEPTHS, TO_JUDGE, TO_JUDGE_READ
from idealist.bounding.unjudged_places import UnjudgedPlaces, find_unjudged
from idealist.data import Run
from idealist.data.columns import Floats
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import listing


@dataclass(frozen=True)
class Wanted:
    """An unjudged pair, the runs that have it, its best rank, and what its judgment is worth.

    `worth` is the gain that is expected of it, Σ P(relevant | rank, run) / log₂(rank + 1) over the
    runs.
    """

    query: str
    document: str
    runs: tuple[str, ...]
    rank: int
    worth: float

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "query": self.query, "document": self.document, "runs": list(self.runs),
            "rank": self.rank, "worth": self.worth,
        }  # fmt: skip


class Side(NamedTuple):
    """A run with its holes, and what each of them is worth."""

    run: Run
    placements: Placements
    holes: UnjudgedPlaces
    worth: Floats


def pairs_to_judge(runs: Mapping[str, Run], chances: Mapping[str, Chances]) -> tuple[Wanted, ...]:
    """List the pairs to judge first, most worth first.

    What a pair of a query can be worth at most is known without reading a document's name. Queries
    are read in that order, as long as another one can hold a better pair and not too many were.
    """
    sides = _sides(runs, chances, DEPTHS[0])
    if not any(len(side.holes) for side in sides.values()):
        sides = _sides(runs, chances, DEPTHS[-1])
    most = _most([*sides.values()])
    queries = np.argsort(-most, kind="stable")
    queries = queries[most[queries] >= 0][:TO_JUDGE_READ]
    wanted: list[Wanted] = []
    for some in (queries[:TO_JUDGE], queries[TO_JUDGE:]):  # few at first: one run needs no more
        if not len(some) or (len(wanted) == TO_JUDGE and wanted[-1].worth >= most[some[0]]):
            break
        wanted += _among(sides, frozenset(some.tolist()))
        wanted.sort(key=lambda one: (-one.worth, one.query, one.document))
        del wanted[TO_JUDGE:]
    return tuple(wanted)


def _sides(runs: Mapping[str, Run], chances: Mapping[str, Chances], depth: int) -> dict[str, Side]:
    found = {}
    for name, run in runs.items():
        own = chances[name]
        holes = find_unjudged(own.placements, depth)
        # where judges only wrote down what is relevant, rank is all that is known of a hole
        likely = own.relevant(holes.rank) if own.usable else 1.0
        worth = np.asarray(likely / np.log2(holes.rank + 1.0))
        found[name] = Side(run, own.placements, holes, worth)
    return found


def _most(sides: list[Side]) -> Floats:
    """Give what a pair of each query can be worth at most; -1 where there is none.

    That is the sum of its best hole in each run.
    """
    most = np.zeros(max((len(side.placements.qrels.queries) for side in sides), default=0))
    holes = np.zeros(len(most), dtype=bool)
    for side in sides:
        best = np.zeros_like(most)
        np.maximum.at(best, side.holes.query, side.worth)
        most += best
        holes[side.holes.query] = True
    return np.where(holes, most, -1.0)


def _among(sides: Mapping[str, Side], queries: frozenset[int]) -> list[Wanted]:
    """Give the pairs of some queries."""
    found: dict[tuple[str, str], list[tuple[str, int, float]]] = {}
    for name, side in sides.items():
        for pair, rank, worth in _named(side, queries):
            found.setdefault(pair, []).append((name, rank, worth))
    return [_wanted(*pair, where) for pair, where in found.items()]


def _named(side: Side, queries: frozenset[int]) -> Iterator[tuple[tuple[str, str], int, float]]:
    """Name the holes of some queries, with rank and worth."""
    names, lookup = side.placements.qrels.queries, side.placements.qrels.lookup
    asked = [names[query] for query in sorted(queries)]
    ranked = listing(side.run, side.placements.protocol, asked, depth=DEPTHS[-1])
    for i in np.flatnonzero(np.isin(side.holes.query, list(queries))).tolist():
        query, rank = names[side.holes.query[i]], int(side.holes.rank[i])
        document = ranked[query].documents[rank - 1]
        if document not in lookup[query]:  # ties by grade are listed otherwise
            yield (query, document), rank, float(side.worth[i])


def _wanted(query: str, document: str, where: list[tuple[str, int, float]]) -> Wanted:
    runs, ranks, worth = zip(*where, strict=True)
    return Wanted(query, document, runs, min(ranks), sum(worth))
