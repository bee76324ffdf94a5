"""Unjudged documents: what they cost, and which to judge first.

They get grades as often as the run's judged ones have them: P(grade | rank, run) is counted among
the judged documents of the run, in bands of ranks. Grades are then drawn for the unjudged ones and
the measures computed again, several times (Fröbe et al. 2023 bootstrap nDCG this way). Where
documents are unjudged by chance, this estimates the value with all judgments. In a pool it is too
high: what was judged because other runs ranked it high is better than what was not.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from idealist.bounding.bound_case import with_judgments
from idealist.bounding.unjudged_places import UnjudgedPlaces, find_unjudged
from idealist.data.columns import Floats, Ints
from idealist.errors import IdealistError
from idealist.evaluating.doubt_case import DoubtCase
from idealist.measures.instrument import Instrument, measured
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import listing
from idealist.significance.means import mean

#: How deep coverage is looked at: what people read, and what rerankers read. Suggested.
DEPTHS = (10, 100)
#: How far nDCG@10 rose, by the least share judged in the first 10, on these 269 runs.
CALIBRATION = ((0.98, 0.005), (0.9, 0.017), (0.7, 0.055), (0.5, 0.14), (0.0, 0.18))
#: The first ranks of the bands in which P(relevant | rank) is counted. Suggested.
BANDS = (1, 2, 4, 6, 11, 21, 51, 101, 201, 501)
#: As many documents of the run's average are mixed into each band. Suggested.
PRIOR = 5
#: Judged documents that a run must have for its own P(relevant | rank). Suggested.
LEAST_JUDGED = 30
#: Share of them that judges must have found not relevant: elsewhere only what is relevant was
#: written down, as in MS MARCO. Suggested.
LEAST_NONRELEVANT = 0.05
#: Times that grades are drawn for unjudged documents; fewer for more than 100 queries. Suggested.
DRAWS = 20
#: Pairs listed to be judged first, and queries read at most to find them. Suggested.
TO_JUDGE, TO_JUDGE_READ = 100, 1000


@dataclass(frozen=True, eq=False)
class Chances:
    """How often a judged document had each of the `grades`, in each band of ranks of one run.

    Every band has some of the run's average mixed in, so that a few documents do not decide.

    >>> from idealist import Protocol, rank, read_qrels, read_run
    >>> qrels = read_qrels({"q": {"a": 1, "b": 0, "c": 0}})
    >>> found = rank(qrels, read_run({"q": ["a", "x", "b"]}), [Protocol()])[Protocol()]
    >>> Chances(found).relevant(np.array([1, 2])).round(2).tolist()
    [0.58, 0.42]
    """

    placements: Placements

    @cached_property
    def grades(self) -> Floats:
        """The grades there are, lowest first."""
        return np.unique(self.placements.qrels.grades)

    @cached_property
    def shares(self) -> Floats:
        """The share of each grade in each band."""
        grade = np.searchsorted(self.grades, self.placements.grade)
        shape = len(BANDS), max(len(self.grades), 1)
        flat = bands_of(self.placements.rank) * shape[1] + grade
        counts = np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)
        whole = counts.sum(axis=0) / max(counts.sum(), 1)
        sizes = counts.sum(axis=1, keepdims=True)
        return np.asarray((counts + PRIOR * whole) / (sizes + PRIOR))

    def relevant(self, ranks: Ints) -> Floats:
        """Estimate P(relevant | rank)."""
        share: Floats = self.shares[:, self.grades > 0].sum(axis=1)
        return share[bands_of(ranks)]

    @cached_property
    def usable(self) -> bool:
        """Whether the run has enough judged documents, and enough of them are not relevant.

        Where only relevant documents were written down, the judged say nothing about the others.
        """
        grades = self.placements.grade
        bad = np.count_nonzero(grades <= 0)
        return len(grades) >= LEAST_JUDGED and bool(bad >= LEAST_NONRELEVANT * len(grades))

    def draw(self, ranks: Ints, rng: np.random.Generator) -> Floats:
        """Draw a grade for a document at each of some ranks."""
        edges = np.cumsum(self.shares, axis=1)[bands_of(ranks)]
        index = (rng.random(len(ranks))[:, None] >= edges).sum(axis=1)
        return np.asarray(self.grades[np.minimum(index, len(self.grades) - 1)])


def bands_of(ranks: Ints) -> Ints:
    """Find the band of each rank."""
    return np.searchsorted(BANDS, ranks, side="right") - 1


def filled(instruments: Mapping[str, Instrument], chances: Chances, depth: int) -> dict[str, float]:
    """Compute what measures would be, on average, if all documents down to a depth were judged."""
    placements, queries = chances.placements, len(chances.placements.qrels.queries)
    unjudged, rng = find_unjudged(placements, depth), np.random.default_rng(0)
    draws = max(1, min(DRAWS, 100 * DRAWS // max(queries, 1)))
    drawn: dict[str, list[float]] = {label: [] for label in instruments}
    for _ in range(draws):
        judged = with_judgments(placements, unjudged, chances.draw(unjudged.rank, rng))
        for label, instrument in instruments.items():
            with suppress(IdealistError):  # what cannot be measured has no price
                drawn[label].append(measured(instrument, judged).aggregate)
    return {label: mean(values) for label, values in drawn.items() if values}


def calibrated(judged: float) -> float:
    """Look up how much nDCG@10 gained on real runs with so much judged in the first 10."""
    return next(gap for least, gap in CALIBRATION if judged >= least)


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


def pairs_to_judge(runs: Mapping[str, DoubtCase]) -> tuple[PairToJudge, ...]:
    """List the pairs to judge first, most worth first.

    What a pair of a query can be worth at most is known without reading a document's name. Queries
    are read in that order, until none can hold a better pair or enough were read.
    """
    sides = _sides(runs, DEPTHS[0])
    if not any(len(side.unjudged) for side in sides.values()):
        sides = _sides(runs, DEPTHS[-1])
    most = _most([*sides.values()])
    queries = np.argsort(-most, kind="stable")
    queries = queries[most[queries] >= 0][:TO_JUDGE_READ]
    first: list[PairToJudge] = []
    for some in (queries[:TO_JUDGE], queries[TO_JUDGE:]):  # few at first: one run needs no more
        if not len(some) or (len(first) == TO_JUDGE and first[-1].worth >= most[some[0]]):
            break
        first += _among(sides, np.sort(some))
        first.sort(key=lambda one: (-one.worth, one.query, one.document))
        del first[TO_JUDGE:]
    return tuple(first)


def _sides(runs: Mapping[str, DoubtCase], depth: int) -> dict[str, Side]:
    found = {}
    for name, one in runs.items():
        chances, unjudged = Chances(one.whole), find_unjudged(one.whole, depth)
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
        names, lookup = case.qrels.queries, case.qrels.lookup
        asked = [names[query] for query in queries]
        ranked = listing(case.run, case.whole.protocol, asked, depth=DEPTHS[-1])
        for i in np.flatnonzero(np.isin(unjudged.query, queries)).tolist():
            query, rank = names[unjudged.query[i]], int(unjudged.rank[i])
            document = ranked[query].documents[rank - 1]
            if document not in lookup[query]:  # where ties are ordered by grade
                found.setdefault((query, document), []).append((name, rank, float(worth[i])))
    return [
        PairToJudge(*pair, runs, min(ranks), sum(worths))
        for pair, where in found.items()
        for runs, ranks, worths in [zip(*where, strict=True)]
    ]
