"""Rankings as tensors: scores and labels become the padded lists that formulas are written over.

This is `ranking` for arrays. Every document of a list is judged and none has an id, so a ranking is
one sort, on the device where the scores are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from idealist.protocol import Protocol
from idealist.ranking.padded_lists import Array, PaddedLists, head
from idealist.tensors.array_libraries import Library


class Batch(NamedTuple):
    """Lists of documents, one row each: floats that rank them, and their grades.

    `there` is false where there is padding, and `told` says that a mask decided that. `others` are
    the grades of judged documents that are not in the lists, and where there is one.
    """

    library: Library
    scores: Array
    labels: Array
    there: Array
    told: bool
    others: tuple[Array, Array] | None


class Look(NamedTuple):
    """How some measures look at a batch: the protocol, how deep, and whether at ties and scores.

    `reach` is the last rank that any of them looks at, None for whole lists.
    """

    protocol: Protocol
    reach: int | None
    ties: bool
    scores: bool


@dataclass(frozen=True, eq=False)
class TensorLists(PaddedLists):
    """Padded lists in the arrays' own library; `raw` are the grades of the pool, to be sorted."""

    library: Library = None  # type: ignore[assignment]  # always given
    raw: Array = None

    @property
    def score(self) -> Array:
        """The score of each document."""
        return self.scores

    def surely(self, mask: Array) -> bool:
        """Whether any cell is true; where nobody looks, remember in which lists one is."""
        if self.unseen and len(mask.shape) == 2 and mask.shape[0] == self.found.shape[0]:
            self.refused.append(self.xp.any(mask, axis=1))
        return super().surely(mask)

    @property
    def refused(self) -> list[Array]:
        """The lists that formulas would have refused, had they looked."""
        found: list[Array] = self.pooled.setdefault("refused", [])
        return found

    def constant(self, values: Any) -> Array:
        """Make an array in the same library and on the same device as the others."""
        return self.library.constant(np.asarray(values), self.found)

    def total(self, values: Array) -> Array:
        """Sum each row."""
        return self.library.total(values)

    def highest(self, values: Array, count: int | None = None) -> Array:
        """Sort each row, highest value first; `count` says how many are needed."""
        return self.library.highest(values, count)

    def best(self, count: int | None = None) -> tuple[Array, Array]:
        """Return the grades of all judged documents, highest first, and where there is one."""
        known = self.pooled.get("best")
        if known is None or (known[0] is not None and (count is None or known[0] < count)):
            grade = self.number(self.library.highest(self.raw, count))
            there = grade > -math.inf
            known = self.pooled["best"] = count, self.xp.where(there, grade, 0.0), there
        return head(known[1], count), head(known[2], count)


