"""Bounds of a value over all orders of its ties: worst, best, and the mean of all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.measures.instrument import Instrument, Measured, measured, retied
from idealist.notation import many
from idealist.ranking.ranked import Ranked
from idealist.rendering.document import Document, Table, Text
from idealist.rendering.plain_data import record
from idealist.rendering.result import Result
from idealist.rendering.wording import number


@dataclass(frozen=True, eq=False, repr=False)
class TieBounds(Result):
    """How far the order of tied documents could move a value.

    `low`, `high` and `expected`, the mean over all orders, are aggregates; `lows`, `highs` and
    `means` are per query. The mean is NaN for measures without a closed form of it.
    """

    run: str
    measure: str
    value: float
    low: float
    high: float
    expected: float
    queries: tuple[str, ...]
    values: Floats
    lows: Floats
    highs: Floats
    means: Floats

    @property
    def summary(self) -> str:
        """How far the order of ties could move the value, in one sentence."""
        moved = int(np.count_nonzero(self.lows < self.highs))
        shown = f"{self.measure} {number(self.value)}"
        if not moved:
            return f"{shown} is the same in every order of ties"
        some = many(moved, "query", "queries")
        mean = "" if math.isnan(self.expected) else f", {number(self.expected)} on average"
        span = f"{number(self.low)} to {number(self.high)}{mean}"
        return f"{shown} could be {span}, depending on the order of ties in {some}"

    def report(self) -> Document:
        """Describe the bounds: of all queries together, and of those that ties move."""
        own = ("all", self.value, self.low, self.high, self.expected)
        moved = [row for row in self._rows() if row[2] < row[3]]
        numbers = [self.measure, "low", "high", "expected"]
        table = Table.of(["query"], numbers, [*moved, own])
        return Document((Text(self.summary, strong=True), table))

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        columns = (self.values, self.lows, self.highs, self.means)
        return zip(self.queries, *map(np.ndarray.tolist, columns), strict=True)

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; undefined values are None."""
        names = ("value", "low", "high", "expected")
        return record({
            "run": self.run, "measure": self.measure,
            **{name: getattr(self, name) for name in names},
            "per_query": {q: dict(zip(names, cells, strict=True)) for q, *cells in self._rows()},
        })  # fmt: skip


def bound_ties(evaluator: Evaluator, label: str, ranked: Ranked) -> TieBounds:
    """Bound a value over the orders of its ties."""
    instrument = evaluator.instruments[label]
    measure, protocol = instrument.measure, instrument.protocol
    if not measure.monotone:
        hint = "look at several orders: ties=random(1), ties=random(2), …"
        raise UsageError(f"no order of ties is known to be the best for {measure.name}", hint)
    now = measured(instrument, ranked[protocol])
    worst, best = (retied(instrument, ranked, how, {}) for how in ("worst", "best"))
    lowest, highest = sorted((worst, best), key=lambda one: one.aggregate)
    mean = _expected(instrument, ranked)
    expected = math.nan if mean is None else mean.aggregate
    means = np.full(len(now.values), np.nan) if mean is None else mean.values
    return TieBounds(
        ranked.run.name, label, now.aggregate, lowest.aggregate, highest.aggregate, expected,
        ranked.qrels.queries, now.values, lows=np.fmin(worst.values, best.values),
        highs=np.fmax(worst.values, best.values), means=means,
    )  # fmt: skip


def _expected(instrument: Instrument, ranked: Ranked) -> Measured | None:
    """Measure the mean over all orders; None where there is no closed form."""
    if not instrument.measure.averages_ties:
        return None
    with suppress(UsageError):
        return measured(instrument, ranked[replace(instrument.protocol, ties="expected")])
    return None
