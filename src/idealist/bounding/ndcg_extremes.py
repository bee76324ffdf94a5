"""The extremes of nDCG: a ratio of two sums that both depend on the hidden grades.

Sorted by what they weigh, the holes of an extreme completion have grades that only fall (or only
rise): for given numbers of each grade that makes the DCG greatest (or least), and the ideal list
depends on the numbers alone. Let n_t be how many holes gain at least the t-th level. DCG and ideal
are then both sums over t of a function of n_t, so for any λ the best of DCG - λ · ideal under
n_1 ≥ n_2 ≥ … is found level by level, and Dinkelbach's iteration over λ finds the best ratio.
docs/design/0015-bounds.md has the argument in full.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from idealist.bounding.hidden import Holes
from idealist.bounding.setting import Case, Completion
from idealist.data.columns import Floats, Ints
from idealist.measures.cumulative import CG, nDCG
from idealist.measures.gains import Discount
from idealist.ranking.padded_lists import padded
from idealist.ranking.placements import Placements

#: Far more steps than Dinkelbach's iteration ever takes; it stops by itself.
STEPS = 100


class Ratio(NamedTuple):
    """What is made extreme: (base + Σ weight · gain) / ideal, `sums` and `ideals` by level and n.

    Row t says what it adds that n holes gain at least the level t + 1.
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
        """Give the value for some counts."""
        rows = range(len(counts))
        above = self.base + math.fsum(self.sums[t, counts[t]] for t in rows)
        below = self.ideal + math.fsum(self.ideals[t, counts[t]] for t in rows)
        return float(above / below)

    def extreme(self, sign: float) -> list[int]:
        """Give the counts of the greatest value (sign 1) or the least (sign -1)."""
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

    `weights` are those of the holes in the order in which they are given gains, `levels` the
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
        level = int(np.searchsorted(levels, step))  # the holes that gain so much: n of this level
        if level == 0 or level == len(levels):
            ideal += width * cumulated[others + (size if level == 0 else 0)]
        else:
            ideals[level - 1] += width * cumulated[others + n]
    worthless = not ideal and not ideals[:, 0].any()  # unless a hole is worth something
    needed = int(np.searchsorted(levels, 0.0, side="right")) if worthless else 0
    return Ratio(base + levels[0] * float(summed[-1]), float(ideal), sums, ideals, needed)


def gains_of(measure: CG, grades: Floats) -> Floats:
    """Give the gain of each grade."""
    gains: Floats = measure.gains(padded([]), grades, grades > -math.inf)
    return gains


def rank_weights(
    discount: str, cutoff: int | None, placed: Placements | Holes, chance: bool
) -> Floats:
    """Give the weight of each place: its rank's or, by chance, the mean of its tie's."""
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


class Weighed(NamedTuple):
    """Per hole and per query, what nDCG is made of: hole weights and the DCG without the holes."""

    holes: Floats
    base: Floats


def weighed(case: Case, measure: CG) -> Weighed:
    """Weigh the holes of a case, and sum up what is judged."""
    chance = case.placements.protocol.ties == "expected"
    discount = str(getattr(measure, "discount", "none"))
    placed = case.placements
    own = rank_weights(discount, measure.cutoff, placed, chance) * gains_of(measure, placed.grade)
    base: Floats = np.bincount(placed.query, own, case.size).astype(np.float64)
    holes = rank_weights(discount, measure.cutoff, case.holes, chance)
    return Weighed(holes, base)


def distinct(measure: CG, levels: Floats) -> tuple[Floats, Floats]:
    """Give the different gains of some grades, lowest first, and a grade for each."""
    gains, index = np.unique(gains_of(measure, levels), return_index=True)
    return gains, levels[index]


def ideal_pool(case: Case, measure: nDCG, query: int, outside: float) -> Floats:
    """Give the gains of the documents of a query's ideal list, less the holes."""
    if measure.ideal == "retrieved":
        return gains_of(measure, case.placements.grade[case.listed(query)])
    more = np.full(case.elsewhere[query], outside)
    return gains_of(measure, np.append(case.pool(query), more))


def cumulated_ideal(measure: nDCG, size: int, retrieved: int) -> Floats:
    """Give what the first 0, 1, …, `size` ranks of the ideal list weigh together."""
    weights = Discount(str(measure.discount)).weights(size)[: size + 1].copy()
    cut = size if measure.ideal_cut == "none" else (measure.cutoff or size)
    cut = min(cut, retrieved) if measure.ideal_cut == "min(k,n)" else cut
    weights[cut + 1 :] = 0.0
    return np.cumsum(weights)


def ndcg_extremes(case: Case, measure: nDCG, weights: Weighed) -> list[Completion]:
    """Give completions among which are the extremes of every query."""
    gains, grades = distinct(measure, case.levels)
    made = []
    for sign, outside in ((1.0, grades[0]), (-1.0, grades[-1])):
        completion = case.all_at(grades[0], outside)
        for query, span in case.spans:
            order = np.argsort(-sign * weights.holes[span], kind="stable")
            pool = ideal_pool(case, measure, query, outside)
            retrieved = int(case.placements.retrieved[query])
            cumulated = cumulated_ideal(measure, len(pool) + len(order), retrieved)
            own = weights.holes[span][order]
            ratio = ratio_of(float(weights.base[query]), own, gains, pool, cumulated)
            if ratio.divides:
                given = completion.grades[span]  # a view
                given[order] = grades[level_of(ratio.extreme(sign), len(order))]
        made.append(completion)
    return [*made, case.all_at(grades[0])]


def level_of(counts: list[int], size: int) -> Ints:
    """Turn counts into levels: the first ones have the highest."""
    levels: Ints = np.sum(np.arange(size) < np.array(counts, dtype=np.int64)[:, None], axis=0)
    return levels
