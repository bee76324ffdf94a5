"""Arrays as in learning-to-rank code: labels and scores, one or many lists."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from idealist.data import Qrels, Run
from idealist.errors import Faults
from idealist.formats import build
from idealist.formats.cells import Cells, checked
from idealist.formats.reading import Reading

_HINT = "give y_true and y_score in the same shape: one row per query, or one dimension"


def read_arrays(
    y_true: Any,
    y_score: Any,
    *,
    group: Any = None,
    qid: Any = None,
    mask: Any = None,
    name: str = "run",
) -> tuple[Qrels, Run]:
    """Read labels and scores of documents, as learning-to-rank libraries hold them.

    Two dimensions are queries x documents, and `mask` is true where there is a document; a row
    without any is padding, not a query. In one dimension, all lists follow each other: `group`
    holds the length of each (LightGBM), or `qid` the query of each document (XGBoost, CatBoost);
    with neither, there is one list. Queries without an id are numbered from 1, and so are the
    documents of each, in order, with leading zeros.

    >>> qrels, run = read_arrays([3, 0, 1], [0.2, 0.9, 0.4], group=[2, 1])
    >>> qrels.queries, run.rows().documents
    (('1', '2'), ['1', '2', '1'])

    Arrays of PyTorch, JAX and others work as well as NumPy's.
    """
    faults = Faults(name)
    if isinstance(y_true, np.ma.MaskedArray) and mask is None:
        mask = ~np.ma.getmaskarray(y_true)
    labels, scores = _array(y_true, "y_true", faults), _array(y_score, "y_score", faults)
    if labels.shape != scores.shape or labels.ndim not in (1, 2):
        message = f"y_true has the shape {labels.shape}, y_score has {scores.shape}"
        faults.fail("bad-shape", message, _HINT)
    if labels.ndim == 2:
        query, place, kept = _of_rows(labels.shape, mask, group, qid, faults)
        labels, scores = labels[kept], scores[kept]
    else:
        query, place = _of_groups(len(labels), group, qid, mask, faults)
    width = len(str(max(place, default=1)))
    ids = {"query": query, "document": [f"{number:0{width}d}" for number in place]}
    judged = Cells({**ids, "grade": labels.tolist()})
    found = Cells({**ids, "score": scores.tolist()})
    reading = Reading("grade", faults), Reading("score", faults)
    qrels = build.qrels(checked(judged, reading[0]), None, "y_true")
    return qrels, Run(build.rows(checked(found, reading[1]), name), name)


def _array(given: Any, name: str, faults: Faults) -> Any:
    """Convert a numeric array of any library, detached from its device and gradients."""
    if hasattr(given, "detach"):
        given = given.detach().cpu().double()
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "bifu":  # complex numbers would lose a part
            raise TypeError(array.dtype)
        return array.astype(np.float64)
    except (TypeError, ValueError):
        faults.fail("bad-shape", f"{name} is not an array of numbers", _HINT)


def _of_rows(
    shape: tuple[int, ...], mask: Any, group: Any, qid: Any, faults: Faults
) -> tuple[list[Any], list[int], Any]:
    if group is not None:
        hint = "leave it out, or give one dimension"
        faults.fail("bad-shape", "group does not apply to queries x documents", hint)
    try:
        kept = np.ones(shape, bool) if mask is None else np.asarray(mask)
    except ValueError:
        faults.fail("bad-shape", "mask is ragged", "give it the shape of the labels")
    if kept.shape != shape or kept.dtype != np.bool_:
        message = f"mask is {kept.dtype} of shape {kept.shape}, the labels have {shape}"
        faults.fail(
            "bad-shape", message, "give the shape of the labels, true where there is a document"
        )
    ids = _ids(qid, shape[0], "one id per row", faults)
    rows, columns = np.nonzero(kept)
    return [ids[row] for row in rows.tolist()], (columns + 1).tolist(), kept


def _of_groups(
    count: int, group: Any, qid: Any, mask: Any, faults: Faults
) -> tuple[list[Any], list[int]]:
    if mask is not None or (group is not None and qid is not None):
        hint = "give group or qid; a mask is for queries x documents"
        faults.fail("bad-shape", "one dimension is divided by either group or qid", hint)
    if qid is None:
        sizes = [count] if group is None else _sizes(group, count, faults)
        qid = [str(number) for number, size in enumerate(sizes, 1) for _ in range(size)]
    query = _ids(qid, count, "one id per document", faults)
    numbers: dict[Any, Iterator[int]] = defaultdict(lambda: itertools.count(1))
    return query, [next(numbers[one]) for one in query]


def _sizes(group: Any, count: int, faults: Faults) -> list[int]:
    """Check the lengths of the lists: whole numbers of at least 1 that add up to `count`."""
    try:
        sizes = np.asarray(group)
        if sizes.ndim != 1 or not np.array_equal(sizes, sizes.astype(np.int64)):
            raise TypeError(group)
    except (TypeError, ValueError):
        faults.fail("bad-shape", "group is not a list of lengths", "give whole numbers")
    lengths = [int(size) for size in sizes.tolist()]
    if min(lengths, default=1) < 1:
        faults.fail("bad-shape", f"group holds {min(lengths)}", "a length is at least 1")
    if sum(lengths) != count:
        message = f"the groups hold {sum(lengths)} documents, but there are {count}"
        faults.fail("bad-shape", message, "group is the length of each list")
    return lengths


def _ids(qid: Any, count: int, words: str, faults: Faults) -> list[Any]:
    if qid is None:
        return [str(number) for number in range(1, count + 1)]
    ids = qid.tolist() if hasattr(qid, "tolist") else list(qid) if isinstance(qid, Iterable) else []
    if len(ids) != count or any(isinstance(one, (list, tuple)) for one in ids):
        faults.fail("bad-shape", f"qid has {len(ids)} ids for {count}", f"give {words}")
    return list(ids)
