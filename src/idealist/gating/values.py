"""The values of two runs side by side, query by query."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

import numpy as np

from idealist.errors import UsageError
from idealist.evaluation import Evaluation
from idealist.means import mean
from idealist.statistics.paired import differences
from idealist.tables.columns import Bools, Floats


@dataclass(frozen=True, eq=False)
class Values:
    """What a measure gives the queries of two runs; `undefined` names those it has no value for.

    `weights` is None where all queries weigh the same.
    """

    queries: tuple[str, ...]
    base: Floats
    new: Floats
    weights: Floats | None = None
    undefined: tuple[str, ...] = ()

    @property
    def differences(self) -> Floats:
        """What each query gained; what differs by rounding is equal."""
        return differences(self.base, self.new)

    @property
    def means(self) -> tuple[float, float]:
        """The mean of the base and of the new run; NaN where there are no queries."""
        if not self.queries:
            return np.nan, np.nan
        weights = None if self.weights is None else self.weights.tolist()
        return mean(self.base.tolist(), weights), mean(self.new.tolist(), weights)

    def at(self, mask: Bools) -> Values:
        """Keep some queries."""
        weights = None if self.weights is None else self.weights[mask]
        queries = tuple(compress(self.queries, mask.tolist()))
        return Values(queries, self.base[mask], self.new[mask], weights)

    def defined(self) -> Values:
        """Leave out the queries without a value in either run, and name them."""
        gaps = np.isnan(self.new - self.base)
        kept = self.at(~gaps)
        lost = tuple(compress(self.queries, gaps.tolist()))
        return Values(kept.queries, kept.base, kept.new, kept.weights, lost)


def paired_values(base: Evaluation, new: Evaluation, label: str) -> Values:
    """Pair the values of a measure; both runs must be measured on the same queries."""
    before, after = base.by_query(label), new.by_query(label)
    if before.keys() != after.keys():
        one = min(before.keys() ^ after.keys())
        message = f"{label} is measured on different queries: {one!r} counts for one run only"
        raise UsageError(message, "count missing queries in both: --set missing=zero")
    weighted = dict(new.signatures[label].settings)["aggregate"].startswith("weighted(")
    weights = np.array([new.weights[query] for query in after]) if weighted else None
    old, values = (np.array([side[query] for query in after]) for side in (before, after))
    return Values(tuple(after), old, values, weights).defined()
