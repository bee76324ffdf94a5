"""Agreement of judges beyond chance: Cohen's kappa of two, Krippendorff's alpha of any number."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: How far apart the i-th and the j-th grade are, for kappa.
WEIGHTS = {"none": 0, "linear": 1, "quadratic": 2}


def cohen_kappa(counts: Array, weights: str = "none") -> float:
    """Compute Cohen's kappa of two judges from how often they gave each pair of grades.

    Formula: κ = 1 - Σ_ij w_ij o_ij / Σ_ij w_ij e_ij, where o_ij is the share of documents that the
    one gave the i-th and the other the j-th grade, e_ij what chance would make of it, and w_ij is
    1 where i ≠ j, |i - j| (linear) or (i - j)² (quadratic)

    It is NaN where both gave one grade only.

    >>> counts = np.array([[20.0, 5], [10, 15]])
    >>> round(cohen_kappa(counts), 4)
    0.4

    Reference: Cohen 1960, doi:10.1177/001316446002000104; with weights, Cohen 1968,
    doi:10.1037/h0026256
    """
    shares = counts / counts.sum()
    steps = np.arange(len(counts))
    apart = np.abs(steps[:, None] - steps)
    weighed = apart ** WEIGHTS[weights] * (apart > 0)
    chance = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    expected = float((weighed * chance).sum())
    return 1 - float((weighed * shares).sum()) / expected if expected else math.nan


def krippendorff_alpha(counts: Array) -> float:
    """Compute Krippendorff's alpha for ordered grades: a row a document, a column a grade.

    Formula: α = 1 - D_o / D_e, where D_o is the mean squared distance of two grades of one
    document and D_e that of any two. Between the grades c < k it is Σ_{c≤g≤k} n_g - (n_c + n_k)/2,
    with n_g how often g was given

    A row counts how many judges gave each grade. Rows of fewer than two judges do not count. It is
    NaN where all gave one grade.

    >>> krippendorff_alpha(np.array([[2.0, 0], [0, 2], [2, 0]]))
    1.0
    >>> round(krippendorff_alpha(np.array([[2.0, 0, 0], [0, 1, 1], [0, 0, 2], [1, 1, 0]])), 4)
    0.7083

    Reference: Krippendorff 2019, Content Analysis, doi:10.4135/9781071878781
    """
    judges = counts.sum(axis=1)
    counts = counts[judges > 1]
    share = 1 / (counts.sum(axis=1) - 1)
    together = (counts * share[:, None]).T @ counts - np.diag((counts * share[:, None]).sum(axis=0))
    given, apart = counts.sum(axis=0), _distances(counts)
    chance = np.outer(given, given) - np.diag(given)
    expected = float((apart * chance).sum() / (given.sum() - 1))
    return 1 - float((apart * together).sum()) / expected if expected else math.nan


def _distances(counts: Array) -> Array:
    given = counts.sum(axis=0)
    middle = np.cumsum(given) - given / 2
    squares: Array = (middle[:, None] - middle) ** 2
    return squares


def standing_apart(counts: Array, row: Indices, grade: Indices, judge: Indices) -> list[float]:
    """Compute for each judge how far he is from others, in standard errors of judges alike.

    Formula: z_j = Σ_i (d_ij - m_i) / √Σ_i v_i, over the documents i that j judged, where d_ij is
    the mean squared distance of his grade from the others', and m_i and v_i are the mean and the
    variance of that over all who judged i

    `counts` is as for alpha; each judgment has its `row` there, its `grade` and its `judge`.

    >>> counts = np.array([[2.0, 1], [1, 2], [2, 1], [3, 0]])
    >>> row, judge = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    >>> grade = np.array([0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0])
    >>> [round(z, 2) for z in standing_apart(counts, row, grade, judge)]
    [-1.22, -1.22, 2.45]
    """
    judges = counts.sum(axis=1)
    far = counts @ _distances(counts) / np.maximum(judges - 1, 1)[:, None]
    mean = (counts * far).sum(axis=1) / judges
    variance = np.maximum((counts * far**2).sum(axis=1) / judges - mean**2, 0)
    total = np.bincount(judge, far[row, grade] - mean[row])
    spread = np.sqrt(np.bincount(judge, variance[row]))
    z: list[float] = np.divide(total, spread, out=np.zeros_like(total), where=spread > 0).tolist()
    return z
