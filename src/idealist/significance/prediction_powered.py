"""Prediction-powered means: few labels that are right, and many predictions that need not be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from idealist.significance.means import effective, mean, quantile, standard_error

Array = NDArray[np.float64]

#: Fewer labels than this leave the interval too short: see docs/design/0050-corrected-numbers.md.
FEWEST_LABELS = 20
#: A variance that is a smaller part of that of all predictions is of rounding.
NO_VARIANCE = 1e-12


class EstimatedMean(NamedTuple):
    """A mean, its standard error, and the degrees of freedom of that."""

    value: float
    se: float
    df: int

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval by Student's t.

        >>> [round(end, 3) for end in EstimatedMean(0.5, 0.1, 19).interval()]
        [0.291, 0.709]
        """
        half = quantile((1 + confidence) / 2, self.df) * self.se
        return self.value - half, self.value + half


@dataclass(frozen=True)
class PredictionPowered:
    """What `n` labels and the predictions of these and of `others` units say about a mean.

    `corrected` is made of all, `labelled` of the labels alone, and `predicted` of all predictions,
    right or wrong. `bias` is how much predictions exceed labels. `tuning` (λ) says how much of the
    predictions is used, from 0, where they did not help, to 1. `gap` is how far the predictions of
    what is labelled lie from those of the others.
    """

    n: int
    others: int
    corrected: EstimatedMean
    labelled: EstimatedMean
    predicted: EstimatedMean
    bias: EstimatedMean
    gap: EstimatedMean
    tuning: float
    correlation: float

    @property
    def worth(self) -> float:
        """The number of labels that would make the mean as sure without predictions.

        Formula: n Var(labelled) / Var(corrected), but no more than there are units
        """
        if not self.corrected.se:
            return self.n
        return min(self.n * (self.labelled.se / self.corrected.se) ** 2, self.n + self.others)

    @property
    def saved(self) -> float:
        """The number of labels that the predictions saved."""
        return self.worth - self.n

    @property
    def p_of_gap(self) -> float:
        """How often a random choice of what to label leaves a gap as wide as this."""
        from scipy.special import stdtr

        if not self.gap.se:
            return 1.0
        return 2 * float(stdtr(self.gap.df, -abs(self.gap.value) / self.gap.se))


def prediction_powered(
    labels: ArrayLike,
    predictions: ArrayLike,
    others: ArrayLike,
    weights: ArrayLike | None = None,
    weights_of_others: ArrayLike | None = None,
) -> PredictionPowered:
    """Correct the mean of predictions by what labels show about them (PPI++, power-tuned).

    Formula: m = 1/n Σ u_i, where u_i = y_i - λ_i (f_i - F), y_i are the n labels, f_i the
    predictions beside them and F the mean of the N predictions of others; its variance is
    Var(u)/n + λ² Var_N(f)/N, λ the mean of the λ_i, with n - 1 degrees of freedom

    λ_i is Cov(y, f) / ((1 + n/N) Var(f)) without unit i, between 0 and 1. A λ that has seen the
    label which it corrects would make few labels look surer than they are. Where the interval would
    be no shorter than that of the labels alone, λ is 0 and the mean is theirs. With weights, means
    are weighted, and n and N are the effective numbers; values are taken to vary alike, whatever
    they weigh. The labelled units are taken to be a random sample of all.

    >>> y, f = [0.1, 0.4, 0.5, 0.9] * 5, [0.2, 0.4, 0.7, 0.9] * 5
    >>> found = prediction_powered(y, f, [0.3, 0.5, 0.8, 0.9] * 25)
    >>> [round(one.value, 3) for one in (found.labelled, found.predicted, found.corrected)]
    [0.475, 0.613, 0.55]
    >>> round(found.tuning, 2), round(found.worth)
    (1.0, 92)

    Reference: Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453
    """
    y, f, g = (np.asarray(one, float) for one in (labels, predictions, others))
    w, v = (None if one is None else np.asarray(one, float) for one in (weights, weights_of_others))
    n, more = (_size(*one) for one in ((y, w), (g, v)))
    labelled, rest = _mean(y, w), _mean(g, v)
    tunings = _tunings(y, f, g, n / more)
    tuning = float(tunings.mean())
    u = _mean(y - tunings * (f - rest.value), w)
    corrected = EstimatedMean(u.value, math.hypot(u.se, tuning * rest.se), u.df)
    if corrected.se >= labelled.se:
        corrected, tuning = labelled, 0.0
    beside = _mean(f, w)
    every = np.concatenate([f, g])
    return PredictionPowered(
        n=len(y),
        others=len(g),
        corrected=corrected,
        labelled=labelled,
        predicted=_mean(every, None if w is None or v is None else np.concatenate([w, v])),
        bias=_mean(f - y, w),
        gap=EstimatedMean(beside.value - rest.value, math.hypot(beside.se, rest.se), beside.df),
        tuning=tuning,
        correlation=_correlation(y, f),
    )


def _size(values: Array, weights: Array | None) -> float:
    return len(values) if weights is None else effective(weights.tolist())


def _mean(values: Array, weights: Array | None) -> EstimatedMean:
    given, some = None if weights is None else weights.tolist(), values.tolist()
    return EstimatedMean(mean(some, given), standard_error(some, given), len(some) - 1)


def _tunings(y: Array, f: Array, g: Array, ratio: float) -> Array:
    """Compute λ of each label, without that label."""
    every = np.concatenate([f, g])
    covariance = _without_each((y - y.mean()) * (f - f.mean()))
    variance = _without_each((every - every.mean()) ** 2)[: len(y)]
    known = variance > NO_VARIANCE * every.var()
    ideal = np.divide(covariance, (1 + ratio) * variance, out=np.zeros_like(y), where=known)
    tunings: Array = np.clip(ideal, 0, 1)
    return tunings


def _without_each(products: Array) -> Array:
    """Compute a covariance without each unit in turn, of products of deviations from the means.

    Formula: (Σ_j p_j - p_i n/(n - 1)) / (n - 2)
    """
    n = len(products)
    found: Array = (products.sum() - products * (n / (n - 1))) / (n - 2)
    return found


def _correlation(y: Array, f: Array) -> float:
    """Compute the correlation; NaN where one side does not vary beyond rounding."""
    if any(np.ptp(x) <= NO_VARIANCE * np.abs(x).max() for x in (y, f)):
        return math.nan
    return float(np.corrcoef(y, f)[0, 1])
