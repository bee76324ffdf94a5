"""Plans: the chance of each verdict of the gate, before anything is changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.draw import Grid, plain
from idealist.gating.checks import FAIL, INCONCLUSIVE, PASS, Check, Rule
from idealist.student import quantile

#: True changes that a plan is made for, in units of the largest drop that is let through.
CHANGES = (1, 0, -0.5, -1, -2, -3, -5)
#: Into so many equally likely parts the distribution of the standard error is divided.
PARTS = 4000
#: A drop that fails this often is one that the gate catches.
OFTEN = 0.8


def chances(change: float, se: float, n: int, rule: Rule, tests: int = 1) -> dict[str, float]:
    """Give the chance of each verdict where the true mean difference is `change`.

    Formula: the mean m is normal around `change` with the standard error se, its estimate s is
    se √(χ²/(n-1)), independent of m; with t the one-sided quantile of Student's t,
    FAIL is m < min(-max_drop, -t s), and PASS is m ≥ t s - max_drop.
    Both are averaged over s. Of several `tests` Holm's first and hardest step is taken for FAIL.

    >>> found = chances(0.0, se=0.01, n=50, rule=Rule(max_drop=0.01))
    >>> {verdict: round(chance, 3) for verdict, chance in found.items()}
    {'PASS': 0.255, 'FAIL': 0.05, 'INCONCLUSIVE': 0.695}
    """
    from scipy.special import chdtri, ndtr

    upper_tail = (np.arange(PARTS) + 0.5) / PARTS
    errors = se * np.sqrt(chdtri(n - 1, upper_tail) / (n - 1))
    low = np.minimum(-rule.max_drop, -quantile(1 - rule.alpha / tests, n - 1) * errors)
    high = quantile(1 - rule.alpha, n - 1) * errors - rule.max_drop
    failing = float(np.mean(ndtr((low - change) / se)))
    passing = float(np.mean(ndtr((change - high) / se)))
    return {PASS: passing, FAIL: failing, INCONCLUSIVE: 1 - passing - failing}


@dataclass(frozen=True)
class Plan:
    """The chances of the verdicts for a measure, for some true changes.

    The spread of the differences is taken from two runs that were compared; the plan says what to
    expect of other pairs of runs that differ as much, on as many queries.
    """

    measure: str
    n: int
    se: float
    rule: Rule
    tests: int
    rows: tuple[tuple[float, dict[str, float]], ...]

    @classmethod
    def of(cls, check: Check, tests: int, changes: Sequence[float] = CHANGES) -> Plan:
        """Plan with the spread that a check found."""
        se, rule = check.paired.se, check.rule
        unit = rule.max_drop or se
        known = math.isfinite(se) and se > 0
        rows = [
            (unit * one, chances(unit * one, se, check.n, rule, tests)) for one in changes if known
        ]
        return cls(check.measure, check.n, se, rule, tests, tuple(rows))

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "measure": self.measure, "n": self.n,
            "se": self.se if math.isfinite(self.se) else None,
            "max_drop": self.rule.max_drop, "alpha": self.rule.alpha, "tests": self.tests,
            "caught": self.caught if self.rows else None,
            "chances": [{"change": change, **found} for change, found in self.rows],
        }  # fmt: skip

    def grid(self) -> Grid:
        """Tabulate it, one row a true change."""
        verdicts = (PASS, INCONCLUSIVE, FAIL)
        rows = [
            [f"{change:+.4f}", *(f"{found[verdict]:.1%}" for verdict in verdicts)]
            for change, found in self.rows
        ]
        return Grid([f"true change of {self.measure}", *verdicts], rows)

    @property
    def caught(self) -> float:
        """The smallest true drop that fails four times in five."""
        low, high = 0.0, self.rule.max_drop + 2 * self.se
        while self._failing(high) < OFTEN:
            low, high = high, 2 * high
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self._failing(middle) < OFTEN else (low, middle)
        return high

    def _failing(self, drop: float) -> float:
        return chances(-drop, self.se, self.n, self.rule, self.tests)[FAIL]

    @property
    def lines(self) -> list[str]:
        """Say what the chances are made of, and what the gate can catch."""
        if not self.rows:
            return [f"{self.measure}: these runs do not differ enough to plan with."]
        corrected = f", FAIL corrected for {self.tests} checks" if self.tests > 1 else ""
        return [
            f"A true drop of {self.caught:.4f} would FAIL four times in five.",
            f"{self.n} queries, max drop {self.rule.max_drop:g}, one-sided alpha "
            f"{self.rule.alpha:g}, standard error {self.se:.4f} as in these runs{corrected}",
        ]

    def __str__(self) -> str:
        table = [plain(self.grid()), ""] if self.rows else []
        return "\n".join([*table, *self.lines])
