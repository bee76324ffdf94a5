"""From checked tables to `Qrels` and `Rows`, and from these to columns that can be written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from idealist.data import Qrels, Rows, Scale
from idealist.data.columns import is_number, to_float
from idealist.data.judgments import subtopics_in
from idealist.data.remarks import Remark
from idealist.errors import Faults
from idealist.formats.cells import Table, shown
from idealist.formats.column_names import ORDER_HINT
from idealist.formats.judges import merged
from idealist.formats.reading import POSITIVES_HINT

#: Columns of judgments that hold text; the others hold numbers, or text that is no number.
TEXT_COLUMNS = frozenset({"judge", "stratum", "group", "subtopic", "iteration"})
#: What a row of a run may hold besides document and score.
RUN_COLUMNS = ("rank", "tokens")


def qrels(
    table: Table, scale: Scale | None, name: str, remarks: Sequence[Remark] = (), merge: str = ""
) -> Qrels:
    """Make judgments; rows without a grade are counted, not kept, and judges are merged."""
    given = given_rows(table, scale, name, remarks)
    return merged(given, merge) if "judge" in given["columns"] else Qrels.build(**given)


def given_rows(
    table: Table, scale: Scale | None, name: str, remarks: Sequence[Remark] = ()
) -> dict[str, Any]:
    """Return the rows of judgments as `Qrels.build` takes them."""
    faults = Faults(name)
    if len(table.value) < len(table.query):
        hint = f"name the column grade, relevance, rel, label or score; {POSITIVES_HINT}"
        faults.fail("missing-column", "the judgments have no grades", hint)
    subtopic = _subtopic(table, faults)
    columns = {
        key: _column(key, cells, table, faults)
        for key, cells in table.columns.items()
        if key not in ("score", *RUN_COLUMNS) and not _is_opaque(cells)
    }
    known = {key: cells for key, cells in columns.items() if any(map(_is_known, cells))}
    return {
        "query": table.query, "document": table.document, "grade": table.value,
        "subtopic": subtopic, "columns": known, "scale": scale, "lines": table.lines,
        "empty": table.empty, "ungraded": table.without, "name": name,
        "ignored": [key for key in table.columns if key not in columns], "remarks": remarks,
    }  # fmt: skip


def rows(table: Table, name: str, remarks: Sequence[Remark] = ()) -> Rows:
    """Make a run's rows; columns that no ranking needs are named, not kept."""
    faults = Faults(name)
    if "grade" in table.columns and not table.value and "rank" not in table.columns:
        message = "these are judgments: there are grades, but neither scores nor ranks"
        faults.fail("bad-column", message, f"name the score column score; {ORDER_HINT}")
    numbers: dict[str, Any] = {
        key: _checked(_number, key, table.columns[key], table, faults)
        for key in RUN_COLUMNS
        if key in table.columns
    }
    faults.check()
    numbers = {key: cells for key, cells in numbers.items() if any(map(_is_known, cells))}
    return Rows.build(
        table.query, table.document, table.value or None,
        lines=table.lines, empty=table.empty, name=name, **numbers,
        unscored=table.without, ignored=[key for key in table.columns if key not in RUN_COLUMNS],
        remarks=remarks,
    )  # fmt: skip


def _is_known(cell: str | float) -> bool:
    return bool(cell) if isinstance(cell, str) else not math.isnan(cell)


def _subtopic(table: Table, faults: Faults) -> Sequence[str] | None:
    iteration, subtopic = (table.columns.pop(key, None) for key in ("iteration", "subtopic"))
    if subtopic is not None:
        return _column("subtopic", subtopic, table, faults)
    if iteration is None:
        return None
    texts = _column("iteration", iteration, table, faults)
    divided = subtopics_in(table.query, table.document, texts)
    if divided is None and not {"0", "Q0"} >= set(texts):
        table.columns["iteration"] = texts
    return divided


def _column(key: str, cells: list[Any], table: Table, faults: Faults) -> list[Any]:
    """Check a judgment column: numbers, NaN where unknown, or else text throughout."""
    is_text = key in TEXT_COLUMNS or _is_text(cells)
    checked = _checked(_text if is_text else _number, key, cells, table, faults)
    faults.check()
    return checked


def _is_opaque(cells: list[Any]) -> bool:
    """Whether a column holds neither text nor numbers but, say, dates; no measure can read it."""
    known = [cell for cell in cells if cell is not None]
    return bool(known) and not any(isinstance(cell, (str, Number)) for cell in known)


def _is_text(cells: list[Any]) -> bool:
    """Whether all cells are text or null, and at least one text is not a number."""
    if not all(cell is None or isinstance(cell, str) for cell in cells):
        return False
    return any(cell is not None and not is_number(cell) for cell in cells)


def _checked(
    read: Callable[[Any], Any], key: str, cells: list[Any], table: Table, faults: Faults
) -> list[Any]:
    checked = []
    for i, cell in enumerate(cells):
        try:
            checked.append(read(cell))
        except (TypeError, ValueError, OverflowError):
            kind = "a number" if read is _number else "text"
            message = f"column {key!r} holds {shown(cell)}"
            faults.add("bad-column", message, f"give {kind} or null in each row", table.line(i))
    return checked


def _number(cell: Any) -> float:
    return np.nan if cell is None else to_float(cell)


def _text(cell: Any) -> str:
    if isinstance(cell, (list, tuple, Mapping)):
        raise TypeError(cell)
    text = "" if cell is None else str(cell)
    text.encode()  # a lone surrogate cannot be
    return text


Flat = dict[str, list[Any]]


def of_qrels(qrels: Qrels, by_subtopic: bool = True) -> Flat:
    """Return judgments as columns; grade 0 without a document says that a query has no answer."""
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
    """Return a run's rows as columns; a row without a document says that nothing was found."""
    spans = rows.spans().items()
    query = [query for query, span in spans for _ in range(span.start, span.stop)]
    columns: Flat = {"query": query, "document": list(rows.documents)}
    for key, cells in (("score", rows.scores), ("rank", rows.ranks), ("tokens", rows.tokens)):
        if cells is not None:
            columns[key] = cells.tolist() if key == "score" else [_null(cell) for cell in cells]
    return _with_empty(columns, [query for query, span in spans if span.start == span.stop])


def _with_empty(columns: Flat, empty: list[str], **value: float) -> Flat:
    for query in empty:
        row = {"query": query, **value}
        for key, cells in columns.items():
            cells.append(row.get(key))
    return columns


def _null(cell: Any) -> Any:
    """Return a cell as a Python value, None if nothing is known."""
    if isinstance(cell, str):
        return cell or None
    return None if math.isnan(cell) else float(cell)
