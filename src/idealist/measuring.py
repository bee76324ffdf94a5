"""Measuring: an instrument applied to placements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from idealist.instrument import Instrument
from idealist.placements import Placements
from idealist.tables.columns import Bools, Floats


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
    rounded = np.array(instrument.aggregate.each(values.tolist()))
    return Measured(rounded, counted, instrument.aggregate.of(rounded[counted].tolist()))


def entering(placements: Placements) -> Bools:
    """Say which judged queries the protocol lets count: those in the run, or all."""
    everything = np.ones(len(placements.in_run), dtype=bool)
    return placements.in_run if placements.protocol.missing == "skip" else everything
