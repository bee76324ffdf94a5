"""Student's t on per-query differences, with intervals, effect sizes and risk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from idealist.errors import UsageError
from idealist.significance.means import deviation, effective, mean, quantile

Array = NDArray[np.float64]

#: Two numbers this close, relative to the larger one, differ only by rounding.
ROUNDING = 1e-12
#: The supported significance levels; quantiles of t are accurate there.
ALPHAS = 1e-6, 0.5


def checked_alpha(alpha: float) -> float:
    """Refuse an invalid significance level."""
    number = isinstance(alpha, (int, float, np.number)) and not isinstance(alpha, bool)
    if not number or not ALPHAS[0] <= alpha <= ALPHAS[1]:
        hint = f"alpha is a number from {ALPHAS[0]:g} to {ALPHAS[1]:g}, such as 0.05"
        raise UsageError(f"alpha cannot be {alpha!r}", hint)
    return float(alpha)


def differences(base: ArrayLike, new: ArrayLike) -> Array:
    """Subtract the values of a baseline query by query; differences of rounding become 0.

    >>> differences([0.1 + 0.2, 0.5], [0.3, 0.75]).tolist()
    [0.0, 0.25]
    """
    before, after = np.asarray(base, float), np.asarray(new, float)
    apart = after - before
    near = np.abs(apart) <= ROUNDING * np.maximum(np.abs(before), np.abs(after))
    return np.where(near, 0.0, apart)


@dataclass(frozen=True)
class Paired:
    """The mean of n differences and its t-statistics.

    `sd` is the standard deviation (n - 1) of the differences; with weights the mean is as sure as
    one of `alike` queries of equal weight. With one query everything but n and the mean is NaN. If
    all differences are 0, the interval is that point and p is 1. If all are equal but not 0, t is
    infinite and meaningless because nothing varies: intervals and probabilities are NaN.

    Where every difference is -1, 0 or 1, `changed` is the share that is not 0, and the interval is
    one of a difference of shares (Bonett and Price 2012, doi:10.3102/1076998611411915).

    Reference: Student 1908, doi:10.1093/biomet/6.1.1
    """

    n: int
    mean: float
    sd: float
    alpha: float = 0.05
    weighted: float | None = None
    changed: float = math.nan

    @property
    def alike(self) -> float:
        """The number of queries of equal weight that make a mean as sure; n without weights."""
        return self.n if self.weighted is None else self.weighted

    @property
    def constant(self) -> bool:
        """Whether all differences are equal and not 0."""
        return self.sd == 0 and self.mean != 0

    @property
    def df(self) -> int:
        """Degrees of freedom, n - 1."""
        return self.n - 1

    @property
    def se(self) -> float:
        """The standard error of the mean."""
        return self.sd / math.sqrt(self.alike)

    @property
    def t(self) -> float:
        """The mean in standard errors."""
        return _over(self.mean, self.se)

    @cached_property
    def p(self) -> float:
        """The two-sided p-value: how often |t| is this large if there is no difference."""
        return 2 * self._below(-abs(self.t))

    @cached_property
    def low(self) -> float:
        """The lower end of the 1 - alpha confidence interval."""
        return self.lower(self.alpha / 2)

    @cached_property
    def high(self) -> float:
        """The upper end of the 1 - alpha confidence interval."""
        return self.upper(self.alpha / 2)

    @property
    def d_z(self) -> float:
        """The effect size: the mean in standard deviations of the difference."""
        return _over(self.mean, self.sd)

    @property
    def hedges_g(self) -> float:
        """The effect size corrected for bias: d_z (1 - 3 / (4 df - 1)).

        Reference: Hedges 1981, doi:10.3102/10769986006002107
        """
        return self.d_z * (1 - 3 / (4 * self.df - 1))

    def lower(self, alpha: float) -> float:
        """Return the one-sided lower confidence bound at 1 - alpha."""
        return self._end(alpha, -1)

    def upper(self, alpha: float) -> float:
        """Return the one-sided upper confidence bound at 1 - alpha."""
        return self._end(alpha, 1)

    def p_above(self, margin: float = 0.0) -> float:
        """Return the one-sided p-value for a true mean above `margin`."""
        return self._below(-_over(self.mean - margin, self.se))

    def p_below(self, margin: float = 0.0) -> float:
        """Return the one-sided p-value for a true mean below `margin`."""
        return self._below(_over(self.mean - margin, self.se))

    def non_inferiority(self, margin: float) -> float:
        """Return the p-value for a true mean above -`margin`."""
        return self.p_above(-margin)

    def equivalence(self, margin: float) -> float:
        """Return the p-value for a true mean between -`margin` and `margin`.

        Reference: Schuirmann 1987, doi:10.1007/BF01068419 (two one-sided tests, TOST)
        """
        return max(self.p_above(-margin), self.p_below(margin))

    def probability(self, low: float, high: float) -> float:
        """Return the posterior probability that the true mean lies between two bounds.

        Under Jeffreys' prior the true mean is t-distributed around the observed one, so this
        restates t: probability(-∞, 0) is the one-sided p-value.

        Reference: Sakai 2017, doi:10.1145/3077136.3080766
        """
        if self.constant:
            return math.nan
        if self.sd == 0:  # a point; better, equal and worse still sum to 1
            closed = math.isfinite(low) and math.isfinite(high)
            return float(low <= self.mean <= high if closed else low < self.mean < high)
        return self._below((high - self.mean) / self.se) - self._below((low - self.mean) / self.se)

    def _end(self, alpha: float, side: int) -> float:
        if self.changed > 0:  # as if one more query had won and one had lost
            n = self.alike + 2
            centre, squares = self.mean * (n - 2) / n, (self.changed * (n - 2) + 2) / n
            reach = NormalDist().inv_cdf(1 - alpha) * math.sqrt((squares - centre**2) / n)
            return max(-1.0, min(centre + side * reach, 1.0))
        if math.isnan(self.sd) or self.constant:
            return math.nan
        return self.mean + side * (quantile(1 - alpha, self.df) * self.se if self.sd else 0.0)

    def _below(self, t: float) -> float:
        from scipy.special import stdtr

        if self.constant:
            return math.nan
        if math.isinf(t):  # certain for any degrees of freedom
            return float(t > 0)
        if self.sd == 0:  # nothing varies or differs: both sides are equally likely
            return 0.5
        return float(stdtr(self.df, t))


def paired(differences: ArrayLike, weights: ArrayLike | None = None, alpha: float = 0.05) -> Paired:
    """Compute the mean difference with its t-test, interval and effect sizes.

    Formula: t = m / se, where se = sd √(Σ w²) / Σ w; with equal weights se = sd / √n

    >>> found = paired([0.1, 0.0, 0.2, 0.1])
    >>> round(found.mean, 3), round(found.t, 3), round(found.p, 3), round(found.d_z, 3)
    (0.1, 2.449, 0.092, 1.225)
    """
    d, w = weighing(differences, weights)
    values: list[float] = d.tolist()
    given = None if weights is None else w.tolist()
    centre, sd = mean(values, given), deviation(values) if len(values) > 1 else math.nan
    if max(values) - min(values) <= ROUNDING * max(map(abs, values)):
        centre, sd = values[0], 0.0 if len(values) > 1 else math.nan
    alike = None if given is None else effective(given)
    unit = len(values) > 1 and {-1.0, 0.0, 1.0}.issuperset(values)
    changed = mean([float(value != 0) for value in values], given) if unit else math.nan
    return Paired(len(values), centre, sd, checked_alpha(alpha), alike, changed)


def weighing(differences: ArrayLike, weights: ArrayLike | None) -> tuple[Array, Array]:
    """Return the differences with positive weight and their weights, 1 if none are given."""
    d = np.asarray(differences, float)
    if weights is None:
        return d, np.ones_like(d)
    w = np.asarray(weights, float)
    return d[w > 0], w[w > 0]


def _over(above: float, below: float) -> float:
    """Divide; if nothing varies, 0 stays 0 and everything else is infinite."""
    if below == 0:
        return math.copysign(math.inf, above) if above else 0.0
    return above / below


def relative(
    base: ArrayLike, new: ArrayLike, weights: ArrayLike | None = None, alpha: float = 0.05
) -> tuple[float, float, float]:
    """Compute the relative difference of two means, with Fieller's confidence interval.

    Formula: m_new / m_base - 1; the interval contains each ratio r for which m_new - r m_base is
    within t standard errors of 0

    If the base's mean does not differ significantly from 0, every ratio is possible and the ends
    are NaN; if that mean is 0, so is the relative difference.

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
    left, right = x - mean(x.tolist()), y - mean(y.tolist())
    scale = quantile(1 - alpha / 2, len(x) - 1) ** 2 / (len(x) - 1) / effective(w.tolist())
    a = below * below - scale * math.fsum(left * left)
    b = below * above - scale * math.fsum(left * right)
    c = above * above - scale * math.fsum(right * right)
    if a <= 0:
        return share, math.nan, math.nan
    half = math.sqrt(max(0.0, b * b - a * c))
    return share, (b - half) / a - 1, (b + half) / a - 1


