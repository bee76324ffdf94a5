"""Which pairs to judge first: the holes that would move the values of the runs most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.auditing.filling import Chances
from idealist.auditing.thresholds import DEPTHS, TO_JUDGE
from idealist.bounding.holes import Holes, find_holes
from idealist.ranking import listing
from idealist.tables import Run
from idealist.tables.columns import Floats


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

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "query": self.query, "document": self.document, "runs": list(self.runs),
            "rank": self.rank, "worth": self.worth,
        }  # fmt: skip


def pairs_to_judge(runs: Mapping[str, Run], chances: Mapping[str, Chances]) -> tuple[Wanted, ...]:
    """List the pairs to judge first, most worth first.

    Where they can lie is known without reading a document's name; the lists of those queries only
    are read.
    """
    if not runs:
        return ()
    holes = {name: find_holes(one.placements, DEPTHS[0]) for name, one in chances.items()}
    if not any(map(len, holes.values())):
        holes = {name: find_holes(one.placements, DEPTHS[-1]) for name, one in chances.items()}
    worth = {name: _worth(one, chances[name]) for name, one in holes.items()}
    queries = _queries(holes, worth)
    found: dict[tuple[str, str], list[tuple[str, int, float]]] = {}
    for name, run in runs.items():
        for pair, rank, value in _named(run, chances[name], holes[name], worth[name], queries):
            found.setdefault(pair, []).append((name, rank, value))
    wanted = [_wanted(*pair, where) for pair, where in found.items()]
    wanted.sort(key=lambda one: (-one.worth, one.query, one.document))
    return tuple(wanted[:TO_JUDGE])


def _worth(holes: Holes, chances: Chances) -> Floats:
    # where judges only wrote down what is relevant, rank is all that is known of a hole
    likely = chances.relevant(holes.rank) if chances.usable else 1.0
    return np.asarray(likely / np.log2(holes.rank + 1.0))


def _queries(holes: Mapping[str, Holes], worth: Mapping[str, Floats]) -> frozenset[int]:
    """Choose the queries in which the pairs of most worth lie."""
    query = np.concatenate([one.query for one in holes.values()])
    order = np.argsort(-np.concatenate(list(worth.values())), kind="stable")
    return frozenset(query[order[:TO_JUDGE]].tolist())


def _named(
    run: Run, chances: Chances, holes: Holes, worth: Floats, queries: frozenset[int]
) -> list[tuple[tuple[str, str], int, float]]:
    """Name the holes of some queries, with rank and worth."""
    placements = chances.placements
    names = placements.qrels.queries
    asked = [names[query] for query in sorted(queries)]
    ranked = listing(run, placements.protocol, asked, depth=DEPTHS[-1])
    found = []
    for i in np.flatnonzero(np.isin(holes.query, list(queries))).tolist():
        query, rank = names[holes.query[i]], int(holes.rank[i])
        pair = query, ranked[query].documents[rank - 1]
        if pair[1] not in placements.qrels.lookup[query]:  # ties by grade are listed otherwise
            found.append((pair, rank, float(worth[i])))
    return found


def _wanted(query: str, document: str, where: list[tuple[str, int, float]]) -> Wanted:
    runs, ranks, worth = zip(*where, strict=True)
    return Wanted(query, document, runs, min(ranks), sum(worth))
