"""Outer bounds: how far any j changed labels could carry a difference, without trying them all."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from idealist.bounding.ndcg_extremes import cumulated_ideal, gains_of, rank_weights
from idealist.comparing.fragility.changing import Changing, Ways
from idealist.comparing.fragility.relabelling import Relabelling
from idealist.data.columns import Bools, Floats, Ints
from idealist.measures import Measure
from idealist.measures.cumulative import CG, DCG, nDCG
from idealist.measures.judged import NumRelRet
from idealist.measures.sets import P
from idealist.measures.stopping import RBP
from idealist.ranking.ranked import limited

#: So many ways to divide changes among pairs of gains are tried: at first, and if need be.
FIRST, WAYS = 400, 13_000
#: So many numbers are computed at a time.
CELLS = 1_000_000


class Documents(NamedTuple):
    """The documents of some queries, a row each, padded: their gains, and what each weighs.

    The weights are those in new - base. `sizes` says how many documents a query has, `levels` are
    the gains that a document can have, lowest first, `cumulated` is what the first 0, 1, … ranks of
    an ideal list weigh together, down to where it is cut.
    """

    gains: Floats
    weights: Floats
    sizes: Ints
    levels: Floats
    cumulated: Floats

    @property
    def there(self) -> Bools:
        """Where there is a document."""
        return np.arange(self.gains.shape[1]) < self.sizes[:, None]

    @property
    def base(self) -> Floats:
        """The differences of DCG as they are."""
        base: Floats = np.sum(self.weights * self.gains, axis=1)
        return base

    def ends(self, j: int, nothing: float, ways: int) -> tuple[Floats, Floats] | None:
        """Compute the least and greatest differences with j changes; None where `ways` are too few.

        `nothing` is the difference where no document is worth anything, NaN where it has none.
        """
        moves = _moves(len(self.levels), j, ways)
        if moves is None:
            return None
        ideal, there = self._ideal(moves)
        low = self.base[:, None] + self._least(moves, self.weights)
        high = self.base[:, None] - self._least(moves, -self.weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (np.where(ideal > 0, end / ideal, nothing) for end in (low, high))
        least = np.fmin.reduce(np.where(there, low, np.nan), axis=1, initial=np.inf)
        greatest = np.fmax.reduce(np.where(there, high, np.nan), axis=1, initial=-np.inf)
        return least, greatest

    def rough(self, j: int) -> tuple[Floats, Floats]:
        """Bound both: the extreme differences of DCG, by the ideal that makes them most extreme."""
        top, bottom = self.levels[-1], self.levels[0]
        effects = np.stack([(level - self.gains) * self.weights for level in (top, bottom)])
        low = self.base + np.sort(np.minimum(effects.min(axis=0), 0.0))[:, :j].sum(axis=1)
        high = self.base - np.sort(np.minimum(-effects.max(axis=0), 0.0))[:, :j].sum(axis=1)
        least, greatest = self._ideal_ends(j)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (
                low / np.where(low < 0, least, greatest), high / np.where(high > 0, least, greatest)
            )  # fmt: skip
        return np.where(least > 0, low, -np.inf), np.where(least > 0, high, np.inf)

    def _ideal_ends(self, j: int) -> tuple[Floats, Floats]:
        """Compute the least and the greatest ideal DCG with j changes."""
        top, bottom = self.levels[-1], self.levels[0]
        rank, size = np.arange(self.gains.shape[1]), self.sizes[:, None]
        pool = -np.sort(-np.where(self.there, self.gains, -np.inf))
        pool = np.where(self.there, pool, 0.0)
        weights = np.where(self.there, np.diff(self.cumulated)[rank], 0.0)
        later = np.take(pool, np.minimum(rank + j, len(rank) - 1), axis=1)
        earlier = np.take(pool, np.maximum(rank - j, 0), axis=1)
        least = np.where(rank < size - j, later, bottom) * weights
        greatest = np.where(rank < j, top, earlier) * weights
        return least.sum(axis=1), greatest.sum(axis=1)

    def _ideal(self, moves: Ints) -> tuple[Floats, Bools]:
        """Compute the ideal DCG of each way, and whether there are as many documents."""
        own = self.there[:, :, None] & (self.gains[:, :, None] == self.levels)
        counts = own.sum(axis=1)
        leaving = moves.sum(axis=2)
        there: Bools = (leaving <= counts[:, None]).all(axis=2)
        after = counts[:, None] + (moves.sum(axis=1) - leaving)
        above = np.cumsum(after[:, :, ::-1], axis=2)[:, :, ::-1]  # how many gain so much or more
        above = np.clip(above, 0, self.sizes[:, None, None])
        return self.cumulated[above] @ np.diff(self.levels, prepend=0.0), there

    def _least(self, moves: Ints, weights: Floats) -> Floats:
        """Compute the least that each way adds to the difference of DCG."""
        total: Floats = np.zeros((len(weights), len(moves)))
        most = int(moves.sum(axis=(1, 2)).max(initial=0))
        for i, level in enumerate(self.levels):
            mine = self.there & (self.gains == level)
            upward, downward = range(len(self.levels) - 1, i, -1), range(i)
            for targets, sign in ((upward, 1.0), (downward, -1.0)):
                first = np.sort(np.where(mine, sign * weights, np.inf))[:, :most]
                width, summed = first.shape[1], np.zeros((len(first), most + 1))
                np.cumsum(
                    np.where(first < np.inf, sign * first, 0.0),
                    axis=1,
                    out=summed[:, 1 : width + 1],
                )
                summed[:, width + 1 :] = summed[:, width : width + 1]
                taken = np.zeros(len(moves), dtype=np.int64)
                for to in targets:  # the farthest first: it gets the most extreme weights
                    until = taken + moves[:, i, to]
                    total += (self.levels[to] - level) * (summed[:, until] - summed[:, taken])
                    taken = until
        return total


@lru_cache(maxsize=64)
def _moves(levels: int, j: int, ways: int) -> Ints | None:
    """Divide j changes among all pairs of levels: how many go from which to which."""
    pairs = [(a, b) for a in range(levels) for b in range(levels) if a != b]
    if not pairs or math.comb(len(pairs) + j - 1, j) > ways:
        return None
    drawn = np.array(list(combinations_with_replacement(range(len(pairs)), j)), dtype=np.int64)
    moves = np.zeros((len(drawn), levels, levels), dtype=np.int64)
    for column in drawn.T:
        a, b = np.array(pairs).T[:, column]
        moves[np.arange(len(drawn)), a, b] += 1
    return moves


def documents_of(runs: Relabelling, measure: nDCG, sign: float, queries: Ints) -> Documents:
    """Set up the documents of some queries; the weights are turned round with the sign."""
    gains = gains_of(measure, runs.grades)
    levels = np.unique(gains_of(measure, np.array(list(runs.written))))
    starts, sizes = runs.qrels.starts[queries], np.diff(runs.qrels.starts)[queries]
    deepest = int(sizes.max(initial=1))
    places = starts[:, None] + np.arange(deepest)
    there = np.arange(deepest) < sizes[:, None]
    places = np.where(there, places, 0)
    padded = (np.where(there, column[places], 0.0) for column in (gains, _weights(runs, measure)))
    own, weights = padded
    return Documents(own, sign * weights, sizes, levels, cumulated_ideal(measure, deepest, 0))


def _weights(runs: Relabelling, measure: nDCG) -> Floats:
    """Return what the gain of each judged document is multiplied by in new - base."""
    weights, protocol = np.zeros(len(runs.qrels)), runs.instrument.protocol
    for side, whole in zip((-1.0, 1.0), runs.ranked, strict=True):
        placed = limited(whole, protocol)
        chance = protocol.ties == "expected"
        own = rank_weights(str(measure.discount), measure.cutoff, placed, chance)
        weights[placed.judgment] += side * own
    return weights


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
    ways = FIRST if changing.depth == 1 else WAYS
    undefined = 0.0 if measure.if_undefined in ("0", "1") else np.nan
    sizes = np.diff(changing.relabelling.qrels.starts)[changing.queries]
    order = np.argsort(sizes, kind="stable")  # those of a size together
    widest = max(ways * len(changing.relabelling.written), int(sizes.max(initial=1)))
    step = max(1, CELLS // widest)
    for first in range(0, len(order), step):
        some = order[first : first + step]
        own = documents_of(changing.relabelling, measure, changing.sign, changing.queries[some])
        for j in range(most + 1):
            low, high = own.ends(j, undefined, ways) or own.rough(j)
            found.low[some, j] = np.fmax(found.low[some, j], low - SLACK)
            found.high[some, j] = np.fmin(found.high[some, j], high + SLACK)
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
