"""Ratios of two sums that both depend on unknown grades, of many queries at once.

Let n_t be how many documents gain at least the t-th level. Both sums are then sums over t of a
function of n_t, so for any λ the best of DCG - λ · ideal under n_1 ≥ n_2 ≥ … is found level by
level, and Dinkelbach's iteration over λ finds the best ratio.
docs/design/0015-bounds.md has the argument in full.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from idealist.data.columns import Bools, Floats, Ints

#: Far more steps than Dinkelbach's iteration ever takes; it stops by itself.
STEPS = 100


class Ratios(NamedTuple):
    """What is made extreme, of many queries: (base + Σ weight · gain) / ideal.

    `sums` and `ideals` say, by query, level and n, what is added if n documents gain at least the
    level t + 1; `sizes` says how many documents a query has, beyond which n does not go, and
    `needed` how many levels must have a document, as nothing else is worth anything.
    """

    base: Floats
    ideal: Floats
    sums: Floats
    ideals: Floats
    sizes: Ints
    needed: Ints

    @property
    def divides(self) -> Bools:
        """Whether the ideal is ever above 0."""
        last = np.take_along_axis(self.ideals, self.sizes[:, None, None], axis=2)
        divides: Bools = (self.ideal > 0) | last.any(axis=(1, 2))
        return divides

    def at(self, counts: Ints) -> Floats:
        """Return the value of each query for some counts, by level."""
        above, below = (
            start + [math.fsum(row) for row in _at(table, counts).tolist()]
            for start, table in ((self.base, self.sums), (self.ideal, self.ideals))
        )
        values: Floats = above / below
        return values

    def some(self, which: Bools) -> Ratios:
        """Keep some queries."""
        columns: Any = (column[which] for column in self)
        return Ratios(*columns)

    def extreme(self, sign: float) -> Ints:
        """Return the counts of the greatest value (sign 1) or the least (sign -1)."""
        levels = np.arange(self.sums.shape[1])
        counts = (levels < self.needed[:, None]).astype(np.int64)
        left, mine, value = self, np.arange(len(counts)), self.at(counts)
        for _ in range(STEPS):
            found = left.chain(sign * (left.sums - value[:, None, None] * left.ideals))
            better = left.at(found)
            grows = sign * better > sign * value
            if not grows.any():
                break
            left, mine, value = left.some(grows), mine[grows], better[grows]
            counts[mine] = found[grows]
        return counts

    def chain(self, worth: Floats) -> Ints:
        """Maximise Σ_t worth[t, n_t] under n_1 ≥ n_2 ≥ … of all levels, query by query."""
        levels, n = np.arange(worth.shape[1]), np.arange(worth.shape[2])
        worth[:, :, 0][levels < self.needed[:, None]] = -math.inf
        worth[np.broadcast_to((n > self.sizes[:, None])[:, None], worth.shape)] = -math.inf
        for t in levels[-2::-1]:
            worth[:, t] += np.maximum.accumulate(worth[:, t + 1], axis=1)
        counts = np.empty(worth.shape[:2], dtype=np.int64)
        most = self.sizes
        for t in levels:
            counts[:, t] = most = np.argmax(
                np.where(n <= most[:, None], worth[:, t], -math.inf), axis=1
            )
        return counts


def _at(table: Floats, counts: Ints) -> Floats:
    """Look up what is added for some counts, by query and level."""
    found: Floats = np.take_along_axis(table, counts[:, :, None], axis=2)[:, :, 0]
    return found


def ratios_of(
    base: Floats, weights: Floats, sizes: Ints, levels: Floats, pools: Pools, ideals: IdealRanks
) -> Ratios:
    """Set up the ratios of queries whose ideal lists hold the same gains.

    `weights` are those of the documents in the order in which they get gains, a row per query with
    zeros behind its `sizes`; `levels` are the gains they can have, lowest first.
    """
    summed = np.concatenate((np.zeros((len(base), 1)), np.cumsum(weights, axis=1)), axis=1)
    sums = np.diff(levels)[:, None] * summed[:, None]
    tables, ideal = np.zeros_like(sums), np.zeros(len(base))
    n = np.arange(summed.shape[1])
    steps = np.unique(np.concatenate((pools.gains, levels[levels > 0])))
    for step, width in zip(steps, np.diff(steps, prepend=0.0), strict=True):
        others = pools.at_least(step)
        level = int(np.searchsorted(levels, step))  # those that gain so much: n of this level
        if level == 0 or level == len(levels):
            ideal += width * ideals.first(others + (sizes if level == 0 else 0))
        else:
            tables[:, level - 1] += width * ideals.first(others[:, None] + n)
    worthless = (ideal == 0) & ~tables[:, :, 0].any(axis=1)  # unless one document has a gain
    needed = np.where(worthless, int(np.searchsorted(levels, 0.0, side="right")), 0)
    every = np.take_along_axis(summed, sizes[:, None], axis=1)[:, 0]
    return Ratios(base + levels[0] * every, ideal, sums, tables, sizes, needed)


class Pools(NamedTuple):
    """The positive gains of the other documents in the ideal lists of some queries.

    `gains` has the different ones that these queries share, `query` and `gain` have each document.
    """

    queries: int
    gains: Floats
    query: Ints
    gain: Floats

    def at_least(self, gain: float) -> Ints:
        """Count the documents of each query that gain so much."""
        return np.bincount(self.query[self.gain >= gain], minlength=self.queries)


class IdealRanks(NamedTuple):
    """What the first 0, 1, … ranks of an ideal list weigh together, and where each list is cut."""

    cumulated: Floats
    cut: Ints

    def first(self, ranks: Ints) -> Floats:
        """Return what the first ranks weigh, in the list of each query."""
        cut = self.cut if ranks.ndim == 1 else self.cut[:, None]
        found: Floats = self.cumulated[np.minimum(ranks, cut)]
        return found
