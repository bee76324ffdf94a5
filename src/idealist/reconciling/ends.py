"""How values of queries become a number: many vectors of values at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.notation import Value, call
from idealist.reconciling.space import Space


class End(NamedTuple):
    """What is decided after a list is measured; rounding is left to each aggregate."""

    no_relevant: str
    missing: str


class Settled(NamedTuple):
    """Values under one end: `rows` of the vectors, their values, and which queries count."""

    end: End
    rows: np.ndarray[tuple[int], np.dtype[np.int64]]
    values: Floats
    counted: Bools


def settled(space: Space, values: Floats, empty: Bools, in_run: Bools) -> Iterator[Settled]:
    """Settle vectors, NaN where there is no value, under every end that can change them."""
    gaps = np.isnan(values)
    some = np.flatnonzero(gaps.any(axis=1))
    for i, no_relevant in enumerate(space.no_relevant):
        rows = some if i else np.arange(len(values))
        if not len(rows):
            continue
        fills: dict[str, Any] = {"0": 0.0, "1": 1.0, "empty": empty[rows].astype(np.float64)}
        filled = np.where(gaps[rows], fills.get(no_relevant, math.nan), values[rows])
        for missing in space.missing:
            counted = np.broadcast_to(in_run | (missing != "skip"), filled.shape)
            if no_relevant == "skip":
                counted = counted & ~gaps[rows]
            yield Settled(End(no_relevant, missing), rows, filled, counted)


def rounded(values: Floats, digits: int) -> Floats:
    """Round as Python does: by the decimals of a number, not by a product."""
    with np.errstate(invalid="ignore"):
        result = np.round(values, digits)
        scaled = values * 10.0**digits
        halves = np.flatnonzero(np.abs(np.abs(scaled - np.trunc(scaled)) - 0.5) < 1e-6)
    flat = result.reshape(-1)
    for i in halves.tolist():
        flat[i] = round(float(values.reshape(-1)[i]), digits)
    return flat.reshape(values.shape)


def split_rounding(rounding: Value) -> tuple[int | None, int | None]:
    """Return the digits that queries are rounded to, and those of their aggregate.

    >>> split_rounding("query(2)"), split_rounding(4), split_rounding("none")
    ((2, None), (None, 4), (None, None))
    """
    name, arguments = call(str(rounding))
    if name == "query":
        return int(arguments[0]), None
    return None, None if name == "none" else int(name)


def aggregated(aggregate: str, values: Floats, counted: Bools) -> Floats:
    """Aggregate the counted values of each row; NaN where one of them is."""
    name, arguments = call(aggregate)
    if name == "geometric":
        floor = float(arguments[0])
        logs = np.log(np.where(values > floor, values, floor))
        means = _MANY["mean"](np.where(np.isnan(values), np.nan, logs), counted)
        return np.exp(means)
    result = _MANY[name](values, counted)
    undefined = (counted & np.isnan(values)).any(axis=1)
    if name != "sum":
        undefined |= ~counted.any(axis=1)
    return np.where(undefined, np.nan, result)


def _median(values: Floats, counted: Bools) -> Floats:
    """Take the middle of what counts, or the mean of the two; the rest is sorted last."""
    ordered = np.sort(np.where(counted, values, np.inf), axis=1)
    size = counted.sum(axis=1)
    low = np.maximum(size - 1, 0) // 2
    high = np.minimum(size // 2, max(values.shape[1] - 1, 0))
    rows = np.arange(len(values))
    with np.errstate(invalid="ignore"):
        return (ordered[rows, low] + ordered[rows, high]) / 2.0  # type: ignore[no-any-return]


def _mean(values: Floats, counted: Bools) -> Floats:
    total = np.where(counted, values, 0.0).sum(axis=1)
    size = counted.sum(axis=1)
    return np.where(size > 0, total / np.maximum(size, 1), np.nan)


_MANY: dict[str, Callable[[Floats, Bools], Floats]] = {
    "mean": _mean,
    "median": _median,
    "sum": lambda values, counted: np.where(counted, values, 0.0).sum(axis=1),
    "min": lambda values, counted: np.where(counted, values, np.inf).min(axis=1),
    "max": lambda values, counted: np.where(counted, values, -np.inf).max(axis=1),
}
