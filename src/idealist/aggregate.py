"""Aggregates: how the values of many queries become one number."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from idealist.notation import Kind, Settings, Value, Written, axis, call, text, to_number


def _check_aggregate(value: Any) -> Value:
    name, arguments = call(str(value))
    if name == "geometric":
        (floor,) = map(to_number, arguments or ["1e-5"])
        if floor <= 0:
            raise ValueError(value)
        return f"geometric({text(floor)})"
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


AGGREGATE = Kind("one of mean, median, min, max, sum, geometric(FLOOR)", _check_aggregate)
ROUND = Kind("none, a number of digits, or query(DIGITS) to round each query", _check_round)


@dataclass(frozen=True, kw_only=True)
class Aggregate(Settings):
    """How values become one number. The mean is exactly rounded, so no order of queries matters.

    >>> Aggregate().of([0.25, 0.75, 0.5])
    0.5
    >>> round(Aggregate(aggregate="geometric(1e-5)").of([0.0, 0.1]), 6)
    0.001
    """

    aggregate: str = axis("mean", AGGREGATE, "how the values of queries become one")
    round: Written = axis("none", ROUND, "the digits a value is rounded to, and where")

    def each(self, values: Sequence[float]) -> list[float]:
        """Round the values of queries, where that is asked for."""
        name, arguments = call(str(self.round))
        if name != "query":
            return list(values)
        return [value if math.isnan(value) else round(value, int(arguments[0])) for value in values]

    def of(self, values: Sequence[float]) -> float:
        """Aggregate values; NaN where there are none, but for a sum."""
        nothing = not len(values) and self.aggregate != "sum"
        if nothing or any(math.isnan(value) for value in values):
            return math.nan
        value = self._of(values)
        return round(value, self.round) if isinstance(self.round, int) else value

    def _of(self, values: Sequence[float]) -> float:
        name, arguments = call(self.aggregate)
        if name == "geometric":
            floor = float(arguments[0])
            return math.exp(mean([math.log(max(value, floor)) for value in values]))
        functions = {"mean": mean, "median": statistics.median, "sum": math.fsum}
        return float((functions | {"min": min, "max": max})[name](values))  # type: ignore[operator]


def mean(values: Sequence[float]) -> float:
    """Give the mean, exactly rounded whatever the order."""
    return math.fsum(values) / len(values)
