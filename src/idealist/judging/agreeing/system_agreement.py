"""How far two judges rank systems alike: the order of the runs, their means, and every verdict.

The interval of a mean is by drawing queries with replacement. The rank correlations have none: both
the sample's and every draw's are lower than the truth, as noise blurs an order, so no such interval
covers the truth as often as it says. What is shown instead is the range of the draws: what other
queries of the same kind would have shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from idealist.comparing.compare_options import options_of
from idealist.comparing.deciding import pairs_of
from idealist.comparing.order_agreement import means_of
from idealist.comparing.pairing import ValueTable, aligned, places_of
from idealist.conventions.signature import Signature
from idealist.data import Qrels, Run
from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.rendering.plain_data import record
from idealist.rendering.wording import few
from idealist.significance.cluster_bootstrap import drawn_sums, percentiles, varying
from idealist.significance.means import mean
from idealist.significance.rank_tests import spearman, tau_ap, tau_b

#: How often queries are drawn for the ranges of rank correlations.
ORDERS = 1000
#: The best are a quarter of the systems, at least so many, where there are so many. Suggested.
BEST_SHARE, BEST_LEAST, BEST_AMONG = 4, 5, 8
#: Below so many systems, tau says little: of five there are ten pairs. Suggested.
FEW_RUNS = 8


class Flip(NamedTuple):
    """Two runs of which the judges say something else: the `better` one by the first judge.

    `how` is lost where the second judge finds no significant difference, gained where the first one
    does not, reversed where both do and disagree which run is better.
    """

    better: str
    worse: str
    how: str
    differences: tuple[float, float]
    p: tuple[float, float]


class Verdict(NamedTuple):
    """What a judge says of two runs: 1 if the first is significantly better, -1 if worse, else 0.

    `favour` is the difference of their means, above 0 where the first is better.
    """

    outcome: int
    favour: float
    p: float


#: Verdicts by two runs.
Verdicts = Mapping[tuple[str, str], Verdict]


@dataclass(frozen=True, eq=False)
class SystemAgreement:
    """How far two judges rank the runs alike by one measure.

    `values` are those of both, runs x queries, for the `queries` that both judged; `verdicts` are
    the pairs of runs as each decides them. `top` says how many systems are the best. `weights` are
    those of the queries, if they have any.
    """

    measure: str
    judges: tuple[str, str]
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    values: tuple[Floats, Floats]
    verdicts: tuple[Verdicts, Verdicts]
    sense: int = 1
    top: int = 0
    seed: int = 0
    signatures: tuple[Signature, ...] = ()
    weights: Floats | None = None

    @cached_property
    def means(self) -> tuple[Floats, Floats]:
        """The mean of each run, by either judge."""
        weights = None if self.weights is None else self.weights.tolist()
        one, other = (np.array([mean(row, weights) for row in own.tolist()]) for own in self.values)
        return one, other

    @property
    def _weights(self) -> Floats:
        return np.ones(len(self.queries)) if self.weights is None else self.weights

    @property
    def orders(self) -> tuple[Floats, Floats]:
        """The means, higher is better."""
        sign = -1 if self.sense < 0 else 1
        return sign * self.means[0], sign * self.means[1]

    @property
    def tau(self) -> float:
        """Kendall's tau-b of both orders; NaN of fewer than two runs."""
        return tau_b(*self.orders)

    @property
    def tau_ap(self) -> float:
        """τ_AP, the first judge's order being the truth."""
        return tau_ap(*self.orders)

    @property
    def rho(self) -> float:
        """Spearman's rho of both orders."""
        return spearman(*self.orders)

    @property
    def tau_top(self) -> float:
        """Kendall's tau-b among the best by the first judge; NaN where there are too few runs."""
        best = np.argsort(-self.orders[0], kind="stable")[: self.top]
        return tau_b(*(own[best] for own in self.orders)) if self.top > 1 else math.nan

    @property
    def inflation(self) -> float:
        """By how much the mean of all runs is higher by the second judge."""
        return float(np.mean(self.means[1] - self.means[0]))

    @cached_property
    def inflation_interval(self) -> tuple[float, float]:
        """The 95 % interval of the inflation, over queries."""
        apart = (self.values[1] - self.values[0]).mean(axis=0)
        sums = np.stack((apart * self._weights, self._weights), axis=1)
        drawn = drawn_sums(sums, seed=self.seed)
        return varying(percentiles(drawn[:, 0] / drawn[:, 1], len(self.queries)))

    @cached_property
    def redrawn(self) -> Mapping[str, tuple[float, float]]:
        """The range of rank correlations in 95 % of the draws of queries."""
        if len(self.runs) < 2 or len(self.queries) < 2:
            return dict.fromkeys(("tau", "tau_ap", "rho"), (math.nan, math.nan))
        sign = -1 if self.sense < 0 else 1
        one, other = (
            sign * drawn_sums((own * self._weights).T, ORDERS, self.seed) for own in self.values
        )
        ways = {"tau": tau_b, "tau_ap": tau_ap, "rho": spearman}
        return {name: _range([way(*both) for both in zip(one, other, strict=True)])
                for name, way in ways.items()}  # fmt: skip

    @property
    def winners(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The runs with the best mean, by either judge."""
        one, other = (
            tuple(run for run, mean in zip(self.runs, own, strict=True) if mean == own.max())
            for own in self.orders
        )
        return one, other

    @cached_property
    def flips(self) -> tuple[Flip, ...]:
        """The pairs of runs of which the judges say something else."""
        found = []
        for (run, baseline), one in self.verdicts[0].items():
            other = self.verdicts[1][run, baseline]
            if one.outcome != other.outcome:
                how = (
                    "reversed"
                    if one.outcome and other.outcome
                    else "lost"
                    if one.outcome
                    else "gained"
                )
                ahead = one.outcome or other.outcome
                better, worse = (run, baseline) if ahead > 0 else (baseline, run)
                apart = one.favour * ahead, other.favour * ahead
                found.append(Flip(better, worse, how, apart, (one.p, other.p)))
        return tuple(found)

    def count(self, *how: str) -> int:
        """Count the pairs of runs that flip so."""
        return sum(one.how in how for one in self.flips)

    @property
    def significant(self) -> tuple[int, int]:
        """How many pairs of runs are significantly different by either judge."""
        one, other = (sum(pair.outcome != 0 for pair in own.values()) for own in self.verdicts)
        return one, other

    @property
    def inflations(self) -> Mapping[str, float]:
        """By how much each run's mean is higher by the second judge."""
        return dict(zip(self.runs, (self.means[1] - self.means[0]).tolist(), strict=True))

    def data(self) -> dict[str, Any]:
        """Return it as plain data: `flips` counts verdicts of the first that the second has not."""
        one, other = self.judges
        means = {name: dict(zip(self.runs, own.tolist(), strict=True))
                 for name, own in zip(self.judges, self.means, strict=True)}  # fmt: skip
        return record({
            "n": len(self.runs), "queries": len(self.queries), "tau": self.tau,
            "tau_ap": self.tau_ap, "rho": self.rho, "top": self.top, "tau_top": self.tau_top,
            "inflation": self.inflation, "inflation_interval": list(self.inflation_interval),
            "redrawn": {name: list(ends) for name, ends in self.redrawn.items()},
            "pairs": len(self.verdicts[0]), "flips": self.count("lost", "reversed"),
            **{how: self.count(how) for how in ("lost", "reversed", "gained")},
            "significant": dict(zip((one, other), self.significant, strict=True)),
            "winners": dict(zip((one, other), map(list, self.winners), strict=True)),
            "signatures": dict(zip((one, other), map(str, self.signatures), strict=False)),
            "flipped": [one._asdict() for one in self.flips], "means": means,
        })  # fmt: skip


def _range(values: Sequence[float]) -> tuple[float, float]:
    known = np.array(values)[~np.isnan(values)]
    if not len(known):
        return math.nan, math.nan
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)


