"""What unjudged documents cost: they get grades as often as the run's judged ones have them.

P(grade | rank, run) is counted among the judged documents of the run, in bands of ranks. Grades are
then drawn for the unjudged ones and the measures computed again, several times (Fröbe et al. 2023
bootstrap nDCG this way). Where documents are unjudged by chance, this estimates the value with all
judgments. In a pool it is too high: what was judged because other runs ranked it high is better
than what was not.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from idealist.auditing.thresholds import (
    BANDS,
    CALIBRATION,
    DRAWS,
    LEAST_JUDGED,
    LEAST_NONRELEVANT,
    PRIOR,
)
from idealist.bounding.unjudged_places import UnjudgedPlaces, find_unjudged
from idealist.data.columns import Floats, Ints, starts_of
from idealist.errors import IdealistError
from idealist.measures.instrument import Instrument, measured
from idealist.ranking.placements import Placements
from idealist.significance.means import mean


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
    placements = chances.placements
    unjudged, rng = find_unjudged(placements, depth), np.random.default_rng(0)
    draws = max(1, min(DRAWS, 100 * DRAWS // max(len(placements.qrels.queries), 1)))
    drawn: dict[str, list[float]] = {label: [] for label in instruments}
    for _ in range(draws):
        judged = _judged(placements, unjudged, chances.draw(unjudged.rank, rng))
        for label, instrument in instruments.items():
            with suppress(IdealistError):  # what cannot be measured has no price
                drawn[label].append(measured(instrument, judged).aggregate)
    return {label: mean(values) for label, values in drawn.items() if values}


def calibrated(judged: float) -> float:
    """Look up how much nDCG@10 gained on real runs with so much judged in the first 10."""
    return next(gap for least, gap in CALIBRATION if judged >= least)


def _judged(placements: Placements, unjudged: UnjudgedPlaces, grades: Floats) -> Placements:
    """Judge the unjudged: the same places, and one more for each of them."""
    qrels = placements.qrels
    pair = np.repeat(np.arange(len(qrels.queries)), np.diff(qrels.starts))
    order = np.argsort(np.concatenate([pair, unjudged.query]), kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))  # where each pair went
    sizes = np.diff(qrels.starts) + unjudged.counts(len(qrels.queries))
    judged = replace(
        qrels,
        starts=starts_of(sizes),
        documents=("",) * len(order),  # no measure asks for names
        grades=np.concatenate([qrels.grades, grades])[order],
        columns={}, subtopics=None, preferences=None,
    )  # fmt: skip
    columns = {
        "query": (placements.query, unjudged.query),
        "rank": (placements.rank, unjudged.rank),
        "first": (placements.first, unjudged.first),
        "last": (placements.last, unjudged.last),
        "score": (placements.score, unjudged.score),
        "judgment": (place[placements.judgment], place[len(pair) :]),
    }
    joined: dict[str, Any] = {name: np.concatenate(both) for name, both in columns.items()}
    ranked = np.lexsort((joined["rank"], joined["query"]))
    sorted_ = {name: column[ranked] for name, column in joined.items()}
    return replace(placements, qrels=judged, **sorted_)
