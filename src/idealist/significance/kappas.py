"""Agreement of judges beyond chance: Cohen's kappa, Krippendorff's alpha, Gwet's AC1 and AC2.

All are computed from sums over documents, so sums of queries can be added up, drawn and weighted.
Arrays may have axes in front, such as one of draws: each statistic then has these axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: How far apart the i-th and the j-th grade are, as a power of |i - j|.
WEIGHTS = {"none": 0, "linear": 1, "quadratic": 2}
#: What differences of grades mean: nothing, their order, or their size.
LEVELS = ("nominal", "ordinal", "interval")


def disagreement(grades: int, weights: str = "none") -> Array:
    """Return how far grades are apart: 1 where they differ, or by how many grades they do.

    >>> disagreement(3, "quadratic").tolist()
    [[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]]
    """
    steps = np.arange(float(grades))
    apart = np.abs(steps[:, None] - steps)
    weighed: Array = apart ** WEIGHTS[weights] * (apart > 0)
    return weighed


def cohen_kappa(table: Array, weights: str = "none") -> Array:
    """Compute Cohen's kappa of two judges from how often they gave each pair of grades.

    Formula: κ = 1 - Σ_ij w_ij o_ij / Σ_ij w_ij e_ij, where o_ij is the share of documents that the
    one gave the i-th and the other the j-th grade, e_ij what chance would make of it, and w_ij is
    1 where i ≠ j, |i - j| (linear) or (i - j)² (quadratic)

    It is NaN where both gave one grade only.

    >>> float(cohen_kappa(np.array([[20.0, 5], [10, 15]])).round(4))
    0.4

    Reference: Cohen 1960, doi:10.1177/001316446002000104; with weights, Cohen 1968,
    doi:10.1037/h0026256
    """
    apart, total = disagreement(table.shape[-1], weights), table.sum(axis=(-2, -1))
    chance = table.sum(axis=-1)[..., :, None] * table.sum(axis=-2)[..., None, :]
    return _beyond_chance(total * _weighed(table, apart), _weighed(chance, apart))


class Ratings(NamedTuple):
    """What any number of judges said, each of some of the documents; summed over these.

    With n_ig the judges who gave document i the grade g, and m_i those who judged it: `together` is
    Σ_i n_ig (n_ih - [g = h]) / (m_i - 1), how often two grades were given to the same document;
    `alike` is the same with every document counted once; `given` is Σ_i n_ig / m_i.
    """

    together: Array
    alike: Array
    given: Array

    @classmethod
    def of(cls, counts: Array) -> Ratings:
        """Sum up counts: a row a document, a column a grade, how many judges gave it."""
        judges = counts.sum(axis=1)
        given = (counts[judges > 0] / judges[judges > 0, None]).sum(axis=0)
        several, most = counts[judges > 1], judges[judges > 1]
        return cls(_together(several, most - 1), _together(several, most * (most - 1)), given)

    @classmethod
    def of_two(cls, table: Array) -> Ratings:
        """Sum up what two judges said of the documents that both judged."""
        both = table + np.swapaxes(table, -2, -1)
        return cls(both, both / 2, both.sum(axis=-1) / 2)


def _together(counts: Array, parts: Array) -> Array:
    shares = counts / parts[:, None]
    found: Array = shares.T @ counts - np.diag(shares.sum(axis=0))
    return found


def krippendorff_alpha(
    ratings: Ratings, level: str = "ordinal", grades: Array | None = None
) -> Array:
    """Compute Krippendorff's alpha of any number of judges, where each may lack documents.

    Formula: α = 1 - D_o / D_e, where D_o is the mean squared distance of two grades of one
    document and D_e that of any two. Between the grades c < k it is Σ_{c≤g≤k} n_g - (n_c + n_k)/2
    (ordinal), with n_g how often g was given; their difference (interval), for which the `grades`
    are needed; or 1 (nominal)

    Documents of fewer than two judges do not count. It is NaN where all gave one grade.

    >>> counts = np.array([[2.0, 0, 0], [0, 1, 1], [0, 0, 2], [1, 1, 0]])
    >>> float(krippendorff_alpha(Ratings.of(counts)).round(4))
    0.7083

    Reference: Krippendorff 2019, Content Analysis, doi:10.4135/9781071878781
    """
    given = ratings.together.sum(axis=-1)
    if level == "ordinal":
        apart = ordinal_distances(given)
    elif level == "interval" and grades is not None:
        apart = (grades[:, None] - grades) ** 2
    else:
        apart = disagreement(given.shape[-1])
    chance = given[..., :, None] * given[..., None, :]  # a grade is 0 apart from itself
    seen = (given.sum(axis=-1) - 1) * _weighed(ratings.together, apart)
    return _beyond_chance(seen, _weighed(chance, apart))


def ordinal_distances(given: Array) -> Array:
    """Compute how far apart grades in order are, by how often each was given."""
    middle = np.cumsum(given, axis=-1) - given / 2
    squares: Array = (middle[..., :, None] - middle[..., None, :]) ** 2
    return squares


def gwet_ac(ratings: Ratings, weights: str = "none") -> Array:
    """Compute Gwet's AC1 of any number of judges or, with weights, AC2.

    Formula: (p_a - p_e) / (1 - p_e), where p_a is the mean share, over documents that two judged or
    more, of pairs of judges who agree, and p_e = Σ_gh w_gh / (q (q - 1)) Σ_g π_g (1 - π_g) over
    the q grades, with π_g the mean share of judges who gave g. w_gh is 1 where g = h and else 0
    (AC1), or 1 - |g - h| / (q - 1) (linear), or 1 - ((g - h) / (q - 1))² (quadratic)

    Where nearly all documents have one grade, kappa is near 0 even for judges who hardly ever
    differ; AC1 is not. It is NaN where there is one grade only.

    >>> table = np.array([[118.0, 5], [2, 0]])
    >>> float(cohen_kappa(table).round(4)), float(gwet_ac(Ratings.of_two(table)).round(4))
    (-0.0234, 0.9408)

    Reference: Gwet 2008, doi:10.1348/000711006X126600; AC2, Gwet 2014, Handbook of Inter-Rater
    Reliability
    """
    grades = ratings.given.shape[-1]
    apart = disagreement(grades, weights)
    close = 1 - apart / max(apart.max(), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        agreed = _weighed(ratings.alike, close) / ratings.alike.sum(axis=(-2, -1))
        shares = ratings.given / ratings.given.sum(axis=-1, keepdims=True)
        usual = close.sum() / np.float64(grades * (grades - 1))
        chance = usual * (shares * (1 - shares)).sum(axis=-1)
        found: Array = (agreed - chance) / (1 - chance)
    return found


def _weighed(table: Array, weights: Array) -> Array:
    total: Array = (table * weights).sum(axis=(-2, -1))
    return total


def _beyond_chance(seen: Array, chance: Array) -> Array:
    """Subtract from 1 the disagreement seen, as a part of what chance would make of it."""
    none = np.full(np.shape(chance), np.nan)
    return np.asarray(1 - np.divide(seen, chance, out=none, where=np.asarray(chance) > 0))


def standing_apart(counts: Array, row: Indices, grade: Indices, judge: Indices) -> list[float]:
    """Compute for each judge how far he is from others, in standard errors of judges alike.

    Formula: z_j = Σ_i (d_ij - m_i) / √Σ_i v_i, over the documents i that j judged, where d_ij is
    the mean squared distance of his grade from the others', and m_i and v_i are the mean and the
    variance of that over all who judged i

    `counts` is as for `Ratings`; each judgment has its `row` there, its `grade` and its `judge`.

    >>> counts = np.array([[2.0, 1], [1, 2], [2, 1], [3, 0]])
    >>> row, judge = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    >>> grade = np.array([0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0])
    >>> [round(z, 2) for z in standing_apart(counts, row, grade, judge)]
    [-1.22, -1.22, 2.45]
    """
    judges = counts.sum(axis=1)
    far = counts @ ordinal_distances(counts.sum(axis=0)) / np.maximum(judges - 1, 1)[:, None]
    mean = (counts * far).sum(axis=1) / judges
    variance = np.maximum((counts * far**2).sum(axis=1) / judges - mean**2, 0)
    total = np.bincount(judge, far[row, grade] - mean[row])
    spread = np.sqrt(np.bincount(judge, variance[row]))
    z: list[float] = np.divide(total, spread, out=np.zeros_like(total), where=spread > 0).tolist()
    return z
