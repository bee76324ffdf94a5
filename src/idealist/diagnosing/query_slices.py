"""Slices: where a run loses its points, and gains on another, for parts of the queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.data.queries import NONE
from idealist.diagnosing.evidence import Evidence, Interval, of_mean
from idealist.diagnosing.losses import Losses
from idealist.diagnosing.rule_samples import MAIN, changes
from idealist.diagnosing.subject import Case
from idealist.evaluating.summary import number
from idealist.explaining.ladder import CAUSES
from idealist.report.draw import Grid
from idealist.report.plain_data import finite
from idealist.significance.power_analysis import ENOUGH


@dataclass(frozen=True, eq=False)
class Slice:
    """A part of the queries: its `losses`, and how far it is above the run compared with.

    `change` is the mean difference and its 95 % interval; NaN without such a run.
    """

    name: str
    losses: Losses
    change: Interval

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        mean, *interval = map(finite, self.change)
        changed = {"mean": mean, "interval": interval}
        return {"slice": self.name, **self.losses.data(), "change": changed}


def sliced(case: Case, losses: Losses) -> tuple[Slice, ...]:
    """Take apart what a run loses, slice by slice; queries of no slice come last."""
    return tuple(
        Slice(name, losses.only(own), of_mean(_changes(case, losses.measure, own)))
        for name, own in _parts(case)
    )


def _parts(case: Case) -> Iterator[tuple[str, Bools]]:
    names = np.array(case.slices)
    for name in sorted(dict.fromkeys(case.slices), key=lambda name: name == NONE):
        yield name, names == name


def _changes(case: Case, measure: str, own: Bools) -> Floats:
    if case.other is None:
        return np.zeros(0)
    found = changes(case, measure)[own]
    return found[~np.isnan(found)]


def by_slice(label: str, slices: Sequence[Slice]) -> Grid:
    """Tabulate a measure by slice; without a run to compare with there are no changes."""
    compared = not all(math.isnan(one.change[0]) for one in slices)
    rows = [
        [
            one.name, str(one.losses.queries), number(one.losses.value),
            *("-" if math.isnan(x) else f"{x:+.4f}" for x in one.change if compared),
            CAUSES.get(one.losses.cause, "nothing"),
        ]
        for one in slices
    ]  # fmt: skip
    changes = ["change", "from", "to"] if compared else []
    return Grid([f"{label} by slice", "queries", "value", *changes, "most lost to"], rows)


@dataclass(frozen=True)
class OnSlice:
    """A condition: on some slice the run is better (``>``) than the one compared with, or worse.

    Of the slices of at least ten queries it looks at the best, or the worst, at a level divided by
    their number (Bonferroni), since any of them could have been that.
    """

    side: str

    def weigh(self, case: Case) -> Evidence:
        """Look at the queries of a case."""
        found = {name: _changes(case, MAIN, own) for name, own in _parts(case)}
        large = {name: values for name, values in found.items() if len(values) >= ENOUGH}
        words = f"the change of {MAIN} on"
        if not large:
            return Evidence(f"{words} a slice", self.side, 0.0, 0, math.nan, math.nan, math.nan)
        sign = 1 if self.side == ">" else -1
        name = max(large, key=lambda name: sign * float(large[name].mean()))
        interval = of_mean(large[name], 1 - 0.05 / len(large))
        return Evidence(f"{words} slice {name}", self.side, 0.0, len(large[name]), *interval)