def best_of(runs: int, top: int | None) -> int:
    """Say how many systems are the best; 0 where there are too few to say.

    >>> best_of(63, None), best_of(12, None), best_of(6, None), best_of(6, 3)
    (16, 5, 0, 3)
    """
    if top is not None:
        if top < 2:
            raise UsageError(f"the best cannot be {top} systems", "give at least 2")
        return min(top, runs)
    return 0 if runs < BEST_AMONG else max(BEST_LEAST, math.ceil(runs / BEST_SHARE))


def systems_of(
    judged: Sequence[Qrels], names: tuple[str, str], runs: Sequence[Run], measures: Any, *,
    queries: Sequence[str], top: int | None = None, alpha: float = 0.05, seed: int = 0,
    **rules: Any,
) -> dict[str, SystemAgreement]:  # fmt: skip
    """Rank the runs by what each of two judges says of the queries that both judged."""
    pair = zip(judged, names, strict=True)
    tables = [_tables(*one, runs, measures, queries, **rules) for one in pair]
    found = {}
    for one, other in map(_same_queries, *tables):
        verdicts = _decided(one, alpha, seed), _decided(other, alpha, seed)
        found[one.label] = SystemAgreement(
            one.label, names, one.runs, one.queries, (one.values, other.values), verdicts,
            one.sense, best_of(len(runs), top), seed, (one.signature, other.signature),
            one.weights,
        )  # fmt: skip
    return found


