"""Measuring: an instrument applied to placements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from idealist.errors import Faults
from idealist.instrument import Instrument
from idealist.placements import Placements
from idealist.tables.columns import Bools, Floats
from idealist.weights import Weights


@dataclass(frozen=True)
class Measured:
    """A measure's value for every judged query, which of them count, and their aggregate."""

    values: Floats
    counted: Bools
    aggregate: float


def measured(instrument: Instrument, placements: Placements) -> Measured:
    """Measure placements."""
    values = instrument.measure.values(placements)
    counted = entering(placements)
    if instrument.measure.if_undefined == "skip":
        counted = counted & ~np.isnan(values)
    aggregate, queries = instrument.aggregate, placements.qrels.queries
    if aggregate.weights is not None:
        counted = _weighing(aggregate.weights, queries, counted)
    rounded = np.array(aggregate.each(values.tolist()))
    named = [queries[i] for i in np.flatnonzero(counted)]
    return Measured(rounded, counted, aggregate.of(rounded[counted].tolist(), named))


def _weighing(weights: Weights, queries: Sequence[str], counted: Bools) -> Bools:
    """Say which of the counted queries weigh anything."""
    place = np.flatnonzero(counted)
    weighing = counted.copy()
    weighing[place] = np.greater(weights.of(queries[i] for i in place.tolist()), 0)
    if counted.any() and not weighing.any():
        hint = "give a query that is judged, and in the run, a weight above 0"
        Faults(weights.name).fail("bad-weight", "all queries that count have the weight 0", hint)
    return weighing


def entering(placements: Placements) -> Bools:
    """Say which judged queries the protocol lets count: those in the run, or all."""
    everything = np.ones(len(placements.in_run), dtype=bool)
    return placements.in_run if placements.protocol.missing == "skip" else everything