def urisk(differences: ArrayLike, alpha: float = 1.0, weights: ArrayLike | None = None) -> float:
    """Compute URisk: the mean difference with every loss counted 1 + alpha times.

    Formula: Σ w (d if d ≥ 0 else (1 + α) d) / Σ w

    >>> round(urisk([0.3, -0.1]), 3), round(urisk([0.3, -0.1], alpha=5), 3)
    (0.05, -0.15)

    Reference: Wang, Bennett and Collins-Thompson 2012, doi:10.1145/2348283.2348385
    """
    given = None if weights is None else np.asarray(weights, float).tolist()
    return mean(dearer(differences, alpha).tolist(), given)


def trisk(differences: ArrayLike, alpha: float = 1.0, weights: ArrayLike | None = None) -> float:
    """Compute TRisk: URisk in standard errors; beyond ±2, risk or gain is more than chance.

    Formula: URisk / (s / √n), where s is the standard deviation (n - 1) of the terms of URisk; with
    α = 0 it is Student's t

    The tool of rmit-ir divides by n, which makes TRisk √(n / (n - 1)) times as large.

    >>> round(trisk([0.3, 0.2, -0.1]), 3), round(trisk([0.3, 0.2, -0.1], alpha=0), 3)
    (0.655, 1.109)

    Reference: Dinçer, Macdonald and Ounis 2014, doi:10.1145/2600428.2609625
    """
    return paired(dearer(differences, alpha), weights).t


def dearer(differences: ArrayLike, alpha: float) -> Array:
    """Multiply losses by 1 + alpha."""
    given = np.asarray(differences, float)
    return np.where(given < 0, (1 + alpha) * given, given)
