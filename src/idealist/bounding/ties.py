"""Bounds of a value over all orders of its ties: worst, best, and the mean of all."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from idealist.data import Qrels, Run
from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.evaluating.summary import number
from idealist.measures.instrument import Instrument, Measured, measured
from idealist.notation import many
from idealist.ranking.ranked import limited, rank
from idealist.report.draw import Grid, markdown, plain
from idealist.report.plain_data import finite


@dataclass(frozen=True, eq=False)
class TieBounds:
    """How far the order of tied documents could move a value.

    `low`, `high` and `expected`, the mean over all orders, are aggregates; `lows`, `highs` and
    `means` are per query. What has no closed form for the mean has NaN there.
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

    def grid(self) -> Grid:
        """Tabulate the queries that an order of ties moves, and all together."""
        columns = (self.values, self.lows, self.highs, self.means)
        rows = [
            [query, *map(number, cells)]
            for query, *cells in zip(self.queries, *map(np.ndarray.tolist, columns), strict=True)
            if cells[1] < cells[2]
        ]
        own = [self.value, self.low, self.high, self.expected]
        heads = ["query", self.measure, "low", "high", "expected"]
        return Grid(heads, [*rows, ["all", *map(number, own)]])

    def sentence(self) -> str:
        """Say it in one sentence."""
        moved = int(np.count_nonzero(self.lows < self.highs))
        shown = f"{self.measure} {number(self.value)}"
        if not moved:
            return f"{shown} is the same in every order of ties"
        some = many(moved, "query", "queries")
        mean = "" if math.isnan(self.expected) else f", {number(self.expected)} on average"
        span = f"{number(self.low)} to {number(self.high)}{mean}"
        return f"{shown} could be {span}, by the order of ties in {some}"

    def __str__(self) -> str:
        return f"{plain(self.grid())}\n\n{self.sentence()}"

    def markdown(self) -> str:
        """Write it as a Markdown table."""
        return f"{markdown(self.grid())}\n\n{self.sentence()}"

    def data(self) -> dict[str, Any]:
        """Give it as plain data; undefined values are None."""
        names = ("value", "low", "high", "expected")
        columns = (self.values, self.lows, self.highs, self.means)
        rows = zip(self.queries, *map(np.ndarray.tolist, columns), strict=True)
        return {
            "run": self.run,
            "measure": self.measure,
            **{name: finite(getattr(self, name)) for name in names},
            "per_query": {
                query: dict(zip(names, map(finite, cells), strict=True)) for query, *cells in rows
            },
        }


def bounded(instrument: Instrument, label: str, qrels: Qrels, run: Run) -> TieBounds:
    """Bound a value over the orders of its ties."""
    measure, protocol = instrument.measure, instrument.protocol
    if not measure.monotone:
        hint = "look at several orders: ties=random(1), ties=random(2), …"
        raise UsageError(f"no order of ties is known to be the best for {measure.name}", hint)
    now = measured(instrument, rank(qrels, run, [protocol])[protocol])
    worst, best = (_retied(instrument, qrels, run, how) for how in ("worst", "best"))
    lowest, highest = sorted((worst, best), key=lambda one: one.aggregate)
    mean = _expected(instrument, qrels, run)
    return TieBounds(
        run=run.name,
        measure=label,
        value=now.aggregate,
        low=lowest.aggregate,
        high=highest.aggregate,
        expected=math.nan if mean is None else mean.aggregate,
        queries=qrels.queries,
        values=now.values,
        lows=np.fmin(worst.values, best.values),
        highs=np.fmax(worst.values, best.values),
        means=np.full(len(now.values), np.nan) if mean is None else mean.values,
    )


def _retied(instrument: Instrument, qrels: Qrels, run: Run, how: str) -> Measured:
    """Order whole lists by what the measure rewards, then leave out what the protocol does."""
    protocol = instrument.protocol
    whole = replace(protocol, depth="none", unjudged="zero", negative="allow", ties="docid-desc")
    if protocol.budget is not None:
        whole = replace(whole, depth=protocol.depth)
    placements = rank(qrels, run, [whole])[whole]
    placements = placements.retied(how, instrument.measure.worth(placements))
    return measured(instrument, limited(replace(placements, protocol=protocol), protocol))


def _expected(instrument: Instrument, qrels: Qrels, run: Run) -> Measured | None:
    """Measure the mean over all orders; None where there is no closed form."""
    if not instrument.measure.averages_ties:
        return None
    with suppress(UsageError):
        protocol = replace(instrument.protocol, ties="expected")
        return measured(instrument, rank(qrels, run, [protocol])[protocol])
    return None
