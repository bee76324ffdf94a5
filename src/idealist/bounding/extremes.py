"""The extremes of a measure over all grades that its holes could have.

For each measure, a few completions among which are the extremes of every query; the formula itself
then says which. So a bound is a number that some judgments give, and its witness is at hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idealist.bounding.case import Case, Completion
from idealist.bounding.cumulative import gains_of, ndcg_extremes, weighed
from idealist.bounding.precision import ap_extremes
from idealist.lists import lists_of
from idealist.measures.ap import AP
from idealist.measures.cumulative import CG, nDCG
from idealist.measures.gains import gain_of
from idealist.measures.relevance import Binary, Threshold
from idealist.measures.stopping import RBP
from idealist.tables.columns import Bools, Floats, Ints


class Ends(NamedTuple):
    """The least and the greatest value of each query, and the completions that give them.

    NaN where a query never has a value that counts. `must` says which queries count whatever the
    grades are, `free` which ones some completion leaves out (``no_relevant=skip``), and `spare` is
    that completion.
    """

    low: Floats
    high: Floats
    low_at: Ints
    high_at: Ints
    must: Bools
    free: Bools
    spare: Ints
    completions: list[Completion]

    @classmethod
    def of(cls, values: Floats, counted: Bools, completions: list[Completion]) -> Ends:
        """Find the ends among values, a row a completion and a column a query."""
        usable = counted & ~np.isnan(values)
        low_at = np.argmin(np.where(usable, values, np.inf), axis=0)
        high_at = np.argmax(np.where(usable, values, -np.inf), axis=0)
        some: Bools = np.logical_or.reduce(usable)
        query = np.arange(values.shape[1])
        must: Bools = np.logical_and.reduce(counted)
        return cls(
            low=np.where(some, values[low_at, query], np.nan),
            high=np.where(some, values[high_at, query], np.nan),
            low_at=low_at,
            high_at=high_at,
            must=must,
            free=some & ~must,
            spare=np.argmin(counted, axis=0),
            completions=completions,
        )


def ends(case: Case) -> Ends:
    """Find the ends of every query's value."""
    tried = completions(case)
    found = [case.measured(one) for one in tried]
    values = np.array([one.values for one in found])
    return Ends.of(values, np.array([one.counted for one in found]), tried)


def completions(case: Case) -> list[Completion]:
    """Give completions among which are the extremes of every query."""
    measure = case.instrument.measure
    if isinstance(measure, nDCG) and measure.name == "nDCG" and measure.ideal != "perfect":
        return ndcg_extremes(case, measure, weighed(case, measure))
    if isinstance(measure, Threshold):
        relevant = measure.relevant(case.levels)
        if case.placements.protocol.grades == "nonzero":
            relevant = relevant & (case.levels != 0)
        if not relevant.any() or relevant.all():
            return [case.all_at(grade) for grade in _ends_of(case.levels)]
        hit, others = float(case.levels[relevant][0]), _ends_of(case.levels[~relevant])
        return [one for other in others for one in _binary(case, measure, hit, other)]
    return _graded(case, lowest_of(case))


def _ends_of(grades: Floats) -> list[float]:
    """Give the grade nearest to 0, which may be no judgment at all, and the highest one."""
    return sorted({float(grades[np.argmin(abs(grades))]), float(grades[-1])})


def _binary(case: Case, measure: Threshold, relevant: float, other: float) -> list[Completion]:
    """Make all holes relevant, none, or the last; for AP, as many as are best or worst.

    A relevant hole never lowers the other measures, but for R, which it divides by: then it does
    where it cannot be a hit. None at all may leave the query without a value, so one is tried.
    """
    able = np.ones(len(case.holes), dtype=bool)
    if isinstance(measure, Binary) and measure.positive_score:
        able = case.holes.score > 0
    none = np.zeros_like(able)
    last = none.copy()
    last[able] = case.holes.at(able).is_last
    outside = [other, relevant] if case.elsewhere.any() else [other]
    idle = [none, ~able] if not able.all() else [none]
    made = ap_extremes(case, measure, relevant, other) if isinstance(measure, AP) else []
    return [
        *made,
        *(
            Completion(np.where(hits | others, relevant, other), np.full(case.size, elsewhere))
            for hits in ((none,) if made else (none, able, last))
            for others in idle
            for elsewhere in outside
        ),
    ]


def lowest_of(case: Case) -> set[float]:
    """Give the lowest grade, and the one that gains least."""
    measure, gains = case.instrument.measure, case.levels
    if isinstance(measure, CG):
        gains = gains_of(measure, case.levels)
    elif isinstance(measure, RBP):
        gains = np.where(
            gains >= 0, gain_of(str(measure.gain), lists_of([]), gains, measure.rel), 0
        )
    return {float(case.levels[0]), float(case.levels[np.argmin(gains)])}


def _graded(case: Case, lowest: set[float]) -> list[Completion]:
    """Give all holes one grade, or all the lowest but for the last one.

    Sums of gains are extreme where all gains are. RBP divides by the highest gain there is: for
    each highest one the value is least where a single hole has it, the last. The same makes the
    least value of a query that has a value only if something is relevant.
    """
    outside = case.levels if case.elsewhere.any() else case.levels[:1]
    last = case.holes.is_last
    levels = [np.full(len(case.holes), grade) for grade in case.levels]
    for base in sorted(lowest):
        levels += [np.where(last, grade, base) for grade in case.levels if grade != base]
    return [
        Completion(grades, np.full(case.size, elsewhere))
        for grades in levels
        for elsewhere in outside
    ]
