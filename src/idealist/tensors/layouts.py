"""Layouts: queries x documents with padding, lists behind each other, or a list of lists.

Whatever the layout, measuring sees rows of a few lists at a time, so that memory is bounded and a
long list pads few others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from idealist.data.columns import Ints, starts_of, to_id
from idealist.errors import Faults
from idealist.ranking.padded_lists import Array
from idealist.tensors.array_libraries import Library, library_of
from idealist.tensors.tensor_lists import Batch

#: What an array of labels or scores may look like.
SHAPES = (
    "give scores and labels in one shape: queries x documents, one dimension with group= or qid=, "
    "or a list of one-dimensional arrays"
)


def refuse(message: str, hint: str = SHAPES) -> NoReturn:
    """Refuse arrays that do not fit together."""
    Faults().fail("bad-shape", message, hint)


@dataclass(frozen=True, eq=False)
class Layout:
    """Scores and labels as they were given, and where there is a document.

    With `sizes` they have one dimension, in which the lists follow each other; otherwise they are
    queries x documents. `others` are judged documents outside the lists, queries x documents.
    `padded` says that somebody told where padding is, `queries` names the lists if they have names,
    and `by_document` says that an id was given for each document.
    """

    library: Library
    scores: Array
    labels: Array
    there: Array
    others: tuple[Array, Array] | None
    sizes: Ints | None
    padded: bool
    queries: tuple[str, ...] | None
    by_document: bool

    @property
    def count(self) -> int:
        """How many lists there are."""
        return int(self.scores.shape[0]) if self.sizes is None else len(self.sizes)

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

    def each(self, measure: Callable[[Batch], Array]) -> Array:
        """Measure all lists, a few at a time: numbers x lists, in the order they were given."""
        if self.sizes is None:
            parts = [measure(batch) for batch in self._rows()]
            return parts[0] if len(parts) == 1 else self.library.xp.concat(parts, axis=1)
        lists, parts = [], []
        for some, batch in self._groups(self.sizes):
            lists.append(some)
            parts.append(measure(batch))
        back = np.argsort(np.concatenate(lists), kind="stable")
        return self.library.xp.concat(parts, axis=1)[:, self.library.constant(back, self.scores)]

    def _rows(self) -> Iterator[Batch]:
        count, width = self.scores.shape
        step = max(self.library.cells(self.scores) // max(width, 1), 1)
        if count <= step:  # also where there is no list at all
            yield Batch(self.library, self.scores, self.labels, self.there, self.others)
            return
        for first in range(0, count, step):
            rows = slice(first, min(first + step, count))
            others = self.others and (self.others[0][rows, :], self.others[1][rows, :])
            arrays = (one[rows, :] for one in (self.scores, self.labels, self.there))
            yield Batch(self.library, *arrays, others)

    def _groups(self, sizes: Ints) -> Iterator[tuple[Ints, Batch]]:
        """Pad lists of similar lengths together."""
        starts, widths = starts_of(sizes)[:-1], np.maximum(sizes, 1)
        exponents = np.ceil(np.log2(widths)).astype(np.int64)
        for exponent in np.flatnonzero(np.bincount(exponents)):
            alike = np.flatnonzero(exponents == exponent)
            width = int(widths[alike].max())
            step = max(self.library.cells(self.scores) // width, 1)
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
        arrays = self.scores[place], self.labels[place], there & self.there[place]
        return Batch(library, *arrays, others)


def lay_out(
    scores: Any, labels: Any, mask: Any, group: Any, qid: Any, judged: Any, ignore: float | None
) -> Layout:
    """Check what was given, and find the lists and where in them documents are."""
    if isinstance(labels, np.ma.MaskedArray) and mask is None:
        mask = ~np.ma.getmaskarray(labels)
    ragged = _is_ragged(scores) or _is_ragged(labels)
    if ragged and group is not None:
        refuse("lists of lists have their lengths", "leave out group")
    if ragged:
        group = _lengths(scores, labels, mask)
        scores, labels, mask = _concat(scores), _concat(labels), mask and _concat(mask)
    library = library_of(scores, labels)
    like = labels if library_of(scores).is_numpy and not library.is_numpy else None
    scores = _numbers(library, scores, "scores", like)
    labels = _numbers(library, labels, "labels", scores)
    if tuple(labels.shape) != tuple(scores.shape) or len(scores.shape) not in (1, 2):
        refuse(f"scores have the shape {tuple(scores.shape)}, labels {tuple(labels.shape)}")
    there, padded = _there(library, scores, labels, mask, ignore)
    sizes = _sizes(scores, group)
    by_document = qid is not None and len(scores.shape) == 1 and group is None
    queries = None
    if qid is not None:
        queries, codes = _ids(
            qid, int(scores.shape[0]) if sizes is None or by_document else len(sizes)
        )
        if by_document:
            sizes = np.bincount(codes, minlength=len(queries))
            if np.any(np.diff(codes) < 0):  # documents of one query lie apart
                together = library.constant(np.argsort(codes, kind="stable"), scores)
                scores, labels, there = scores[together], labels[together], there[together]
        elif len(queries) < len(codes):
            refuse("two lists have the same id", "give each list once, or one id per document")
    if sizes is not None and len(sizes) and sizes[0] and (sizes == sizes[0]).all():
        shape = len(sizes), int(sizes[0])  # lists of one length need no padding
        scores, labels, there = (library.xp.reshape(a, shape) for a in (scores, labels, there))
        sizes = None
    count = int(scores.shape[0]) if sizes is None else len(sizes)
    others = None if judged is None else _others(library, judged, ignore, scores, count)
    scores = library.floats(scores)
    return Layout(library, scores, labels, there, others, sizes, padded, queries, by_document)


def _is_ragged(given: Any) -> bool:
    """Whether it is a list of one-dimensional arrays, or of lists of different lengths."""
    if not isinstance(given, (list, tuple)) or not given or not all(map(_has_length, given)):
        return False
    arrays = any(hasattr(one, "shape") for one in given)
    return arrays or len({len(one) for one in given}) > 1


def _has_length(one: Any) -> bool:
    """Whether it is a list of numbers or an array of one dimension."""
    return len(one.shape) == 1 if hasattr(one, "shape") else isinstance(one, (list, tuple))


def _lengths(*given: Any) -> Ints:
    """Check that lists of lists are alike, and return the lengths."""
    lists = [one for one in given if one is not None]
    if not all(map(_is_ragged, lists)):
        refuse("scores are a list of lists, and labels or mask are not, or the reverse")
    sizes = [[len(one) for one in some] for some in lists]
    if len({len(some) for some in sizes}) > 1:
        refuse(f"there are {' and '.join(str(len(some)) for some in sizes)} lists")
    for i, lengths in enumerate(zip(*sizes, strict=True)):
        if len(set(lengths)) > 1:
            refuse(f"in list {i}, arrays have {' and '.join(map(str, lengths))} documents")
    return np.array(sizes[0], np.int64)


def _concat(lists: Sequence[Any]) -> Array:
    library = library_of(*lists)
    like = next((one for one in lists if not library_of(one).is_numpy), None)
    arrays = [library.array(one, like) for one in lists if len(one)]
    return library.xp.concat(arrays) if arrays else library.array(np.zeros(0), like)


def _numbers(library: Library, given: Any, name: str, like: Array | None) -> Array:
    try:
        array = library.array(given, like)
    except (TypeError, ValueError, RuntimeError):
        refuse(f"{name} are not an array of numbers")
    if library.kind(array) not in ("bool", "int", "float"):
        refuse(f"{name} are {array.dtype}, not numbers")
    return array


def _sizes(scores: Array, group: Any) -> Ints | None:
    """Check the lengths of lists that follow each other."""
    if len(scores.shape) == 2:
        if group is not None:
            refuse("group is for one dimension", "leave it out: each row is a list")
        return None
    total = int(scores.shape[0])
    if group is None:
        return np.array([total], np.int64)
    try:
        given = np.asarray(_host(group))
        sizes = given.astype(np.int64)
        if given.ndim != 1 or not np.array_equal(given, sizes):
            raise TypeError(group)
    except (TypeError, ValueError):
        refuse("group is not a list of lengths", "give whole numbers")
    if len(sizes) and sizes.min() < 0:
        refuse(f"group holds {sizes.min()}", "a length is a whole number of at least 0")
    if sizes.sum() != total:
        hint = "group is the length of each list"
        refuse(f"the groups hold {sizes.sum()} documents, but there are {total}", hint)
    return sizes


def _ids(qid: Any, count: int) -> tuple[tuple[str, ...], Ints]:
    """Read ids of queries; return each once, in the order they come, and which one each is."""
    ids = _host(qid)
    ids = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    codes: dict[Any, int] = {}
    try:
        found = np.array([codes.setdefault(one, len(codes)) for one in ids], np.int64)
        names = tuple(map(to_id, codes))
    except (TypeError, ValueError):
        refuse("qid holds something that is not an id", "give text or whole numbers")
    if len(ids) != count:
        hint = "give one id per document, or one per row of queries x documents"
        refuse(f"qid has {len(ids)} ids for {count}", hint)
    return names, found


def _there(
    library: Library, scores: Array, labels: Array, mask: Any, ignore: float | None
) -> tuple[Array, bool]:
    """Mark the documents: not masked, not ignored, and with a score above -inf."""
    is_float = library.kind(scores) == "float"
    there = scores != -math.inf if is_float else library.xp.ones_like(scores, dtype=library.xp.bool)
    if ignore is not None:
        there = there & (labels != ignore)
    if mask is not None:
        mask = library.array(mask, scores)
        if tuple(mask.shape) != tuple(scores.shape) or library.kind(mask) not in ("bool", "int"):
            message = f"mask is {mask.dtype} of shape {tuple(mask.shape)}"
            hint = f"give the shape of the scores, {tuple(scores.shape)}, true for a document"
            refuse(message, hint)
        there = there & (mask if library.kind(mask) == "bool" else mask != 0)
    return there, mask is not None or ignore is not None


def _others(
    library: Library, judged: Any, ignore: float | None, like: Array, count: int
) -> tuple[Array, Array]:
    """Read the grades of judged documents that are not in the lists; NaN is padding."""
    if isinstance(judged, (list, tuple)):
        if not all(map(_has_length, judged)):
            refuse("judged is not a list of lists", "give the grades of each list, [] where none")
        width = max(map(len, judged), default=0)
        rows = [np.pad(np.asarray(_host(one), float), (0, width - len(one)), constant_values=np.nan)
                for one in judged]  # fmt: skip
        judged = np.array(rows).reshape(len(rows), width)
    others = library.floats(_numbers(library, judged, "judged", like))
    if len(others.shape) != 2 or others.shape[0] != count:
        hint = "give queries x documents, padded with NaN, or a list of lists"
        refuse(f"judged has the shape {tuple(others.shape)} for {count} lists", hint)
    there = ~library.xp.isnan(others)
    if ignore is not None:
        there = there & (others != ignore)
    return library.xp.where(there, others, 0.0), there


def _host(one: Any) -> Any:
    return library_of(one).to_numpy(one) if hasattr(one, "shape") else one
