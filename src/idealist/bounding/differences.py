"""Bounds of a difference between two runs: every document has one grade, for both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from idealist.bounding.bounds_result import Narrowing, Witness
from idealist.bounding.extremes import Ends, ends, lowest_of
from idealist.bounding.hidden import documents_of
from idealist.bounding.ndcg_extremes import (
    cumulated_ideal,
    distinct,
    ideal_pool,
    level_of,
    rank_weights,
    ratio_of,
    weighed,
)
from idealist.bounding.setting import Case
from idealist.data import Qrels, Run
from idealist.data.columns import Bools, Floats
from idealist.errors import UsageError
from idealist.measures.cumulative import CG, nDCG
from idealist.measures.instrument import Measured, measured
from idealist.measures.judged import Judged
from idealist.measures.sets import P
from idealist.measures.stopping import RBP
from idealist.ranking.ranked import rank


@dataclass(frozen=True, eq=False)
class Pair:
    """Two runs, their cases, and the holes of both: per query each document's weight in a - b."""

    qrels: Qrels
    runs: tuple[Run, Run]
    cases: tuple[Case, Case]
    holes: dict[str, dict[str, float]]

    def measured(self, grades: Witness) -> tuple[Measured, Measured]:
        """Measure both runs with the holes judged."""
        instrument, whole = self.cases[0].instrument, with_judgments(self.qrels, grades)
        protocol = instrument.protocol
        a, b = (rank(whole, run, [protocol])[protocol] for run in self.runs)
        return measured(instrument, a), measured(instrument, b)


@dataclass(frozen=True, eq=False)
class TwoRuns:
    """The witnesses of a difference, where its bounds are exact."""

    low: Witness
    high: Witness

    @classmethod
    def of(
        cls, pair: Pair, found: Ends, tried: list[Witness], counted: tuple[Bools, Bools]
    ) -> TwoRuns:
        """Take from each query the completion that gives its end, or that leaves it out."""
        made: list[Witness] = []
        for inside, at in zip(counted, (found.low_at, found.high_at), strict=True):
            chosen = np.where(inside | ~found.free, at, found.spare).tolist()
            pairs = zip(pair.qrels.queries, chosen, strict=True)
            made.append({q: tried[i][q] for q, i in pairs if tried and q in pair.holes})
        return cls(*made)

    def witness(self, high: bool) -> Witness:
        """Give judgments of the holes that attain an end."""
        return self.high if high else self.low

    def elsewhere(self, high: bool) -> dict[str, tuple[int, float]]:
        """Nothing is judged elsewhere."""
        return {}

    def first(self, n: int) -> list[Narrowing]:
        """Refuse: bounds of each run say it."""
        hint = "ask the bounds of each run for its own: il.bounds(…).first()"
        raise UsageError("a difference does not say which documents to judge first", hint)


def with_judgments(qrels: Qrels, more: Witness) -> Qrels:
    """Add judgments, given by query and document."""
    rows = [(q, d, g) for q, judged in qrels.to_dict().items() for d, g in judged.items()]
    rows += [(q, d, g) for q, judged in more.items() for d, g in judged.items()]
    query, document, grade = zip(*rows, strict=True)
    made = Qrels.build(
        query, document, grade, scale=qrels.scale, name=qrels.name, empty=qrels.queries
    )
    return replace(made, left_out=qrels.left_out)


def exact_difference(pair: Pair) -> bool:
    """Whether the bounds of a difference are exact: sums of gains, and nDCG with one ideal."""
    measure = pair.cases[0].instrument.measure
    if isinstance(measure, nDCG):
        a, b = (one.placements.retrieved for one in pair.cases)
        alike = measure.ideal_cut != "min(k,n)" or np.array_equal(a, b)
        return measure.name == "nDCG" and measure.ideal != "retrieved" and alike
    if isinstance(measure, P):
        counted = pair.cases[0].instrument.protocol.grades != "nonzero"
        return not measure.positive_score and (counted or measure.denominator != "judged")
    return isinstance(measure, (CG, RBP, Judged))


def pair_of(qrels: Qrels, runs: tuple[Run, Run], cases: tuple[Case, Case]) -> Pair:
    """Join the holes of two cases."""
    holes: dict[str, dict[str, float]] = {}
    for sign, run, case in zip((1.0, -1.0), runs, cases, strict=True):
        names = documents_of(case.holes, case.placements, run)
        weights = (sign * _weights(case)).tolist()
        for q, name, weight in zip(case.holes.query.tolist(), names, weights, strict=True):
            own = holes.setdefault(qrels.queries[q], {})
            own[name] = own.get(name, 0.0) + weight
    order = {query: i for i, query in enumerate(qrels.queries)}
    return Pair(qrels, runs, cases, dict(sorted(holes.items(), key=lambda item: order[item[0]])))


