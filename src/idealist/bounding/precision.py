"""The extremes of AP.

With j holes relevant AP's denominator is the same whichever they are, and its sum is greatest for
the first j and least for the last j: a relevant document that changes places with the one above it
never lowers the sum. Both sums follow for all j at once, as each further hole adds what does not
depend on those still to come.
"""

from __future__ import annotations

import numpy as np

from idealist.bounding.case import Case, Completion
from idealist.measures.ap import AP
from idealist.tables.columns import Floats, Ints


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
