"""Slices of the queries: what each loses, and how it differs from the baseline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.data.queries import NONE
from idealist.diagnosing.evidence import WithEnds, of_mean
from idealist.diagnosing.fixes import Fixes
from idealist.diagnosing.losses import Losses
from idealist.diagnosing.measured_run import Inputs
from idealist.rendering.plain_data import finite


@dataclass(frozen=True, eq=False)
class Slice:
    """A part of the queries: what `fixes` would win there, and its difference from the baseline.

    `change` is the mean difference with its 95 % interval; NaN without a baseline.
    """

    name: str
    fixes: Fixes
    change: WithEnds

    @property
    def losses(self) -> Losses:
        """What the slice loses."""
        return self.fixes.losses

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        mean, *interval = map(finite, self.change)
        changed = {"mean": mean, "interval": interval}
        own = {"fixes": self.fixes.data(), "change": changed}
        return {"slice": self.name, **self.losses.data(), **own}


def sliced(inputs: Inputs, fixes: Fixes) -> tuple[Slice, ...]:
    """Take apart what a run loses, slice by slice; queries of no slice come last."""
    changed = changes_by_slice(inputs, fixes.losses.measure)
    return tuple(Slice(name, fixes.only(own), of_mean(values)) for name, own, values in changed)


def changes_by_slice(inputs: Inputs, measure: str) -> Iterator[tuple[str, Bools, Floats]]:
    """Yield each slice: its name, which queries it has, and how they differ from the baseline."""
    names = np.array(inputs.slices)
    changes = None if inputs.baseline is None else inputs.changes(measure)
    for name in sorted(dict.fromkeys(inputs.slices), key=lambda name: name == NONE):
        found = np.zeros(0) if changes is None else changes[names == name]
        yield name, names == name, found[~np.isnan(found)]