def _weights(case: Case) -> Floats:
    """Give what the gain of each hole is multiplied by, up to a factor that all share."""
    measure = case.instrument.measure
    if isinstance(measure, CG):
        return weighed(case, measure).holes
    chance = case.placements.protocol.ties == "expected"
    if isinstance(measure, RBP):
        return rank_weights(f"geometric({measure.p!r})", measure.last, case.holes, chance)
    weights = rank_weights("none", measure.cutoff, case.holes, chance)
    if getattr(measure, "denominator", "k") == "k" and measure.cutoff is not None:
        return weights
    if isinstance(measure, (P, Judged)):
        length = np.minimum(case.placements.retrieved, measure.cutoff or np.inf)
        return weights / length[case.holes.query]
    return weights


def joint_completions(pair: Pair) -> Iterator[Witness]:
    """Give completions among which are the extremes of every query."""
    case, measure = pair.cases[0], pair.cases[0].instrument.measure
    if isinstance(measure, nDCG) and measure.ideal != "perfect":
        yield from _ratios(pair, measure)
        low = float(distinct(measure, case.levels)[1][0])
        yield {q: dict.fromkeys(weights, low) for q, weights in pair.holes.items()}
        return
    lowest = {float(case.levels[0])} if isinstance(measure, (P, Judged)) else lowest_of(case)
    for low in sorted(lowest):
        yield {q: dict.fromkeys(weights, low) for q, weights in pair.holes.items()}
        for grade in case.levels.tolist():
            for sign in (1.0, -1.0):
                yield {q: _signed(w, sign, grade, low) for q, w in pair.holes.items()}
                yield {q: _single(w, sign, grade, low) for q, w in pair.holes.items()}


def _signed(weights: dict[str, float], sign: float, grade: float, low: float) -> dict[str, float]:
    """Give a grade to all that count for one run, and the lowest to the others."""
    return {name: grade if sign * weight > 0 else low for name, weight in weights.items()}


def _single(weights: dict[str, float], sign: float, grade: float, low: float) -> dict[str, float]:
    """Give a grade to the one that counts most for one run."""
    best = max(weights, key=lambda name: sign * weights[name])
    return dict.fromkeys(weights, low) | {best: grade}


def _ratios(pair: Pair, measure: nDCG) -> Iterator[Witness]:
    """Maximise and minimise the ratio of a difference to the ideal that both runs share."""
    a, b = pair.cases
    gains, grades = distinct(measure, a.levels)
    base = weighed(a, measure).base - weighed(b, measure).base
    index = {name: i for i, name in enumerate(pair.qrels.queries)}
    for sign in (1.0, -1.0):
        made: Witness = {}
        for name, holes in pair.holes.items():
            query = index[name]
            order = sorted(holes, key=lambda document: -sign * holes[document])
            weights = np.array([holes[document] for document in order])
            pool = ideal_pool(a, measure, query, 0.0)
            retrieved = int(a.placements.retrieved[query])
            cumulated = cumulated_ideal(measure, len(pool) + len(order), retrieved)
            ratio = ratio_of(float(base[query]), weights, gains, pool, cumulated)
            given = np.full(len(order), grades[0])
            if ratio.divides:
                given = grades[level_of(ratio.extreme(sign), len(order))]
            made[name] = dict(zip(order, given.tolist(), strict=True))
        yield made


def joint_ends(pair: Pair, grades: Mapping[float, float]) -> tuple[Ends, list[Witness]]:
    """Find the ends of every query's difference; `grades` gives grades as they are written."""
    tried = [
        {q: {name: grades[grade] for name, grade in own.items()} for q, own in one.items()}
        for one in joint_completions(pair)
    ]
    found = [pair.measured(one) for one in tried]
    values = np.array([a.values - b.values for a, b in found])
    counted = np.array([a.counted & b.counted for a, b in found])
    return Ends.of(values, counted, []), tried


def outer_ends(pair: Pair) -> Ends:
    """Bound a difference by the bounds of both runs, each with the other's holes judged too."""
    measure = pair.cases[0].instrument.measure
    if measure.list_only:
        hint = "use an ideal, or R, of all judged documents"
        raise UsageError(f"the difference of two {measure} has no bounds here", hint)
    found = []
    for case in pair.cases:
        own = case.holes.counts(case.size)
        both = [len(pair.holes.get(query, ())) for query in pair.qrels.queries]
        found.append(ends(replace(case, elsewhere=np.array(both) - own)))
    a, b = found
    return a._replace(
        low=a.low - b.high, high=a.high - b.low, must=a.must & b.must, free=a.free | b.free
    )
