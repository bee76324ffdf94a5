"""Risk: what a system costs on the queries that it makes worse."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from idealist.means import mean

Array = NDArray[np.float64]


def urisk(differences: ArrayLike, alpha: float = 1.0, weights: ArrayLike | None = None) -> float:
    """Give the mean difference, a loss counted 1 + alpha times.

    Formula: Σ w (d if d ≥ 0 else (1 + α) d) / Σ w

    >>> round(urisk([0.3, -0.1]), 3), round(urisk([0.3, -0.1], alpha=5), 3)
    (0.05, -0.15)

    Reference: Wang, Bennett and Collins-Thompson 2012, doi:10.1145/2348283.2348385
    """
    given = None if weights is None else np.asarray(weights, float).tolist()
    return mean(dearer(differences, alpha).tolist(), given)


def trisk(differences: ArrayLike, alpha: float = 1.0, weights: ArrayLike | None = None) -> float:
    """Give URisk in standard errors; beyond ±2 the risk, or the gain, is more than chance.

    Formula: URisk / (s / √n), s the standard deviation (divided by n) of what URisk averages

    >>> round(trisk([0.3, 0.2, -0.1]), 3)
    0.802

    Reference: Dinçer, Macdonald and Ounis 2014, doi:10.1145/2600428.2609625
    """
    risks, middle = dearer(differences, alpha), urisk(differences, alpha, weights)
    w = np.ones_like(risks) if weights is None else np.asarray(weights, float)
    error = math.sqrt(math.fsum((w * (risks - middle)) ** 2)) / math.fsum(w)
    if np.ptp(risks) == 0 or error == 0:
        return math.copysign(math.inf, middle) if middle else 0.0
    return middle / error


def dearer(differences: ArrayLike, alpha: float) -> Array:
    """Count losses 1 + alpha times."""
    given = np.asarray(differences, float)
    return np.where(given < 0, (1 + alpha) * given, given)
