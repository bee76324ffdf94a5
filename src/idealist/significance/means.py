"""Means over queries, weighted or not, and their t-intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

#: Fewer values than this carry no interval that is worth reading.
FEWEST = 5


def quantile(probability: float, df: int) -> float:
    """Compute a quantile of Student's t with `df` degrees of freedom.

    Up to 200 degrees the distribution function, a finite sum for whole numbers (Abramowitz and
    Stegun 26.7.3 and 26.7.4), is inverted by Newton's method. Beyond that, the expansion around the
    normal quantile (26.7.5) has an error below 1e-10.

    >>> round(quantile(0.975, 49), 6)
    2.009575
    """
    z = NormalDist().inv_cdf(probability)
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


def standard_error(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Compute the standard error of a mean of at least two values.

    Formula: √( n/(n-1) Σ w² (x - m)² / (Σ w)² )

    The weights are treated as fixed, not as sampled; equal weights give Student's standard error.

    >>> round(standard_error([0.0, 1.0, 0.5]), 4)
    0.2887

    Reference: Cochran 1977, Sampling Techniques; Gatz and Smith 1995,
    doi:10.1016/1352-2310(94)00210-C
    """
    n = len(values)
    weights = [1.0] * n if weights is None else weights
    centre, whole = mean(values, weights), math.fsum(weights)
    apart = [w * (x - centre) for w, x in zip(weights, values, strict=True)]
    squares = math.fsum(each * each for each in apart)
    return math.sqrt(squares / (n - 1) / (whole**2 / n))


def t_interval(
    values: Sequence[float], weights: Sequence[float] | None = None, confidence: float = 0.95
) -> tuple[float, float]:
    """Compute the t-interval of a mean; NaN for fewer than two values or if one is NaN.

    Formula: m ± t se, where t has n - 1 degrees of freedom

    >>> [round(end, 4) for end in t_interval([0.0, 1.0, 0.5], [3, 1, 1])]
    [-0.92, 1.52]
    """
    n = len(values)
    if n < 2 or any(map(math.isnan, values)):
        return math.nan, math.nan
    half = quantile((1 + confidence) / 2, n - 1) * standard_error(values, weights)
    centre = mean(values, weights)
    return centre - half, centre + half
