"""Power of the paired t-test: what a number of queries can detect, and how many it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from idealist.errors import UsageError
from idealist.significance.means import quantile

#: With fewer queries a comparison raises a doubt, and a slice is not tested.
ENOUGH = 10


@dataclass(frozen=True)
class Typical:
    """The typical variance of a system's values over queries, without what all systems share."""

    measure: str
    variance: float
    source: str

    @property
    def sd(self) -> float:
        """The standard deviation of the difference of two systems, √(2 variance)."""
        return math.sqrt(2 * self.variance)


#: Variances of real runs by measure, for planning without a pilot.
TYPICAL: dict[str, Typical] = {
    "AP": Typical("AP", 0.0136, "runs of the TREC-8 ad hoc track, 50 queries"),
    "P": Typical("P@10", 0.0376, "runs of the TREC-8 ad hoc track, 50 queries"),
    "RR": Typical("RR", 0.0893, "runs of the TREC-8 ad hoc track, 50 queries"),
    "nDCG": Typical("nDCG@20", 0.0173, "runs of the TREC 2013 Web track, 50 queries"),
    "ERR": Typical("ERR@20", 0.0092, "runs of the TREC 2013 Web track, 50 queries"),
}


def power(d_z: float, n: int, alpha: float = 0.05) -> float:
    """Compute the chance that the two-sided paired t-test detects a true effect.

    Formula: P(|T| > t_{1-α/2, n-1}), where T is noncentral t with n - 1 degrees of freedom and
    noncentrality d_z √n

    >>> round(power(0.4, 50), 3)
    0.792
    """
    from scipy.special import nctdtr

    shift, critical = abs(d_z) * math.sqrt(n), quantile(1 - alpha / 2, n - 1)
    below, above = nctdtr(n - 1, shift, np.array([-critical, critical]))
    # SciPy returns NaN for a tail near 0
    return float(1 - np.nan_to_num(above) + np.nan_to_num(below))


def detectable(n: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """Compute the smallest effect d_z that n queries detect with this power.

    >>> round(detectable(50), 5)
    0.40418
    """
    low, high = 0.0, 1.0
    while _chance(high, n, alpha) < power:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _chance(middle, n, alpha) < power else (low, middle)
    return high


def needed(d_z: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Compute the number of queries needed to detect an effect with this power.

    >>> needed(0.3)
    90
    """
    if d_z == 0 or math.isnan(d_z):
        hint = "choose the smallest difference that would matter"
        raise UsageError(f"no number of queries can detect an effect of {d_z:g}", hint)
    low, high = 1, 2
    while _chance(d_z, high, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _chance(d_z, middle, alpha) < power else (low, middle)
    return high


#: The function, under a name that no parameter shadows.
_chance = power
