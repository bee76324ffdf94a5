"""Bounds of an aggregate: queries are judged independently, so each stands at its own end."""

from __future__ import annotations

import math

import numpy as np

from idealist.bounding.extremes import Ends
from idealist.instrument import Instrument
from idealist.measuring import chosen
from idealist.tables.columns import Bools


def together(
    instrument: Instrument, queries: tuple[str, ...], found: Ends, high: bool
) -> tuple[float, Bools]:
    """Give an end of the aggregate, and which queries count in it.

    Every aggregate grows with each value. A query that some completion leaves out counts where
    that helps: of several, those with the most extreme values.
    """
    values = found.high if high else found.low
    must, free = found.must, np.flatnonzero(found.free)
    free = free[np.argsort(-values[free] if high else values[free], kind="stable")]
    best, counted = math.nan, must
    for size in range(len(free) + 1):
        some = must.copy()
        some[free[:size]] = True
        value = instrument.aggregate.of(values[some], chosen(queries, some))
        if math.isnan(best) or (value > best if high else value < best):
            best, counted = value, some
    return best, counted
