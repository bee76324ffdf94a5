"""Bounds of a difference between two runs: a document has one grade, for both."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from idealist.bounding.bound_case import (
    BoundCase,
    Completion,
    most_elsewhere,
    spans_of,
    unjudged_of,
)
from idealist.bounding.extremes import Ends, ends, lowest_of
from idealist.bounding.ndcg_extremes import Extreme, distinct, judged_dcg, rank_weights, weights_of
from idealist.bounding.unjudged_places import UnjudgedPlaces, documents_of
from idealist.data.columns import Bools, Floats, Ints, starts_of
from idealist.errors import UsageError
from idealist.measures.cumulative import CG, nDCG
from idealist.measures.instrument import Instrument, Measured
from idealist.measures.judged import Judged
from idealist.measures.sets import P
from idealist.measures.stopping import RBP
from idealist.ranking.ranked import Ranked

#: Measures to which the rank of a document matters, besides sums of discounted gains.
BY_RANK = ("AP", "GMAP", "RR", "ERR")


@dataclass(frozen=True, eq=False)
class CasePair:
    """The cases of a run and its baseline, and the unjudged documents of both, by query.

    `weights` says what the gain of each document is multiplied by in the difference, up to a
    factor that all share; `own` says where the documents of each case are among them. `below` has,
    per query, how many more there are: retrieved below the cutoff of both lists, they could only
    enter the ideal list, or R, with a weight of 0; no more of them than can matter.
    """

    cases: tuple[BoundCase, BoundCase]
    query: Ints
    documents: list[str]
    weights: Floats
    own: tuple[Ints, Ints]
    below: Ints

    @classmethod
    def of(cls, instrument: Instrument, run: Ranked, baseline: Ranked, reach: str) -> CasePair:
        """Join the unjudged documents of two runs."""
        cases = BoundCase.of(instrument, run), BoundCase.of(instrument, baseline)
        index: dict[tuple[int, str], int] = {}
        found = []
        for case, ranked in zip(cases, (run, baseline), strict=True):
            pairs = _named(case.unjudged, case, ranked)
            found.append(np.array([index.setdefault(pair, len(index)) for pair in pairs], int))
        below = np.zeros(cases[0].size, dtype=np.int64)
        if reach == "retrieved":
            for pair in _below(cases, (run, baseline), below, index):
                below[pair[0]] += 1
                index[pair] = len(index)
        query = np.array([query for query, _ in index], dtype=np.int64)
        order = np.argsort(query, kind="stable")
        place = np.argsort(order)
        own = place[found[0]], place[found[1]]
        weights = np.zeros(len(index))
        for sign, case, at in zip((1.0, -1.0), cases, own, strict=True):
            weights[at] += sign * _weights(case)
        names = [document for _, document in index]
        return cls(cases, query[order], [names[i] for i in order.tolist()], weights, own, below)

    @cached_property
    def counts(self) -> Ints:
        """The number of documents of each query."""
        return np.bincount(self.query, minlength=self.cases[0].size)

    @property
    def closed(self) -> Bools:
        """The queries for which the bounds hold, whatever other documents are judged too."""
        most = most_elsewhere(self.cases[0].instrument.measure, self.cases[0].placements)
        return np.zeros(len(self.below), dtype=bool) if most is None else self.below >= most

    @cached_property
    def spans(self) -> list[tuple[int, slice]]:
        """The queries that have unjudged documents, and where these are."""
        return spans_of(self.counts)

    def measured(self, grades: Floats) -> Iterator[Measured]:
        """Measure both runs as if the documents had been judged so."""
        for case, own in zip(self.cases, self.own, strict=True):
            other = np.ones(len(grades), dtype=bool)
            other[own] = False
            yield case.judged(grades[own], self.query[other], grades[other])

    @cached_property
    def exact(self) -> bool:
        """Whether the bounds are exact: for sums of gains, and nDCG with one ideal for both."""
        instrument = self.cases[0].instrument
        measure = instrument.measure
        if isinstance(measure, nDCG):
            a, b = (one.placements.retrieved for one in self.cases)
            alike = measure.ideal_cut != "min(k,n)" or np.array_equal(a, b)
            return measure.name == "nDCG" and measure.ideal != "retrieved" and alike
        if isinstance(measure, P):
            counted = instrument.protocol.grades != "nonzero"
            return not measure.positive_score and (counted or measure.denominator != "judged")
        return isinstance(measure, (CG, RBP, Judged))

    def ends(self) -> Ends:
        """Find the ends of every query's difference, or bound them from outside."""
        return self.attained() if self.exact else self._outer_ends()

    def attained(self) -> Ends:
        """Find the ends among the grades that are tried."""
        tried = list(self._completions())
        found = [tuple(self.measured(one)) for one in tried]
        values = np.array([a.values - b.values for a, b in found])
        counted = np.array([a.counted & b.counted for a, b in found])
        return Ends.of(values, counted, [Completion(one, np.zeros(0)) for one in tried])

    def _completions(self) -> Iterator[Floats]:
        """Generate grades among which are the extremes of every query."""
        case, measure = self.cases[0], self.cases[0].instrument.measure
        if isinstance(measure, nDCG) and measure.ideal != "perfect":
            yield from self._ratios(measure)
            yield np.full(len(self.query), distinct(measure, case.levels)[1][0])
            return
        lowest = {float(case.levels[0])} if isinstance(measure, (P, Judged)) else lowest_of(case)
        for low in sorted(lowest):
            yield np.full(len(self.query), low)
            for grade in case.levels.tolist():
                for sign in (1.0, -1.0):
                    yield np.where(sign * self.weights > 0, grade, low)  # all that help one run
                    single = np.full(len(self.query), low)
                    for _, span in self.spans:  # the one that helps it most
                        single[span][np.argmax(sign * self.weights[span])] = grade
                    yield single

    def _ratios(self, measure: nDCG) -> Iterator[Floats]:
        """Make the ratio of the difference to the ideal, which both runs share, extreme."""
        a, b = self.cases
        base = judged_dcg(a, measure) - judged_dcg(b, measure)
        for sign in (1.0, -1.0):
            extreme, made = Extreme(a, measure, sign, 0.0), np.zeros(len(self.query))
            for query, span in self.spans:
                made[span] = extreme.grades(query, float(base[query]), self.weights[span])
            yield made

    def _outer_ends(self) -> Ends:
        """Bound a difference by the bounds of both runs, with all documents of both judged."""
        measure = self.cases[0].instrument.measure
        if measure.list_only:
            hint = "use an ideal, or R, of all judged documents"
            raise UsageError(f"no bounds are known for a difference in {measure}", hint)
        a, b = (
            ends(replace(case, elsewhere=self.counts - case.unjudged.counts(case.size)))
            for case in self.cases
        )
        return a._replace(
            low=a.low - b.high, high=a.high - b.low, must=a.must & b.must, free=a.free | b.free
        )


