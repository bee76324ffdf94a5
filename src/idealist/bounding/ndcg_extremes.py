"""The extremes of nDCG: a ratio of two sums that both depend on the unknown grades.

Sorted by weight, the unjudged documents of an extreme completion have grades that only fall (or
only rise): for given numbers of each grade that makes the DCG greatest (or least), and the ideal
list depends on the numbers alone. Let n_t be how many documents gain at least the t-th level. DCG
and ideal are then both sums over t of a function of n_t, so for any λ the best of DCG - λ · ideal
under n_1 ≥ n_2 ≥ … is found level by level, and Dinkelbach's iteration over λ finds the best ratio.
docs/design/0015-bounds.md has the argument in full.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from idealist.bounding.bound_case import BoundCase, Completion
from idealist.bounding.unjudged_places import UnjudgedPlaces
from idealist.data.columns import Floats
from idealist.measures.cumulative import CG, nDCG
from idealist.measures.gains import Discount
from idealist.ranking.padded_lists import padded
from idealist.ranking.placements import Placements

#: Far more steps than Dinkelbach's iteration ever takes; it stops by itself.
STEPS = 100


class Ratio(NamedTuple):
    """What is made extreme: (base + Σ weight · gain) / ideal, `sums` and `ideals` by level and n.

    Row t says what is added if n documents gain at least the level t + 1.
    """

    base: float
    ideal: float
    sums: Floats
    ideals: Floats
    at_least_one: int

    @property
    def divides(self) -> bool:
        """Whether the ideal is ever above 0."""
        return bool(self.ideal > 0 or self.ideals[:, -1].any())

    def at(self, counts: list[int]) -> float:
        """Return the value for some counts."""
        rows = range(len(counts))
        above = self.base + math.fsum(self.sums[t, counts[t]] for t in rows)
        below = self.ideal + math.fsum(self.ideals[t, counts[t]] for t in rows)
        return float(above / below)

    def extreme(self, sign: float) -> list[int]:
        """Return the counts of the greatest value (sign 1) or the least (sign -1)."""
        counts = [int(t < self.at_least_one) for t in range(len(self.sums))]
        value = self.at(counts)
        for _ in range(STEPS):
            found = self._chain(sign * (self.sums - value * self.ideals))
            if sign * (better := self.at(found)) <= sign * value:
                break
            counts, value = found, better
        return counts

    def _chain(self, worth: Floats) -> list[int]:
        """Maximise Σ_t worth[t, n_t] under n_1 ≥ n_2 ≥ … of all levels."""
        worth[: self.at_least_one, 0] = -math.inf
        for t in range(len(worth) - 2, -1, -1):
            worth[t] += np.maximum.accumulate(worth[t + 1])
        counts, most = [], worth.shape[1]
        for row in worth:
            most = int(np.argmax(row[:most])) + 1
            counts.append(most - 1)
        return counts


def ratio_of(
    base: float, weights: Floats, levels: Floats, pool: Floats, cumulated: Floats
) -> Ratio:
    """Set up a ratio.

    `weights` are those of the documents in the order in which they get gains, `levels` the
    gains, lowest first, `pool` the gains of the other documents of the ideal list, and `cumulated`
    what its first n ranks weigh together.
    """
    size = len(weights)
    summed = np.concatenate(([0.0], np.cumsum(weights)))
    sums = np.diff(levels)[:, None] * summed
    ideals, ideal = np.zeros_like(sums), 0.0
    pool = np.sort(pool[pool > 0])
    n = np.arange(size + 1)
    steps = np.unique(np.concatenate((pool, levels[levels > 0])))
    for step, width in zip(steps, np.diff(steps, prepend=0.0), strict=True):
        others = len(pool) - int(np.searchsorted(pool, step))
        level = int(np.searchsorted(levels, step))  # those that gain so much: n of this level
        if level == 0 or level == len(levels):
            ideal += width * cumulated[others + (size if level == 0 else 0)]
        else:
            ideals[level - 1] += width * cumulated[others + n]
    worthless = not ideal and not ideals[:, 0].any()  # unless one document has a gain
    needed = int(np.searchsorted(levels, 0.0, side="right")) if worthless else 0
    return Ratio(base + levels[0] * float(summed[-1]), float(ideal), sums, ideals, needed)


def gains_of(measure: CG, grades: Floats) -> Floats:
    """Return the gain of each grade."""
    gains: Floats = measure.gains(padded([]), grades, grades > -math.inf)
    return gains


def distinct(measure: CG, levels: Floats) -> tuple[Floats, Floats]:
    """Return the different gains of some grades, lowest first, and a grade for each."""
    gains, index = np.unique(gains_of(measure, levels), return_index=True)
    return gains, levels[index]


def rank_weights(
    discount: str, cutoff: int | None, placed: Placements | UnjudgedPlaces, chance: bool
) -> Floats:
    """Return the weight of each place: its rank's or, by chance, the mean of its tie's."""
    deepest = int(placed.last.max(initial=1))
    weights = Discount(discount).weights(deepest)[: deepest + 1].copy()
    if cutoff is not None:
        weights[cutoff + 1 :] = 0.0
    if not chance:
        return weights[placed.rank]
    summed = np.cumsum(weights)
    mean: Floats = (summed[placed.last] - summed[placed.first - 1]) / (
        placed.last - placed.first + 1
    )
    return mean


def weights_of(case: BoundCase, measure: CG) -> Floats:
    """Return what the gain of each unjudged document is multiplied by."""
    discount = str(getattr(measure, "discount", "none"))
    return rank_weights(discount, measure.cutoff, case.unjudged, case.by_chance)


def judged_dcg(case: BoundCase, measure: nDCG) -> Floats:
    """Return the DCG of each query's judged documents."""
    placed = case.placements
    weights = rank_weights(str(measure.discount), measure.cutoff, placed, case.by_chance)
    own = weights * gains_of(measure, placed.grade)
    base: Floats = np.bincount(placed.query, own, case.size).astype(np.float64)
    return base


