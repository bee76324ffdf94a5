"""Multiple comparisons: p-values adjusted so that a whole family keeps its error rate."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from idealist.significance.paired import Array
from idealist.significance.resampling import BLOCK, FLIPS, integers, shares, sign_blocks

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
    return _back(np.minimum(np.maximum.accumulate(grown), 1.0), order)


def benjamini_hochberg(p: ArrayLike) -> Array:
    """Adjust p-values to bound the expected share of false findings (false discovery rate).

    Formula: the j-th smallest of m becomes min_{i≥j} min(1, m p_(i) / i)

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]

    Reference: Benjamini and Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x
    """
    given = np.asarray(p, float)
    order = np.argsort(given, kind="stable")[::-1]
    grown = given.size / np.arange(given.size, 0, -1) * given[order]
    return _back(np.minimum(np.minimum.accumulate(grown), 1.0), order)


def max_t(
    differences: ArrayLike, weights: ArrayLike | None = None, flips: int = FLIPS, seed: int = 0
) -> Array:
    """Adjust for several systems against one baseline, using how they vary together.

    Formula: step-down over the rows in order of |t|; each is compared with the largest |t*| of
    itself and all rows with a smaller |t|, under sign flips shared by all rows

    Sign flips do not change Σ d², so |t| and |Σ d| / √Σ d² give the same order and the same p.

    >>> max_t([[0.1, 0.2, 0.3, 0.1, 0.2], [0.1, -0.1, 0.1, 0.0, 0.0]]).tolist()
    [0.0625, 1.0]

    Reference: Boytsov, Belova and Westfall 2013, doi:10.1145/2484028.2484034
    """
    whole, tolerance = integers(np.asarray(differences, float), weights)
    norms = np.array([math.sqrt(math.fsum(row * row)) or 1.0 for row in whole])
    observed = np.abs(whole.sum(axis=1))
    order = np.argsort(observed / norms, kind="stable")
    whole, norms = whole[order], norms[order]
    least = (observed - tolerance)[order] / norms
    n, found = whole.shape[1], np.zeros(len(whole), dtype=np.int64)
    for signs in sign_blocks(n, len(whole), flips, seed):
        largest = np.maximum.accumulate(np.abs(signs @ whole.T) / norms, axis=1)
        found += np.count_nonzero(largest >= least, axis=0)
    p = shares(found, n, flips)
    return _back(np.maximum.accumulate(p[::-1])[::-1], order)


def permutations_for(systems: int, n: int, permutations: int = FLIPS) -> int:
    """Return the number of permutations that `tukey` uses.

    >>> permutations_for(50, 50), permutations_for(5, 10_000)
    (100000, 5000)
    """
    return max(1, min(permutations, CELLS // (systems * n)))


def tukey(
    values: ArrayLike, weights: ArrayLike | None = None, permutations: int = FLIPS, seed: int = 0
) -> Array:
    """Compute p-values of all pairs of systems by randomised Tukey HSD, blocked by query.

    Formula: p_ab = (1 + #{max m* - min m* ≥ |m_a - m_b|}) / (permutations + 1), where m* are the
    means after shuffling the values of each query among the systems

    The rows of `values` are systems, its columns queries. The diagonal is 1.

    >>> p = tukey([[0.1, 0.2, 0.1, 0.3], [0.1, 0.3, 0.2, 0.2], [0.8, 0.9, 0.9, 0.7]])
    >>> bool(p[0, 1] > 0.5 > 0.1 > p[0, 2])
    True

    Reference: Carterette 2012, doi:10.1145/2094072.2094076
    """
    whole, tolerance = integers(np.asarray(values, float), weights, together=True)
    (systems, n), sums = whole.shape, whole.sum(axis=1)
    apart = np.abs(sums[:, None] - sums) - 2 * tolerance.max()
    ranges = np.sort(_ranges(whole, permutations_for(systems, n, permutations), seed))
    found = len(ranges) - np.searchsorted(ranges, apart, side="left")
    return np.asarray((1 + found) / (1 + len(ranges)))


def _ranges(whole: Array, permutations: int, seed: int) -> Array:
    """Shuffle the values of each query among the systems; return the range of the sums."""
    source = np.random.Generator(np.random.PCG64(seed))
    ranges = np.empty(permutations)
    step = max(1, BLOCK // whole.size)
    dealt = np.repeat(np.ascontiguousarray(whole.T)[None], step, axis=0)
    for start in range(0, permutations, step):
        source.permuted(dealt, axis=2, out=dealt)
        sums = dealt.sum(axis=1)[: permutations - start]
        ranges[start : start + step] = sums.max(axis=1) - sums.min(axis=1)
    return ranges


def _back(sorted_values: Array, order: NDArray[np.intp]) -> Array:
    """Restore the original order."""
    found = np.empty_like(sorted_values)
    found[order] = sorted_values
    return found
