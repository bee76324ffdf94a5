"""Bounds of a difference between two runs: a document has one grade, for both."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from idealist.bounding.bound_case import EXACT, BoundCase, Completion, most_elsewhere, spans_of
from idealist.bounding.extremes import Ends, ends, lowest_of
from idealist.bounding.ndcg_extremes import Extreme, distinct, judged_dcg, rank_weights, weights_of
from idealist.bounding.unjudged_places import names_of
from idealist.data.columns import Bools, Floats, Ints, starts_of
from idealist.errors import UsageError
from idealist.measures.cumulative import CG, nDCG
from idealist.measures.instrument import Instrument, Measured
from idealist.measures.judged import Judged
from idealist.measures.sets import P
from idealist.measures.stopping import RBP
from idealist.ranking.document_lists import ALL, DocumentLists, decoded
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
    names: list[bytes]
    weights: Floats
    own: tuple[Ints, Ints]
    below: Ints

    @classmethod
    def of(cls, instrument: Instrument, run: Ranked, baseline: Ranked, reach: str) -> CasePair:
        """Join the unjudged documents of two runs."""
        cases = BoundCase.of(instrument, run), BoundCase.of(instrument, baseline)
        most = _most_below(cases[0]) if reach == "retrieved" else 0
        lists = _lists(cases, (run, baseline), most)
        names: list[bytes] = []
        places: tuple[list[int], list[int]] = ([], [])
        counts, below = np.zeros((2, cases[0].size), dtype=np.int64)
        for query in range(cases[0].size):
            index: dict[bytes, int] = {}
            for own, at in zip(lists, places, strict=True):
                at += [len(names) + index.setdefault(name, len(index)) for name in own.above(query)]
            above = len(index)
            for name in chain.from_iterable(own.retrieved(query) for own in lists if most):
                if len(index) - above >= most:
                    break
                index.setdefault(name, len(index))
            names += index
            counts[query], below[query] = len(index), len(index) - above
        own_places = np.array(places[0], dtype=np.int64), np.array(places[1], dtype=np.int64)
        weights = np.zeros(len(names))
        for sign, case, its in zip((1.0, -1.0), cases, own_places, strict=True):
            weights[its] += sign * _weights(case)
        queries = np.repeat(np.arange(cases[0].size), counts)
        return cls(cases, queries, names, weights, own_places, below)

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
            yield Extreme(a, measure, sign, 0.0).grades(base, self.query, self.weights)

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


@dataclass(frozen=True, eq=False)
class _Lists:
    """The unjudged documents of a run, by query: those a measure sees, and all that may matter."""

    seen: list[bytes]
    starts: list[int]
    names: DocumentLists
    lengths: list[int]
    judged: Sequence[Container[str]]

    def above(self, query: int) -> list[bytes]:
        """Name the documents that the measure sees."""
        return self.seen[self.starts[query] : self.starts[query + 1]]

    def retrieved(self, query: int) -> Iterator[bytes]:
        """Name the documents that were retrieved, from the top."""
        for name in self.names.first(query, self.lengths[query]):
            if not self.judged or decoded(name) not in self.judged[query]:
                yield name


def _lists(cases: Sequence[BoundCase], runs: Sequence[Ranked], most: int) -> list[_Lists]:
    """Name the unjudged documents of both runs: enough that `most` are left below those seen."""
    protocol, size = cases[0].instrument.protocol, cases[0].size
    seen = [case.unjudged.counts(size) for case in cases]
    by_zero = protocol.grades == "nonzero"  # a grade of 0 was given by somebody, too
    enough = ALL if by_zero or most == ALL else int((seen[0] + seen[1]).max(initial=0)) + most
    enough = max(enough if most else 0, *(case.unjudged.deepest for case in cases))
    found = []
    for case, ranked, counts in zip(cases, runs, seen, strict=True):
        names, qrels = ranked.names(protocol, enough), ranked.qrels
        unjudged = case.placements.retrieved - np.diff(case.placements.starts)
        judged = [qrels.lookup[query] for query in qrels.queries] if by_zero else ()
        own = names_of(case.unjudged, names), starts_of(counts).tolist()
        found.append(_Lists(*own, names, unjudged.tolist(), judged))
    return found


def _most_below(case: BoundCase) -> int:
    """Return how many documents below the cutoff of both lists can matter to a query."""
    if case.instrument.measure.cutoff is None:
        return 0
    most = most_elsewhere(case.instrument.measure, case.placements)
    return ALL if most is None else most


def names_ahead(instrument: Instrument) -> int:
    """Return how many unjudged documents of each query the bounds of a difference ask for.

    Those of both lists down to the cutoff may be different, and as many below them can matter;
    where there is no cutoff, or each one more matters, they are found when they are needed.
    """
    measure = instrument.measure
    if measure.name not in EXACT or instrument.protocol.grades == "nonzero":
        return 0
    return 3 * (measure.cutoff or 0)


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
