"""How far j changed labels carry a difference of nDCG: a ratio of two sums that both change.

A change gives a document another gain. Say how many documents go from each gain to each other
one: then the ideal list is known, and the difference of DCG is extreme where, of the documents of
one gain, those go up that weigh least in it (or most) and those go down that weigh most (or least).
So it is enough to try all such numbers.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations_with_replacement, pairwise
from typing import NamedTuple

import numpy as np

from idealist.bounding.cumulative import cumulated_ideal, gains_of, rank_weights
from idealist.comparing.relabelling import Relabelling
from idealist.measures.cumulative import nDCG
from idealist.ranking import limited
from idealist.tables.columns import Bools, Floats, Ints

#: So many ways to divide changes among pairs of gains are tried: at first, and if need be.
FIRST, WAYS = 400, 13_000


class Query(NamedTuple):
    """The documents of a query: their gains, what each weighs in new - base, and the ideal list.

    `levels` are the gains that a document can have, lowest first, `cumulated` is what the first
    0, 1, … ranks of the ideal list weigh together.
    """

    gains: Floats
    weights: Floats
    levels: Floats
    cumulated: Floats

    def ends(self, j: int, nothing: float, ways: int) -> tuple[float, float] | None:
        """Give the least and the greatest difference with j changes; None where `ways` are too few.

        `nothing` is the difference where no document is worth anything, NaN where it has none.
        """
        moves = _moves(len(self.levels), j, ways)
        if moves is None:
            return None
        ideal, there = self._ideal(moves)
        base = float(self.weights @ self.gains)
        low = base + self._least(moves, self.weights)
        high = base - self._least(moves, -self.weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (np.where(ideal > 0, end / ideal, nothing)[there] for end in (low, high))
        least, greatest = np.fmin.reduce(low, initial=np.inf), np.fmax.reduce(high, initial=-np.inf)
        return float(least), float(greatest)

    def rough(self, j: int) -> tuple[float, float]:
        """Bound both: the extreme differences of DCG, by the ideal that makes them most extreme."""
        top, bottom, base = self.levels[-1], self.levels[0], float(self.weights @ self.gains)
        effects = np.outer((top, bottom), self.weights) - self.gains * self.weights
        low = base + np.sort(np.minimum(effects.min(axis=0), 0.0))[:j].sum()
        high = base - np.sort(np.minimum(-effects.max(axis=0), 0.0))[:j].sum()
        pool, weights = -np.sort(-self.gains), np.diff(self.cumulated)
        least = float(np.append(pool[j:], np.full(j, bottom)) @ weights)
        greatest = float(np.append(np.full(j, top), pool[: len(pool) - j]) @ weights)
        if least <= 0:
            return -np.inf, np.inf
        return low / (least if low < 0 else greatest), high / (least if high > 0 else greatest)

    def _ideal(self, moves: Ints) -> tuple[Floats, Bools]:
        """Give the ideal DCG of each way, and whether there are as many documents."""
        counts = np.sum(self.gains == self.levels[:, None], axis=1)
        there: Bools = (moves.sum(axis=2) <= counts).all(axis=1)
        after = counts + moves.sum(axis=1) - moves.sum(axis=2)
        above = np.cumsum(after[:, ::-1], axis=1)[:, ::-1]  # how many gain so much or more
        above = np.clip(above, 0, len(self.gains))
        return self.cumulated[above] @ np.diff(self.levels, prepend=0.0), there

    def _least(self, moves: Ints, weights: Floats) -> Floats:
        """Give the least that each way adds to the difference of DCG."""
        total: Floats = np.zeros(len(moves))
        for i, level in enumerate(self.levels):
            own = np.sort(weights[self.gains == level])
            upward, downward = range(len(self.levels) - 1, i, -1), range(i)
            for targets, ordered in ((upward, own), (downward, own[::-1])):
                summed = np.append(0.0, np.cumsum(ordered))
                taken = np.zeros(len(moves), dtype=np.int64)
                for to in targets:  # the farthest first: it gets the most extreme weights
                    until = np.minimum(taken + moves[:, i, to], len(own))
                    total += (self.levels[to] - level) * (summed[until] - summed[taken])
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


def queries_of(runs: Relabelling, measure: nDCG, sign: float) -> list[Query]:
    """Set up every query; the weights are turned round with the sign."""
    weights, protocol = np.zeros(len(runs.qrels)), runs.instrument.protocol
    for side, whole in zip((-sign, sign), runs.ranked, strict=True):
        placed = limited(whole, protocol)
        chance = protocol.ties == "expected"
        own = rank_weights(str(measure.discount), measure.cutoff, placed, chance)
        weights[placed.judgment] += side * own
    gains = gains_of(measure, runs.grades)
    levels = np.unique(gains_of(measure, np.array(list(runs.written))))
    starts = runs.qrels.starts
    return [
        Query(gains[a:b], weights[a:b], levels, cumulated_ideal(measure, b - a, 0))
        for a, b in pairwise(starts.tolist())
    ]
