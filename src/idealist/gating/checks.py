"""Checks: one measure of two runs, query by query, under the gate's rule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from numbers import Real
from typing import Any

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.errors import UsageError
from idealist.evaluating.evaluation import Evaluation, label_of
from idealist.report.plain_data import finite
from idealist.significance.families import holm
from idealist.significance.means import mean
from idealist.significance.paired import Paired, checked_alpha, differences, paired
from idealist.significance.power_analysis import ENOUGH


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a measure for two runs; `undefined` names the queries that have none.

    `weights` is None where all queries weigh the same.
    """

    queries: tuple[str, ...]
    base: Floats
    new: Floats
    weights: Floats | None = None
    undefined: tuple[str, ...] = ()

    @property
    def differences(self) -> Floats:
        """The gain of each query; values that differ only by rounding are equal."""
        return differences(self.base, self.new)

    @property
    def means(self) -> tuple[float, float]:
        """The mean of the base and of the new run; NaN where there are no queries."""
        if not self.queries:
            return np.nan, np.nan
        weights = None if self.weights is None else self.weights.tolist()
        return mean(self.base.tolist(), weights), mean(self.new.tolist(), weights)

    def at(self, mask: Bools) -> Values:
        """Keep some queries."""
        weights = None if self.weights is None else self.weights[mask]
        queries = tuple(compress(self.queries, mask.tolist()))
        return Values(queries, self.base[mask], self.new[mask], weights)

    def defined(self) -> Values:
        """Leave out the queries that lack a value in one of the runs, and name them."""
        gaps = np.isnan(self.new - self.base)
        kept = self.at(~gaps)
        lost = tuple(compress(self.queries, gaps.tolist()))
        return Values(kept.queries, kept.base, kept.new, kept.weights, lost)


def paired_values(base: Evaluation, new: Evaluation, label: str) -> Values:
    """Pair the values of a measure; both runs must be measured on the same queries."""
    before, after = base.by_query(label), new.by_query(label)
    if before.keys() != after.keys():
        one = min(before.keys() ^ after.keys())
        message = f"{label} is measured on different queries: {one!r} counts for one run only"
        raise UsageError(message, "count missing queries in both: --set missing=zero")
    weighted = dict(new.signatures[label].settings)["aggregate"].startswith("weighted(")
    weights = np.array([new.weights[query] for query in after]) if weighted else None
    old, values = (np.array([side[query] for query in after]) for side in (before, after))
    return Values(tuple(after), old, values, weights).defined()


PASS, FAIL, INCONCLUSIVE, UNTESTED = "PASS", "FAIL", "INCONCLUSIVE", "UNTESTED"

#: How many of the queries that lost most are named.
NAMED = 5
#: The largest drop that passes unless the caller sets another.
MAX_DROP = 0.01
#: With fewer queries than this, bounds of the mean say next to nothing.
FEWEST = 5


@dataclass(frozen=True)
class Rule:
    """What the gate lets through: a drop of at most `max_drop`, and a mean not below `floor`.

    `alpha` is the level of the one-sided bounds.
    """

    max_drop: float = MAX_DROP
    alpha: float = 0.05
    floor: float | None = None

    def verdict(self, result: Paired, p_drop: float) -> str:
        """Decide by the one-sided bounds of the mean difference.

        FAIL: the upper bound is not above 0, which is p ≤ alpha, and the mean is below -max_drop.
        PASS: the lower bound is not below -max_drop.
        """
        if p_drop <= self.alpha and result.mean < -self.max_drop:
            return FAIL
        if result.constant:
            sure = same_signs(result.n) <= self.alpha
            return PASS if sure and result.mean >= -self.max_drop else INCONCLUSIVE
        return PASS if result.lower(self.alpha) >= -self.max_drop else INCONCLUSIVE


def rules_of(labels: Iterable[str], max_drop: Any, alpha: Any, floors: Any) -> dict[str, Rule]:
    """Read the rule of each measure: limits are one number for all, or {measure: number}."""
    known, level = list(labels), checked_alpha(alpha)
    drops = dict.fromkeys(known, MAX_DROP) | _by_measure("max_drop", max_drop, known)
    least = {} if floors is None else _by_measure("floors", floors, known)
    for label, drop in drops.items():
        if drop < 0:
            raise UsageError(f"max_drop of {label} cannot be {drop:g}", "give 0 or more")
    return {label: Rule(drop, level, least.get(label)) for label, drop in drops.items()}


def _by_measure(name: str, given: Any, labels: list[str]) -> dict[str, float]:
    if not isinstance(given, Mapping):
        return dict.fromkeys(labels, _number(name, given))
    found: dict[str, float] = {}
    for measure, number in given.items():
        label = label_of(measure, labels)
        if label in found:
            raise UsageError(f"{label} has two {name}", "give each measure one")
        found[label] = _number(f"{name} of {label}", number)
    return found


