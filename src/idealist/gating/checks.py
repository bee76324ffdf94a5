"""Checks: one measure of two runs, query by query, under the gate's rule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any

from idealist.comparing.pair import Pair
from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.evaluating.evaluation import label_of
from idealist.rendering.plain_data import finite
from idealist.significance.families import holm
from idealist.significance.paired import ALPHAS, Paired, checked_alpha, paired
from idealist.significance.power_analysis import ENOUGH
from idealist.significance.resampling import exact_flips, randomisation

PASS, FAIL, INCONCLUSIVE, UNTESTED = "PASS", "FAIL", "INCONCLUSIVE", "UNTESTED"

#: How many of the queries that lost most are named.
NAMED = 5
#: The largest drop that passes unless the caller sets another.
MAX_DROP = 0.01
#: The level of a false FAIL unless the caller sets another.
ALPHA = 0.05


@dataclass(frozen=True)
class Rule:
    """What the gate lets through: a drop of at most `max_drop`, and a mean not below `floor`.

    `alpha` is the level of the one-sided bounds, and of a false FAIL in all `looks` together.
    """

    max_drop: float = MAX_DROP
    alpha: float = ALPHA
    floor: float | None = None
    looks: int = 1

    @property
    def level(self) -> float:
        """The level of a FAIL: an equal share of alpha for each look.

        By the union bound the chance that any of them fails falsely is then at most alpha, whatever
        the looks have in common.

        Reference: Dunn 1961, doi:10.1080/01621459.1961.10482090
        """
        return self.alpha / self.looks

    def verdict(self, result: Paired, p_drop: float) -> str:
        """Decide by the p-value of a drop, and by the lower bound of the mean difference.

        FAIL: p ≤ level, and the mean is below -max_drop. PASS: the lower bound is not below
        -max_drop.
        """
        if p_drop <= self.level and result.mean < -self.max_drop:
            return FAIL
        if math.isnan(result.lower(self.alpha)):  # all change by the same amount
            sure = 0.5**result.n <= self.alpha
            return PASS if sure and result.mean >= -self.max_drop else INCONCLUSIVE
        return PASS if result.lower(self.alpha) >= -self.max_drop else INCONCLUSIVE


def rules_of(
    labels: Iterable[str], max_drop: Any, alpha: Any, floors: Any, looks: Any = 1
) -> dict[str, Rule]:
    """Read the rule of each measure: limits are one number for all, or {measure: number}."""
    known, level = list(labels), checked_alpha(alpha)
    shares = checked_looks(looks, level)
    drops = dict.fromkeys(known, MAX_DROP) | _by_measure("max_drop", max_drop, known)
    least = {} if floors is None else _by_measure("floors", floors, known)
    for label, drop in drops.items():
        if drop < 0:
            raise UsageError(f"max_drop of {label} cannot be {drop:g}", "give 0 or more")
    return {label: Rule(drop, level, least.get(label), shares) for label, drop in drops.items()}


def checked_looks(given: Any, alpha: float = ALPHA) -> int:
    """Refuse a budget that is no number of looks, or that leaves each of them too little."""
    whole = isinstance(given, Integral) and not isinstance(given, bool)
    if not whole or given < 1:
        hint = "give a whole number from 1 on, such as 50"
        raise UsageError(f"looks cannot be {given!r:.60}", hint)
    if alpha / given < ALPHAS[0]:
        hint = f"alpha / looks is {ALPHAS[0]:g} or more; state fewer looks"
        raise UsageError(f"{given:,} looks are too many to share alpha {alpha:g}", hint)
    return int(given)


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


def p_of_drop(differences: Floats, weights: Floats | None = None) -> float:
    """Compute the one-sided p-value of a drop: by exact sign flips where few queries change.

    There, t would take the many queries that did not change for evidence. Where more change than
    signs can be tried for, t decides. With weights it must be significant by both: flips let heavy
    queries vary as they do, t takes them to vary as all others.
    """
    by_t = paired(differences, weights).p_below()
    if weights is not None:
        by_flips = float(randomisation(differences, weights, drop=True))
        return by_flips if math.isnan(by_t) else max(by_t, by_flips)
    exact = exact_flips(differences, drop=True)
    return by_t if math.isnan(exact) else exact


@dataclass(frozen=True, eq=False)
class Check:
    """One measure under the gate's rule: both means, the change, and the verdict.

    `pair` are the two runs, on all queries or on a slice. `p_adjusted` is the one-sided p of a drop
    after Holm's correction, over the measures or over all slices; the verdict is final once it is
    there. `unmet` says why nothing was measured, where no document of a run is judged.
    """

    pair: Pair
    rule: Rule
    p_adjusted: float = math.nan
    unmet: str = ""

    @property
    def n(self) -> int:
        """The number of queries."""
        return self.pair.n

    @property
    def paired(self) -> Paired:
        """The mean change, and how it varies."""
        return self.pair.statistics

    @property
    def tested(self) -> bool:
        """Whether there are enough queries for a verdict."""
        return not self.pair.slice or self.n >= ENOUGH

    @cached_property
    def p_drop(self) -> float:
        """The one-sided p-value of a drop."""
        return p_of_drop(self.pair.differences, self.pair.weights)

    @property
    def below_floor(self) -> bool:
        """Whether the new mean is lower than the floor."""
        return self.rule.floor is not None and self.pair.run_mean < self.rule.floor

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
        return ", ".join(filter(None, (self.pair.measure, self.pair.slice)))

    @property
    def lost(self) -> list[tuple[str, float, float]]:
        """The queries that lost most, with their value before and after."""
        if self.unmet:
            return []
        pair = self.pair
        rows = zip(pair.queries, pair.base.tolist(), pair.new.tolist(), strict=True)
        worse = sorted((row for row in rows if row[2] < row[1]), key=lambda row: row[2] - row[1])
        return worse[:NAMED]

    @property
    def lower(self) -> float:
        """The one-sided lower bound of the change; it is a change that there can be."""
        return max(self.paired.lower(self.rule.alpha), -self.pair.widest)

    @property
    def upper(self) -> float:
        """The one-sided upper bound of the change, at the level of a FAIL, cut in the same way.

        Where the drop is not significant, the bound does not exclude that there is none.
        """
        upper = min(self.paired.upper(self.rule.level), self.pair.widest)
        return upper if self.p_drop <= self.rule.level else max(upper, 0.0)

    @property
    def numbers(self) -> tuple[float, float, float, float, float]:
        """The mean of the base and of the new run, the change, and its lower and upper bound."""
        return self.pair.base_mean, self.pair.run_mean, self.paired.mean, self.lower, self.upper

    def data(self) -> dict[str, Any]:
        """Return it as plain data; undefined numbers are None."""
        names = ("base", "new", "difference", "lower", "upper", "p_drop", "p_adjusted")
        numbers = dict(zip(names, (*self.numbers, self.p_drop, self.p_adjusted), strict=True))
        return {
            "measure": self.pair.measure, "slice": self.pair.slice or None,
            "verdict": self.verdict, "n": self.n,
            **finite(numbers), "max_drop": self.rule.max_drop, "floor": self.rule.floor,
            "undefined": list(self.pair.undefined),
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
        family = [i for i in able if bool(checks[i].pair.slice) is of_slices]
        for i, p in zip(family, holm([checks[i].p_drop for i in family]), strict=True):
            found[i] = replace(checks[i], p_adjusted=float(p))
    return tuple(found)
