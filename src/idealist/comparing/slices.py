"""Slices: the same comparison for parts of the queries, with protection against small ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from idealist.comparing.aligned import Table
from idealist.comparing.options import Options
from idealist.comparing.pair import Pair
from idealist.comparing.pairing import Places, pairs_of
from idealist.statistics.families import holm
from idealist.statistics.power import ENOUGH
from idealist.tables.slices import NONE, slice_names


def sliced(
    tables: Sequence[Table], places: Sequence[Places], options: Options, slices: Mapping[Any, Any]
) -> tuple[Pair, ...]:
    """Compare pairs slice by slice, each measure's p-values corrected by Holm across slices.

    A slice of fewer than ten queries is shown, but not tested.
    """
    return tuple(pair for table in tables for pair in _sliced(table, places, options, slices))


def _sliced(
    table: Table, places: Sequence[Places], options: Options, slices: Mapping[Any, Any]
) -> list[Pair]:
    own = slice_names(slices, table.queries)
    plain = replace(options, correction="none")
    pairs: list[Pair] = []
    for name in sorted(set(own), key=lambda name: (name == NONE, own.index(name))):
        part = table.only(np.array([each == name for each in own]))
        tested = len(part.queries) >= ENOUGH
        found = pairs_of([part], places, plain)
        pairs += [replace(pair, slice=name, tested=tested) for pair in found]
    return _corrected(pairs, options)


def _corrected(pairs: Sequence[Pair], options: Options) -> list[Pair]:
    """Correct across the slices that are tested; the others lose their p-values."""
    raw = [pair.p_randomisation for pair in pairs if pair.tested]
    how = replace(options, correction="holm" if len(raw) > 1 else "none", pairs=len(raw))
    adjusted = iter(holm(raw).tolist())
    return [
        replace(pair, p_adjusted=next(adjusted), options=how)
        if pair.tested
        else replace(pair, p_randomisation=np.nan, p_adjusted=np.nan, options=how)
        for pair in pairs
    ]
