"""The ladder of losses: what separates every value from the ideal list's, cause by cause.

Each rung is the list with one more thing put right, measured as any list is. So the steps add up to
all that is lost, whatever the measure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.data.queries import Weights
from idealist.errors import UsageError
from idealist.measures import Measure
from idealist.measures.covered_text import CoveredText
from idealist.measures.instrument import Aggregate, Instrument, chosen, measured
from idealist.ranking.placements import Placements

#: What a value is lost to, in the order of the steps.
CAUSES: dict[str, str] = {
    "duplicates": "documents retrieved twice",
    "ties": "ties not in the best order",
    "unjudged": "documents behind unjudged ones",
    "order": "documents below worse ones",
    "cutoff": "documents below the cutoff",
    "worthless": "worthless documents retrieved",
    "missing": "documents not retrieved",
}


@dataclass(frozen=True, eq=False)
class Ladder:
    """The value of every judged query on each rung, from the actual list to the ideal one.

    `rungs` is rungs x queries, one rung more than there are causes; `counted` says which queries
    the aggregate is made of, `weights` how much each weighs, and `best` holds the ideal lists.
    Where a value is not defined, what is lost is not either.
    """

    queries: tuple[str, ...]
    counted: Bools
    direction: int
    rungs: Floats
    best: Placements
    weights: Weights | None = None

    @property
    def actual(self) -> Floats:
        """The value of each query."""
        values: Floats = self.rungs[0]
        return values

    @property
    def ideal(self) -> Floats:
        """What each query would be worth with the ideal list."""
        values: Floats = self.rungs[-1]
        return values

    @property
    def losses(self) -> dict[str, Floats]:
        """What each cause takes from each query; below 0 where putting it right makes it worse."""
        steps = self.direction * np.diff(self.rungs, axis=0)
        return dict(zip(CAUSES, steps, strict=True))

    def at(self, index: int) -> dict[str, float]:
        """Return what each cause takes from one query."""
        return {cause: float(lost[index]) for cause, lost in self.losses.items()}

    @property
    def loss(self) -> Floats:
        """All that each query loses."""
        lost: Floats = self.direction * (self.ideal - self.actual)
        return lost

    def mean(self) -> dict[str, float]:
        """Return what each cause takes from the mean of the queries that count."""
        counted = self.counted & ~np.isnan(self.loss)
        queries, mean = chosen(self.queries, counted), Aggregate(weights=self.weights)
        return {cause: mean.of(lost[counted], queries) for cause, lost in self.losses.items()}


def ladder(instrument: Instrument, placements: Placements) -> Ladder:
    """Measure every query on each rung of the ladder.

    actual list → duplicates gone → ties in the best order → unjudged documents gone → the first k
    in ideal order → all retrieved in ideal order → what is worth nothing gone → ideal list

    The ideal order is that of `Measure.worth`, best first. Documents worth nothing are taken out of
    a list, and of the ideal one, where that makes it better: a set's precision rises, but pairs of
    documents need both. A rung without a value has that of the one before. Measures of text lose
    to the cutoff, to text that is no evidence, and to evidence that no chunk has.

    A protocol counts a repeated document once, so duplicates take nothing; and documents that it
    does not look at, below its depth, are not retrieved. Where ties decide which chunk finds a
    piece of evidence, no order of them is known to be the best, and they stay as they are.

    >>> from idealist.conventions import convention
    >>> from idealist.formats import read_qrels, read_run
    >>> from idealist.measures import parse
    >>> from idealist import rank
    >>> one = convention("trec_eval").instrument(parse("P@2"))
    >>> qrels = read_qrels({"q1": {"a": 1, "b": 0, "c": 1}})
    >>> run = read_run({"q1": ["u", "b", "a"]})
    >>> found = ladder(one, rank(qrels, run, [one.protocol])[one.protocol])
    >>> found.rungs[:, 0].tolist()
    [0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 1.0]
    """
    measure = instrument.measure
    if not measure.direction:
        hint = "explain one that says how good a list is, such as nDCG@10"
        raise UsageError(f"{measure.name} is neither good nor bad, so nothing is lost", hint)

    actual = measured(instrument, placements)
    if measure.if_undefined == "error":  # which is meant for the actual list
        lenient: dict[str, Any] = {"no_relevant": "nan"}
        measure = replace(measure, **lenient)
        instrument = replace(instrument, measure=measure)

    def values(lists: Placements) -> Floats:
        return measured(instrument, lists).values

    every, best = _ideals(measure, placements)
    if isinstance(measure, CoveredText) and placements.coverage is not None:
        rungs = [actual.values] * 5 + measure.repaired(actual.values, placements)
    else:
        rungs = [actual.values, actual.values, *map(values, _repaired(measure, placements))]
        better = np.fmax if measure.direction > 0 else np.fmin
        rungs[-1] = better(rungs[-2], rungs[-1])  # without what is worth nothing, if that is better
        rungs.append(better(values(every), values(best)))
    climbed = np.array(rungs)
    for below, rung in pairwise(climbed):
        np.copyto(rung, below, where=np.isnan(rung))
    queries, weights = placements.qrels.queries, instrument.aggregate.weights
    return Ladder(queries, actual.counted, measure.direction, climbed, best, weights)


def _repaired(measure: Measure, placements: Placements) -> Iterator[Placements]:
    """Put right what can be without further documents, one thing after the other."""
    untied = _without_ties(measure, decided(placements))
    yield untied
    condensed = untied.condensed()
    yield condensed
    yield _ordered(measure, condensed, measure.cutoff)
    ordered = _ordered(measure, condensed)
    yield ordered
    yield _worthy(measure, ordered)


def decided(placements: Placements) -> Placements:
    """Ask for one order of ties, and no longer for the mean over all."""
    protocol = placements.protocol
    if protocol.ties != "expected":
        return placements
    return replace(placements, protocol=replace(protocol, ties="docid-desc"))


def _without_ties(measure: Measure, placements: Placements) -> Placements:
    """Break every tie, the best document first."""
    if not placements.tied or placements.coverage is not None:
        return placements
    best = placements.retied("best", measure.worth(placements))
    return replace(best, first=best.rank, last=best.rank)


def _ordered(measure: Measure, placements: Placements, cutoff: int | None = None) -> Placements:
    """Put the first documents of lists without unjudged ones in ideal order; all, without cutoff.

    Of documents that are worth the same, the one with the higher grade comes first.
    """
    grade, rank = placements.grade, placements.rank
    below = rank > (math.inf if cutoff is None else cutoff)
    worth = np.where(below, 0.0, measure.worth(placements))
    kept = np.where(below, rank, 0)  # below the cutoff all stay where they are
    order = np.lexsort((-grade, -worth, kept, placements.query))
    return replace(placements, score=placements.score[order], judgment=placements.judgment[order])


def _worthy(measure: Measure, placements: Placements) -> Placements:
    """Take out what is worth nothing, which stands at the end of lists in ideal order."""
    kept = measure.worth(placements) > 0
    retrieved = np.bincount(placements.query[kept], minlength=len(placements.qrels.queries))
    return replace(placements.at(kept, retrieved), empty=retrieved == 0)


def _ideals(measure: Measure, placements: Placements) -> tuple[Placements, Placements]:
    """Make lists of all judged documents in ideal order, and of those that are worth anything."""
    qrels, protocol = placements.qrels, placements.protocol
    query = np.repeat(np.arange(len(qrels.queries)), np.diff(qrels.starts))
    dropped = (qrels.grades < 0) & (protocol.negative == "drop")
    judgment = np.flatnonzero(~dropped)
    query = query[judgment]
    sizes = np.bincount(query, minlength=len(qrels.queries))
    rank = np.arange(len(query)) - (np.cumsum(sizes) - sizes)[query] + 1
    scores = np.ones(len(query))  # some measures count positive scores only
    every = replace(
        decided(placements), retrieved=sizes, empty=sizes == 0, query=query, rank=rank, first=rank,
        last=rank, score=scores, judgment=judgment,
    )  # fmt: skip
    every = _ordered(measure, every)
    both = every, _worthy(measure, every)
    if isinstance(protocol.depth, int):
        return both[0].cut(protocol.depth), both[1].cut(protocol.depth)
    return both
