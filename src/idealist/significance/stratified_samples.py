"""Totals estimated from a stratified sample, with intervals that survive rare findings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from idealist.significance.means import normal_quantile, quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: How many documents of a stratum are taken to be worth what its documents are worth on average,
#: beside those that were drawn. Suggested: with fewer, intervals of runs that find little are too
#: short, as most samples hold nothing of what makes the estimate vary.
BORROWED = 2.0


class Total(NamedTuple):
    """An estimated total, with its standard error and the degrees of freedom of that."""

    value: float
    error: float
    freedom: float

    def half(self, level: float = 0.95) -> float:
        """Compute half the width of the interval.

        >>> round(Total(12.0, 2.0, 30.0).half(), 2)
        4.08
        """
        if self.error == 0:
            return 0.0
        chance = (1 + level) / 2
        if not math.isfinite(self.freedom):
            return self.error * normal_quantile(chance)
        return self.error * quantile(chance, max(1, int(self.freedom)))


@dataclass(frozen=True, eq=False)
class StratifiedSample:
    """The units of a population: the `stratum` of each, and whether it was `drawn`.

    Strata of the same `level` have units of the same kind: it is the level of each stratum.

    >>> sample = StratifiedSample(np.zeros(4, int), np.array([True, True, False, False]),
    ...     np.zeros(1, int))
    >>> sample.total(np.ones(4), np.array([1.0, 0.0, 0.0, 0.0])).value
    2.0
    """

    stratum: Ints
    drawn: Bools
    level: Ints

    @cached_property
    def size(self) -> Floats:
        """How many units each stratum has."""
        return self._sums(np.ones(len(self.stratum)))

    @cached_property
    def taken(self) -> Floats:
        """How many units were drawn from each stratum."""
        return self._sums(self.drawn.astype(np.float64))

    @cached_property
    def spread(self) -> Floats:
        """What the variance of each stratum counts for in that of the total: N² (1 - n/N) / n."""
        return self.size * (self.size - self.taken) / np.maximum(self.taken, 1)

    def _sums(self, values: Floats) -> Floats:
        return np.bincount(self.stratum, values, len(self.level)).astype(np.float64)

    def total(self, weight: Floats, worth: Floats) -> Total:
        """Estimate Σ weight × worth over all units, where only the worth of drawn ones is known.

        Formula: Σ_h (N_h/n_h) Σ_{drawn in h} weight × worth, with the variance
        Σ_h N_h² (1 - n_h/N_h) s_h²/n_h, or with what the worth in all strata of a level lets
        expect, if that is more

        The estimate is unbiased. The degrees of freedom are Satterthwaite's. Where nothing that was
        drawn is worth anything, nobody knows the error: it is NaN.

        Reference: Cochran 1977, Sampling Techniques, chapter 5
        """
        value = np.where(self.drawn, weight * worth, 0.0)
        mean = self._sums(value) / np.maximum(self.taken, 1)
        apart = np.where(self.drawn, value - mean[self.stratum], 0.0)
        free = np.maximum(self.taken - 1, 1)
        variances = self.spread * self._sums(apart**2) / free
        variance, square = float(variances.sum()), float((variances**2 / free).sum())
        expected = float((self.spread * self._expected(weight, worth)).sum())
        freedom = variance**2 / square if square > 0 else math.inf
        error = math.sqrt(max(variance, expected))
        if error == 0 and np.any(weight[self.spread[self.stratum] > 0]):
            error = math.nan
        return Total(float((self.size * mean).sum()), error, freedom)

    def _expected(self, weight: Floats, worth: Floats) -> Floats:
        """Expect the variance within each stratum from what units of its level are worth."""
        mean, square = self._moments(weight, worth)
        weights, squares = self._sums(weight), self._sums(weight**2)
        centre = (weights**2 * mean**2 + squares * (square - mean**2)) / self.size
        return np.maximum(squares * square - centre, 0.0) / np.maximum(self.size - 1, 1)

    def _moments(self, weight: Floats, worth: Floats) -> tuple[Floats, Floats]:
        """Return the mean and the mean square of the worth, for each stratum as for its level.

        Units count by their squared weight, beside a few that are worth what all units are.
        """
        kind, levels = self.level[self.stratum], int(self.level.max(initial=0)) + 1

        def sums(values: Floats) -> Floats:
            return np.bincount(kind, values, levels).astype(np.float64)

        drawn, square = self.drawn.astype(np.float64), weight**2
        usual = sums(square) / np.maximum(sums((weight != 0).astype(np.float64)), 1)
        count, pooled = np.maximum(sums(drawn), 1), BORROWED * usual
        whole = np.maximum(sums(drawn * square) + pooled, np.finfo(float).tiny)
        mean, mean_square = (
            (sums(drawn * square * power) + pooled * sums(drawn * power) / count) / whole
            for power in (worth, worth**2)
        )
        return mean[self.level], mean_square[self.level]
