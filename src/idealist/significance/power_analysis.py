"""Power of the paired t-test: what a number of queries can detect, and how many it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from idealist.errors import UsageError
from idealist.significance.means import quantile

#: With fewer queries a comparison raises a doubt, and a slice is not tested.
ENOUGH = 10


@dataclass(frozen=True)
class Typical:
    """How much two runs of a track differ from query to query.

    `sd` is the standard deviation of their differences, the median over pairs of runs; 8 of 10
    pairs lie between `low` and `high`.
    """

    measure: str
    sd: float
    low: float
    high: float
    source: str


COVID = "109 runs of TREC-COVID round 1, 30 queries"
ADHOC = "129 runs of the TREC-8 ad hoc track, 50 queries"
WEB = "34 runs of the TREC 2013 Web track, 50 queries"

#: Deviations measured on real runs, for planning without a pilot; `make study` measures them anew.
TYPICAL = (
    Typical("nDCG@10", 0.2565, 0.2015, 0.3077, COVID),
    Typical("nDCG@20", 0.2068, 0.1596, 0.2503, COVID),
    Typical("nDCG@20", 0.1835, 0.1403, 0.2293, WEB),
    Typical("nDCG", 0.1669, 0.1220, 0.2149, COVID),
    Typical("AP", 0.1591, 0.1109, 0.2124, ADHOC),
    Typical("AP", 0.1241, 0.0842, 0.1658, COVID),
    Typical("P@5", 0.3350, 0.2652, 0.4066, COVID),
    Typical("P@10", 0.2697, 0.2149, 0.3275, COVID),
    Typical("RR", 0.4314, 0.3365, 0.5217, COVID),
    Typical("RR@10", 0.4378, 0.3411, 0.5309, COVID),
    Typical("R@100", 0.1573, 0.1050, 0.2135, COVID),
    Typical("ERR@20", 0.3307, 0.2667, 0.3926, COVID),
)


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


@lru_cache(maxsize=1024)
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


def effect_interval(t: float, n: float, df: float, alpha: float = 0.05) -> tuple[float, float]:
    """Compute the confidence interval of the effect size d_z = t / √n.

    Formula: δ / √n for the two δ at which the noncentral t with df degrees of freedom is above,
    or below, the observed t with probability α/2

    >>> [round(end, 3) for end in effect_interval(3.0, 50, 49)]
    [0.133, 0.712]

    Reference: Steiger and Fouladi 1997, in What If There Were No Significance Tests; Cumming and
    Finch 2001, doi:10.1177/0013164401614002
    """
    if not math.isfinite(t) or not df > 0:
        return math.nan, math.nan
    from scipy.special import nctdtrinc

    low, high = (float(nctdtrinc(df, tail, abs(t))) for tail in (1 - alpha / 2, alpha / 2))
    low, high = (low, high) if t >= 0 else (-high, -low)
    return low / math.sqrt(n), high / math.sqrt(n)
