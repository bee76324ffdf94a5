"""Tests on ranks and signs, and rank correlations between orders of systems."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from idealist.significance.paired import ROUNDING
from idealist.significance.resampling import randomisation


def tau_b(x: ArrayLike, y: ArrayLike) -> float:
    """Compute Kendall's tau-b: concordant minus discordant pairs, adjusted for ties.

    NaN if all values of a list are tied.

    >>> tau_b([3, 2, 1], [3, 1, 2])
    0.3333333333333333

    Reference: Kendall 1945, doi:10.1093/biomet/33.3.239
    """
    first, second = _signs(x), _signs(y)
    pairs = float((first * first).sum() * (second * second).sum())
    return float((first * second).sum()) / math.sqrt(pairs) if pairs else math.nan


def tau_ap(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Compute τ_AP, a rank correlation in which errors at the top of the estimate count most.

    Formula: 2 mean(C_i / A_i) - 1 over the items with A_i > 0 items above them in the estimate, C_i
    of which are also above them in truth

    Items tied in the estimate are not above each other, nor are items tied in truth. Without ties
    this is τ_AP; with ties it is one half of τ_AP,b. NaN if all items are tied.

    >>> round(tau_ap([4, 3, 2, 1], [4, 3, 1, 2]), 4), round(tau_ap([4, 3, 2, 1], [3, 4, 2, 1]), 4)
    (0.7778, 0.3333)

    Reference: Yilmaz, Aslam and Robertson 2008, doi:10.1145/1390334.1390435
    """
    above = _signs(estimate) < 0
    counts = above.sum(axis=1)
    right = (above & (_signs(truth) < 0)).sum(axis=1)
    if not counts.any():
        return math.nan
    return 2 * float((right[counts > 0] / counts[counts > 0]).mean()) - 1


def tau_ap_b(x: ArrayLike, y: ArrayLike) -> float:
    """Compute τ_AP,b, the symmetric τ_AP of two orders, neither of which is the truth.

    Formula: (τ_AP(x, y) + τ_AP(y, x)) / 2

    >>> round(tau_ap_b([4, 3, 2, 1], [4, 3, 1, 2]), 4)
    0.7778

    Reference: Urbano and Marrero 2017, doi:10.1145/3121050.3121106
    """
    return (tau_ap(x, y) + tau_ap(y, x)) / 2


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Compute Spearman's rho: the correlation of ranks, where ties share theirs.

    NaN if all values of a list are tied.

    >>> spearman([3, 2, 1], [3, 1, 2])
    0.5

    Reference: Spearman 1904, doi:10.2307/1412159
    """
    first, second = (own - own.mean() for own in (_signs(x).sum(axis=1), _signs(y).sum(axis=1)))
    size = math.sqrt(float((first * first).sum()) * float((second * second).sum()))
    return float((first * second).sum()) / size if size else math.nan


def _signs(values: ArrayLike) -> NDArray[np.int8]:
    """Compare all pairs: 1 if the row's value is larger, 0 if they differ only by rounding."""
    given = np.asarray(values, float)
    apart = given[:, None] - given
    sizes = np.maximum(np.abs(given)[:, None], np.abs(given))
    return np.where(np.abs(apart) <= ROUNDING * sizes, 0, np.sign(apart)).astype(np.int8)


def wilcoxon(differences: ArrayLike) -> float:
    """Compute the two-sided p-value of Wilcoxon's signed-rank test, without unchanged queries.

    As in SciPy, it is exact up to 13 queries, and up to 50 without ties; beyond that it uses the
    normal approximation. Changes such as 0.3 - 0.2 and 0.2 - 0.1 are not tied because rounding
    separates them: another reason not to rely on it for values as coarse as those of P@10.

    >>> round(wilcoxon([0.1, 0.2, 0.3, 0.4, -0.05, 0.0]), 4)
    0.125

    Reference: Wilcoxon 1945, doi:10.2307/3001968
    """
    from scipy.stats import rankdata
    from scipy.stats import wilcoxon as test

    given = np.asarray(differences, float)
    changed = given[given != 0]
    if not changed.size:
        return 1.0
    if changed.size <= 13:  # with ties SciPy would enumerate all signs one by one
        return float(randomisation(np.sign(changed) * rankdata(np.abs(changed))))
    return float(test(changed).pvalue)


def sign_test(differences: ArrayLike, least: float = 0.0) -> float:
    """Compute the two-sided p-value of the sign test; changes of at most `least` are ignored.

    >>> sign_test([0.1, 0.2, 0.3, 0.4, -0.05, 0.0]), sign_test([0.1, 0.2, -0.005], least=0.01)
    (0.375, 0.5)

    Reference: Arbuthnott 1710, doi:10.1098/rstl.1710.0011
    """
    from scipy.stats import binomtest

    given = np.asarray(differences, float)
    up, down = int((given > least).sum()), int((given < -least).sum())
    return float(binomtest(up, up + down).pvalue) if up + down else 1.0
