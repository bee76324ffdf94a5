"""The values of two runs side by side, query by query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.errors import UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.significance.families import holm
from idealist.significance.means import mean
from idealist.significance.paired import Paired, differences, paired
from idealist.significance.power_analysis import ENOUGH


@dataclass(frozen=True, eq=False)
class Values:
    """What a measure gives the queries of two runs; `undefined` names those it has no value for.

    `weights` is None where all queries weigh the same.
    """

    queries: tuple[str, ...]
    base: Floats
    new: Floats
    weights: Floats | None = None
    undefined: tuple[str, ...] = ()

    @property
    def differences(self) -> Floats:
        """What each query gained; what differs by rounding is equal."""
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
        """Leave out the queries without a value in either run, and name them."""
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

#: So many queries that lost are named.
NAMED = 5
#: The largest drop that passes where nobody says another.
MAX_DROP = 0.01


@dataclass(frozen=True)
class Rule:
    """What the gate lets through: a drop of at most `max_drop`, at a level of `alpha`."""

    max_drop: float = MAX_DROP
    alpha: float = 0.05

    def verdict(self, result: Paired, p_drop: float) -> str:
        """Decide by the one-sided bounds of the mean difference.

        FAIL: the upper bound is not above 0, which is p ≤ alpha, and the mean below -max_drop.
        PASS: the lower bound is not below -max_drop.
        """
        if p_drop <= self.alpha and result.mean < -self.max_drop:
            return FAIL
        if result.constant:
            sure = same_signs(result.n) <= self.alpha
            return PASS if sure and result.mean >= -self.max_drop else INCONCLUSIVE
        return PASS if result.lower(self.alpha) >= -self.max_drop else INCONCLUSIVE


def same_signs(n: int) -> float:
    """Give the chance that n fair coins fall the same given way, 2^-n.

    Where all differences are equal t says nothing; this is their one-sided p by sign flips.
    """
    return 0.5**n


def p_of_drop(result: Paired) -> float:
    """Give the one-sided p-value of a drop, by sign flips where nothing varies."""
    if not result.constant:
        return result.p_below(0.0)
    return same_signs(result.n) if result.mean < 0 else 1.0


@dataclass(frozen=True, eq=False)
class Check:
    """One measure under the gate's rule: what it was, what it is, and what follows.

    `part` is a slice, None for all queries; `p_adjusted` is the one-sided p of a drop after Holm's
    correction, over the measures or over all slices; `floor` is the least mean that is let through;
    `unmet` says why nothing was measured, where the ids of a run meet no judgment.
    """

    measure: str
    part: str | None
    values: Values
    paired: Paired
    rule: Rule
    floor: float | None = None
    p_adjusted: float = math.nan
    unmet: str = ""

    @classmethod
    def of(
        cls, measure: str, values: Values, rule: Rule, floor: float | None = None,
        part: str | None = None,
    ) -> Check:  # fmt: skip
        """Set up a check; its verdict stands once the p-values of all are adjusted."""
        result = paired(values.differences, values.weights)
        return cls(measure, part, values, result, rule, floor)

    @property
    def n(self) -> int:
        """How many queries it is made of."""
        return len(self.values.queries)

    @property
    def tested(self) -> bool:
        """Whether there are queries enough for a verdict."""
        return self.part is None or self.n >= ENOUGH

    @property
    def p_drop(self) -> float:
        """The one-sided p-value of a drop."""
        return p_of_drop(self.paired)

    @property
    def below_floor(self) -> bool:
        """Whether the new mean is lower than is let through."""
        return self.floor is not None and self.values.means[1] < self.floor

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
        """The measure and, for a slice, which."""
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
    def numbers(self) -> tuple[float, float, float, float, float]:
        """The mean of the base and of the new run, the change, and its lower and upper bound."""
        found, alpha = self.paired, self.rule.alpha
        return *self.values.means, found.mean, found.lower(alpha), found.upper(alpha)

    def data(self) -> dict[str, Any]:
        """Give it as plain data; undefined numbers are None."""
        names = ("base", "new", "difference", "lower", "upper", "p_drop", "p_adjusted")
        found = zip(names, (*self.numbers, self.p_drop, self.p_adjusted), strict=True)
        return {
            "measure": self.measure,
            "slice": self.part,
            "verdict": self.verdict,
            "n": self.n,
            **{name: x if math.isfinite(x) else None for name, x in found},
            "max_drop": self.rule.max_drop,
            "floor": self.floor,
            "undefined": list(self.values.undefined),
            "lost": [{"query": q, "base": a, "new": b} for q, a, b in self.lost],
        }


def adjusted(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Correct the p-values of a drop for the number of checks that could fail (Holm 1979).

    Measures are one family and slices another, so that to look at slices hides no drop of all
    queries. A PASS needs no correction: the gate passes only if every measure does (Berger 1982).
    """
    able = [i for i, one in enumerate(checks) if one.tested and not math.isnan(one.p_drop)]
    found = list(checks)
    for of_slices in (False, True):
        family = [i for i in able if (checks[i].part is not None) == of_slices]
        for i, p in zip(family, holm([checks[i].p_drop for i in family]), strict=True):
            found[i] = replace(checks[i], p_adjusted=float(p))
    return tuple(found)
