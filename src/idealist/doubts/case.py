"""One evaluation while it is looked over, and the words doubts are written with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from idealist.conventions import Convention
from idealist.instrument import Instrument
from idealist.measures.judged import Count
from idealist.measuring import Measured, measured
from idealist.placements import Placements
from idealist.protocol import Protocol
from idealist.tables import Qrels, Run
from idealist.tables.columns import Bools

#: How many queries a doubt names.
NAMED = 5


@dataclass(frozen=True)
class Case:
    """One evaluation while it is looked over."""

    qrels: Qrels
    convention: Convention
    instruments: Mapping[str, Instrument]
    run: Run
    placed: Mapping[Protocol, Placements]
    measured: Mapping[str, Measured]

    @cached_property
    def first(self) -> Placements:
        """The placements of the first measure, for what no protocol changes."""
        return self.placements(next(iter(self.instruments)))

    def placements(self, label: str) -> Placements:
        """Give the placements a measure was computed from."""
        return self.placed[self.instruments[label].protocol]

    def named(self, mask: Bools) -> tuple[str, ...]:
        """Name the queries of a mask."""
        return tuple(self.qrels.queries[i] for i in np.flatnonzero(mask))

    def without(self, gone: Bools, labels: Mapping[str, Instrument]) -> dict[str, float]:
        """Price some queries: what each measure is without them."""
        priced = {
            label: measured(instrument, self.placements(label), ~gone).aggregate
            for label, instrument in labels.items()
            if not isinstance(instrument.measure, Count)
        }
        return {
            label: value
            for label, value in priced.items()
            if value != self.measured[label].aggregate
        }


def few(queries: tuple[str, ...]) -> str:
    """Name some queries and count the others."""
    more = f" and {len(queries) - NAMED} more" if len(queries) > NAMED else ""
    return ", ".join(queries[:NAMED]) + more


def many(count: int, one: str, several: str) -> str:
    """Write a count with the words that go with it."""
    return f"{count} {one if count == 1 else several}"


def prices(values: Mapping[str, float]) -> str:
    """Say what measures would be otherwise."""
    shown = ", ".join(
        f"{label} is {value:.4f}" for label, value in values.items() if not math.isnan(value)
    )
    return f"; without them {shown}" if shown else ""
