"""The extremes of nDCG: a ratio of two sums that both depend on the unknown grades.

Sorted by weight, the unjudged documents of an extreme completion have grades that only fall (or
only rise): for given numbers of each grade that makes the DCG greatest (or least), and the ideal
list depends on the numbers alone, which `ratios` finds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from idealist.bounding.bound_case import BoundCase, Completion
from idealist.bounding.ratios import IdealRanks, Pools, ratios_of
from idealist.bounding.unjudged_places import UnjudgedPlaces
from idealist.data.columns import Floats, Ints, starts_of
from idealist.measures.cumulative import CG, nDCG
from idealist.measures.gains import Discount
from idealist.ranking.padded_lists import padded
from idealist.ranking.placements import Placements

#: So many documents times levels are looked at together; it bounds the memory.
CELLS = 1 << 18


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
        extreme = Extreme(case, measure, sign, outside)
        given = extreme.grades(base, case.unjudged.query, weights)
        made.append(Completion(given, np.full(case.size, outside)))
    return [*made, case.all_at(grades[0])]


class Extreme:
    """The grades that make nDCG greatest (sign 1) or least (sign -1), of every query.

    `outside` is the grade of the documents elsewhere that could be judged too.
    """

    def __init__(self, case: BoundCase, measure: nDCG, sign: float, outside: float) -> None:
        self._case, self._measure, self._sign = case, measure, sign
        self._levels, self._grades = distinct(measure, case.levels)
        self._owner, self._pool = _pool(case, measure, outside)

    def grades(self, base: Floats, query: Ints, weights: Floats) -> Floats:
        """Grade unjudged documents by what they weigh, and what the judged ones of a query add.

        The documents come by `query`.
        """
        counts, given = np.bincount(query, minlength=self._case.size), self._grades[:1]
        given, starts, ideals = given.repeat(len(query)), starts_of(counts), self._ideals(counts)
        for some, gains in self._alike(counts):
            places = starts[some][:, None] + np.arange(int(counts[some].max()))
            there = places < starts[some + 1][:, None]
            own = np.where(there, weights[np.where(there, places, 0)], -self._sign * math.inf)
            order = np.argsort(-self._sign * own, axis=1, kind="stable")
            own = np.where(there, np.take_along_axis(own, order, axis=1), 0.0)
            ratios = ratios_of(
                base[some], own, counts[some], self._levels, self._pools(some, gains),
                ideals._replace(cut=ideals.cut[some]),
            )  # fmt: skip
            level, divides = np.zeros(own.shape, dtype=np.int64), ratios.divides
            for n in ratios.some(divides).extreme(self._sign).T:
                level[divides] += np.arange(own.shape[1]) < n[:, None]  # the first: highest
            given[np.take_along_axis(places, order, axis=1)[there]] = self._grades[level[there]]
        return given

    def _ideals(self, counts: Ints) -> IdealRanks:
        """Find what the ideal lists weigh, and where they are cut."""
        measure, retrieved = self._measure, self._case.placements.retrieved
        deepest = int((counts + np.bincount(self._owner, minlength=len(counts))).max(initial=0))
        cut = np.full(len(counts), deepest)
        if measure.ideal_cut != "none":
            cut = np.minimum(cut, measure.cutoff or deepest)
        if measure.ideal_cut == "min(k,n)":
            cut = np.minimum(cut, retrieved)
        weights = Discount(str(measure.discount)).weights(deepest)[: deepest + 1]
        return IdealRanks(np.cumsum(weights), cut)

    def _alike(self, counts: Ints) -> Iterator[tuple[Ints, Floats]]:
        """Yield queries with unjudged documents whose ideals hold the same gains, some at once.

        Usually judged documents gain what unjudged ones could; `gains` has all other gains.
        """
        other = (self._pool > 0) & ~np.isin(self._pool, self._levels)
        gains: dict[int, set[float]] = {}
        for query, gain in zip(
            self._owner[other].tolist(), self._pool[other].tolist(), strict=True
        ):
            gains.setdefault(query, set()).add(gain)
        groups: dict[tuple[float, ...], list[int]] = {}
        for query in np.flatnonzero(counts)[np.argsort(counts[counts > 0], kind="stable")].tolist():
            groups.setdefault(tuple(sorted(gains.get(query, ()))), []).append(query)
        for own, queries in groups.items():
            while queries:
                size = max(1, CELLS // (len(self._levels) * int(counts[queries[-1]])))
                yield np.array(queries[-size:]), np.array(own)
                del queries[-size:]

    def _pools(self, some: Ints, gains: Floats) -> Pools:
        """Select the documents in the ideal lists of some queries that have a gain."""
        member = np.full(self._case.size, -1)
        member[some] = np.arange(len(some))
        mine = (member[self._owner] >= 0) & (self._pool > 0)
        return Pools(len(some), gains, member[self._owner[mine]], self._pool[mine])


def _pool(case: BoundCase, measure: nDCG, outside: float) -> tuple[Ints, Floats]:
    """Return the judged documents of the ideal lists, and those elsewhere: queries and gains."""
    placed, qrels = case.placements, case.placements.qrels
    if measure.ideal == "retrieved":
        return placed.query, gains_of(measure, placed.grade)
    query, grades = np.repeat(np.arange(case.size), np.diff(qrels.starts)), qrels.grades
    if placed.protocol.negative == "drop":
        query, grades = query[grades >= 0], grades[grades >= 0]
    query = np.concatenate((query, np.repeat(np.arange(case.size), case.elsewhere)))
    more = np.full(int(case.elsewhere.sum()), outside)
    return query, gains_of(measure, np.concatenate((grades, more)))
