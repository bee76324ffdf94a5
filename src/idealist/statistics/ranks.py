"""Tests on ranks and signs. They do not ask whether a mean differs; see the documentation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from idealist.statistics.flips import randomisation


def wilcoxon(differences: ArrayLike) -> float:
    """Give the two-sided p-value of Wilcoxon's signed-rank test, queries without change dropped.

    As SciPy has it: exact up to 13 queries, and up to 50 without ties; else by the normal
    approximation. Changes such as 0.3 - 0.2 and 0.2 - 0.1, which rounding sets apart, are not
    tied, another reason not to rely on it where values are few and round, as those of P@10.

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
    if changed.size <= 13:  # where SciPy tries all signs one by one if there are ties
        return float(randomisation(np.sign(changed) * rankdata(np.abs(changed))))
    return float(test(changed).pvalue)


def sign_test(differences: ArrayLike, least: float = 0.0) -> float:
    """Give the two-sided p-value of the sign test; changes of at most `least` are none.

    >>> sign_test([0.1, 0.2, 0.3, 0.4, -0.05, 0.0]), sign_test([0.1, 0.2, -0.005], least=0.01)
    (0.375, 0.5)

    Reference: Arbuthnott 1710, doi:10.1098/rstl.1710.0011
    """
    from scipy.stats import binomtest

    given = np.asarray(differences, float)
    up, down = int((given > least).sum()), int((given < -least).sum())
    return float(binomtest(up, up + down).pvalue) if up + down else 1.0