class BatchRanking:
    """A batch in the order of its scores, under a protocol, as far as some measures look at it.

    `order` holds the columns of the batch, best first; `retrieved` says how many documents each
    list has, and `found` in which columns they are.
    """

    def __init__(self, batch: Batch, look: Look) -> None:
        self.batch, self.protocol, self.look = batch, look.protocol, look
        self.library, self.xp = batch.library, batch.library.xp
        self.unseen = self.library.unseen(batch.scores)
        self.full = not self.unseen and bool(self.xp.all(batch.there))
        order, self.retrieved = self._limited(self._sorted())
        self.order = head(order, None if look.reach is None else look.reach + 1)
        self.columns = self._columns(self.order)
        self.found = self.columns < self.retrieved[:, None]

    def at(self, array: Array) -> Array:
        """Return what an array says of the ranked documents."""
        return self.xp.take_along_axis(array, self.order, axis=1)

    def number(self, array: Array) -> Array:
        """Convert an array to float64."""
        return self.xp.astype(array, self.xp.float64)

    def _where_there(self, values: Array, otherwise: float) -> Array:
        """Replace what padding holds, if there is any."""
        return values if self.full else self.xp.where(self.batch.there, values, otherwise)

    @cached_property
    def keys(self) -> Array:
        """What each document is sorted by, -inf where there is none."""
        if self.protocol.order == "given":
            shape = self.batch.there.shape
            keys = self.library.constant(-np.arange(float(shape[1])), self.batch.there)[None, :]
            return self.xp.where(self.batch.there, keys, -math.inf)
        keys = self.batch.scores
        if self.protocol.precision == "float32" and "float64" in str(keys.dtype):
            with np.errstate(over="ignore"):  # what is too large is refused as infinite
                keys = self.xp.astype(keys, self.xp.float32)
        if self.protocol.nonfinite == "last":  # NaN ties with NaN, below all numbers
            keys = self.xp.where(self.xp.isnan(keys), -math.inf, keys)
        return self._where_there(keys, -math.inf)

    def _sorted(self) -> Array:
        """Sort the documents of each list; nothing else here sorts documents."""
        xp, keys, before = self.xp, self.keys, self._before()
        last = None
        if self.protocol.nonfinite == "last" and self.protocol.order == "score":
            last = self.batch.there & xp.isnan(self.batch.scores)
            keys = xp.where(last, math.inf, keys)  # kept in order, and moved to the end below
        if before is None:
            order = self.library.order(keys)
        else:
            order = self.library.order(xp.take_along_axis(keys, before, axis=1))
            order = xp.take_along_axis(before, order, axis=1)
        if last is None:
            return order
        return self._moved(order, self._where_there(self.number(~last), -math.inf))

    def _before(self) -> Array | None:
        """Return the order that ties are to keep, None for that of the columns."""
        ties, there = self.protocol.ties, self.batch.there
        if ties in ("best", "worst"):
            worth = self.grades if ties == "best" else -self.grades
            return self.library.order(self._where_there(worth, -math.inf))
        # what is averaged is summed in the order of `evaluate`, so that not even a bit differs
        if ties == "input-reversed" or (ties == "expected" and self.library.is_numpy):
            columns = self.library.constant(np.arange(there.shape[1])[::-1].copy(), there)
            return self.xp.broadcast_to(columns[None, :], there.shape)
        return None

    def _moved(self, order: Array, keys: Array) -> Array:
        """Sort ranked documents again by another key, highest first, in the same order if equal."""
        keys = self.xp.take_along_axis(keys, order, axis=1)
        return self.xp.take_along_axis(order, self.library.order(keys), axis=1)

    def _limited(self, order: Array) -> tuple[Array, Array]:
        """Leave out what the protocol ignores; return the order and the lengths of the lists."""
        xp, protocol = self.xp, self.protocol
        count = xp.count_nonzero(self.batch.there, axis=1)
        if isinstance(protocol.depth, int):
            order, count = head(order, protocol.depth), xp.minimum(count, protocol.depth)
        if protocol.negative == "drop":
            seen = self._columns(order) < count[:, None]
            kept = seen & (xp.take_along_axis(self.grades, order, axis=1) >= 0)
            keys = xp.where(kept, self.number(kept), -math.inf)
            order = xp.take_along_axis(order, self.library.order(keys), axis=1)
            count = xp.count_nonzero(kept, axis=1)
        return order, count

    def _columns(self, order: Array) -> Array:
        return self.library.constant(np.arange(order.shape[1]), order)[None, :]

    def _cast(self, grades: Array, there: Array) -> Array:
        """Read grades as float64 and as the protocol says, 0 where there is none."""
        grades = self.number(grades if there is None else self.xp.where(there, grades, 0))
        return grades if self.protocol.grades == "keep" else self.xp.trunc(grades)

    @cached_property
    def grades(self) -> Array:
        """The grade of each document of the batch, 0 where there is none."""
        return self._cast(self.batch.labels, None if self.full else self.batch.there)

    @cached_property
    def pool(self) -> tuple[Array, Array]:
        """The grades of all judged documents, and where there is one."""
        pool, judged = self.grades, self.batch.there
        if self.batch.others is not None:
            others, there = self.batch.others
            others = self._cast(others, there)
            pool = self.xp.concat([pool, others], axis=1)
            judged = self.xp.concat([judged, there], axis=1)
        return pool, judged & (pool >= 0) if self.protocol.negative == "drop" else judged

    def _raw(self) -> Array:
        """Return the grades of the pool, -inf where there is none, as they came where possible."""
        plain = self.protocol.grades == "keep" and self.protocol.negative != "drop"
        if plain and self.batch.others is None:
            labels = self.grades if self.full else self.library.floats(self.batch.labels)
            return self._where_there(labels, -math.inf)
        pool, judged = self.pool
        return self.xp.where(judged, pool, -math.inf)

    @cached_property
    def ties(self) -> tuple[Array, Array] | None:
        """The columns in which the tie of each document starts and ends, if there are ties."""
        xp, keys = self.xp, self.at(self.keys)
        equal = keys[:, 1:] == keys[:, :-1]
        if not self.unseen and not bool(xp.any(equal & self.found[:, 1:])):
            return None
        new = xp.concat([xp.ones_like(self.found[:, :1]), ~equal], axis=1)
        nth = xp.cumulative_sum(xp.astype(new, xp.int64), axis=1) - 1
        width = keys.shape[1]
        starts = xp.sort(xp.where(new, self.columns, width), axis=1)
        after = xp.concat([starts[:, 1:], xp.full_like(starts[:, :1], width)], axis=1)
        end = xp.take_along_axis(after, nth, axis=1) - 1
        end = xp.minimum(end, xp.broadcast_to(self.retrieved[:, None] - 1, end.shape))
        start = xp.take_along_axis(starts, nth, axis=1)
        return xp.where(self.found, start, 0), xp.where(self.found, end, 0)

    @cached_property
    def grade(self) -> Array:
        """The grade of each ranked document, 0 where there is none."""
        return self._cast(self.at(self.batch.labels), self.found)

    def undecided(self) -> Array:
        """Mark the lists in which equal scores leave open what is seen first."""
        keys, found = self.at(self.keys), self.found[:, 1:]
        differ = self.grade[:, 1:] != self.grade[:, :-1]
        if self.look.reach is not None and keys.shape[1] > self.look.reach:
            differ = differ | (self.columns[:, 1:] == self.look.reach)  # a tie that is cut
        return self.xp.any((keys[:, 1:] == keys[:, :-1]) & found & differ, axis=1)

    def lists(self, maximum: float) -> TensorLists:
        """Return what formulas look at; `maximum` is the highest grade there is."""
        pool, judged = self.pool
        rank = self.columns + 1
        ties = self.ties if self.look.ties else None
        start, end = ties or (None, None)
        return TensorLists(
            self.xp,
            found=self.found,
            rank=rank,
            first=rank if start is None else start + 1,
            last=rank if end is None else end + 1,
            grade=self.grade,
            place=rank,
            scores=self.number(self.at(self.batch.scores)) if self.look.scores else None,
            judgments=rank,
            pool=pool,
            judged=judged,
            retrieved=self.retrieved,
            maximum=maximum if self.protocol.grades == "keep" else np.trunc(maximum),
            depth=int(self.order.shape[1]),
            start=start,
            end=end,
            expected=self.protocol.ties == "expected",
            unseen=self.unseen,
            library=self.library,
            raw=self._raw(),
        )