def cumulated_ideal(measure: nDCG, size: int, retrieved: int) -> Floats:
    """Return what the first 0, 1, …, `size` ranks of the ideal list weigh together."""
    weights = Discount(str(measure.discount)).weights(size)[: size + 1].copy()
    cut = size if measure.ideal_cut == "none" else (measure.cutoff or size)
    cut = min(cut, retrieved) if measure.ideal_cut == "min(k,n)" else cut
    weights[cut + 1 :] = 0.0
    return np.cumsum(weights)


def ndcg_extremes(case: BoundCase, measure: nDCG) -> list[Completion]:
    """Return completions among which are the extremes of every query."""
    _, grades = distinct(measure, case.levels)
    base, weights, made = judged_dcg(case, measure), weights_of(case, measure), []
    for sign, outside in ((1.0, grades[0]), (-1.0, grades[-1])):
        given = case.all_at(grades[0], outside)
        extreme = Extreme(case, measure, sign, outside)
        for query, span in case.spans:
            given.grades[span] = extreme.grades(query, float(base[query]), weights[span])
        made.append(given)
    return [*made, case.all_at(grades[0])]


class Extreme:
    """The grades that make nDCG greatest (sign 1) or least (sign -1), query by query.

    `outside` is the grade of the documents elsewhere that could be judged too.
    """

    def __init__(self, case: BoundCase, measure: nDCG, sign: float, outside: float) -> None:
        self._case, self._measure, self._sign, self._outside = case, measure, sign, outside
        self._levels, self._grades = distinct(measure, case.levels)

    def grades(self, query: int, base: float, weights: Floats) -> Floats:
        """Grade a query's unjudged documents, by what they weigh and what the judged ones add."""
        order = np.argsort(-self._sign * weights, kind="stable")
        pool = self._pool(query)
        retrieved = int(self._case.placements.retrieved[query])
        cumulated = cumulated_ideal(self._measure, len(pool) + len(order), retrieved)
        ratio = ratio_of(base, weights[order], self._levels, pool, cumulated)
        given = np.full(len(order), self._grades[0])
        if ratio.divides:
            counts = np.array(ratio.extreme(self._sign), dtype=np.int64)
            level = np.sum(np.arange(len(order)) < counts[:, None], axis=0)  # the first: highest
            given[order] = self._grades[level]
        return given

    def _pool(self, query: int) -> Floats:
        """Return the gains of the judged documents of the ideal list, and of those elsewhere."""
        case, measure = self._case, self._measure
        if measure.ideal == "retrieved":
            return gains_of(measure, case.placements.grade[case.listed(query)])
        more = np.full(case.elsewhere[query], self._outside)
        return gains_of(measure, np.append(case.pool(query), more))
