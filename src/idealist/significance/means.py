"""Means over queries, weighted or not, and their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

#: Fewer values than this carry no interval that is worth reading.
FEWEST = 5


def normal_quantile(probability: float) -> float:
    """Compute a quantile of the normal distribution.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    from statistics import NormalDist  # slow to import, and needed only where intervals are shown

    return NormalDist().inv_cdf(probability)


@lru_cache(maxsize=1024)
def quantile(probability: float, df: int) -> float:
    """Compute a quantile of Student's t with `df` degrees of freedom.

    Up to 200 degrees the distribution function, a finite sum for whole numbers (Abramowitz and
    Stegun 26.7.3 and 26.7.4), is inverted by Newton's method. Beyond that, the expansion around the
    normal quantile (26.7.5) has an error below 1e-10.

    >>> round(quantile(0.975, 49), 6)
    2.009575
    """
    z = normal_quantile(probability)
    t = _expansion(z, df)
    if df > 200:
        return t
    log_density = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    for _ in range(100):
        density = math.exp(log_density - (df + 1) / 2 * math.log1p(t * t / df))
        step = (_cdf(t, df) - probability) / density
        t -= math.copysign(min(abs(step), 1 + abs(t)), step)
        if abs(step) <= 1e-14 * abs(t):
            break
    return t


def _expansion(z: float, df: int) -> float:
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / df**power for power, term in enumerate(terms, 1))


def _cdf(t: float, df: int) -> float:
    angle = math.atan(t / math.sqrt(df))
    cosine = math.cos(angle) ** 2
    odd = df % 2
    term = math.cos(angle) if odd else 1.0
    total = term if df > 1 else 0.0
    for j in range(2 + odd, df, 2):
        term *= cosine * (j - 1) / j
        total += term
    share = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return (1 + share) / 2


def mean(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Compute the mean with exactly rounded sums, whatever the order.

    Formula: Σ w x / Σ w, where w is 1 without weights

    >>> mean([0.0, 1.0]), mean([0.0, 1.0], [3, 1])
    (0.5, 0.25)
    """
    if weights is None:
        return math.fsum(values) / len(values)
    return math.fsum(map(math.prod, zip(weights, values, strict=True))) / math.fsum(weights)


def effective(weights: Sequence[float]) -> float:
    """Compute how many queries of equal weight make a mean as sure.

    Formula: (Σ w)² / Σ w²

    >>> effective([1, 1, 1, 1]), round(effective([3, 1, 1]), 2)
    (4.0, 2.27)

    Reference: Kish 1965, Survey Sampling
    """
    return math.fsum(weights) ** 2 / math.fsum(w * w for w in weights)


def deviation(values: Sequence[float]) -> float:
    """Compute the standard deviation of at least two values, √(Σ (x - m)² / (n - 1)).

    >>> deviation([0.0, 1.0, 0.5])
    0.5
    """
    centre = mean(values)
    return math.sqrt(math.fsum((x - centre) ** 2 for x in values) / (len(values) - 1))


def standard_error(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Compute the standard error of a mean of at least two values.

    Formula: s √(Σ w²) / Σ w, where s is the standard deviation of all values, whatever their weight

    The weights are fixed, and values are taken to vary alike whatever they weigh. An estimate from
    weighted squares would rest on the few heaviest queries: it comes out too small, and its
    degrees of freedom with it (docs/design/0027-weighted-means.md).

    >>> [round(standard_error([0.0, 1.0, 0.5], weights), 4) for weights in (None, [3, 1, 1])]
    [0.2887, 0.3317]
    """
    size = len(values) if weights is None else effective(weights)
    return deviation(values) / math.sqrt(size)


def mean_interval(
    values: Sequence[float], weights: Sequence[float] | None = None, confidence: float = 0.95
) -> tuple[float, float]:
    """Compute the confidence interval of a mean: of a share by Wilson, else by Student's t.

    Formula: m ± t se, where t has n - 1 degrees of freedom; NaN for fewer than two values or if one
    is NaN

    >>> [round(end, 4) for end in mean_interval([0.0, 0.9, 0.5], [3, 1, 1])]
    [-1.007, 1.567]
    >>> [round(end, 4) for end in mean_interval([0.0, 1.0, 1.0])]
    [0.2077, 0.9385]
    """
    n = len(values)
    if n < 2 or any(map(math.isnan, values)):
        return math.nan, math.nan
    centre = mean(values, weights)
    if all(value in (0.0, 1.0) for value in values):
        return wilson(centre, n if weights is None else effective(weights), confidence)
    half = quantile((1 + confidence) / 2, n - 1) * standard_error(values, weights)
    return centre - half, centre + half


def wilson(share: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Compute Wilson's interval of a share of n queries.

    Formula: (p + z²/2n ± z √(p (1 - p)/n + z²/4n²)) / (1 + z²/n)

    >>> [round(end, 4) for end in wilson(0.9, 50)]
    [0.7864, 0.9565]

    Reference: Wilson 1927, doi:10.1080/01621459.1927.10502953
    """
    z = normal_quantile((1 + confidence) / 2)
    centre, spread = share + z * z / (2 * n), share * (1 - share) / n + (z / (2 * n)) ** 2
    low, high = (centre + side * z * math.sqrt(spread) for side in (-1, 1))
    return max(0.0, low / (1 + z * z / n)), min(1.0, high / (1 + z * z / n))