def _number(name: str, given: Any) -> float:
    real = isinstance(given, Real) and not isinstance(given, bool)
    if not real or not math.isfinite(given):
        hint = "give a number such as 0.01, or {measure: number}"
        raise UsageError(f"{name} cannot be {given!r:.60}", hint)
    return float(given)


def same_signs(n: int) -> float:
    """Compute the chance that n fair coins all fall the same given way, 2^-n.

    Where all differences are equal t says nothing; this is their one-sided p by sign flips.
    """
    return 0.5**n


def p_of_drop(result: Paired) -> float:
    """Compute the one-sided p-value of a drop, by sign flips where nothing varies."""
    if not result.constant:
        return result.p_below(0.0)
    return same_signs(result.n) if result.mean < 0 else 1.0


@dataclass(frozen=True, eq=False)
class Check:
    """One measure under the gate's rule: both means, the change, and the verdict.

    `part` is a slice, None for all queries. `span` is the largest change that the measure allows.
    `p_adjusted` is the one-sided p of a drop after Holm's correction, over the measures or over all
    slices. `unmet` says why nothing was measured, where no document of a run is judged.
    """

    measure: str
    part: str | None
    values: Values
    paired: Paired
    rule: Rule
    span: float = math.inf
    p_adjusted: float = math.nan
    unmet: str = ""

    @classmethod
    def of(
        cls, measure: str, values: Values, rule: Rule, span: float = math.inf,
        part: str | None = None,
    ) -> Check:  # fmt: skip
        """Set up a check; its verdict is final once the p-values of all checks are adjusted."""
        result = paired(values.differences, values.weights)
        return cls(measure, part, values, result, rule, span)

    @property
    def n(self) -> int:
        """The number of queries."""
        return len(self.values.queries)

    @property
    def tested(self) -> bool:
        """Whether there are enough queries for a verdict."""
        return self.part is None or self.n >= ENOUGH

    @property
    def p_drop(self) -> float:
        """The one-sided p-value of a drop."""
        return p_of_drop(self.paired)

    @property
    def below_floor(self) -> bool:
        """Whether the new mean is lower than the floor."""
        return self.rule.floor is not None and self.values.means[1] < self.rule.floor

    @property
    def verdict(self) -> str:
        """The verdict: PASS, FAIL, INCONCLUSIVE, or UNTESTED for a small slice."""
        if not self.tested:
            return UNTESTED
        return FAIL if self.unmet or self.below_floor else self.ruled

    @property
    def ruled(self) -> str:
        """The verdict by the bounds alone, whatever the floor."""
        return self.rule.verdict(self.paired, self.p_adjusted)

    @property
    def name(self) -> str:
        """The measure, and the slice if there is one."""
        return self.measure if self.part is None else f"{self.measure}, {self.part}"

    @property
    def lost(self) -> list[tuple[str, float, float]]:
        """The queries that lost most, with their value before and after."""
        if self.unmet:
            return []
        values = self.values
        rows = zip(values.queries, values.base.tolist(), values.new.tolist(), strict=True)
        worse = sorted((row for row in rows if row[2] < row[1]), key=lambda row: row[2] - row[1])
        return worse[:NAMED]

    @property
    def lower(self) -> float:
        """The one-sided lower bound of the change; no measure can change by more than its span."""
        return max(self.paired.lower(self.rule.alpha), -self.span)

    @property
    def upper(self) -> float:
        """The one-sided upper bound of the change, cut in the same way."""
        return min(self.paired.upper(self.rule.alpha), self.span)

    @property
    def numbers(self) -> tuple[float, float, float, float, float]:
        """The mean of the base and of the new run, the change, and its lower and upper bound."""
        return *self.values.means, self.paired.mean, self.lower, self.upper

    def data(self) -> dict[str, Any]:
        """Return it as plain data; undefined numbers are None."""
        names = ("base", "new", "difference", "lower", "upper", "p_drop", "p_adjusted")
        numbers = dict(zip(names, (*self.numbers, self.p_drop, self.p_adjusted), strict=True))
        return {
            "measure": self.measure, "slice": self.part, "verdict": self.verdict, "n": self.n,
            **finite(numbers), "max_drop": self.rule.max_drop, "floor": self.rule.floor,
            "undefined": list(self.values.undefined),
            "lost": [{"query": q, "base": a, "new": b} for q, a, b in self.lost],
        }  # fmt: skip


def adjusted(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Correct the p-values of a drop for the number of checks that could fail (Holm 1979).

    Measures are one family and slices another, so that looking at slices hides no drop over all
    queries. A PASS needs no correction: the gate passes only if every measure does (Berger 1982).
    """
    able = [i for i, one in enumerate(checks) if one.tested and not math.isnan(one.p_drop)]
    found = list(checks)
    for of_slices in (False, True):
        family = [i for i in able if (checks[i].part is not None) == of_slices]
        for i, p in zip(family, holm([checks[i].p_drop for i in family]), strict=True):
            found[i] = replace(checks[i], p_adjusted=float(p))
    return tuple(found)
