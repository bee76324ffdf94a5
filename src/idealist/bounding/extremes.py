"""The extremes of a measure over all grades that unjudged documents could get.

For every measure a few completions are known among which each query has its least and its greatest
value. All of them are measured, as any judgments are, and the ends are taken per query.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from idealist.bounding.bound_case import BoundCase, Completion
from idealist.bounding.ndcg_extremes import gains_of, ndcg_extremes
from idealist.data.columns import Bools, Floats, Ints
from idealist.measures.average_precision import AP
from idealist.measures.cumulative import CG, nDCG
from idealist.measures.gains import gain_of
from idealist.measures.instrument import Instrument, chosen
from idealist.measures.relevance import Binary, Threshold
from idealist.measures.stopping import RBP
from idealist.ranking.padded_lists import padded


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
        """Find the ends among values: a row per completion, a column per query."""
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

    @property
    def width(self) -> Floats:
        """How far the ends of each query are apart; 0 where there are none."""
        width: Floats = np.nan_to_num(self.high - self.low)
        return width

    def together(
        self, instrument: Instrument, queries: tuple[str, ...]
    ) -> tuple[float, float, tuple[Bools, Bools]]:
        """Aggregate the low and the high ends, and return which queries count in them.

        Every aggregate grows with each value. A query that some completion leaves out counts where
        that helps: of several, those with the most extreme values.
        """

        def aggregated(values: Floats, sign: int) -> tuple[float, Bools]:
            free = np.flatnonzero(self.free)
            free = free[np.argsort(sign * values[free], kind="stable")]
            best, counted = math.nan, self.must
            for size in range(len(free) + 1):
                some = self.must.copy()
                some[free[:size]] = True
                value = instrument.aggregate.of(values[some], chosen(queries, some))
                if math.isnan(best) or sign * value < sign * best:
                    best, counted = value, some
            return best, counted

        low, in_low = aggregated(self.low, 1)
        high, in_high = aggregated(self.high, -1)
        return low, high, (in_low, in_high)


def ends(case: BoundCase) -> Ends:
    """Find the ends of every query's value."""
    tried = completions(case)
    found = [case.measured(one) for one in tried]
    values = np.array([one.values for one in found])
    return Ends.of(values, np.array([one.counted for one in found]), tried)


def completions(case: BoundCase) -> list[Completion]:
    """Return completions among which are the extremes of every query."""
    measure = case.instrument.measure
    if isinstance(measure, nDCG) and measure.name == "nDCG" and measure.ideal != "perfect":
        return ndcg_extremes(case, measure)
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
    """Return the grade nearest to 0, which may be no judgment at all, and the highest one."""
    return sorted({float(grades[np.argmin(abs(grades))]), float(grades[-1])})


def lowest_of(case: BoundCase) -> set[float]:
    """Return the lowest grade, and the one that gains least."""
    measure, gains = case.instrument.measure, case.levels
    if isinstance(measure, CG):
        gains = gains_of(measure, case.levels)
    elif isinstance(measure, RBP):
        gain = gain_of(str(measure.gain), padded([]), gains, measure.rel)
        gains = np.where(gains >= 0, gain, 0)
    return {float(case.levels[0]), float(case.levels[np.argmin(gains)])}


def _graded(case: BoundCase, lowest: set[float]) -> list[Completion]:
    """Give all documents one grade, or all the lowest but for the last one.

    Sums of gains are extreme where all gains are. RBP divides by the highest gain there is: for
    each highest one the value is least where a single document has it, the last. The same makes
    the least value of a query that has a value only if something is relevant.
    """
    outside = case.levels if case.elsewhere.any() else case.levels[:1]
    last = case.unjudged.is_last
    levels = [np.full(len(case.unjudged), grade) for grade in case.levels]
    for base in sorted(lowest):
        levels += [np.where(last, grade, base) for grade in case.levels if grade != base]
    return [
        Completion(grades, np.full(case.size, elsewhere))
        for grades in levels
        for elsewhere in outside
    ]


