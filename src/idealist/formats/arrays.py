"""Arrays as in learning-to-rank code: labels and scores, one or many lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from idealist.data import Qrels, Rows, Run
from idealist.data.columns import Bools, Floats, Ints, freeze, starts_of, to_id
from idealist.data.judgments import LARGEST
from idealist.data.remarks import Remark
from idealist.errors import Faults
from idealist.notation import many, tidy

_HINT = "give y_true and y_score in the same shape: one row per query, or one dimension"


def read_arrays(
    y_true: Any,
    y_score: Any,
    *,
    group: Any = None,
    qid: Any = None,
    mask: Any = None,
    ignore: float | None = None,
    name: str = "run",
) -> tuple[Qrels, Run]:
    """Read labels and scores of documents, as learning-to-rank libraries hold them.

    Two dimensions are queries x documents, and `mask` is true where there is a document; a row
    without any is padding, not a query. In one dimension, all lists follow each other: `group`
    holds the length of each (LightGBM), or `qid` the query of each document (XGBoost, CatBoost);
    with neither, there is one list. A document whose label is `ignore` is padding too. Queries
    without an id are numbered from 1, and so are the documents of each, in order, with leading
    zeros.

    >>> qrels, run = read_arrays([3, 0, 1], [0.2, 0.9, 0.4], group=[2, 1])
    >>> qrels.queries, run.rows().documents
    (('1', '2'), ['1', '2', '1'])

    Arrays of PyTorch, JAX and others work as well as NumPy's; `idealist.tensors.values` measures
    them where they are.
    """
    if mask is None and any(isinstance(one, np.ma.MaskedArray) for one in (y_true, y_score)):
        mask = ~(np.ma.getmaskarray(y_true) | np.ma.getmaskarray(y_score))
    labels, scores = _array(y_true, "y_true"), _array(y_score, "y_score")
    if labels.shape != scores.shape or labels.ndim not in (1, 2):
        refuse(f"y_true has the shape {labels.shape}, y_score has {scores.shape}", _HINT)
    place_all = _of_rows if labels.ndim == 2 else _of_groups
    queries, query, place, kept = place_all(labels.shape, group, qid, mask)
    if ignore is not None:
        kept = kept & (labels != ignore)
    together = np.argsort(query[kept], kind="stable")  # documents of one query may lie apart
    query, place = query[kept][together], place[kept][together]
    labels, scores = labels[kept][together], scores[kept][together]
    _check_grades(labels, queries, query, place)
    rows = _rows(queries, query, _numbered(place), scores, name)
    return _qrels(rows, labels, () if mask is not None else _remarks(labels)), Run(rows, name)


def refuse(message: str, hint: str) -> NoReturn:
    """Refuse arrays that do not fit together."""
    Faults("arrays").fail("bad-shape", message, hint)


def _array(given: Any, name: str) -> Any:
    """Convert a numeric array of any library, detached from its device and gradients."""
    if hasattr(given, "detach"):
        given = given.detach().cpu().double()
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "bifu":  # complex numbers would lose a part
            raise TypeError(array.dtype)
        return array.astype(np.float64)
    except (TypeError, ValueError):
        refuse(f"{name} is not an array of numbers", _HINT)


def _of_rows(
    shape: tuple[int, int], group: Any, qid: Any, mask: Any
) -> tuple[Sequence[str], Ints, Ints, Bools]:
    """Return the queries, and of each document its query, its place, and whether it is one."""
    if group is not None:
        refuse("group does not apply to queries x documents", "leave it out, or give one dimension")
    try:
        kept = np.ones(shape, bool) if mask is None else np.asarray(mask)
    except ValueError:
        refuse("mask is ragged", "give it the shape of the labels")
    if kept.shape != shape or kept.dtype != np.bool_:
        message = f"mask is {kept.dtype} of shape {kept.shape}, the labels have {shape}"
        refuse(message, "give the shape of the labels, true where there is a document")
    queries, codes = list_ids(qid, shape[0], "one id per row")
    if len(queries) < len(codes):
        refuse("two rows have the same id", "give each query one row, or one dimension with qid")
    row, column = np.indices(shape)
    return queries, row, column + 1, kept


def _of_groups(
    shape: tuple[int], group: Any, qid: Any, mask: Any
) -> tuple[Sequence[str], Ints, Ints, Bools]:
    """Do the same for lists that follow each other."""
    if mask is not None or (group is not None and qid is not None):
        hint = "give group or qid; a mask is for queries x documents"
        refuse("one dimension is divided by either group or qid", hint)
    (count,) = shape
    if qid is not None:
        queries, query = list_ids(qid, count, "one id per document")
    else:
        whole = [count] if count else []
        sizes = group_sizes(whole if group is None else group, count, least=1)
        queries, _ = list_ids(None, len(sizes), "")
        query = np.repeat(np.arange(len(sizes)), sizes)
    order = np.argsort(query, kind="stable")
    place = np.empty(count, np.int64)
    starts = starts_of(np.bincount(query, minlength=len(queries)))
    place[order] = np.arange(1, count + 1) - starts[query[order]]
    return queries, query, place, np.ones(count, bool)


def group_sizes(group: Any, count: int, least: int) -> Ints:
    """Check the lengths of lists: whole numbers of at least `least` that add up to `count`."""
    try:
        given = np.asarray(group)
        sizes = given.astype(np.int64)
        if given.ndim != 1 or not np.array_equal(given, sizes):
            raise TypeError(group)
    except (TypeError, ValueError):
        refuse("group is not a list of lengths", "give whole numbers")
    if len(sizes) and sizes.min() < least:
        refuse(f"group holds {sizes.min()}", f"a length is at least {least}")
    if sizes.max(initial=0) > count or sizes.sum() != count:
        message = f"the groups hold {sizes.sum()} documents, but there are {count}"
        refuse(message, "group is the length of each list")
    return sizes


def list_ids(qid: Any, count: int, words: str) -> tuple[Sequence[str], Ints]:
    """Return each id once, in the order they come, and of each of `count` things its number.

    Without ids, these are numbers from 1.
    """
    if qid is None:
        return [str(number) for number in range(1, count + 1)], np.arange(count)
    try:
        ids = qid.tolist() if hasattr(qid, "tolist") else list(qid)
    except TypeError:
        ids = []
    if any(isinstance(one, (list, tuple)) for one in ids):
        refuse("qid has more than one dimension", f"give {words}")
    if len(ids) != count:
        refuse(f"qid has {len(ids)} ids for {count}", f"give {words}")
    codes: dict[Any, int] = {}
    names: dict[str, int] = {}
    try:
        found = np.array([codes.setdefault(one, len(codes)) for one in ids], np.int64)
        own = [names.setdefault(to_id(one), len(names)) for one in codes]  # 1 is "1"
    except (TypeError, ValueError):
        hint = "give text or whole numbers"
        Faults("qid").fail("bad-id", "qid holds something that is no id", hint)
    return list(names), np.array(own, np.int64)[found] if own else found


def _numbered(place: Ints) -> list[str]:
    """Name documents by their places, with leading zeros."""
    most = int(place.max(initial=0))
    width = len(str(most))
    ids = [f"{number:0{width}d}" for number in range(most + 1)]
    return [ids[number] for number in place.tolist()]


def _check_grades(labels: Floats, queries: Sequence[str], query: Ints, place: Ints) -> None:
    """Note grades that are not finite, or too large to add up exactly."""
    faults = Faults("y_true")
    for i in np.flatnonzero(~(np.abs(labels) <= LARGEST)).tolist():
        pair, grade = f"query {queries[query[i]]!r}, document {str(place[i])!r}", labels[i]
        wrong = "is too large" if np.isfinite(grade) else "is not a finite number"
        hint = f"a grade is a number from -{LARGEST:g} to {LARGEST:g}"
        faults.add("bad-grade", f"{pair}: grade {tidy(float(grade)):g} {wrong}", hint)
    faults.check()


def _rows(
    queries: Sequence[str], query: Ints, documents: list[str], scores: Floats, name: str
) -> Rows:
    """Make the rows of a run; queries without documents are padding."""
    sizes = np.bincount(query, minlength=len(queries))
    if not len(query):
        Faults(name).fail("empty", "there are no documents", "give at least one")
    there = np.flatnonzero(sizes)
    names = tuple(queries[i] for i in there.tolist())
    return Rows(names, freeze(starts_of(sizes[there])), documents, freeze(scores), name=name)


def _qrels(rows: Rows, labels: Floats, remarks: Sequence[Remark]) -> Qrels:
    """Make judgments of the same documents, with queries sorted by id."""
    order = sorted(range(len(rows.queries)), key=rows.queries.__getitem__)
    sizes = np.diff(rows.starts)[order]
    place = np.arange(len(labels)) + np.repeat(rows.starts[order] - starts_of(sizes)[:-1], sizes)
    documents = tuple(map(rows.documents.__getitem__, place.tolist()))
    return Qrels(
        tuple(rows.queries[i] for i in order), freeze(starts_of(sizes)), documents,
        freeze(labels[place]), name="y_true", remarks=tuple(remarks),
    )  # fmt: skip


def _remarks(labels: Floats) -> list[Remark]:
    """Doubt negative labels where nobody said what padding is."""
    count = int(np.count_nonzero(labels < 0))
    said = negative_words(count, float(labels.min(initial=0.0)))
    return [Remark("negative-labels", said, count, "warning", len(labels))] if count else []


def negative_words(count: int, lowest: float) -> str:
    """Say that labels are negative, and what to do if they are padding."""
    some = many(count, "label is negative and counts", "labels are negative and count")
    if lowest != int(lowest):
        return f"{some} as documents; are scores and labels swapped?"
    return f"{some} as documents; if they are padding, say ignore={lowest:g} or give a mask"
