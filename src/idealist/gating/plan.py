"""Plans: how likely each verdict is with as many queries, by measure and for the whole gate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from idealist.data.columns import Floats
from idealist.gating.checks import FAIL, INCONCLUSIVE, PASS, Check, Rule
from idealist.rendering.document import SHARE, SIGNED, Block, Column, Document, Table, Text
from idealist.rendering.plain_data import finite
from idealist.rendering.result import Result
from idealist.significance.means import quantile
from idealist.significance.paired import ROUNDING

VERDICTS = (PASS, INCONCLUSIVE, FAIL)
#: How many gates are drawn at random; a chance is then within half a percent.
TRIALS = 50_000
SEED = 0


@dataclass(frozen=True, eq=False)
class Draws:
    """Random means of the measures for runs that do not differ, trials x measures.

    `errors` are the standard errors that would be estimated with them, `able` are the measures that
    enough queries change in for a FAIL.
    """

    means: Floats
    errors: Floats
    n: int
    rule: Rule
    drops: Floats
    able: NDArray[np.bool_]

    @classmethod
    def of(cls, checks: Sequence[Check]) -> Draws:
        """Draw with the spread of the differences, and with what the measures have in common.

        Formula: means N(0, Σ), Σ the covariance of the means; squared errors the diagonal of
        Wishart(Σ, n-1) / (n-1), by Bartlett's decomposition.

        Reference: Bartlett 1934, Proceedings of the Royal Society of Edinburgh 53
        """
        source = np.random.Generator(np.random.PCG64(SEED))
        n, count = min(check.n for check in checks), len(checks)
        root = _root(_correlations(checks)) * np.array([[one.paired.se] for one in checks])
        means = np.einsum("tj,ij->ti", source.standard_normal((TRIALS, count)), root)
        parts = np.tril(source.standard_normal((TRIALS, count, count)), -1)
        for i in range(min(count, n - 1)):
            parts[:, i, i] = np.sqrt(source.chisquare(n - 1 - i, TRIALS))
        parts[:, :, n - 1 :] = 0.0  # fewer queries than measures have no more to say
        squares = (np.einsum("ij,tjk->tik", root, parts) ** 2).sum(axis=2)
        drops = np.array([check.rule.max_drop for check in checks])
        able = np.array([_able(_changed(one), one.rule.level / count) for one in checks])
        return cls(means, np.sqrt(squares / (n - 1)), n, checks[0].rule, drops, able)

    def chances(self, change: float) -> dict[str, float]:
        """Compute the chance of each verdict where every measure truly changes by `change`."""
        means = self.means + change
        deep = means < -self.drops
        t = np.where(self.able, means / self.errors, np.inf)
        order = np.argsort(t, axis=1, kind="stable")
        below = np.take_along_axis(t, order, axis=1) <= self._steps
        small = np.logical_and.accumulate(below, axis=1)
        fails = (small & np.take_along_axis(deep, order, axis=1)).any(axis=1)
        reach = quantile(1 - self.rule.alpha, self.n - 1) * self.errors
        passes = (means - reach >= -self.drops).all(axis=1) & ~fails
        share = {PASS: float(passes.mean()), FAIL: float(fails.mean())}
        return share | {INCONCLUSIVE: 1 - sum(share.values())}

    @cached_property
    def _steps(self) -> Floats:
        """What t must be below, from the smallest on, for a significant drop (Holm 1979)."""
        levels = [self.rule.level / left for left in range(self.means.shape[1], 0, -1)]
        return np.array([-quantile(1 - level, self.n - 1) for level in levels])


def _changed(check: Check) -> int:
    return int(np.count_nonzero(check.pair.differences))


def _able(changed: int, level: float) -> bool:
    """Whether a drop could be significant at all: sign flips of k changes have no p below 2^-k."""
    return 0.5**changed <= level


def _correlations(checks: Sequence[Check]) -> Floats:
    """Correlate the differences by query, over the queries that all measures have."""
    columns = [
        dict(zip(one.pair.queries, one.pair.differences - one.pair.differences.mean(), strict=True))
        for one in checks
    ]
    shared = [query for query in columns[0] if all(query in one for one in columns)]
    apart = np.array([[one[query] for query in shared] for one in columns])
    products = np.einsum("iq,jq->ij", apart, apart)
    size = np.sqrt(np.diag(products))
    size = np.where(size > 0, size, 1.0)
    found: Floats = products / size / size[:, None]
    np.fill_diagonal(found, 1.0)
    return found


def _root(covariance: Floats) -> Floats:
    """Find the triangle L with L Lᵀ = C, also where a measure adds nothing to those before it."""
    root = np.zeros_like(covariance)
    for j in range(len(covariance)):
        left = covariance[j:, j] - root[j:, :j] @ root[j, :j]
        if left[0] > ROUNDING:
            root[j:, j] = left / np.sqrt(left[0])
    return root


#: True changes that a plan is made for, in units of the largest drop that passes.
CHANGES = (1, 0, -0.5, -1, -2, -3, -5)
#: How many equally likely parts the distribution of the standard error is divided into.
PARTS = 4000
#: A drop that fails this often is one that the gate catches.
OFTEN = 0.8
#: What stands for all measures of the gate together.
EVERY = "every measure"


def chances(
    change: float, se: float, n: int, rule: Rule, tests: int = 1, changed: int | None = None
) -> dict[str, float]:
    """Compute the chance of each verdict where the true mean difference is `change`.

    Formula: the mean m is normal around `change` with the standard error se, its estimate s is
    se √(χ²/(n-1)), independent of m; with t the one-sided quantile of Student's t,
    FAIL is m < min(-max_drop, -t s), and PASS is m ≥ t s - max_drop.
    Both are averaged over s. t is at the rule's level for FAIL, one look's share of alpha, and of
    several `tests` at Holm's first and hardest step; for PASS at alpha. Where so few queries are
    `changed`, by default all of them, that no signs are significant, nothing can FAIL.

    >>> found = chances(0.0, se=0.01, n=50, rule=Rule(max_drop=0.01))
    >>> {verdict: round(chance, 3) for verdict, chance in found.items()}
    {'PASS': 0.255, 'FAIL': 0.05, 'INCONCLUSIVE': 0.695}
    """
    from scipy.special import chdtri, ndtr

    upper_tail = (np.arange(PARTS) + 0.5) / PARTS
    errors = se * np.sqrt(chdtri(n - 1, upper_tail) / (n - 1))
    low = np.minimum(-rule.max_drop, -quantile(1 - rule.level / tests, n - 1) * errors)
    high = quantile(1 - rule.alpha, n - 1) * errors - rule.max_drop
    able = _able(n if changed is None else changed, rule.level / tests)
    failing = float(np.mean(ndtr((low - change) / se))) if able else 0.0
    passing = float(np.mean(ndtr((change - high) / se)))
    return {PASS: passing, FAIL: failing, INCONCLUSIVE: 1 - passing - failing}


@dataclass(frozen=True)
class Chances:
    """The chances of the verdicts for a measure, or of the whole gate, for some true changes.

    The spread of the differences is taken from two runs that were compared; the chances hold for
    other pairs of runs that differ as much, on as many queries. `tests` is the number of measures,
    `se` the standard error, of several measures the largest, as is the rule's drop. Where several
    looks share alpha, `once` are the chances of a gate that is asked once.
    """

    measure: str
    n: int
    se: float
    rule: Rule
    tests: int
    odds: Callable[[float], dict[str, float]] | None = field(repr=False, compare=False)
    once: Chances | None = None

    @classmethod
    def of(cls, check: Check, tests: int) -> Chances:
        """Plan for one measure with the spread that a check found."""
        se, n, rule, moved = check.paired.se, check.n, check.rule, _changed(check)
        odds = (lambda change: chances(change, se, n, rule, tests, moved)) if se > 0 else None
        once = cls.of(_once(check), tests) if rule.looks > 1 else None
        return cls(check.pair.measure, n, se, rule, tests, odds, once)

    @classmethod
    def together(cls, checks: Sequence[Check]) -> Chances:
        """Plan for the verdict of the gate, where every measure truly changes by the same."""
        ses = [check.paired.se for check in checks]
        rule = max((check.rule for check in checks), key=lambda one: one.max_drop)
        varies = all(se > 0 for se in ses)
        n = min(check.n for check in checks)
        odds = Draws.of(checks).chances if varies else None
        once = cls.together([*map(_once, checks)]) if rule.looks > 1 else None
        return cls(EVERY, n, max(ses), rule, len(checks), odds, once)

    @cached_property
    def rows(self) -> tuple[tuple[float, dict[str, float]], ...]:
        """Some true changes with the chance of each verdict; none where nothing varies."""
        if self.odds is None:
            return ()
        unit = self.rule.max_drop or self.se
        return tuple((unit * one, self.odds(unit * one)) for one in CHANGES)

    @cached_property
    def caught(self) -> float:
        """The smallest true drop that fails four times in five; infinite where none can."""
        low, high = 0.0, self.rule.max_drop + 2 * self.se
        if self._failing(1e6 * high) == 0:
            return math.inf
        while self._failing(high) < OFTEN:
            low, high = high, 2 * high
        for _ in range(24):
            middle = (low + high) / 2
            low, high = (middle, high) if self._failing(middle) < OFTEN else (low, middle)
        return high

    def _failing(self, drop: float) -> float:
        return self.odds(-drop)[FAIL] if self.odds else math.nan

    @property
    def sentence(self) -> str:
        """Say what the gate can catch."""
        if not self.rows:
            return f"{self.measure}: these runs do not differ enough to plan with."
        if math.isinf(self.caught):
            level = self.rule.level / self.tests
            fewest = f"at {level:.3g} at least {math.ceil(-math.log2(level))} queries must change"
            which = "any measure" if self.measure == EVERY else self.measure
            return f"No drop in {which} can FAIL: {fewest}, and in these runs fewer do."
        caught = f"A true drop of {self.caught:.4f} in {self.measure} would FAIL four times in five"
        if self.once is None:
            return f"{caught}."
        alone = f"one of {self.once.caught:.4f} with a single look"
        return f"{caught} with {self.rule.looks:,} looks, {alone}."

    @property
    def settings(self) -> str:
        """Say what the chances are made of."""
        every, alone = self.measure == EVERY, self.tests == 1
        which = "" if alone else f", FAIL corrected for {self.tests} measures"
        which = ", the verdict of the whole gate" if every else which
        if self.once is not None:
            which += f"; FAIL at {self.rule.level:.3g}, one of {self.rule.looks:,} looks"
        return (
            f"{self.measure}: {self.n} queries, max drop {'up to ' * every}{self.rule.max_drop:g}, "
            f"one-sided alpha {self.rule.alpha:g}, standard error{'s up to' * every} {self.se:.4f} "
            f"as in these runs{which}"
        )

    def data(self) -> dict[str, Any]:
        """Return them as plain data."""
        return {
            "measure": self.measure, "n": self.n, "se": finite(self.se),
            "max_drop": self.rule.max_drop, "alpha": self.rule.alpha, "tests": self.tests,
            "looks": self.rule.looks, "level": self.rule.level,
            "caught": finite(self.caught) if self.odds else None,
            "caught_once": finite((self.once or self).caught) if self.odds else None,
            "chances": [{"change": change, **found} for change, found in self.rows],
        }  # fmt: skip


def _once(check: Check) -> Check:
    """Give a check all of alpha."""
    return replace(check, rule=replace(check.rule, looks=1))


@dataclass(frozen=True, eq=False, repr=False)
class GatePlan(Result):
    """What to expect of the gate: chances for each measure and, of several, for the whole gate.

    `notes` are those of the gate whose runs it was made from.
    """

    parts: tuple[Chances, ...]
    notes: tuple[Block, ...] = ()

    @classmethod
    def of(cls, checks: Sequence[Check], notes: tuple[Block, ...]) -> GatePlan:
        """Plan with the spread that checks of all queries found."""
        alone = [Chances.of(check, len(checks)) for check in checks]
        return cls((*alone, *([Chances.together(checks)] if len(checks) > 1 else [])), notes)

    @property
    def summary(self) -> str:
        """The drop that the gate catches four times in five."""
        return self.parts[-1].sentence

    def report(self) -> Document:
        """Describe the chances: a table for each measure, and what it can catch."""
        blocks: list[Block] = [Text(self.summary, strong=True)]
        for one in self.parts:
            rows = [(change, *map(found.get, VERDICTS)) for change, found in one.rows]
            title = one.sentence if one is not self.parts[-1] else ""
            shares = (Column(verdict, SHARE) for verdict in VERDICTS)
            columns = (Column(f"true change of {one.measure}", SIGNED), *shares)
            blocks.append(Table(columns, tuple(rows), title))
        used = (Text(one.settings) for one in self.parts if one.rows)
        return Document(tuple(blocks), (*used, *self.notes))

    def table(self) -> Table:
        """Return every chance in one table, with every digit."""
        rows = [
            (one.measure, change, *map(found.get, VERDICTS))
            for one in self.parts
            for change, found in one.rows
        ]
        return Table.of(["measure"], ["change", *VERDICTS], rows)

    def data(self) -> list[dict[str, Any]]:
        """Return the contract of ``gate --plan -f json``."""
        return [one.data() for one in self.parts]