def _binary(case: BoundCase, measure: Threshold, relevant: float, other: float) -> list[Completion]:
    """Make all documents relevant, none, or the last; for AP, as many as are best or worst.

    A relevant document never lowers the other measures, except through R, which they divide by:
    then it does where it cannot be a hit. None at all may leave the query without a value, so one
    is tried.
    """
    able = np.ones(len(case.unjudged), dtype=bool)
    if isinstance(measure, Binary) and measure.positive_score:
        able = case.unjudged.score > 0
    none = np.zeros_like(able)
    last = none.copy()
    last[able] = case.unjudged.at(able).is_last
    outside = [other, relevant] if case.elsewhere.any() else [other]
    idle = [none, ~able] if not able.all() else [none]
    made = _ap_extremes(case, measure, relevant, other) if isinstance(measure, AP) else []
    return [
        *made,
        *(
            Completion(np.where(hits | others, relevant, other), np.full(case.size, elsewhere))
            for hits in ((none,) if made else (none, able, last))
            for others in idle
            for elsewhere in outside
        ),
    ]


def _ap_extremes(case: BoundCase, measure: AP, relevant: float, other: float) -> list[Completion]:
    """Make so many documents relevant that AP is extreme: from the top, or from the bottom.

    A document that cannot be a hit (`positive_score`), or is not in the list, only adds to R.
    """
    greatest, least = case.all_at(other, other), case.all_at(other, relevant)
    for query, span in case.spans:
        able = np.ones(span.stop - span.start, dtype=bool)
        if measure.positive_score:
            able = case.unjudged.score[span] > 0
        ranks, hits = case.unjudged.rank[span][able], _hits(case, measure, query)
        most, fewest = sums_by_count(hits, ranks)
        idle = int(np.count_nonzero(~able))
        value, defined = _ap_by_count(case, measure, query, most)
        count = int(np.argmax(np.where(defined, value, -np.inf)))
        greatest.grades[span][np.flatnonzero(able)[:count]] = relevant
        elsewhere = int(case.elsewhere[query])
        value, defined = _ap_by_count(case, measure, query, fewest, idle, elsewhere)
        count = int(np.argmin(np.where(defined, value, np.inf)))
        least.grades[span][~able] = relevant
        least.grades[span][np.flatnonzero(able)[len(ranks) - count :]] = relevant
    return [greatest, least]


def sums_by_count(hits: Ints, unjudged: Ints) -> tuple[Floats, Floats]:
    """Return the greatest and the least sum of precisions if 0, 1, … of the unjudged are relevant.

    Both are ranks in order. An unjudged document at rank h with c relevant ones above it adds
    (c + 1) / h, and 1 / r to the precision at each relevant rank r below it.
    """
    above = np.searchsorted(hits, unjudged)
    known = np.arange(1, len(hits) + 1) / hits
    below = np.concatenate((np.cumsum((1.0 / hits)[::-1])[::-1], [0.0]))[above]
    from_top = (above + np.arange(1, len(unjudged) + 1)) / unjudged + below
    later = np.cumsum((1.0 / unjudged)[::-1])[::-1] - 1.0 / unjudged
    from_bottom = ((above + 1) / unjudged + below + later)[::-1]
    start = float(known.sum())
    most, least = (start + np.concatenate(([0.0], np.cumsum(x))) for x in (from_top, from_bottom))
    return most, least


def _hits(case: BoundCase, measure: AP, query: int) -> Ints:
    placed, places = case.placements, case.listed(query)
    hit = measure.relevant(placed.grade[places])
    if measure.positive_score:
        hit = hit & (placed.score[places] > 0)
    ranks = placed.rank[places][hit]
    return ranks if measure.cutoff is None else ranks[ranks <= measure.cutoff]


def _ap_by_count(
    case: BoundCase, measure: AP, query: int, sums: Floats, idle: int = 0, elsewhere: int = 0
) -> tuple[Floats, Bools]:
    """Return AP if 0, 1, … unjudged documents are hits, and where it is defined.

    `idle` documents more are relevant, but no hits, and so are those `elsewhere`.
    """
    count, placed = np.arange(len(sums)), case.placements
    pool, listed = case.pool(query), placed.grade[case.listed(query)]
    terms = {
        "R": np.count_nonzero(measure.relevant(pool)) + count + idle + elsewhere,
        "R_list": np.count_nonzero(measure.relevant(listed)) + count + idle,
        "hits": len(_hits(case, measure, query)) + count,
        "k": np.full(len(count), float(measure.cutoff or np.inf)),
        "n": np.full(len(count), float(placed.retrieved[query])),
    }
    names = measure.denominator.removeprefix("min(").removesuffix(")").split(",")
    whole = np.min([terms[name] for name in names], axis=0)
    return sums / np.where(whole > 0, whole, 1.0), terms["R_list" if measure.list_only else "R"] > 0
