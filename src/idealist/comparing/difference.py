"""The difference of two runs, query by query: what no statistics are needed for."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from idealist.means import mean
from idealist.statistics.paired import differences
from idealist.tables.columns import Floats, Ints

#: How many queries that gained or lost most are named, and how many are left out for a check.
NAMED = 3


@dataclass(frozen=True, eq=False)
class Difference:
    """Two runs' values by one measure, for the same queries: `base` and `new`, weights if any.

    `sense` is 1 where higher is better, -1 where lower is, 0 where neither; `in_unit` whether
    values are on [0, 1]; `aggregate` how they become one; `undefined` the queries left out.
    """

    measure: str
    baseline: str
    run: str
    queries: tuple[str, ...]
    base: Floats = field(repr=False)
    new: Floats = field(repr=False)
    weights: Floats | None = field(repr=False, default=None)
    sense: int = 1
    in_unit: bool = True
    aggregate: str = "mean"
    undefined: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The number of queries."""
        return len(self.queries)

    @cached_property
    def differences(self) -> Floats:
        """The difference of each query, 0 where there is none but rounding."""
        return differences(self.base, self.new)

    @property
    def base_mean(self) -> float:
        """The mean of the baseline."""
        return self._mean(self.base)

    @property
    def run_mean(self) -> float:
        """The mean of the run."""
        return self._mean(self.new)

    def _mean(self, values: Floats, places: Ints | None = None) -> float:
        some = slice(None) if places is None else places
        weights = None if self.weights is None else self.weights[some].tolist()
        chosen = values[some].tolist()
        return mean(chosen, weights) if chosen else math.nan

    @property
    def wins(self) -> int:
        """The queries with a better value."""
        return int(np.count_nonzero(self._favour > 0))

    @property
    def losses(self) -> int:
        """The queries with a worse value."""
        return int(np.count_nonzero(self._favour < 0))

    @property
    def ties(self) -> int:
        """The queries with the same value."""
        return self.n - self.wins - self.losses

    @property
    def _favour(self) -> Floats:
        """The differences, above 0 where the run is better."""
        return -self.differences if self.sense < 0 else self.differences

    @property
    def gained(self) -> tuple[tuple[str, float], ...]:
        """The queries that gained most, with their differences."""
        return self._most(1)

    @property
    def lost(self) -> tuple[tuple[str, float], ...]:
        """The queries that lost most, with their differences."""
        return self._most(-1)

    def _most(self, sign: int) -> tuple[tuple[str, float], ...]:
        signed = sign * self._favour
        order = np.argsort(-signed, kind="stable")[:NAMED]
        rows = [(self.queries[i], float(self.differences[i])) for i in order if signed[i] > 0]
        return tuple(rows)

    @cached_property
    def _by_favour(self) -> Ints:
        """The places of queries, those first that carry the mean furthest to its side."""
        adds = self.differences if self.weights is None else self.weights * self.differences
        order: Ints = np.argsort(-np.sign(math.fsum(adds)) * adds, kind="stable")
        return order

    @property
    def top3(self) -> tuple[str, ...]:
        """The three queries that favour the mean's sign most, weights counted."""
        return tuple(self.queries[i] for i in self._by_favour[:NAMED])

    @cached_property
    def without_top3(self) -> float:
        """The mean difference without these three; NaN where there are no others."""
        return self._mean(self.differences, self._by_favour[NAMED:])
