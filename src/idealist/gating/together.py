"""Several measures together: what the verdict of the whole gate would be, drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from idealist.gating.checks import FAIL, INCONCLUSIVE, PASS, Check
from idealist.statistics.paired import ROUNDING
from idealist.student import quantile
from idealist.tables.columns import Floats

#: How often the gate is imagined; a chance is then within half a percent.
TRIALS = 50_000
SEED = 0


@dataclass(frozen=True, eq=False)
class Draws:
    """What measures would show of runs that do not differ: their means, trials x measures.

    `errors` are the standard errors that would be estimated beside them.
    """

    means: Floats
    errors: Floats
    n: int
    alpha: float
    drops: Floats

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
        return cls(means, np.sqrt(squares / (n - 1)), n, checks[0].rule.alpha, drops)

    def chances(self, change: float) -> dict[str, float]:
        """Give the chance of each verdict where every measure truly changes by `change`."""
        means = self.means + change
        deep = means < -self.drops
        t = means / self.errors
        order = np.argsort(t, axis=1, kind="stable")
        below = np.take_along_axis(t, order, axis=1) <= self._steps
        small = np.logical_and.accumulate(below, axis=1)
        fails = (small & np.take_along_axis(deep, order, axis=1)).any(axis=1)
        passes = (means + self._steps[-1] * self.errors >= -self.drops).all(axis=1) & ~fails
        share = {PASS: float(passes.mean()), FAIL: float(fails.mean())}
        return share | {INCONCLUSIVE: 1 - sum(share.values())}

    @cached_property
    def _steps(self) -> Floats:
        """What t must be below, from the smallest on, for a drop that stands (Holm 1979)."""
        levels = [self.alpha / left for left in range(self.means.shape[1], 0, -1)]
        return np.array([-quantile(1 - level, self.n - 1) for level in levels])


def _correlations(checks: Sequence[Check]) -> Floats:
    """Correlate what queries add to the means, for the queries that all measures have."""
    columns = [dict(zip(one.values.queries, _apart(one), strict=True)) for one in checks]
    shared = [query for query in columns[0] if all(query in one for one in columns)]
    apart = np.array([[one[query] for query in shared] for one in columns])
    products = np.einsum("iq,jq->ij", apart, apart)
    size = np.sqrt(np.diag(products))
    size = np.where(size > 0, size, 1.0)
    found: Floats = products / size / size[:, None]
    np.fill_diagonal(found, 1.0)
    return found


def _apart(check: Check) -> list[float]:
    values = check.values
    apart = values.differences - check.paired.mean
    return list(apart if values.weights is None else apart * values.weights)


def _root(covariance: Floats) -> Floats:
    """Give the triangle L with L Lᵀ = C, also where a measure adds nothing to those before it."""
    root = np.zeros_like(covariance)
    for j in range(len(covariance)):
        left = covariance[j:, j] - root[j:, :j] @ root[j, :j]
        if left[0] > ROUNDING:
            root[j:, j] = left / np.sqrt(left[0])
    return root