def _same_queries(one: ValueTable, other: ValueTable) -> tuple[ValueTable, ValueTable]:
    """Keep the queries for which all runs have a value, by either judge."""
    both = {*one.queries} & {*other.queries}
    if not both:
        hint = "choose another measure, or give judgments of more queries"
        raise UsageError(f"no query has a value of {one.label} by both judges", hint)
    first, second = (
        own.only(np.array([query in both for query in own.queries])) for own in (one, other)
    )
    return first, second


def _tables(
    qrels: Qrels, judge: str, runs: Sequence[Run], measures: Any, queries: Sequence[str],
    **rules: Any,
) -> list[ValueTable]:  # fmt: skip
    evaluator = Evaluator(qrels, measures, queries=queries, **rules)
    evaluations = [evaluator(run) for run in runs]
    if unmet := [one.run for one in evaluations if one.unmatched]:
        hint = "check that runs and judgments spell ids alike: idealist audit"
        raise UsageError(f"{few(unmet)}: no document retrieved is judged by {judge}", hint)
    own = {label: one.measure for label, one in evaluator.instruments.items()}
    return aligned(evaluations, list(evaluator.measures), own)


def _decided(table: ValueTable, alpha: float, seed: int) -> Verdicts:
    """Decide all pairs of runs by one measure, as a comparison of all pairs does."""
    places = places_of(len(table.runs), 0, all_pairs=True)
    if not places or not table.queries:
        return {}
    means = list(means_of(table).values())
    order = sorted(range(len(means)), key=lambda i: -means[i])  # the better run comes first
    ordered = replace(
        table, runs=tuple(table.runs[i] for i in order), values=table.values[order]
    )  # fmt: skip
    options = options_of(len(places), (), all_pairs=True, alpha=alpha, seed=seed)
    found: dict[tuple[str, str], Verdict] = {}
    for pair in pairs_of([ordered], places, options):
        sign = -1 if pair.sense < 0 else 1
        outcome = 0 if not pair.significant else 1 if pair.better else -1
        favour = sign * pair.difference
        found[pair.run, pair.baseline] = Verdict(outcome, favour, pair.p_adjusted)
        found[pair.baseline, pair.run] = Verdict(-outcome, -favour, pair.p_adjusted)
    return {both: found[both] for both in combinations(table.runs, 2)}
