"""The relative difference of two systems, with an interval."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from idealist.means import mean
from idealist.student import quantile


def relative(
    base: ArrayLike, new: ArrayLike, weights: ArrayLike | None = None, alpha: float = 0.05
) -> tuple[float, float, float]:
    """Give by which share the new mean is above the base's, and Fieller's interval of it.

    Formula: m_new / m_base - 1; the interval holds each ratio r for which m_new - r m_base is
    within t standard errors of 0

    Where the base's mean does not differ from 0 significantly, every ratio is possible: the ends
    are NaN, and so is the share where that mean is 0.

    >>> [round(each, 3) for each in relative([0.2, 0.4, 0.3], [0.3, 0.5, 0.5])]
    [0.444, -0.034, 2.862]

    Reference: Fieller 1954, doi:10.1111/j.2517-6161.1954.tb00159.x
    """
    x, y = np.asarray(base, float), np.asarray(new, float)
    w = np.ones_like(x) if weights is None else np.asarray(weights, float)
    below, above = mean(x.tolist(), w.tolist()), mean(y.tolist(), w.tolist())
    share = above / below - 1 if below else math.nan
    if len(x) < 2:
        return share, math.nan, math.nan
    left, right = w * (x - below), w * (y - above)
    scale = quantile(1 - alpha / 2, len(x) - 1) ** 2 / (len(x) - 1) * len(x) / math.fsum(w) ** 2
    a = below * below - scale * math.fsum(left * left)
    b = below * above - scale * math.fsum(left * right)
    c = above * above - scale * math.fsum(right * right)
    if a <= 0:
        return share, math.nan, math.nan
    half = math.sqrt(max(0.0, b * b - a * c))
    return share, (b - half) / a - 1, (b + half) / a - 1
