"""Unjudged documents: what they cost, and which to judge first.

They get grades as `Chances` has them, at both ends of what the odds may be, and the measures are
computed again, several times.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from idealist.auditing.chances import DEPTHS, Chances
from idealist.bounding.bound_case import with_judgments
from idealist.bounding.unjudged_places import UnjudgedPlaces, documents_of, find_unjudged
from idealist.data.columns import Floats, Ints
from idealist.errors import IdealistError
from idealist.evaluating.doubt_case import DoubtCase
from idealist.measures.instrument import Instrument, measured
from idealist.ranking.stored_placements import has_documents

#: Times that grades are drawn at each end; fewer for more than 100 queries. With ten, the ranges
#: held the value with all judgments of nine in ten runs of the half of the teams that nothing was
#: tuned on. Suggested.
DRAWS = 10
#: Pairs listed to be judged first, and queries that they are looked for in. Suggested.
TO_JUDGE, TO_JUDGE_READ = 100, 1000


def filled(
    instruments: Mapping[str, Instrument], chances: Chances, depth: int
) -> dict[str, tuple[float, float]]:
    """Find the range of measures if all documents down to a depth were judged.

    It goes from the least value that draws with the lower odds gave to the most of those with the
    higher.
    """
    placements, queries = chances.placements, len(chances.placements.qrels.queries)
    unjudged, rng = find_unjudged(placements, depth), np.random.default_rng(0)
    draws = max(1, min(DRAWS, 100 * DRAWS // max(queries, 1)))
    drawn: dict[str, list[float]] = {label: [] for label in instruments}
    for odds in np.repeat(chances.ends, draws):
        judged = None  # large: the one before makes room first
        judged = with_judgments(placements, unjudged, chances.draw(unjudged.rank, odds, rng))
        for label, instrument in instruments.items():
            with suppress(IdealistError):  # what cannot be measured has no price
                drawn[label].append(measured(instrument, judged).aggregate)
    halves = {label: np.array_split(values, 2) for label, values in drawn.items() if values}
    return {label: (float(low.min()), float(high.max())) for label, (low, high) in halves.items()}


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
        return {**vars(self), "runs": list(self.runs)}


class Side(NamedTuple):
    """A run with its unjudged documents, and what each of them is worth."""

    case: DoubtCase
    unjudged: UnjudgedPlaces
    worth: Floats


def pairs_to_judge(runs: Mapping[str, DoubtCase], odds: float) -> tuple[PairToJudge, ...]:
    """List the pairs to judge first, most worth first; `odds` are those of `Chances`.

    What a pair of a query can be worth at most is known without a document's name. Only the
    queries that can hold the best pairs are looked at. Runs of bundles have no names to list.
    """
    runs = {name: one for name, one in runs.items() if has_documents(one.run)}
    sides = _sides(runs, odds, DEPTHS[0])
    if not any(len(side.unjudged) for side in sides.values()):
        sides = _sides(runs, odds, DEPTHS[-1])
    most = _most([*sides.values()])
    queries = np.argsort(-most, kind="stable")
    queries = queries[most[queries] >= 0][:TO_JUDGE_READ]
    found = _among(sides, queries)
    found.sort(key=lambda one: (-one.worth, one.query, one.document))
    return tuple(found[:TO_JUDGE])


def _sides(runs: Mapping[str, DoubtCase], odds: float, depth: int) -> dict[str, Side]:
    found = {}
    for name, one in runs.items():
        chances, unjudged = Chances(one.whole, odds), find_unjudged(one.whole, depth)
        # where judges only wrote down what is relevant, only the rank is known
        likely = chances.relevant(unjudged.rank) if chances.usable else 1.0
        found[name] = Side(one, unjudged, np.asarray(likely / np.log2(unjudged.rank + 1.0)))
    return found


def _most(sides: list[Side]) -> Floats:
    """Compute what a pair of each query can be worth at most; -1 where there is none.

    That is the sum of its best unjudged document in each run.
    """
    most = np.zeros(max((len(side.case.qrels.queries) for side in sides), default=0))
    unjudged = np.zeros(len(most), dtype=bool)
    for side in sides:
        best = np.zeros_like(most)
        np.maximum.at(best, side.unjudged.query, side.worth)
        most += best
        unjudged[side.unjudged.query] = True
    return np.where(unjudged, most, -1.0)


def _among(sides: Mapping[str, Side], queries: Ints) -> list[PairToJudge]:
    """List the pairs of some queries."""
    found: dict[tuple[str, str], list[tuple[str, int, float]]] = {}
    for name, (case, unjudged, worth) in sides.items():
        kept, names = np.isin(unjudged.query, queries), case.qrels.queries
        places = unjudged.at(kept)
        documents = documents_of(places, case.ranked, case.whole.protocol)
        columns = places.query.tolist(), documents, places.rank.tolist(), worth[kept].tolist()
        for query, document, rank, value in zip(*columns, strict=True):
            found.setdefault((names[query], document), []).append((name, rank, value))
    return [
        PairToJudge(*pair, runs, min(ranks), sum(worths))
        for pair, where in found.items()
        for runs, ranks, worths in [zip(*where, strict=True)]
    ]
