"""The extremes of a measure over all grades that unjudged documents could have."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from idealist.bounding.ndcg_extremes import gains_of, ndcg_extremes, weighed
from idealist.bounding.setting import Case, Completion
from idealist.data.columns import Bools, Floats, Ints
from idealist.measures.average_precision import AP
from idealist.measures.cumulative import CG, nDCG
from idealist.measures.gains import gain_of
from idealist.measures.instrument import Instrument, chosen
from idealist.measures.relevance import Binary, Threshold
from idealist.measures.stopping import RBP
from idealist.ranking.padded_lists import padded


def sums_by_count(hits: Ints, holes: Ints) -> tuple[Floats, Floats]:
    """Give the greatest and the least sum of precisions with 0, 1, … of the holes relevant.

    `hits` and `holes` are ranks in order. A hole at rank h with c relevant documents above it adds
    (c + 1) / h, and 1 / r to the precision at each relevant rank r below it.
    """
    above = np.searchsorted(hits, holes)
    known = np.arange(1, len(hits) + 1) / hits
    below = np.concatenate((np.cumsum((1.0 / hits)[::-1])[::-1], [0.0]))[above]
    from_top = (above + np.arange(1, len(holes) + 1)) / holes + below
    later = np.cumsum((1.0 / holes)[::-1])[::-1] - 1.0 / holes
    from_bottom = ((above + 1) / holes + below + later)[::-1]
    start = float(known.sum())
    most, least = (start + np.concatenate(([0.0], np.cumsum(x))) for x in (from_top, from_bottom))
    return most, least


def ap_extremes(case: Case, measure: AP, relevant: float, other: float) -> list[Completion]:
    """Give completions among which are the extremes of every query.

    A hole that cannot be a hit (`positive_score`), or is not in the list, only adds to R.
    """
    greatest, least = case.all_at(other, other), case.all_at(other, relevant)
    for query, span in case.spans:
        able = np.ones(span.stop - span.start, dtype=bool)
        if measure.positive_score:
            able = case.holes.score[span] > 0
        ranks = case.holes.rank[span][able]
        most, fewest = sums_by_count(_hits(case, measure, query), ranks)
        idle = int(np.count_nonzero(~able))
        count = _best(case, measure, query, most, 0, 0, np.argmax)
        greatest.grades[span][np.flatnonzero(able)[:count]] = relevant
        count = _best(case, measure, query, fewest, idle, int(case.elsewhere[query]), np.argmin)
        least.grades[span][~able] = relevant
        least.grades[span][np.flatnonzero(able)[len(ranks) - count :]] = relevant
    return [greatest, least]


def _hits(case: Case, measure: AP, query: int) -> Ints:
    placed, places = case.placements, case.listed(query)
    hit = measure.relevant(placed.grade[places])
    if measure.positive_score:
        hit = hit & (placed.score[places] > 0)
    ranks = placed.rank[places][hit]
    return ranks if measure.cutoff is None else ranks[ranks <= measure.cutoff]


def _best(
    case: Case, measure: AP, query: int, sums: Floats, idle: int, elsewhere: int, choose: object
) -> int:
    """Give the number of relevant holes of the greatest or least value; 0 where all have none."""
    j, placed = np.arange(len(sums)), case.placements
    pool, listed = case.pool(query), placed.grade[case.listed(query)]
    terms = {
        "R": np.count_nonzero(measure.relevant(pool)) + j + idle + elsewhere,
        "R_list": np.count_nonzero(measure.relevant(listed)) + j + idle,
        "hits": len(_hits(case, measure, query)) + j,
        "k": np.full(len(j), float(measure.cutoff or np.inf)),
        "n": np.full(len(j), float(placed.retrieved[query])),
    }
    names = measure.denominator.removeprefix("min(").removesuffix(")").split(",")
    whole = np.min([terms[name] for name in names], axis=0)
    values = sums / np.where(whole > 0, whole, 1.0)
    defined = terms["R_list" if measure.list_only else "R"] > 0
    worst = -np.inf if choose is np.argmax else np.inf
    return int(choose(np.where(defined, values, worst)))  # type: ignore[operator]


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
        gains = np.where(gains >= 0, gain_of(str(measure.gain), padded([]), gains, measure.rel), 0)
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


def together(
    instrument: Instrument, queries: tuple[str, ...], found: Ends, high: bool
) -> tuple[float, Bools]:
    """Give an end of the aggregate, and which queries count in it.

    Every aggregate grows with each value. A query that some completion leaves out counts where
    that helps: of several, those with the most extreme values.
    """
    values = found.high if high else found.low
    must, free = found.must, np.flatnonzero(found.free)
    free = free[np.argsort(-values[free] if high else values[free], kind="stable")]
    best, counted = math.nan, must
    for size in range(len(free) + 1):
        some = must.copy()
        some[free[:size]] = True
        value = instrument.aggregate.of(values[some], chosen(queries, some))
        if math.isnan(best) or (value > best if high else value < best):
            best, counted = value, some
    return best, counted
