"""Measuring: an instrument applied to placements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from idealist.errors import Faults
from idealist.instrument import Instrument
from idealist.placements import Placements
from idealist.tables.columns import Bools, Floats
from idealist.weights import Weights


class Measured(NamedTuple):
    """A measure's value for every judged query, which of them count, and their aggregate.

    `gaps` says where the formula has no value, whatever stands for it.
    """

    values: Floats
    counted: Bools
    gaps: Bools
    aggregate: float


def measured(instrument: Instrument, placements: Placements) -> Measured:
    """Measure placements."""
    measure, aggregate = instrument.measure, instrument.aggregate
    computed = measure.computed(placements)
    gaps, counted = np.isnan(computed), placements.counting
    values = aggregate.each(measure.settled(computed, placements))
    if measure.if_undefined == "skip":
        counted = counted & ~gaps
    if aggregate.weights is None:
        return Measured(values, counted, gaps, aggregate.of(values[counted]))
    counted = _weighing(aggregate.weights, placements.qrels.queries, counted)
    named = chosen(placements.qrels.queries, counted)
    return Measured(values, counted, gaps, aggregate.of(values[counted], named))


def chosen(queries: Sequence[str], mask: Bools) -> tuple[str, ...]:
    """Name the queries of a mask."""
    return tuple(compress(queries, mask.tolist()))


def _weighing(weights: Weights, queries: Sequence[str], counted: Bools) -> Bools:
    """Say which of the counted queries weigh anything."""
    weighing = counted.copy()
    weighing[counted] = np.greater(weights.of(chosen(queries, counted)), 0)
    if counted.any() and not weighing.any():
        hint = "give a query that is judged, and in the run, a weight above 0"
        Faults(weights.name).fail("bad-weight", "all queries that count have the weight 0", hint)
    return weighing
