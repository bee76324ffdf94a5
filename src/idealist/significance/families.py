"""Multiple comparisons: what a whole family of differences has to exceed, and p-values by that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from idealist.significance.paired import ROUNDING, Array
from idealist.significance.resampling import (
    BLOCK,
    EXACT,
    FLIPS,
    PRODUCT,
    RESAMPLES,
    flipped_sums,
    integers,
)

#: The most values permuted for one family; larger ones get fewer permutations.
CELLS = 250_000_000


def holm(p: ArrayLike) -> Array:
    """Adjust p-values to bound the chance of any false finding (family-wise error rate).

    Formula: the j-th smallest of m becomes max_{i≤j} min(1, (m - i + 1) p_(i))

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]

    Reference: Holm 1979, Scandinavian Journal of Statistics 6(2)
    """
    given = np.asarray(p, float)
    order = np.argsort(given, kind="stable")
    grown = np.arange(given.size, 0, -1) * given[order]
    found: Array = np.empty_like(grown)
    found[order] = np.minimum(np.maximum.accumulate(grown), 1.0)
    return found


class Maxima(NamedTuple):
    """The largest statistic of a family in each random draw, sorted; `tried` if in all there are.

    One distribution gives the p-values and the limit that intervals go by, so that an interval
    leaves out 0 where p is below alpha, and only there.
    """

    drawn: Array
    tried: bool

    def p(self, observed: ArrayLike) -> Array:
        """Return how often the largest is at least as large as each one observed."""
        found = len(self.drawn) - np.searchsorted(self.drawn, observed, side="left")
        extra = 0 if self.tried else 1
        return np.asarray((extra + found) / (extra + len(self.drawn)))

    def limit(self, alpha: float) -> float:
        """Return the largest value whose p is not below alpha.

        >>> Maxima(np.array([1.0, 2.0, 3.0, 4.0]), tried=True).limit(0.3)
        3.0
        """
        extra = 0 if self.tried else 1
        place = math.ceil(alpha * (extra + len(self.drawn))) - extra
        return float(self.drawn[-place]) if place > 0 else math.inf


class Adjusted(NamedTuple):
    """The p-values of a family, and the `limits` that its statistics have to exceed."""

    p: Array
    limits: Array


def max_t(
    differences: ArrayLike,
    residuals: ArrayLike | None = None,
    flips: int = FLIPS,
    seed: int = 0,
    alpha: float = 0.05,
) -> Adjusted:
    """Adjust for several differences measured on the same queries, using how they vary together.

    Formula: p_j = share of sign flips, the same for all rows, with max_i |u_i*| ≥ |u_j|, where
    u = Σ d / √Σ d²

    Sign flips do not change Σ d², so |t| and |u| give the same order. A query without a difference
    in any row takes no part. The limit, in units of u (`t_of` makes it t), is the one of these
    p-values or, if larger, that of flipped residuals, d - mean unless given: where there are true
    differences, intervals need it.

    >>> p, limits = max_t([[0.1, 0.2, 0.3, 0.1, 0.2], [0.1, -0.1, 0.1, 0.0, 0.0]])
    >>> p.tolist()
    [0.0625, 1.0]

    Reference: Westfall and Young 1993, Resampling-Based Multiple Testing (single step); for
    retrieval Boytsov, Belova and Westfall 2013, doi:10.1145/2484028.2484034
    """
    given = np.asarray(differences, float)
    rest = given - given.mean(axis=1, keepdims=True) if residuals is None else residuals
    whole, tolerance = integers(given)
    maxima = _largest_flipped(whole, flips, seed)
    apart = _largest_flipped(integers(np.asarray(rest, float))[0], flips, seed)
    least = (np.abs(whole.sum(axis=1)) - tolerance) / _norms(whole)
    limit = max(maxima.limit(alpha), apart.limit(alpha))
    return Adjusted(maxima.p(least), np.full(len(whole), limit))


def _largest_flipped(rows: Array, flips: int, seed: int) -> Maxima:
    """Flip signs of all rows together; collect the largest |u| of each flip."""
    changed = rows[:, rows.any(axis=0)]
    n, norms = changed.shape[1], _norms(changed)
    if not n:
        return Maxima(np.zeros(1), tried=True)
    drawn = [
        (np.abs(moved, out=moved) / norms[:, None]).max(axis=0)
        for moved in flipped_sums(changed, flips, seed)
    ]
    return Maxima(np.sort(np.concatenate(drawn)), n <= EXACT)


def max_gain(
    differences: ArrayLike, resamples: int = RESAMPLES, seed: int = 0, alpha: float = 0.05
) -> Adjusted:
    """Adjust the largest of many gains measured on the same queries, skewed differences too.

    Formula: p_j = 2 (1 + #{max_i g_i* ≥ g_j}) / (resamples + 1), at most 1, where g = mean / (s +
    s₀), s is its standard error and s₀ the median of all; g* are those of recentred differences of
    queries drawn with replacement, the same for all rows

    Sign flips take differences for symmetric. Of many settings that gain a little in most queries
    and lose much in few, the best is one whose losses are rare here by chance, and its small s says
    no more than that: draws without losses show how far chance goes. s₀ keeps rows that differ in
    hardly any query from deciding. Rows that are worse by √(2 log log n) errors do not count. The
    limits are those of t, one a row; 0 where nothing varies. Nothing is said of losses.

    >>> p, limits = max_gain([[0.1, 0.2, 0.3, 0.1, 0.2], [0.1, -0.1, 0.1, 0.0, 0.0]])
    >>> p.round(1).tolist()
    [0.0, 1.0]

    Reference: Hansen 2005, doi:10.1198/073500105000000063 (recentring); Tusher, Tibshirani and Chu
    2001, doi:10.1073/pnas.091062498 (s₀)
    """
    rows = np.asarray(differences, float)
    n = rows.shape[1]
    means, errors = rows.mean(axis=1), rows.std(axis=1, ddof=1) / math.sqrt(n)
    errors[errors <= ROUNDING * np.abs(rows).max(axis=1)] = 0.0
    worse = means < -errors * math.sqrt(2 * math.log(max(math.log(n), 1.0)))
    counted = rows.any(axis=1) & ~worse
    steady = float(np.median(errors[counted])) if counted.any() else 0.0
    drawn = _largest_gains(rows[counted], steady, resamples, seed)
    maxima = Maxima(np.sort(drawn), tried=False)
    seen = _divided(means, errors + steady) * (1 - ROUNDING)
    limits = maxima.limit(alpha / 2) * (1 + steady / np.where(errors > 0, errors, 1.0))
    return Adjusted(np.minimum(1.0, 2 * maxima.p(seen)), np.where(errors > 0, limits, 0.0))


def _largest_gains(rows: Array, steady: float, resamples: int, seed: int) -> Array:
    """Draw queries with replacement; return the largest recentred gain of each draw, at least 0.

    Some draws at a time, so that a long table is not fetched from memory for each.
    """
    source, n = np.random.Generator(np.random.PCG64(seed)), rows.shape[1]
    largest, step = np.zeros(resamples), max(16, PRODUCT // max(1, rows.size))
    unit = np.abs(rows).max(axis=1)
    scaled = rows / unit[:, None]  # so that all rows have one scale as integers
    whole, squares = integers(scaled)[0].T, integers(scaled**2)[0].T
    scale = n * np.abs(whole).max(initial=1.0)
    for start in range(0, resamples, step):
        own = largest[start : start + step]
        places = source.integers(n, size=(len(own), n)) + n * np.arange(len(own))[:, None]
        times = np.bincount(places.ravel(), minlength=places.size).reshape(-1, n).astype(float)
        means = times @ whole / scale
        variances = (times @ squares / scale - means**2) / (n - 1)
        errors = np.sqrt(np.where(variances > ROUNDING, variances, 0.0))
        gains = _divided(means - whole.sum(axis=0) / scale, errors + steady / unit)
        np.maximum(own, gains.max(axis=1, initial=0.0), out=own)
    return largest


def _divided(gains: Array, errors: Array) -> Array:
    """Divide; a gain without an error is infinite, and nothing by nothing is 0."""
    free = np.where(gains > ROUNDING, np.inf, 0.0)
    return np.where(errors > 0, gains / np.where(errors > 0, errors, 1.0), free)


def _norms(rows: Array) -> Array:
    return np.array([math.sqrt(math.fsum(row * row)) or 1.0 for row in rows])


def t_of(u: float, df: float) -> float:
    """Turn u = Σ d / √Σ d² into Student's t; infinite where no t is so large.

    Formula: t = u √(df / (df + 1 - u²))

    >>> round(t_of(2.0, 49), 4)
    2.0642
    """
    return u * math.sqrt(df / (df + 1 - u * u)) if u * u < df + 1 else math.inf


def permutations_for(systems: int, n: int, permutations: int = FLIPS) -> int:
    """Return the number of permutations that `tukey` uses.

    >>> permutations_for(50, 50), permutations_for(5, 10_000)
    (100000, 5000)
    """
    return max(1, min(permutations, CELLS // (systems * n)))


def tukey(
    tables: ArrayLike, permutations: int = FLIPS, seed: int = 0, alpha: float = 0.05
) -> Adjusted:
    """Adjust for all pairs of systems by randomised Tukey HSD, blocked by query.

    Formula: p_ab = (1 + #{max s* - min s* ≥ |s_a - s_b|}) / (permutations + 1), where s* are the
    sums after shuffling the values of each query among the systems

    `tables` are measures x systems x queries. Several measures are shuffled together, and compared
    in units of their residual deviation. The result has a matrix of p-values for each, with a
    diagonal of 1, and the difference of sums that it has to exceed.

    >>> p, limits = tukey([[[0.1, 0.2, 0.1, 0.3], [0.1, 0.3, 0.2, 0.2], [0.8, 0.9, 0.9, 0.7]]])
    >>> bool(p[0, 0, 1] > 0.5 > 0.1 > p[0, 0, 2])
    True

    Reference: Carterette 2012, doi:10.1145/2094072.2094076
    """
    given = np.asarray(tables, float)
    _, systems, n = given.shape
    rounded = [integers(table, together=True) for table in given]
    wholes = [whole for whole, _ in rounded]
    units = [_residual(whole) for whole in wholes]
    ranges = _ranges(wholes, units, permutations_for(systems, n, permutations), seed)
    maxima = Maxima(np.sort(ranges), tried=False)
    sums = [whole.sum(axis=1) for whole in wholes]
    least = [
        (np.abs(own[:, None] - own) - 2 * tolerance.max()) / unit
        for own, unit, (_, tolerance) in zip(sums, units, rounded, strict=True)
    ]
    scales = np.array([_residual(table) for table in given])
    return Adjusted(maxima.p(least), maxima.limit(alpha) * scales)


def _residual(table: Array) -> float:
    """Compute the root of the squares about each query's mean, which no shuffling changes."""
    return math.sqrt(math.fsum(((table - table.mean(axis=0)) ** 2).ravel())) or 1.0


def _ranges(wholes: Sequence[Array], units: Sequence[float], permutations: int, seed: int) -> Array:
    """Shuffle the systems of each query; return the widest range of a measure's sums, in units."""
    source = np.random.Generator(np.random.PCG64(seed))
    systems, n = wholes[0].shape
    ranges = np.zeros(permutations)
    step = max(1, BLOCK // wholes[0].size)
    dealt = np.tile(np.arange(systems), (step, n, 1))
    for start in range(0, permutations, step):
        source.permuted(dealt, axis=2, out=dealt)
        own = ranges[start : start + step]
        for whole, unit in zip(wholes, units, strict=True):
            sums = np.take_along_axis(whole.T[None], dealt, axis=2).sum(axis=1)[: len(own)]
            np.maximum(own, np.ptp(sums, axis=1) / unit, out=own)
    return ranges


def level_of_best(candidates: int, alpha: float = 0.05) -> float:
    """Compute the level at which the best of several runs is tested against one baseline.

    Formula: 2 Φ(-c), where c is the quantile 1 - α of the largest of m standard normal |z_i| with
    correlations ½, which differences to one baseline have if the runs share nothing else

    >>> [round(level_of_best(m), 4) for m in (1, 2, 10, 100)]
    [0.05, 0.027, 0.0066, 0.001]

    Reference: Dunnett 1955, doi:10.1080/01621459.1955.10501294
    """
    from scipy.special import ndtr

    shared = np.linspace(-8.0, 8.0, 2001)
    weights = np.exp(-shared * shared / 2)
    weights /= weights.sum()

    def inside(c: float) -> float:
        """Compute the chance that no |z_i| is above c, over the baseline's share."""
        one = ndtr(math.sqrt(2) * c - shared) - ndtr(-math.sqrt(2) * c - shared)
        return float(weights @ one**candidates)

    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < 1 - alpha else (low, middle)
    return float(2 * ndtr(-high))
