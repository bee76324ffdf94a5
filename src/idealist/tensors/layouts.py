"""Layouts: queries x documents with padding, lists behind each other, or a list of lists.

Whatever the layout, measuring sees rows of a few lists at a time, so that memory is bounded and a
long list pads few others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np

from idealist.data.columns import Ints, starts_of
from idealist.errors import UsageError
from idealist.formats.arrays import group_sizes, list_ids, refuse
from idealist.ranking.padded_lists import Array
from idealist.tensors.array_libraries import Library, library_of
from idealist.tensors.tensor_lists import Batch

_NUMPY = library_of()

#: What lists of judged documents may grow to when they are padded.
MOST_CELLS = 1 << 28
#: What an array of labels or scores may look like.
SHAPES = (
    "give scores and labels in one shape: queries x documents, one dimension with group= or qid=, "
    "or a list of one-dimensional arrays"
)


@dataclass(frozen=True, eq=False)
class Layout:
    """Scores and labels as they were given, and where there is a document.

    With `sizes` they have one dimension, in which the lists follow each other; otherwise they are
    queries x documents. `others` are judged documents outside the lists, queries x documents.
    `told` says that a mask says where padding is, `queries` names the lists if they have names,
    and `by_document` says that an id was given for each document.
    """

    library: Library
    scores: Array
    labels: Array
    there: Array
    others: tuple[Array, Array] | None
    sizes: Ints | None
    told: bool
    queries: tuple[str, ...] | None
    by_document: bool

    @property
    def unseen(self) -> bool:
        """Whether looking at the arrays would wait for a device, or is not possible."""
        return self.library.unseen(self.scores)

    def name(self, i: int) -> str:
        """Say which list it is."""
        return f"row {i}" if self.queries is None else f"query {self.queries[i]}"

    def one(self, i: int) -> tuple[Any, Any, Any]:
        """Return the scores and labels of one list, and where there is a document, for people."""
        where = i if self.sizes is None else slice(*starts_of(self.sizes)[i : i + 2].tolist())
        arrays = (self.scores, self.labels, self.there)
        scores, labels, there = (self.library.to_numpy(array[where]) for array in arrays)
        return scores, labels, there

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """The lowest and the highest grade, 0 if there is none; this looks at the arrays."""
        pairs = [(self.labels, self.there), *([self.others] if self.others else [])]
        lowest, highest = [], []
        for pair in pairs:
            grades, there = map(self.library.to_numpy, pair)
            grades = grades if there.all() else grades[there]
            if grades.size:
                lowest.append(float(grades.min()))
                highest.append(float(grades.max()))
        return min(lowest, default=0.0), max(highest, default=0.0)

    def each(self, measure: Callable[[Batch], Array], share: float = 1.0) -> Array:
        """Measure all lists, a few at a time: numbers x lists, in the order they were given.

        `share` is how many of the usual cells are measured together.
        """
        cells = int(self.library.cells(self.scores) * share)
        if self.others is not None and self.sizes is None:
            own, others = int(self.scores.shape[1]), int(self.others[0].shape[1])
            cells = cells * own // (own + others)
        if self.sizes is None:
            parts = [measure(batch) for batch in self._rows(cells)]
            return parts[0] if len(parts) == 1 else self.library.xp.concat(parts, axis=1)
        lists, parts = [], []
        for some, batch in self._groups(self.sizes, cells):
            lists.append(some)
            parts.append(measure(batch))
        back = np.argsort(np.concatenate(lists), kind="stable")
        return self.library.xp.concat(parts, axis=1)[:, self.library.constant(back, self.scores)]

    def _rows(self, cells: int) -> Iterator[Batch]:
        count, width = self.scores.shape
        step = max(cells // max(width, 1), 1)
        if count <= step:  # also where there is no list at all
            yield Batch(self.library, self.scores, self.labels, self.there, self.told, self.others)
            return
        for first in range(0, count, step):
            rows = slice(first, min(first + step, count))
            others = self.others and (self.others[0][rows, :], self.others[1][rows, :])
            scores, labels, there = self.scores[rows, :], self.labels[rows, :], self.there[rows, :]
            yield Batch(self.library, scores, labels, there, self.told, others)

    def _groups(self, sizes: Ints, cells: int) -> Iterator[tuple[Ints, Batch]]:
        """Pad lists of similar lengths together."""
        starts, widths = starts_of(sizes)[:-1], np.maximum(sizes, 1)
        exponents = np.ceil(np.log2(widths)).astype(np.int64)
        for exponent in np.flatnonzero(np.bincount(exponents)):
            alike = np.flatnonzero(exponents == exponent)
            width = int(widths[alike].max())
            step = max(cells // width, 1)
            for first in range(0, len(alike), step):
                some = alike[first : first + step]
                yield some, self._padded(some, starts[some], sizes[some], width)

    def _padded(self, some: Ints, starts: Ints, sizes: Ints, width: int) -> Batch:
        library, xp = self.library, self.library.xp
        column = library.constant(np.arange(width), self.scores)[None, :]
        there = column < library.constant(sizes, self.scores)[:, None]
        place = xp.where(there, library.constant(starts, self.scores)[:, None] + column, 0)
        others = None
        if self.others is not None:
            rows = library.constant(some, self.scores)
            others = self.others[0][rows], self.others[1][rows]
        labels = xp.where(there, self.labels[place], 0)
        there = there & self.there[place]
        return Batch(library, self.scores[place], labels, there, self.told, others)


def lay_out(
    scores: Any, labels: Any, mask: Any, group: Any, qid: Any, judged: Any, ignore: float | None
) -> Layout:
    """Check what was given, and find the lists and where in them documents are."""
    ignore = _ignored(ignore)
    if mask is None and any(isinstance(one, np.ma.MaskedArray) for one in (scores, labels)):
        mask = ~(np.ma.getmaskarray(scores) | np.ma.getmaskarray(labels))
    if _is_ragged(scores) or _is_ragged(labels):
        if group is not None:
            refuse("lists of lists need no group", "leave it out: each list has its length")
        group = _lengths(scores, labels, mask)
        scores, labels, mask = _concat(scores), _concat(labels), mask and _concat(mask)
    library = library_of(scores, labels)
    with library.exact():
        return _laid_out(library, scores, labels, mask, group, qid, judged, ignore)


def _laid_out(
    library: Library, scores: Any, labels: Any, mask: Any, group: Any, qid: Any, judged: Any,
    ignore: float | None,
) -> Layout:  # fmt: skip
    """Make arrays of one library of all that was given, and divide them into lists."""
    scores, labels = _both(library, scores, labels)
    if 0 in tuple(scores.shape):  # lists of nothing are lists of padding
        count = _lists_of_nothing(scores, group, qid)
        scores = library.constant(np.full((count, 1), -math.inf), scores)
        labels, mask, group = library.xp.zeros_like(scores), None, None
    there, told = _there(library, scores, labels, mask, ignore)
    arrays, sizes = (library.floats(scores), labels, there), _sizes(scores, group)
    by_document = qid is not None and sizes is not None and group is None
    queries, codes = _names(qid, sizes, int(scores.shape[0]), by_document)
    if by_document:
        sizes = np.bincount(codes, minlength=len(queries or ()))
        arrays = _together(library, arrays, codes)
    lengths = [0] if sizes is None else np.unique(sizes).tolist()
    if sizes is not None and len(lengths) == 1 and lengths[0]:  # these need no padding
        shape = len(sizes), lengths[0]
        arrays, sizes = tuple(library.xp.reshape(one, shape) for one in arrays), None
    count = int(arrays[0].shape[0]) if sizes is None else len(sizes)
    others = None if judged is None else _others(library, judged, ignore, scores, count)
    return Layout(library, *arrays, others, sizes, told, queries, by_document)


def _both(library: Library, scores: Any, labels: Any) -> tuple[Array, Array]:
    """Make arrays of scores and labels, which must have the same shape."""
    like = labels if library_of(scores).is_numpy and not library.is_numpy else None
    scores = _numbers(library, scores, "scores", like)
    labels = _numbers(library, labels, "labels", scores)
    if tuple(labels.shape) != tuple(scores.shape) or len(scores.shape) not in (1, 2):
        shapes = f"scores have the shape {tuple(scores.shape)}, labels {tuple(labels.shape)}"
        one = len(scores.shape) == len(labels.shape) + 1 or len(scores.shape) == 3
        last = one and scores.shape[-1] == 1
        refuse(shapes, "drop the last dimension: scores[..., 0]" if last else SHAPES)
    return scores, labels


def _lists_of_nothing(scores: Array, group: Any, qid: Any) -> int:
    """Count the lists where there are no documents."""
    if len(scores.shape) == 2:
        return int(scores.shape[0])
    sizes = _sizes(scores, group)
    return 0 if sizes is None or (qid is not None and group is None) else len(sizes)


def _names(
    qid: Any, sizes: Ints | None, length: int, by_document: bool
) -> tuple[tuple[str, ...] | None, Ints]:
    """Return the names of lists, if they have any, and of each document or list the number."""
    if qid is None:
        return None, np.zeros(0, np.int64)
    count = length if by_document or sizes is None else len(sizes)
    words = "one id per document, or one per row of queries x documents"
    queries, codes = list_ids(on_host(qid), count, words)
    if not by_document:  # a list may come twice
        return tuple(queries[code] for code in codes.tolist()), codes
    return tuple(queries), codes


def _together(library: Library, flat: tuple[Array, ...], codes: Ints) -> tuple[Array, ...]:
    """Put the documents of each query behind each other, in the order they came."""
    if not np.any(np.diff(codes) < 0):
        return flat
    order = library.constant(np.argsort(codes, kind="stable"), flat[0])
    return tuple(one[order] for one in flat)


def _is_ragged(given: Any) -> bool:
    """Whether it is a list of one-dimensional arrays, or of lists of different lengths."""
    if not _is_nested(given):
        return False
    arrays = any(hasattr(one, "shape") for one in given)
    return arrays or len({len(one) for one in given}) > 1


def _is_nested(given: Any) -> bool:
    """Whether it is a list of lists."""
    return isinstance(given, (list, tuple)) and bool(given) and all(map(_has_length, given))


def _has_length(one: Any) -> bool:
    """Whether it is a list of numbers or an array of one dimension."""
    return len(one.shape) == 1 if hasattr(one, "shape") else isinstance(one, (list, tuple))


def _lengths(*given: Any) -> Ints:
    """Check that lists of lists are alike, and return the lengths."""
    lists = [one for one in given if one is not None]
    if not all(map(_is_nested, lists)):
        refuse("some of scores, labels and mask are lists of lists, and others are not", SHAPES)
    sizes = [[len(one) for one in some] for some in lists]
    if len({len(some) for some in sizes}) > 1:
        refuse(f"there are {' and '.join(str(len(some)) for some in sizes)} lists", SHAPES)
    for i, lengths in enumerate(zip(*sizes, strict=True)):
        if len(set(lengths)) > 1:
            refuse(f"in list {i}, arrays have {' and '.join(map(str, lengths))} documents", SHAPES)
    return np.array(sizes[0], np.int64)


def _concat(lists: Sequence[Any]) -> Array:
    library = library_of(*lists)
    like = next((one for one in lists if not library_of(one).is_numpy), None)
    arrays = [library.array(one, like) for one in lists if len(one)]
    return library.xp.concat(arrays) if arrays else library.array(np.zeros(0), like)


def _numbers(library: Library, given: Any, name: str, like: Array | None) -> Array:
    own = library_of(given)
    try:
        array = library.array(given if own in (library, _NUMPY) else own.to_numpy(given), like)
    except (TypeError, ValueError, RuntimeError):
        refuse(f"{name} are not an array of numbers", SHAPES)
    if library.kind(array) not in ("bool", "int", "float"):
        refuse(f"{name} are {array.dtype}, not numbers", SHAPES)
    return array


def _sizes(scores: Array, group: Any) -> Ints | None:
    """Return the lengths of lists that follow each other."""
    if len(scores.shape) == 2:
        if group is not None:
            refuse("group is for one dimension", "leave it out: each row is a list")
        return None
    total = int(scores.shape[0])
    return group_sizes([total] if group is None else on_host(group), total, least=0)


def _there(
    library: Library, scores: Array, labels: Array, mask: Any, ignore: float | None
) -> tuple[Array, bool]:
    """Mark the documents: as the mask says, or with a score above -inf; and not ignored."""
    if mask is not None:
        there = _numbers(library, mask, "mask", scores)
        if tuple(there.shape) != tuple(scores.shape) or library.kind(there) == "float":
            message = f"mask is {there.dtype} of shape {tuple(there.shape)}"
            hint = f"give bool or 0 and 1 in the shape of the scores, {tuple(scores.shape)}"
            refuse(message, hint)
        there = there if library.kind(there) == "bool" else there != 0
    elif library.kind(scores) == "float":
        there = scores != -math.inf
    else:
        there = library.xp.ones_like(scores, dtype=library.xp.bool)
    if ignore is not None:
        there = there & (labels != ignore)
    return there, mask is not None


def _ignored(ignore: Any) -> float | None:
    """Check the label of padding."""
    if ignore is None or (isinstance(ignore, Number) and ignore == ignore):  # noqa: PLR0124  # NaN
        return ignore  # type: ignore[return-value]
    raise UsageError(f"ignore cannot be {ignore!r:.60}", "give the label of padding, such as -100")


def _others(
    library: Library, judged: Any, ignore: float | None, like: Array, count: int
) -> tuple[Array, Array]:
    """Read the grades of judged documents that are not in the lists; NaN is padding."""
    if isinstance(judged, (list, tuple)):
        if judged and not _is_nested(judged):
            refuse("judged is not a list of lists", "give the grades of each list, [] where none")
        width = max(map(len, judged), default=0)
        if len(judged) * width > MOST_CELLS:
            message = f"judged has {len(judged):,} lists, padded to {width:,} grades each"
            refuse(f"{message}: that is too large", "measure queries with many grades apart")
        rows = np.full((len(judged), width), math.nan)
        try:
            for row, grades in zip(rows, judged, strict=True):
                row[: len(grades)] = on_host(grades)
        except (TypeError, ValueError):
            refuse("judged holds something that is not a number", "give the grades of each list")
        judged = rows
    others = library.floats(_numbers(library, judged, "judged", like))
    if len(others.shape) != 2 or others.shape[0] != count:
        hint = "give queries x documents, padded with NaN, or a list of lists"
        refuse(f"judged has the shape {tuple(others.shape)} for {count} lists", hint)
    there = ~library.xp.isnan(others)
    if ignore is not None:
        there = there & (others != ignore)
    return library.xp.where(there, others, 0.0), there


def on_host(given: Any) -> Any:
    """Copy an array to the processor's memory; leave other objects as they are."""
    return library_of(given).to_numpy(given) if hasattr(given, "shape") else given
