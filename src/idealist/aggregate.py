"""Aggregates: how the values of many queries become one number."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from idealist.errors import UsageError
from idealist.means import mean
from idealist.notation import Kind, Settings, Value, Written, axis, call, text, to_number
from idealist.weights import Weights


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
    "one of mean, median, min, max, sum, geometric(FLOOR); weights make it weighted(HASH)",
    _check_aggregate,
)
ROUND = Kind("none, a number of digits, or query(DIGITS) to round each query", _check_round)


@dataclass(frozen=True, kw_only=True)
class Aggregate(Settings):
    """How values become one number. The mean is exactly rounded, so no order of queries matters.

    With `weights` it is the weighted mean, whose text names them by a hash of their content.

    >>> Aggregate().of([0.25, 0.75, 0.5])
    0.5
    >>> round(Aggregate(aggregate="geometric(1e-5)").of([0.0, 0.1]), 6)
    0.001
    """

    aggregate: str = axis("mean", AGGREGATE, "how the values of queries become one")
    round: Written = axis("none", ROUND, "the digits a value is rounded to, and where")
    weights: Weights | None = field(default=None, repr=False, hash=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        weighted = self.aggregate.startswith("weighted(")
        if self.weights is None and weighted:
            hint = "give the weights themselves: weights={query: weight, …}, or --weights FILE"
            raise UsageError(f"aggregate={self.aggregate} names weights that are not here", hint)
        if self.weights is not None and not weighted and self.aggregate != "mean":
            hint = f"leave out the weights, or aggregate={self.aggregate}"
            raise UsageError(f"weights weigh a mean, and this is the {self.aggregate}", hint)
        if self.weights is not None:
            object.__setattr__(self, "aggregate", f"weighted({self.weights.hash})")

    def each(self, values: Sequence[float]) -> list[float]:
        """Round the values of queries, where that is asked for."""
        name, arguments = call(str(self.round))
        if name != "query":
            return list(values)
        return [value if math.isnan(value) else round(value, int(arguments[0])) for value in values]

    def of(self, values: Sequence[float], queries: Sequence[str] = ()) -> float:
        """Aggregate values; NaN where there are none, but for a sum.

        `queries` says whose values they are, which matters where queries have weights.
        """
        nothing = not len(values) and self.aggregate != "sum"
        if nothing or any(math.isnan(value) for value in values):
            return math.nan
        value = self._of(values) if self.weights is None else mean(values, self.weights.of(queries))
        return round(value, self.round) if isinstance(self.round, int) else value

    def _of(self, values: Sequence[float]) -> float:
        name, arguments = call(self.aggregate)
        if name == "geometric":
            floor = float(arguments[0])
            return math.exp(mean([math.log(max(value, floor)) for value in values]))
        functions = {"mean": mean, "median": statistics.median, "sum": math.fsum}
        return float((functions | {"min": min, "max": max})[name](values))  # type: ignore[operator]
