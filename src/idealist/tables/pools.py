"""Pools: the grades of each query, padded into blocks for formulas over arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from idealist.tables.columns import Bools, Floats, Ints, freeze


@dataclass(frozen=True, eq=False)
class Pool:
    """Queries with similarly many judgments: their grades, highest first, padded to one width.

    `known` keeps what formulas have computed of these grades for the runs to come.
    """

    queries: Ints
    grades: Floats
    judged: Bools
    known: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def levels(self) -> frozenset[float]:
        """The different grades."""
        return frozenset(self.grades[self.judged].tolist())

    @cached_property
    def without_negative(self) -> Pool:
        """The same, with negative grades taken for no judgments."""
        return replace(self, judged=freeze(self.judged & (self.grades >= 0)), known={})


def pools_of(starts: Ints, grades: Floats) -> tuple[Pool, ...]:
    """Divide queries into blocks of similar size, so that one long list pads few others."""
    width = np.ceil(np.log2(np.maximum(np.diff(starts), 1))).astype(np.int64)
    return tuple(
        _pool(starts, grades, np.flatnonzero(width == exponent))
        for exponent in np.flatnonzero(np.bincount(width))
    )


def _pool(starts: Ints, grades: Floats, queries: Ints) -> Pool:
    first, sizes = starts[queries], np.diff(starts)[queries]
    column = np.arange(max(int(sizes.max()), 1))
    judged = column < sizes[:, None]
    padded = np.full(judged.shape, -np.inf)
    padded[judged] = grades[(first[:, None] + column)[judged]]
    padded = -np.sort(-padded, axis=1)
    return Pool(queries, freeze(np.where(judged, padded, 0.0)), freeze(judged))
