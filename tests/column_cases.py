"""A small run in columns, and what the kernels make of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import idealist as il
from column_layouts import Cells
from idealist.formats import borrowed_run, python_data, read_qrels
from idealist.protocol import Protocol
from idealist.ranking.ranked import rank
from kernel_cases import columns_of

JUDGED = {
    "q1": {"d1": 2.0, "é3": 1.0, "a-longer-document": 1.0}, "q2": {"d1": 1.0}, "7": {"12": 1.0},
}  # fmt: skip
QRELS = read_qrels(JUDGED)
#: Rows of one query that lie apart, ids of every width of UTF-8, and a query without judgments.
CELLS: Cells = {
    "query": ["q1", "q1", "q2", "q1", "日本", "q1", "q2"],
    "document": ["d2", "a-longer-document", "d1", "é3", "d1", "😀", "another-document"],
    "score": [0.5, 0.25, 1.0, 0.125, 3.0, 2.0, 1.0],
    "rank": [4.0, 1.0, 2.0, 5.0, 1.0, 3.0, 1.0],
    "tokens": [2.0, 2.0, 1.0, 2.0, 1.0, 2.0, 3.0],
}
WHOLE: Cells = {
    "query": [7, 7, 8, 7], "document": [12, 5, 12, 127], "score": [1, 2, 3, 0],
    "rank": [1, 2, 1, 3], "tokens": [1, 1, 1, 9],
}  # fmt: skip
RULES = (
    Protocol(ties="input"), Protocol(order="rank"), Protocol(depth="tokens(5)", ties="docid-asc"),
    Protocol(order="given", precision="float32"),
)  # fmt: skip

Outcome = list[dict[str, Any]]


class DeclinedError(Exception):
    """The kernel declined: Python's reader was asked."""


@contextmanager
def kernel_alone() -> Iterator[None]:
    """Leave the kernel alone with the columns."""

    def decline(*_: Any, **__: Any) -> None:
        raise DeclinedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IDEALIST_KERNEL", "native")
        patch.setattr(python_data, "cells_of", decline)
        yield


def placed(data: Any) -> Outcome:
    """Rank a run where it lies."""
    found = rank(QRELS, borrowed_run(data), RULES)
    return [dict(columns_of(placements)) for placements in found.values()]


def by_definition(cells: Cells) -> Outcome:
    """Give what the definition makes of the same rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IDEALIST_KERNEL", "python")
        return placed(il.read_run(cells))
