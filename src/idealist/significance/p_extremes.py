"""The range of a p-value where each difference is known only to lie between two ends."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from idealist.significance.paired import Array, paired

Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]

#: So many values are tried for what all differences should be near to, where p is least.
TRIED = 64
#: How often an interval is halved.
HALVINGS = 80
#: What rounding may add to a bound.
SLACK = 1e-9


class PRange(NamedTuple):
    """What the p-value of the t-test could be.

    Some differences give `low`, and some give `high`. None give a p-value below `least` or above
    `most`; these two are NaN where nothing is proven.
    """

    low: float
    high: float
    least: float = math.nan
    most: float = math.nan


#: Where nothing is known.
UNKNOWN = PRange(math.nan, math.nan)


def attained_p(low: Array, high: Array, now: Array, weights: Array | None = None) -> PRange:
    """Find a low and a high p-value of the t-test where each difference is at an end, or as it is.

    >>> ends = np.array([[0.1, 0.0, 0.1, 0.2], [0.3, 0.1, 0.2, 0.2]])
    >>> found = attained_p(*ends, now=ends[0])
    >>> round(found.low, 4), round(found.high, 4)
    (0.0138, 0.1027)
    """
    w = np.ones_like(low) if weights is None else weights
    a, b, c = w * low, w * high, w * now
    if a.sum() > 0:
        at_high = _spread(a, b)[0]
    elif b.sum() < 0:
        at_high = ~_spread(-b, -a)[0]
    else:
        at_high = _balanced(a, b)
    tried = [now, np.where(at_high, high, low)]
    for sign in (1.0, -1.0):
        ends = sign * np.stack((a, b, c))
        if (middle := _middle(ends[:2].min(axis=0), ends[:2].max(axis=0))) is not None:
            tried.append(np.choose(_nearest(ends, middle), (low, high, now)))
    found = [paired(one, weights).p for one in tried]
    return PRange(float(np.fmin.reduce(found)), float(np.fmax.reduce(found)))


def proven_p(low: Array, high: Array) -> tuple[float, float]:
    """Bound the p-value of the t-test of n differences, each anywhere between two ends.

    Formula: with S = Σ d and T = Σ d², t² = (n - 1) / (n T / S² - 1). T is at most what it is if
    each difference is at an end, and of all with one S greatest if those are at their high ends
    for which low + high is greatest. These corners, and the straight lines between them, bound T
    from above for every S, so T / S² too, unless S can be 0. T / S² is least where all differences
    are as near to one value as they can be.

    >>> ends = np.array([[0.1, 0.0, 0.1, 0.2], [0.3, 0.1, 0.2, 0.2]])
    >>> [round(p, 4) for p in proven_p(*ends)]
    [0.0048, 0.1114]
    """
    n, least, most = len(low), 1.0, 1.0
    if low.sum() > 0:
        most = _p(_spread(low, high)[1] * (1 + SLACK), n)
    elif high.sum() < 0:
        most = _p(_spread(-high, -low)[1] * (1 + SLACK), n)
    for a, b in ((low, high), (-high, -low)):
        if (middle := _middle(a, b)) is not None:
            near = np.clip(middle, a, b)
            least = min(least, _p(_ratio(near) * (1 - SLACK), n))
    return least, most


def _p(ratio: float, n: int) -> float:
    """Return the p-value of a ratio T / S²."""
    from scipy.special import stdtr

    if n * ratio <= 1:
        return 0.0
    return 2 * float(stdtr(n - 1, -math.sqrt((n - 1) / (n * ratio - 1))))


def _ratio(x: Array) -> float:
    total = float(x.sum())
    return float(x @ x) / total**2 if total else math.inf


def _spread(low: Array, high: Array) -> tuple[Mask, float]:
    """Say which differences are at their high ends where T / S² is greatest, and bound it.

    All sums are above 0. With u = 1 / S a straight line T = a + b S is the ratio a u² + b u.
    """
    order = np.argsort(-(low + high), kind="stable")
    slope, width = (low + high)[order], (high - low)[order]
    total = low.sum() + np.append(0.0, np.cumsum(width))
    squares = low @ low + np.append(0.0, np.cumsum(width * slope))
    ratio, u = squares / total**2, 1 / total
    best = int(np.argmax(ratio))
    at_high = np.zeros(len(low), dtype=bool)
    at_high[order[:best]] = True
    start = squares[:-1] - slope * total[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        top = np.where(start < 0, np.clip(-slope / (2 * start), u[1:], u[:-1]), u[1:])
    return at_high, max(float(ratio[best]), float(np.max(start * top**2 + slope * top)))


def _balanced(low: Array, high: Array) -> Mask:
    """Choose ends so that the sum is near to 0."""
    total, at_high = float(low.sum()), np.zeros(len(low), dtype=bool)
    for i in np.argsort(low - high, kind="stable").tolist():
        if total + (high[i] - low[i]) <= 0:
            total += high[i] - low[i]
            at_high[i] = True
    return at_high


def _middle(low: Array, high: Array) -> float | None:
    """Return what all differences are near to where T / S² is least and S > 0; None if S never is.

    It is the θ with T = θ S for the differences nearest to it, found by halving: at most what T / S
    is for the high ends, or their highest.
    """
    if high.sum() <= 0:
        return None

    def above(middle: float) -> bool:
        x = np.clip(middle, low, high)
        return float(x @ (x - middle)) < 0

    start, end = 0.0, max(float(high.max()), float(high @ high / high.sum()))
    for _ in range(HALVINGS):
        half = (start + end) / 2
        start, end = (start, half) if above(half) else (half, end)
    return end


def _nearest(ends: Array, middle: float) -> Indices:
    """Choose for each difference one of the rows, all near to a value: the best of several."""
    values = middle * np.geomspace(0.25, 4, TRIED)
    chosen = [np.abs(ends - value).argmin(axis=0) for value in values]
    ratios = [_ratio(np.choose(one, ends)) for one in chosen]
    best: Indices = chosen[int(np.argmin(ratios))]
    return best
