"""Padded lists: the arrays that formulas are written over, in any array library.

One row per query: its judged documents that were retrieved, in rank order, and the grades of all
its judged documents, highest first. Formulas use nothing but the array API standard, so the same
lines run on NumPy, PyTorch, JAX and CuPy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from idealist.errors import UsageError

Array: TypeAlias = Any

#: NumPy as formulas use it, without the wrappers that cost more than the work on small arrays.
QUICK = SimpleNamespace(
    **vars(np)
    | {
        "astype": lambda array, dtype: array.astype(dtype),
        "cumulative_sum": lambda array, *, axis: np.add.accumulate(array, axis),
        "min": lambda array, *, axis: np.minimum.reduce(array, axis),
    }
)


@dataclass(frozen=True, eq=False)
class PaddedLists:
    """The rankings of a block of queries; arrays are queries x places unless noted otherwise.

    `found` is true where there is a document; elsewhere the other arrays hold padding. `rank` is
    the document's rank, `first` and `last` the ranks its tie spans, `start` and `end` the columns
    in which the tie begins and ends (None if nothing is tied), and `place` its index into `scores`
    and `judgments`. `pool` and `judged` (queries x judgments) hold all grades and where there is
    one; `best` gives the highest first. `expected` asks for the mean over all orders of each tie.
    `unseen` says that nobody looks at what the arrays hold: they are on a device that would have to
    be waited for, or are yet to be computed.

    An array that is the same for all queries may have one row.

    Three dicts cache what formulas share: `pooled` depends on the judgments only, `known` on the
    documents but not on their ranks, and `cuts` holds shorter lists.
    """

    xp: Any
    found: Array
    rank: Array
    first: Array
    last: Array
    grade: Array
    place: Array
    scores: Array
    judgments: Array
    pool: Array
    judged: Array
    retrieved: Array
    maximum: float
    depth: int
    start: Array = None
    end: Array = None
    expected: bool = False
    unseen: bool = False
    columns: Mapping[str, Array] = field(default_factory=dict)
    pooled: dict[Hashable, Any] = field(default_factory=dict)
    known: dict[Hashable, Any] = field(default_factory=dict)
    cuts: dict[int, PaddedLists] = field(default_factory=dict)

    @property
    def score(self) -> Array:
        """The score of each document."""
        return self.scores[self.place]

    @property
    def averaged(self) -> bool:
        """Whether there are ties whose orders must be averaged."""
        return self.expected and self.start is not None

    @property
    def longest(self) -> int:
        """The length of the longest list, or what it cannot exceed."""
        return self.depth if self.unseen else int(self.xp.max(self.retrieved))

    def surely(self, mask: Array) -> bool:
        """Whether any cell is true; False too where nobody looks."""
        return not self.unseen and bool(self.xp.any(mask))

    def possibly(self, mask: Array) -> bool:
        """Whether any cell is true; True too where nobody looks."""
        return self.unseen or bool(self.xp.any(mask))

    def best(self, count: int | None = None) -> tuple[Array, Array]:
        """Return the grades of all judged documents, highest first, and where there is one.

        `count` says how many are needed.
        """
        return head(self.pool, count), head(self.judged, count)

    def highest(self, values: Array, count: int | None = None) -> Array:
        """Sort each row, highest value first; `count` says how many are needed."""
        return -head(self.xp.sort(-values, axis=1), count)

    def to(self, xp: Any) -> PaddedLists:
        """Move the arrays to another array library.

        >>> padded([3, 1]).to(np).rank.tolist()
        [[1, 2]]
        """
        arrays = {
            f.name: xp.asarray(value.copy())  # frozen arrays are not to be shared
            for f in fields(self)
            if isinstance(value := getattr(self, f.name), np.ndarray)
        }
        columns = {name: xp.asarray(column.copy()) for name, column in self.columns.items()}
        return replace(self, xp=xp, columns=columns, pooled={}, known={}, cuts={}, **arrays)

    def once(self, what: Hashable, compute: Callable[[], Any], *, pooled: bool = False) -> Any:
        """Compute something once and cache it: for all measures, or if `pooled` for all runs."""
        known = self.pooled if pooled else self.known
        if what not in known:
            known[what] = compute()
        return known[what]

    def upto(self, cutoff: int | None) -> PaddedLists:
        """Drop columns that lie entirely below a cutoff; ties are not split.

        One column more than the cutoff is kept: it adds the 0.0 that sums over whole lists end
        with.
        """
        if cutoff is None or self.start is not None or self.rank.shape[1] <= cutoff + 1:
            return self
        if cutoff not in self.cuts:
            names = ("found", "rank", "first", "last", "grade", "place")
            arrays = {name: getattr(self, name)[:, : cutoff + 1] for name in names}
            known = self.known.setdefault(("upto", cutoff), {})
            self.cuts[cutoff] = replace(self, known=known, cuts={}, **arrays)
        return self.cuts[cutoff]

    def constant(self, values: Sequence[Any] | np.ndarray[Any, Any]) -> Array:
        """Make an array in the same library and on the same device as the others."""
        if self.xp is QUICK:
            return np.asarray(values)
        values = np.array(values)  # float64 whatever the library's default
        return self.xp.asarray(values, device=self.rank.device)

    def number(self, array: Array) -> Array:
        """Convert an array to float64."""
        return self.xp.astype(array, self.xp.float64)

    def gather(self, table: Any, index: Array) -> Array:
        """Look up each index in a one-dimensional table."""
        return self.constant(table)[index]

    def total(self, values: Array) -> Array:
        """Sum each row from left to right, so that padding cannot change a bit."""
        return self.xp.cumulative_sum(values, axis=1)[:, -1]

    def count(self, mask: Array) -> Array:
        """Count the true cells of each row, as float64."""
        return self.number(self.xp.count_nonzero(mask, axis=1))

    def within(self, cutoff: Array | int | None) -> Array:
        """Mark the documents that were found at or above a cutoff."""
        return self.found if cutoff is None else self.found & (self.rank <= cutoff)

    def lengths(self, cutoff: int | None) -> Array:
        """Return the length of each list, at most the cutoff."""
        if cutoff is None:
            return self.number(self.retrieved)
        return self.number(self.xp.minimum(self.retrieved, cutoff))

    def levels(self, some: Array, values: Array) -> Iterator[Array]:
        """Yield each row's distinct values, highest first; -inf once a row has no more.

        Every level is one column, so each row steps through its own values.
        """
        xp = self.xp
        level = xp.max(xp.where(some, values, -np.inf), axis=1)[:, None]
        while bool(xp.any(level > -np.inf)):
            yield level
            lower = some & (values < level)
            level = xp.max(xp.where(lower, values, -np.inf), axis=1)[:, None]

    def ratio(self, part: Array, whole: Array, otherwise: float = np.nan) -> Array:
        """Divide where the divisor is above 0; elsewhere return `otherwise`."""
        some = whole > 0
        return self.xp.where(some, part / self.xp.where(some, whole, 1.0), otherwise)

    def column(self, name: str) -> Array:
        """Look up a judgment column for the documents found; NaN elsewhere."""
        asked = self.found if name in self.columns else self.retrieved > 0
        if not bool(self.xp.any(asked)):  # nothing to look up, and perhaps nothing to look it up in
            return self.xp.full_like(self.grade, np.nan)
        if name not in self.columns:
            raise UsageError(
                f"the judgments have no column {name!r}",
                f'give one: {{"query": […], "document": […], "grade": […], "{name}": […]}}',
            )
        return self.xp.where(self.found, self.columns[name][self.judgments[self.place]], np.nan)


def head(array: Array, count: int | None) -> Array:
    """Return the first columns, all of them without a count."""
    return array if count is None or count >= array.shape[1] else array[:, :count]


def finite_grades(given: Any) -> tuple[list[int], Any]:
    """Read a sequence of grades: return the places that have one, and the grades there."""
    try:
        there = [(place, float(grade)) for place, grade in enumerate(given) if grade is not None]
    except (TypeError, ValueError, RuntimeError):  # the last is PyTorch's
        hint = "give a list with one number for each document, None where it is unjudged"
        raise UsageError("the grades are not a list of numbers", hint) from None
    grades = np.array([grade for _, grade in there], dtype=np.float64)
    if not np.isfinite(grades).all():
        raise UsageError("a grade is not a finite number", "write None for an unjudged document")
    return [place for place, _ in there], grades


def padded(
    grades: Sequence[float | None], judged: Sequence[float] = (), **columns: Sequence[float]
) -> PaddedLists:
    """Build the lists of one ranking from its grades, None where a document is unjudged.

    `judged` holds the grades of documents that were judged but not retrieved; `columns` holds
    further values for each retrieved document, such as ``abstain``.
    """
    for name, values in columns.items():
        if len(values) != len(grades):
            message = f"{name} has {len(values)} values for {len(grades)} grades"
            raise UsageError(message, "give one for each grade, None where there is none")
    place, found = finite_grades(grades)
    _, elsewhere = finite_grades(judged)
    pool = -np.sort(-np.concatenate((found, elsewhere)))
    rank = np.array(place or [0], dtype=np.int64)[None, :] + 1
    return PaddedLists(
        xp=QUICK,
        found=np.full(rank.shape, bool(place)),
        rank=rank,
        first=rank,
        last=rank,
        grade=found[None, :] if place else np.zeros((1, 1)),
        place=rank - 1,
        scores=np.full(max(len(grades), 1), np.nan),
        judgments=np.arange(max(len(grades), 1)),
        pool=pool[None, :] if len(pool) else np.zeros((1, 1)),
        judged=np.full((1, max(len(pool), 1)), bool(len(pool))),
        retrieved=np.array([len(grades)]),
        maximum=float(pool[0]) if len(pool) else 0.0,
        depth=int(rank.max()),
        columns={
            name: np.array([np.nan if v is None else v for v in values] or [np.nan], np.float64)
            for name, values in columns.items()
        },
    )
