"""Outer bounds: how far any j changed labels could carry a difference, without trying them all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idealist.bounding.cumulative import gains_of
from idealist.comparing.changing import Changing, Ways
from idealist.comparing.ratios import FIRST, WAYS, queries_of
from idealist.measures import Measure
from idealist.measures.cumulative import CG, DCG, nDCG
from idealist.measures.judged import NumRelRet
from idealist.measures.sets import P
from idealist.measures.stopping import RBP
from idealist.tables.columns import Floats

#: What rounding may add to a bound that is reached.
SLACK = 1e-12
#: Stands for a range without an end.
HUGE = 1e100


class Reach(NamedTuple):
    """The least and the greatest difference by query and number of changes, 0 to most.

    Where no such number of labels can be changed the least is infinite, the greatest minus that.
    """

    low: Floats
    high: Floats


def reach_of(changing: Changing, most: int) -> Reach:
    """Bound the differences for every number of changes."""
    found = outer_bounds(changing, most)
    for i, tried in enumerate(changing.tried):
        for j, one in enumerate(tried[: most + 1]):
            if one.all:
                found.low[i, j] = one.values.min(initial=np.inf)
                found.high[i, j] = one.values.max(initial=-np.inf)
    sizes = np.array([ways.size for ways in changing.ways])
    none = np.arange(most + 1) > sizes[:, None]
    return Reach(np.where(none, np.inf, found.low), np.where(none, -np.inf, found.high))


def outer_bounds(changing: Changing, most: int) -> Reach:
    """Choose the narrowest bound that is known for a measure."""
    relabelling = changing.relabelling
    measure = relabelling.instrument.measure
    rounded = str(relabelling.instrument.aggregate.round).startswith("query")
    fixed = not relabelling.moving and not rounded
    if fixed and _adds(measure):
        return _sums(changing, most)
    levels = np.array(list(relabelling.written))
    if fixed and isinstance(measure, nDCG) and _divides(measure, levels):
        return _ratios(changing, measure, most)
    return _widest(changing, most)


def _adds(measure: Measure) -> bool:
    """Whether every document adds to a value, whatever the others are."""
    if type(measure) is RBP:
        return measure.scale == "none" and measure.if_undefined == "0"
    if type(measure) is P:
        return measure.if_undefined == "0"
    return type(measure) in (CG, DCG, NumRelRet)


def _divides(measure: nDCG, levels: Floats) -> bool:
    """Whether the values of both runs are divided by one ideal, of gains that take nothing away."""
    gains = gains_of(measure, levels).min() >= 0
    one = measure.ideal == "judged" and measure.ideal_cut != "min(k,n)"
    return type(measure) is nDCG and gains and one and measure.if_undefined != "empty"


def _widest(changing: Changing, most: int) -> Reach:
    """Take the measure's range."""
    low, high = changing.relabelling.instrument.measure.bounds(min(changing.relabelling.written))
    widest = np.full((len(changing.queries), most + 1), min(high - low, HUGE))
    return Reach(-widest, widest)


def _sums(changing: Changing, most: int) -> Reach:
    """Bound a sum of what documents add: the best j changes are the j best."""
    singles = changing.labels([np.arange(len(ways.group))[:, None] for ways in changing.ways])
    values = changing.sign * changing.relabelling.differences(singles)
    parts = np.split(values, np.cumsum([len(ways.group) for ways in changing.ways])[:-1])
    low, high = (np.repeat(changing.start[:, None], most + 1, axis=1) for _ in range(2))
    for i, (ways, part) in enumerate(zip(changing.ways, parts, strict=True)):
        least, greatest = _furthest(ways, part - changing.start[i], most)
        low[i] += least - SLACK
        high[i] += greatest + SLACK
    return Reach(low, high)


def _ratios(changing: Changing, measure: nDCG, most: int) -> Reach:
    """Bound nDCG: exactly for few changes, and else by the extremes of DCG and of the ideal."""
    found = _widest(changing, most)
    queries = queries_of(changing.relabelling, measure, changing.sign)
    ways = FIRST if changing.depth == 1 else WAYS
    undefined = 0.0 if measure.if_undefined in ("0", "1") else np.nan
    for i, q in enumerate(changing.queries.tolist()):
        for j in range(min(most, changing.ways[i].size) + 1):
            low, high = queries[q].ends(j, undefined, ways) or queries[q].rough(j)
            found.low[i, j] = max(found.low[i, j], low - SLACK)
            found.high[i, j] = min(found.high[i, j], high + SLACK)
    return found


def _furthest(ways: Ways, effects: Floats, most: int) -> tuple[Floats, Floats]:
    """Add up the least, and the greatest, effects of 0, 1, … different documents."""
    sizes = [min(len(group), most) for group in ways.groups]
    ends = []
    for sign in (1.0, -1.0):
        best = np.full(len(sizes), np.inf)
        np.minimum.at(best, ways.group, sign * effects)
        ordered = np.sort(np.repeat(best, sizes))[:most]
        summed = np.concatenate(([0.0], np.cumsum(ordered)))
        ends.append(sign * np.append(summed, np.full(most + 1 - len(summed), np.inf)))
    return ends[0], ends[1]
