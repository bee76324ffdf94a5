"""The problem of the fewest changes: what changes attain, and what is to be reached."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from idealist.comparing.outer import Reach
from idealist.statistics.paired import ROUNDING
from idealist.student import quantile
from idealist.tables.columns import Bools, Floats


class Plan(NamedTuple):
    """Which of the differences that changes attain are taken: query, number of changes, index.

    `picks` is None where no plan is known; no plan has fewer than `at_least` changes.
    """

    picks: tuple[tuple[int, int, int], ...] | None
    at_least: int

    @property
    def changes(self) -> int | None:
        """The number of changes."""
        return None if self.picks is None else sum(j for _, j, _ in self.picks)


@dataclass(frozen=True, eq=False)
class Problem:
    """Per query and number of changes the differences attained, and the ends of all there are.

    `complete` says where none but those attained are possible.
    """

    attained: Sequence[Sequence[Floats]]
    complete: Bools
    reach: Reach
    weights: Floats
    alpha: float

    @property
    def n(self) -> int:
        """The number of queries."""
        return len(self.weights)

    @property
    def most(self) -> int:
        """The number of changes looked for."""
        return int(self.reach.low.shape[1]) - 1

    @property
    def equal(self) -> bool:
        """Whether all queries weigh the same."""
        return bool((self.weights == self.weights[0]).all())

    @cached_property
    def known(self) -> Bools:
        """Where all differences are known: none but those attained are possible, or none at all."""
        known: Bools = self.reach.low > self.reach.high
        width = min(known.shape[1], self.complete.shape[1])
        known[:, :width] |= self.complete[:, :width]
        return known

    @cached_property
    def share(self) -> Floats:
        """The weights, 1 on average."""
        share: Floats = self.weights / self.weights.mean()
        return share

    @cached_property
    def start(self) -> Floats:
        """The differences as they are."""
        return np.array([one[0][0] for one in self.attained])

    @cached_property
    def critical(self) -> float:
        """The critical value of t."""
        return quantile(1 - self.alpha / 2, self.n - 1)

    @cached_property
    def kappa(self) -> float:
        """What S is compared with √T by."""
        return self.critical * math.sqrt(self.n / (self.n - 1 + self.critical**2))

    def significant(self, x: Floats) -> bool:
        """Whether the weighted mean is above 0, and t above its critical value.

        Where nothing varies, t is infinite.
        """
        w, total = self.share, float(self.share @ x)
        spread = float(((w * (x - total / self.n)) ** 2).sum()) * self.n / (self.n - 1)
        return total > self.critical * math.sqrt(spread) + ROUNDING * self.n

    def picked(self, picks: Iterable[tuple[int, int, int]]) -> Floats:
        """Give the differences that a plan makes."""
        x = self.start.copy()
        for query, j, index in picks:
            x[query] = self.attained[query][j][index]
        return x
