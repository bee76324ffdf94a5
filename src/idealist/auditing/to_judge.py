"""Which pairs to judge first: the unjudged documents that would move values most."""

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
class PairToJudge:
    """An unjudged pair, the runs that have it, its best rank, and what its judgment is worth.

    `worth` is its expected gain, Σ P(relevant | rank, run) / log₂(rank + 1) over the
    runs.
    """

    query: str
    document: str
    runs: tuple[str, ...]
    rank: int
    worth: float

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "query": self.query, "document": self.document, "runs": list(self.runs),
            "rank": self.rank, "worth": self.worth,
        }  # fmt: skip


class Side(NamedTuple):
    """A run with its unjudged documents, and what each of them is worth."""

    run: Run
    placements: Placements
    unjudged: UnjudgedPlaces
    worth: Floats


def pairs_to_judge(
    runs: Mapping[str, Run], chances: Mapping[str, Chances]
) -> tuple[PairToJudge, ...]:
    """List the pairs to judge first, most worth first.

    What a pair of a query can be worth at most is known without reading a document's name. Queries
    are read in that order, until none can hold a better pair or enough were read.
    """
    sides = _sides(runs, chances, DEPTHS[0])
    if not any(len(side.unjudged) for side in sides.values()):
        sides = _sides(runs, chances, DEPTHS[-1])
    most = _most([*sides.values()])
    queries = np.argsort(-most, kind="stable")
    queries = queries[most[queries] >= 0][:TO_JUDGE_READ]
    first: list[PairToJudge] = []
    for some in (queries[:TO_JUDGE], queries[TO_JUDGE:]):  # few at first: one run needs no more
        if not len(some) or (len(first) == TO_JUDGE and first[-1].worth >= most[some[0]]):
            break
        first += _among(sides, frozenset(some.tolist()))
        first.sort(key=lambda one: (-one.worth, one.query, one.document))
        del first[TO_JUDGE:]
    return tuple(first)


def _sides(runs: Mapping[str, Run], chances: Mapping[str, Chances], depth: int) -> dict[str, Side]:
    found = {}
    for name, run in runs.items():
        own = chances[name]
        unjudged = find_unjudged(own.placements, depth)
        # where judges only wrote down what is relevant, only the rank is known
        likely = own.relevant(unjudged.rank) if own.usable else 1.0
        worth = np.asarray(likely / np.log2(unjudged.rank + 1.0))
        found[name] = Side(run, own.placements, unjudged, worth)
    return found


def _most(sides: list[Side]) -> Floats:
    """Compute what a pair of each query can be worth at most; -1 where there is none.

    That is the sum of its best unjudged document in each run.
    """
    most = np.zeros(max((len(side.placements.qrels.queries) for side in sides), default=0))
    unjudged = np.zeros(len(most), dtype=bool)
    for side in sides:
        best = np.zeros_like(most)
        np.maximum.at(best, side.unjudged.query, side.worth)
        most += best
        unjudged[side.unjudged.query] = True
    return np.where(unjudged, most, -1.0)


def _among(sides: Mapping[str, Side], queries: frozenset[int]) -> list[PairToJudge]:
    """List the pairs of some queries."""
    found: dict[tuple[str, str], list[tuple[str, int, float]]] = {}
    for name, side in sides.items():
        for pair, rank, worth in _named(side, queries):
            found.setdefault(pair, []).append((name, rank, worth))
    return [_pair(*pair, where) for pair, where in found.items()]


def _named(side: Side, queries: frozenset[int]) -> Iterator[tuple[tuple[str, str], int, float]]:
    """Name the unjudged documents of some queries, with rank and worth."""
    names, lookup = side.placements.qrels.queries, side.placements.qrels.lookup
    asked = [names[query] for query in sorted(queries)]
    ranked = listing(side.run, side.placements.protocol, asked, depth=DEPTHS[-1])
    for i in np.flatnonzero(np.isin(side.unjudged.query, list(queries))).tolist():
        query, rank = names[side.unjudged.query[i]], int(side.unjudged.rank[i])
        document = ranked[query].documents[rank - 1]
        if document not in lookup[query]:  # where ties are ordered by grade
            yield (query, document), rank, float(side.worth[i])


def _pair(query: str, document: str, where: list[tuple[str, int, float]]) -> PairToJudge:
    runs, ranks, worth = zip(*where, strict=True)
    return PairToJudge(query, document, runs, min(ranks), sum(worth))
