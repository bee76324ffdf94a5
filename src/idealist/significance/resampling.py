"""Resampling: the randomisation test by sign flips, and the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from idealist.significance.paired import ROUNDING, Array, differences, weighing

#: Random sign flips per test, and the most queries for which all flips are enumerated.
FLIPS, EXACT = 100_000, 20

#: The most signs drawn for one test; beyond SIGNS / FLIPS queries there are fewer flips.
SIGNS = 2_000_000_000

#: Numbers per block, which bounds the memory, and multiplications per product: of more, BLAS starts
#: threads, which wait for each other where the cores are busy. Neither changes a result.
BLOCK, PRODUCT = 1 << 18, 1 << 18


def flips_for(n: int, flips: int = FLIPS) -> int:
    """Return the number of sign flips used for a test of n differences.

    >>> flips_for(10), flips_for(50), flips_for(1_000_000)
    (1024, 100000, 2000)
    """
    return 2**n if n <= EXACT else max(1, min(flips, SIGNS // n))


def randomisation(
    differences: ArrayLike,
    weights: ArrayLike | None = None,
    flips: int = FLIPS,
    seed: int = 0,
    *,
    drop: bool = False,
) -> Array:
    """Compute the p-value of Fisher's randomisation test, one per row of a matrix.

    It is two-sided; of a `drop` it is one-sided.

    Formula: (1 + #{|m*| ≥ |m|}) / (flips + 1), where m* is the mean under random signs; over all
    signs where at most 20 queries change, or all by the same amount (`exact_flips`)

    All rows of a matrix are tested under the same flips. Means that differ only by rounding are
    equal.

    >>> float(randomisation([0.1, 0.2, 0.3, 0.1, -0.1]))
    0.25

    Reference: Smucker, Allan and Carterette 2007, doi:10.1145/1321440.1321528
    """
    given = np.asarray(differences, float)
    rows = np.atleast_2d(given)
    p = np.array([exact_flips(row, weights, drop=drop) for row in rows])
    if (drawn := np.isnan(p)).any():
        p[drawn] = _random_flips(rows[drawn], weights, flips, seed, drop)
    return p.reshape(given.shape[:-1])


def _random_flips(
    rows: Array, weights: ArrayLike | None, flips: int, seed: int, drop: bool
) -> Array:
    whole, tolerance = integers(rows, weights)
    total, size = whole.sum(axis=1), np.negative if drop else np.abs
    least = (size(total) - tolerance)[:, None]
    n, found = whole.shape[1], np.zeros(len(whole), dtype=np.int64)
    for moved in flipped_sums(whole, flips, seed):
        found += np.count_nonzero(size(moved, out=moved) >= least, axis=1)
    return shares(found, n, flips)


def exact_flips(
    differences: ArrayLike, weights: ArrayLike | None = None, *, drop: bool = False
) -> float:
    """Compute the exact p-value over all sign flips; NaN where more than 20 queries change.

    Formula: #{|m*| ≥ |m|} / 2^k over the k queries that change; of a `drop`, #{m* ≤ m} / 2^k

    Queries that do not change play no part. If all change by the same amount, as they do by a
    measure that is 0 or 1, the number that lose is binomial, and any number of queries may change:
    this is McNemar's exact test.

    >>> [exact_flips([0.0] * 47 + [-0.5] * 3, drop=drop) for drop in (True, False)]
    [0.125, 0.25]

    Reference: Fisher 1935, The Design of Experiments; McNemar 1947, doi:10.1007/BF02295996
    """
    from scipy.special import bdtrc

    whole, (tolerance,) = integers(np.atleast_2d(np.asarray(differences, float)), weights)
    moved = whole[0][whole[0] != 0]
    sizes, k = np.abs(moved), len(moved)
    if not k:
        return 1.0
    if k <= EXACT:
        total = moved.sum()
        tail = _at_least(sizes, (-total if drop else abs(total)) - tolerance) / 2**k
    elif np.ptp(sizes) <= 1 + ROUNDING * sizes[0]:
        lost = int(np.count_nonzero(moved < 0))
        tail = bdtrc((lost if drop else max(lost, k - lost)) - 1, k, 0.5)
    else:
        return math.nan
    return float(tail) if drop else min(1.0, 2 * float(tail))


def _at_least(sizes: Array, least: float) -> int:
    """Count the sign flips with a sum of at least this much, from all sums of either half."""
    half = len(sizes) // 2
    left, right = _sums(sizes[:half]), np.sort(_sums(sizes[half:]))
    return int((len(right) - np.searchsorted(right, least - left)).sum())


def _sums(sizes: Array) -> Array:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate((sums - size, sums + size))
    return sums


def all_pairs(
    values: ArrayLike, weights: ArrayLike | None = None, flips: int = FLIPS, seed: int = 0
) -> Array:
    """Compute the p-values of the randomisation test for all pairs of systems.

    The rows of `values` are systems, its columns queries. The diagonal is 1. The flips are those of
    `randomisation`, but sums are computed per system instead of per pair.

    >>> all_pairs([[0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [0.1, 0.1, 0.1]])[0].tolist()
    [1.0, 0.25, 0.5]
    """
    given = np.asarray(values, float)
    whole, tolerance = integers(given, weights, together=True)
    (systems, n), sums = whole.shape, whole.sum(axis=1)
    found = np.zeros((systems, systems), dtype=np.int64)
    for moved in flipped_sums(whole, flips, seed):
        for a in range(systems - 1):
            least = np.abs(sums[a + 1 :] - sums[a]) - 2 * tolerance.max()
            apart = np.abs(moved[a + 1 :] - moved[a])
            found[a, a + 1 :] += np.count_nonzero(apart >= least[:, None], axis=1)
    p = shares(found, n, flips)
    for a, b in combinations(range(systems), 2) if n > EXACT else ():
        exact = exact_flips(differences(given[a], given[b]), weights)
        p[a, b] = p[a, b] if math.isnan(exact) else exact
    return np.triu(p, 1) + np.triu(p, 1).T + np.eye(systems)


def shares(found: NDArray[np.int64], n: int, flips: int) -> Array:
    """Turn counts of flips into p-values."""
    if n <= EXACT:
        return np.asarray(found / 2 ** (n - 1))  # the last sign is fixed
    return np.asarray((1 + found) / (1 + flips_for(n, flips)))


def integers(
    values: Array, weights: ArrayLike | None = None, *, together: bool = False
) -> tuple[Array, Array]:
    """Round each row to integers whose sums over queries are exact in any order.

    Threads and vector units can then add in any order. Returns the weighted integers and, for each
    row, how far apart two sums can be that differ only by rounding. Rows that are subtracted from
    each other must be rounded `together`, on one scale.
    """
    weighted = values if weights is None else values * np.asarray(weights, float)
    n = weighted.shape[-1]
    bits = 52 - (n - 1).bit_length()
    _, exponents = np.frexp(np.abs(weighted).max(axis=None if together else -1, keepdims=True))
    whole = np.rint(np.ldexp(weighted, bits - exponents))
    return whole, n + ROUNDING * np.abs(whole).sum(axis=-1)


def flipped_sums(whole: Array, flips: int = FLIPS, seed: int = 0) -> Iterator[Array]:
    """Yield the sums of rows of integers under random signs, some flips at a time, a column each.

    All flips are tried if there are few queries; then the last sign is fixed, because a flip and
    its opposite are equivalent. A sum is the total less twice what gets a minus, which is exact.
    """
    rows, n = whole.shape
    sums, few = whole.sum(axis=1, keepdims=True), max(1, PRODUCT // (n * rows))
    for signs in _sign_bits(rows, n, flips, seed):
        minus = np.unpackbits(signs, axis=1, count=n, bitorder="little")
        moved = np.empty((rows, len(signs)))
        for first in range(0, len(signs), few):
            part = slice(first, first + few)
            moved[:, part] = whole @ minus[part].astype(np.float64).T
        moved *= -2.0
        moved += sums
        yield moved


def _sign_bits(rows: int, n: int, flips: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """Yield random bits, n in a row, eight in a byte; where they are few, all there are."""
    total = 2 ** (n - 1) if n <= EXACT else flips_for(n, flips)
    step = max(1, BLOCK // max(n, rows))
    words, source = -(-n // 64), np.random.PCG64(seed)
    for start in range(0, total, step):
        size = min(step, total - start)
        if n <= EXACT:
            raw = np.arange(start, start + size, dtype="<u8")
        else:
            raw = np.atleast_1d(source.random_raw(size * words)).astype("<u8")
        yield raw.view(np.uint8).reshape(size, -1)


#: Orders tried for the spread of heavy queries.
ORDERS = 999


def spread_of_heavy(
    differences: ArrayLike, weights: ArrayLike, orders: int = ORDERS, seed: int = 0
) -> tuple[float, float]:
    """Compare the spread of heavy queries with that of all: the ratio of variances, and p.

    Formula: (Σ w² r² / Σ w²) / mean r², where r are the deviations from the mean; p is the share of
    random orders of r in which the ratio is as large

    >>> ratio, p = spread_of_heavy([3, -3, 0.5, -0.5, 0.4, -0.4, 0, 0], [9, 9, 2, 2, 2, 2, 1, 1])
    >>> round(ratio, 2), p < 0.1
    (3.45, True)
    """
    d, w = weighing(differences, weights)
    squares, shares_of = (d - d.mean()) ** 2, w**2 / np.sum(w**2)
    if not squares.any():
        return math.nan, math.nan
    source, seen = np.random.Generator(np.random.PCG64(seed)), float(squares @ shares_of)
    as_large = sum(
        float(source.permutation(squares) @ shares_of) >= seen * (1 - ROUNDING)
        for _ in range(orders)
    )
    return seen / float(squares.mean()), (1 + as_large) / (1 + orders)


#: Draws for an interval, and for a p-value, whose tail needs more.
RESAMPLES, DRAWS = 10_000, 100_000


def bca(
    differences: ArrayLike,
    weights: ArrayLike | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    alpha: float = 0.05,
) -> tuple[float, float]:
    """Compute the bias-corrected and accelerated bootstrap interval of the mean difference.

    With 10 to 25 queries it covers the true mean less often than its level says; the t-interval
    does not.

    >>> low, high = bca([0.1, 0.0, 0.2, 0.1, 0.3, -0.1, 0.05])
    >>> bool(-0.05 < low < 0.05 < 0.15 < high < 0.25)
    True

    Reference: Efron 1987, doi:10.1080/01621459.1987.10478410
    """
    from scipy.special import ndtr, ndtri

    d, w = weighing(differences, weights)
    if len(d) < 2 or np.ptp(d) <= ROUNDING * np.abs(d).max():
        end = math.nan if len(d) < 2 else float(d[0])
        return end, end
    centre, drawn = math.fsum(d * w) / math.fsum(w), np.sort(_means(d, w, resamples, seed))
    lower = np.searchsorted(drawn, centre, "left") + np.searchsorted(drawn, centre, "right")
    bias = ndtri(lower / (2 * resamples))
    apart = d - math.fsum(d) / len(d)
    apart /= np.abs(apart).max()  # so that no power of a tiny one is 0
    skew = math.fsum(apart**3) / len(d) / (math.fsum(apart**2) / len(d)) ** 1.5
    speed = skew * math.fsum(w**3) / (6 * math.fsum(w**2) ** 1.5)
    reach = bias + ndtri(np.array([alpha / 2, 1 - alpha / 2]))
    low, high = np.quantile(drawn, ndtr(bias + reach / (1 - speed * reach)))
    return float(low), float(high)


def bootstrap_shift(
    differences: ArrayLike, weights: ArrayLike | None = None, resamples: int = DRAWS, seed: int = 0
) -> float:
    """Compute the two-sided p-value of the bootstrap, shifted to a mean of 0.

    Formula: (1 + #{|m* - mean of m*| ≥ |m|}) / (resamples + 1)

    With few queries it rejects too often; see the documentation on significance.

    >>> bootstrap_shift([0.1, 0.0, 0.2, 0.1, 0.3, -0.1, 0.05]) < 0.05
    True

    Reference: Smucker, Allan and Carterette 2007, doi:10.1145/1321440.1321528
    """
    d, w = weighing(differences, weights)
    drawn, centre = _means(d, w, resamples, seed), abs(math.fsum(d * w) / math.fsum(w))
    apart = np.abs(drawn - math.fsum(drawn) / len(drawn))
    found = int((apart >= centre * (1 - 1e-9)).sum())
    return (1 + found) / (1 + resamples)


def _means(d: Array, w: Array, resamples: int, seed: int) -> Array:
    """Draw differences with replacement, weights stay; return the mean of each draw."""
    source, step = np.random.Generator(np.random.PCG64(seed)), max(1, BLOCK // len(d))
    drawn = np.empty(resamples)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        places = source.integers(len(d), size=(size, len(d)))
        drawn[start : start + size] = (d[places] * w).sum(axis=1) / math.fsum(w)
    return drawn
