"""Sign flips of whole users: a test and its interval where outcomes of one user go together.

Each user brings the sum of some outcomes and their number. If nothing is preferred, a user's sum
could as well have the other sign; so all of a user's outcomes change sign together, or none does.
Where every user brings one outcome of -1, 0 or 1, this is the sign test.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from idealist.significance.cluster_bootstrap import varying
from idealist.significance.paired import ROUNDING, Array, checked_alpha
from idealist.significance.resampling import EXACT, exact_flips, flipped_sums

#: How many random flips are drawn where there are too many users to try all; fewer, down to the
#: second number, where more signs would have to be drawn than the third.
FLIPS, FEWEST, SIGNS = 20_000, 1_999, 200_000_000


class Flipped(NamedTuple):
    """The mean of all outcomes, the p-value that it is 0, and its interval."""

    mean: float
    p: float
    low: float
    high: float


def flip_clusters(
    sums: ArrayLike, sizes: ArrayLike, alpha: float = 0.05, flips: int = FLIPS, seed: int = 0
) -> Flipped:
    """Test whether the mean of all outcomes is 0, and find the means that are not rejected.

    Formula: p(μ) = share of signs ε with |Σ ε (s - μ n)| ≥ |Σ (s - μ n)|, over users with sums s of
    n outcomes each; p is p(0), and the interval holds every μ with p(μ) > α

    All signs are tried for up to 20 users, 2^users of them; else some are drawn, and the identity
    counts as one more. Where all sums are as large, p(0) is binomial. The interval is NaN where no
    mean can be rejected, as with fewer than six users at α = 0.05, and where nothing varies.

    >>> found = flip_clusters([3, 2, 4, -1, 2, 1, 3], [5, 4, 6, 3, 2, 2, 4])
    >>> round(found.mean, 3), found.p, round(found.low, 3), round(found.high, 3)
    (0.538, 0.046875, 0.143, 0.75)

    Reference: Canay, Romano and Shaikh 2017, doi:10.3982/ECTA13081
    """
    s, n = np.asarray(sums, np.float64), np.asarray(sizes, np.float64)
    order = np.lexsort((n, s))  # so that the order of users changes no bit
    s, n = s[order], n[order]
    total, size = math.fsum(s), math.fsum(n)
    moved, counted, drawn = _flipped(s, n, flips, seed)
    p = exact_flips(s)
    if math.isnan(p):
        least = abs(total) - ROUNDING * float(np.abs(s).sum())
        p = (drawn + np.count_nonzero(np.abs(moved) >= least)) / (drawn + len(moved))
    mean, scale = total / size, checked_alpha(alpha) * (drawn + len(moved))
    # the most that fit into alpha may reject a mean beyond the interval; the identity is one
    kept = math.floor(scale) - drawn
    above, below = _reaches(size * moved - total * counted, counted, size)
    high, low = (_largest(reach, kept) / size for reach in (above, below))
    return Flipped(mean, float(p), *varying((mean - low, mean + high)))


def _flipped(s: Array, n: Array, flips: int, seed: int) -> tuple[Array, Array, int]:
    """Return Σ ε s and Σ ε n for many signs ε, and 1 if they were drawn, 0 if they are all."""
    if len(s) <= EXACT:
        blocks = list(flipped_sums(np.stack((s, n))))
        moved, counted = np.concatenate(blocks, axis=1)
        return moved, counted, 0
    pairs, times = np.unique(np.stack((s, n), axis=1), axis=0, return_counts=True)
    flips = max(FEWEST, min(flips, SIGNS // len(pairs)))
    source, found = np.random.Generator(np.random.PCG64(seed)), np.zeros((2, flips))
    for pair, users in zip(pairs, times.tolist(), strict=True):  # alike users need one draw
        found += np.outer(pair, 2 * source.binomial(users, 0.5, flips) - users)
    return found[0], found[1], 1


def _reaches(apart: Array, counted: Array, size: float) -> tuple[Array, Array]:
    """Return how far above, and below, the observed mean each flip still is as extreme.

    At a distance d above, it is where |E - d C| ≥ d N: E is its sum of deviations from the mean,
    `apart` / N, C its count and N the size of all. Both are in units of 1 / N.
    """
    same, other = size + counted, size - counted
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(apart > 0, apart / same, -apart / other)
        below = np.where(apart > 0, apart / other, -apart / same)
    whole = (same == 0) | (other == 0)  # every sign is the same: as extreme at any distance
    return np.where(whole, math.inf, above), np.where(whole, math.inf, below)


def _largest(reaches: Array, kept: int) -> float:
    """Return the distance that more than `kept` flips reach."""
    if not 0 <= kept < len(reaches):
        return math.nan
    found = float(np.partition(reaches, len(reaches) - 1 - kept)[len(reaches) - 1 - kept])
    return found if math.isfinite(found) else math.nan
