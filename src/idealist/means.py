"""Means over queries, weighted or not, and their t-intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence


def mean(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Give the mean, its sums exactly rounded whatever the order.

    Formula: Σ w x / Σ w, where queries without weights weigh 1

    >>> mean([0.0, 1.0]), mean([0.0, 1.0], [3, 1])
    (0.5, 0.25)
    """
    if weights is None:
        return math.fsum(values) / len(values)
    return math.fsum(map(math.prod, zip(weights, values, strict=True))) / math.fsum(weights)


def standard_error(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Give the standard error of a mean of at least two values.

    Formula: √( n/(n-1) Σ w² (x - m)² / (Σ w)² )

    The weights are taken as given, not as sampled; equal ones give Student's standard error.

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
    """Give the t-interval of a mean; NaN where there are fewer than two values, or one is NaN.

    Formula: m ± t se, t with n - 1 degrees of freedom

    >>> [round(end, 4) for end in t_interval([0.0, 1.0, 0.5], [3, 1, 1])]
    [-0.92, 1.52]
    """
    from idealist.student import quantile  # whose normal distribution is slow to import

    n = len(values)
    if n < 2 or any(map(math.isnan, values)):
        return math.nan, math.nan
    half = quantile((1 + confidence) / 2, n - 1) * standard_error(values, weights)
    centre = mean(values, weights)
    return centre - half, centre + half
