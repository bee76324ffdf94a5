"""Aggregates: how the values of many queries become one number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from idealist.data.columns import Floats
from idealist.data.queries import Weights
from idealist.errors import UsageError
from idealist.notation import Kind, Settings, Value, Written, axis, call, text, to_number
from idealist.significance.means import mean


def _check_aggregate(value: Any) -> Value:
    name, arguments = call(str(value))
    if name == "geometric":
        (floor,) = map(to_number, arguments or ["1e-5"])
        if floor <= 0:
            raise ValueError(value)
        return f"geometric({text(floor)})"
    if name == "weighted":
        (digits,) = arguments
        return f"weighted({digits})"
    if name not in ("mean", "median", "min", "max", "sum") or arguments:
        raise ValueError(value)
    return name


def _check_round(value: Any) -> Value:
    name, arguments = call(str(value))
    if name == "query":
        (digits,) = arguments
        return f"query({int(digits)})"
    if arguments:
        raise ValueError(value)
    return name if name == "none" else int(name)


AGGREGATE = Kind(
    "mean, median, min, max, sum or geometric(FLOOR); with weights, weighted(HASH)",
    _check_aggregate,
)
ROUND = Kind("none, a number of digits, or query(DIGITS) to round each query", _check_round)


_FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": mean, "sum": math.fsum, "min": min, "max": max,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Aggregate(Settings):
    """How values are aggregated. Means are exactly rounded, so the order of queries never matters.

    With `weights` this is the weighted mean; its text identifies the weights by a content hash.

    >>> Aggregate().of([0.25, 0.75, 0.5])
    0.5
    >>> round(Aggregate(aggregate="geometric(1e-5)").of([0.0, 0.1]), 6)
    0.001
    """

    aggregate: str = axis("mean", AGGREGATE, "how the values of queries are aggregated")
    round: Written = axis(
        "none", ROUND, "the digits to round to, of the aggregate or of each query"
    )
    weights: Weights | None = field(default=None, repr=False, hash=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        weighted = self.aggregate.startswith("weighted(")
        if self.weights is None and weighted:
            message = f"aggregate={self.aggregate} refers to weights that were not given"
            hint = "pass the weights themselves: weights={query: weight, …}, or --weights FILE"
            raise UsageError(message, hint)
        if self.weights is not None and not weighted and self.aggregate != "mean":
            hint = f"leave out either the weights or aggregate={self.aggregate}"
            raise UsageError(f"weights need a mean, not aggregate={self.aggregate}", hint)
        if self.weights is not None:
            object.__setattr__(self, "aggregate", f"weighted({self.weights.hash})")

    def each(self, values: Floats) -> Floats:
        """Round the values of single queries if asked to."""
        name, arguments = call(str(self.round))
        if name != "query":
            return values
        digits = int(arguments[0])
        return np.array([x if math.isnan(x) else round(x, digits) for x in values.tolist()])

    def of(self, values: Sequence[float] | Floats, queries: Sequence[str] = ()) -> float:
        """Aggregate values; NaN if there are none, except for a sum.

        `queries` names the query of each value, which matters if queries have weights.
        """
        array = np.asarray(values, dtype=np.float64)
        nothing = not len(array) and self.aggregate != "sum"
        if nothing or np.count_nonzero(np.isnan(array)):
            return math.nan
        listed: list[float] = array.tolist()
        value = self._of(listed) if self.weights is None else mean(listed, self.weights.of(queries))
        return round(value, self.round) if isinstance(self.round, int) else value

    def _of(self, values: Sequence[float]) -> float:
        name, arguments = call(self.aggregate)
        if name == "geometric":
            floor = float(arguments[0])
            return math.exp(mean([math.log(max(value, floor)) for value in values]))
        if name == "median":
            from statistics import median  # slow to import, and seldom asked for

            return median(values)
        return _FUNCTIONS[name](values)
