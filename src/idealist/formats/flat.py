"""Tables as columns again: the reverse of `build`, for writing."""

from __future__ import annotations

import math
from typing import Any

from idealist.tables import Qrels, Rows

Flat = dict[str, list[Any]]


def of_qrels(qrels: Qrels, by_subtopic: bool = True) -> Flat:
    """Give judgments as columns; grade 0 for no document says that the query has no answer."""
    rows = qrels.subtopics if by_subtopic else None
    pairs = list(range(len(qrels))) if rows is None else rows.pair.tolist()
    query = [query for query, start, end in qrels.spans() for _ in range(start, end)]
    columns: Flat = {
        "query": [query[i] for i in pairs],
        "document": [qrels.documents[i] for i in pairs],
        "grade": (qrels.grades if rows is None else rows.grade).tolist(),
    }
    if rows is not None:
        columns["subtopic"] = list(rows.subtopic)
    for key, column in qrels.columns.items():
        columns[key] = [_null(column[i]) for i in pairs]
    return _with_empty(columns, [q for q, start, end in qrels.spans() if start == end], grade=0.0)


def of_rows(rows: Rows) -> Flat:
    """Give a run's rows as columns; no document says that nothing was found."""
    columns: Flat = {
        "query": [
            query for query, span in rows.spans().items() for _ in range(span.start, span.stop)
        ],
        "document": list(rows.documents),
    }
    for key, cells in (("score", rows.scores), ("rank", rows.ranks), ("tokens", rows.tokens)):
        if cells is not None:
            columns[key] = cells.tolist() if key == "score" else [_null(cell) for cell in cells]
    empty = [query for query, span in rows.spans().items() if span.start == span.stop]
    return _with_empty(columns, empty)


def _with_empty(columns: Flat, empty: list[str], **value: float) -> Flat:
    for query in empty:
        row = {"query": query, **value}
        for key, cells in columns.items():
            cells.append(row.get(key))
    return columns


def _null(cell: Any) -> Any:
    """Give a cell as Python has it, None where nothing is known."""
    if isinstance(cell, str):
        return cell or None
    return None if math.isnan(cell) else float(cell)
