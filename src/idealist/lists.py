"""Lists: the padded arrays that formulas are written over, in any array library.

A block of queries; row by row the judged documents found, in rank order, and the grades of all
judged documents, highest first. Formulas use nothing but the array API standard, so the same lines
run on NumPy, PyTorch, JAX and CuPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

import numpy as np

from idealist.errors import UsageError

Array: TypeAlias = Any


@dataclass(frozen=True)
class Lists:
    """Rankings of a block of queries; arrays are queries x places unless said otherwise.

    `found` is true where there is a document, `rank`, `first` and `last` are its rank and its
    tie's, `start` and `end` the columns its tie begins and ends at (None where nothing is tied).
    `pool` and `judged` (queries x judgments) are all grades, highest first, and where there is one.
    `expected` asks for the mean over all orders of each tie.
    """

    xp: Any
    found: Array
    rank: Array
    first: Array
    last: Array
    grade: Array
    score: Array
    pool: Array
    judged: Array
    empty: Array
    retrieved: Array
    maximum: float
    depth: int
    start: Array = None
    end: Array = None
    expected: bool = False
    judgment: Array = None
    columns: Mapping[str, Array] = field(default_factory=dict)

    @property
    def averaged(self) -> bool:
        """Whether there are ties whose orders must be averaged."""
        return self.expected and self.start is not None

    def to(self, xp: Any) -> Lists:
        """Move the arrays to another array library.

        >>> lists_of([3, 1]).to(np).rank.tolist()
        [[1, 2]]
        """
        arrays = {
            f.name: xp.asarray(value.copy())  # frozen arrays are not to be shared
            for f in fields(self)
            if isinstance(value := getattr(self, f.name), np.ndarray)
        }
        columns = {name: xp.asarray(column.copy()) for name, column in self.columns.items()}
        return replace(self, xp=xp, columns=columns, **arrays)

    def constant(self, values: Any) -> Array:
        """Make an array beside the others, on the same device."""
        if isinstance(values, (int, float, list, range, np.ndarray)):
            values = np.array(values)  # float64 whatever the library's default
        return self.xp.asarray(values, device=self.rank.device)

    def number(self, array: Array) -> Array:
        """Give an array as float64."""
        return self.xp.astype(array, self.xp.float64)

    def gather(self, table: Any, index: Array) -> Array:
        """Look up each index in a table of one dimension."""
        flat = self.xp.reshape(index, (-1,))
        return self.xp.reshape(self.xp.take(self.constant(table), flat), index.shape)

    def total(self, values: Array) -> Array:
        """Sum each row from left to right, so that padding cannot change a bit."""
        return self.xp.cumulative_sum(values, axis=1)[:, -1]

    def count(self, mask: Array) -> Array:
        """Count what is true in each row, as float64."""
        return self.number(self.xp.sum(self.xp.astype(mask, self.xp.int64), axis=1))

    def within(self, cutoff: Array | int | None) -> Array:
        """Say which documents were found and stand at or above a cutoff."""
        return self.found if cutoff is None else self.found & (self.rank <= cutoff)

    def lengths(self, cutoff: int | None) -> Array:
        """Give the length of each list, at most the cutoff."""
        if cutoff is None:
            return self.number(self.retrieved)
        limit = self.constant(cutoff)
        return self.number(self.xp.where(self.retrieved < limit, self.retrieved, limit))

    def ratio(self, part: Array, whole: Array, otherwise: float = np.nan) -> Array:
        """Divide where there is something to divide by."""
        some = whole > 0
        divisor = self.xp.where(some, whole, self.xp.ones_like(whole))
        return self.xp.where(some, part / divisor, self.constant(otherwise))

    def column(self, name: str) -> Array:
        """Give a judgment column for the documents found; NaN elsewhere."""
        nan = self.constant(np.nan)
        asked = self.found if name in self.columns else self.retrieved > 0
        if not bool(self.xp.any(asked)):  # nothing to look up, and perhaps nothing to look it up in
            return self.xp.where(self.found, nan, nan)
        if name not in self.columns:
            raise UsageError(
                f"the judgments have no column {name!r}",
                f'give one: {{"query": […], "document": […], "grade": […], "{name}": […]}}',
            )
        cells = self.gather(self.columns[name], self.judgment)
        return self.xp.where(self.found, cells, nan)


def lists_of(
    grades: Sequence[float | None], judged: Sequence[float] = (), **columns: Sequence[float]
) -> Lists:
    """Make one list from the grades of a ranking, None where unjudged.

    `judged` are the grades of documents that were judged but not retrieved; `columns` are further
    facts about each retrieved document.
    """
    for name, values in columns.items():
        if len(values) != len(grades):
            message = f"{name} has {len(values)} values for {len(grades)} grades"
            raise UsageError(message, "give one for each grade, None where there is none")
    place = [i for i, grade in enumerate(grades) if grade is not None]
    found = np.array([grades[i] for i in place], dtype=np.float64)
    if not np.isfinite(found).all() or not np.isfinite(np.asarray(judged, np.float64)).all():
        raise UsageError("a grade is not a finite number", "write None for an unjudged document")
    pool = -np.sort(-np.concatenate((found, np.asarray(judged, dtype=np.float64))))
    rank = np.array(place, dtype=np.int64)[None, :] + 1
    padding = ((0, 0), (0, 0 if place else 1))
    rank = np.pad(rank, padding)
    return Lists(
        xp=np,
        found=rank > 0,
        rank=rank,
        first=rank,
        last=rank,
        grade=np.pad(found[None, :], padding),
        score=np.full(rank.shape, np.nan),
        pool=pool[None, :] if len(pool) else np.zeros((1, 1)),
        judged=np.full((1, max(len(pool), 1)), bool(len(pool))),
        empty=np.array([not len(grades)]),
        retrieved=np.array([len(grades)]),
        maximum=float(pool[0]) if len(pool) else 0.0,
        depth=int(rank.max()),
        judgment=np.maximum(rank - 1, 0),
        columns={
            name: np.array([np.nan if v is None else v for v in values] or [np.nan], np.float64)
            for name, values in columns.items()
        },
    )