def _named(places: UnjudgedPlaces, case: BoundCase, ranked: Ranked) -> Iterator[tuple[int, str]]:
    """Name unjudged documents, with their queries."""
    names = documents_of(places, case.placements, ranked.held)
    return zip(places.query.tolist(), names, strict=True)


def _below(
    cases: Sequence[BoundCase], runs: Sequence[Ranked], below: Ints, known: Container[Any]
) -> Iterator[tuple[int, str]]:
    """Find documents that are not known yet, of each query no more than can matter."""
    instrument = cases[0].instrument
    most = most_elsewhere(instrument.measure, cases[0].placements)
    if most == 0 or instrument.measure.cutoff is None:
        return
    listed = cases[0].unjudged.counts(cases[0].size) + cases[1].unjudged.counts(cases[0].size)
    for case, ranked in zip(cases, runs, strict=True):
        places = unjudged_of(instrument, ranked, whole=True)
        if most is not None:  # so many that enough are left, whichever of them are known
            starts = starts_of(places.counts(case.size))
            turn = np.arange(len(places)) - starts[places.query]
            places = places.at(turn < (listed + most)[places.query])
        for query, document in _named(places, case, ranked):
            if (query, document) not in known and (most is None or below[query] < most):
                yield query, document


def _weights(case: BoundCase) -> Floats:
    """Return what the gain of each unjudged document is multiplied by, up to a shared factor."""
    measure = case.instrument.measure
    if isinstance(measure, CG):
        return weights_of(case, measure)
    if isinstance(measure, RBP):
        discount = f"geometric({measure.p!r})"
        return rank_weights(discount, measure.last, case.unjudged, case.by_chance)
    ranked = measure.name in BY_RANK
    discount = "log2" if ranked else "none"
    weights = rank_weights(discount, measure.cutoff, case.unjudged, case.by_chance)
    if getattr(measure, "denominator", "k") == "k" and measure.cutoff is not None:
        return weights
    if isinstance(measure, (P, Judged)):
        length = np.minimum(case.placements.retrieved, measure.cutoff or np.inf)
        return weights / length[case.unjudged.query]
    return weights
