"""From raw cells to a checked table: ids as text, values as numbers, faults named by row.

Every reader ends here: it hands over `Cells`, columns of whatever it found, under our names.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from idealist.data.columns import to_float, to_id
from idealist.errors import Faults
from idealist.formats.list_orders import remark_order
from idealist.formats.reading import Reading
from idealist.formats.system_columns import refuse_several
from idealist.formats.trec import LONGEST_LINE

Line = Callable[[int], int | None]

ID_RULE = "an id must be text that is not empty, or a whole number"


@dataclass
class Cells:
    """Columns as they were found, under our names; a missing cell is None.

    `lines` holds the line of each row, or `line` finds it. `empty` names queries without any
    document. With `nulls`, a value of None means that none was given, which is no fault.
    """

    columns: dict[str, list[Any]]
    lines: list[int] | None = None
    line: Line | None = None
    empty: list[str] = field(default_factory=list)
    nulls: bool = False

    def __len__(self) -> int:
        return len(self.columns["query"])

    def at(self, row: int) -> int | None:
        """Return the line of a row, if it has one."""
        if self.lines is not None:
            return self.lines[row]
        return self.line(row) if self.line else None

    def only(self, rows: list[int]) -> Cells:
        """Keep some rows, with their lines."""
        columns = {key: [column[i] for i in rows] for key, column in self.columns.items()}
        lines = None if self.lines is None else [self.lines[i] for i in rows]
        line = self.line
        at = None if line is None else lambda row: line(rows[row])
        return Cells(columns, lines, at, self.empty, self.nulls)


@dataclass
class Table:
    """Rows as columns of checked values.

    `value` is empty if there is no such column, `columns` holds what is neither id nor value,
    `empty` names queries without any document, and `without` counts rows without a value.
    """

    query: list[str] = field(default_factory=list)
    document: list[str] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    lines: list[int] | None = None
    without: int = 0

    def line(self, row: int) -> int | None:
        """Return the line of a row, if it has one."""
        return self.lines[row] if self.lines is not None else None


def checked(cells: Cells, reading: Reading) -> Table:
    """Check ids and values. Report all faults together."""
    value, faults = reading.value, reading.faults
    if value not in cells.columns and reading.all_relevant:
        cells = replace(cells, columns={**cells.columns, value: [1] * len(cells)})
    cells, empty, without = _without_nulls(cells, value, faults)
    query, document = _ids(cells.columns["query"]), _ids(cells.columns["document"])
    if query is None or document is None:
        query, document = _ids_one_by_one(cells, faults)
    faults.check()
    if value in cells.columns and len(cells):
        first = cells.at(0)
        cells = replace(
            cells,
            columns=cells.columns | {value: reading.values(cells.columns[value], first)},
        )
    values = []
    if ... in cells.columns.get(value, ()):
        message = f"some rows have a {value}, others have none"
        faults.fail("bad-shape", message, f"give each document a {value}, or none of them")
    if value in cells.columns:
        values = _numbers(cells.columns[value], value) or (
            _numbers_one_by_one(cells, query, document, value, faults)
        )
    faults.check()
    others = {k: c for k, c in cells.columns.items() if k not in ("query", "document", value)}
    if value == "score":
        refuse_several(cells.columns, faults)
    if value == "score" and values:
        remark_order(query, values, others.get("rank", ()), reading)
    return Table(query, document, values, others, empty, cells.lines, without)


def shown(value: Any) -> str:
    """Write a value as errors show it: short, however large or deep it is."""
    return _SHORT.repr(value)


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


def checked_id(query: Any, faults: Faults, line: int | None = None) -> str | None:
    """Return a query's id as text, or note that it is no id."""
    try:
        return to_id(query)
    except (TypeError, ValueError):
        faults.add("bad-id", f"query {shown(query)}: {ID_RULE}", "write ids as text", line)
        return None


def add_query(
    found: dict[Any, Any], query: Any, entry: Any, faults: Faults, line: int | None = None,
    place: str = "",
) -> None:  # fmt: skip
    """Add an entry by its query's id; note what is no id, and an id that repeats."""
    if (key := checked_id(query, faults, line)) in found:
        message = f"{place}query {key!r} appears twice"
        faults.add("duplicate-key", message, "keep one of them", line)
    elif key is not None:
        found[key] = entry


def _without_nulls(cells: Cells, value: str, faults: Faults) -> tuple[Cells, list[str], int]:
    """Take out rows without a document or a value, which outer joins and Quepid write.

    In a run, a row without document and score says that nothing was found for the query. A document
    without a value was not retrieved, or not judged; such rows are counted. Grade 0 without a
    document says that the query has no answer.
    """
    cells = _without_scores(cells) if value == "score" else cells
    documents, given = cells.columns["document"], value in cells.columns
    values = cells.columns.get(value, [None] * len(documents))
    complete = None not in documents and None not in values
    if not cells.nulls or complete or (value == "grade" and not given):
        return cells, cells.empty, 0
    kept, nowhere, without = [], [], 0
    for i, (document, number) in enumerate(zip(documents, values, strict=True)):
        if document is None and (_is_zero(number) if value == "grade" else number is None):
            nowhere.append(i)
        elif given and number is None:
            without += document is not None
            nowhere += [i] if value == "score" else []  # the query may have no other row
        else:
            kept.append(i)
    ids = (checked_id(cells.columns["query"][i], faults, cells.at(i)) for i in nowhere)
    empty = list(dict.fromkeys(q for q in ids if q is not None))
    return cells.only(kept), [*cells.empty, *empty], without


def _without_scores(cells: Cells) -> Cells:
    """Leave out a score column without any score, if there are ranks."""
    scores, ranks = (cells.columns.get(key, []) for key in ("score", "rank"))
    if not any(score is not None for score in scores) and any(rank is not None for rank in ranks):
        columns = {key: column for key, column in cells.columns.items() if key != "score"}
        return replace(cells, columns=columns)
    return cells


def _is_zero(number: Any) -> bool:
    try:
        return to_float(number) == 0
    except (TypeError, ValueError):
        return False


def _ids(cells: list[Any]) -> list[str] | None:
    """Take a column of ids at once; None if one needs a closer look."""
    if not {str} >= set(map(type, cells)) or "" in set(cells):
        return None
    if max(map(len, cells), default=0) > LONGEST_LINE // 4:  # a sign has four bytes at most
        return None
    return cells if "".join(cells).isascii() else None


def _ids_one_by_one(cells: Cells, faults: Faults) -> tuple[list[str], list[str]]:
    queries, documents = [], []
    pairs = zip(cells.columns["query"], cells.columns["document"], strict=True)
    for i, (query, document) in enumerate(pairs):
        try:
            ids = to_id(query), to_id(document)
            if max(map(len, ids)) > LONGEST_LINE // 4:
                _check_length(ids, cells.at(i), faults)
        except (TypeError, ValueError):
            message = f"query {shown(query)}, document {shown(document)}: {ID_RULE}"
            faults.add("bad-id", message, "write ids as text", cells.at(i))
            ids = str(query), str(document)
        queries.append(ids[0])
        documents.append(ids[1])
    return queries, documents


def _check_length(ids: tuple[str, str], line: int | None, faults: Faults) -> None:
    for one in ids:
        if (size := len(one.encode(errors="replace"))) > LONGEST_LINE:
            message = f"the id {shown(one)} has {size:,} bytes, more than the 1 MiB allowed"
            faults.add("overlong", message, "is a text in the place of an id?", line)


def _numbers(cells: list[Any], value: str) -> list[float] | None:
    """Take a column of numbers at once; None if one needs a closer look."""
    if not {int, float} >= set(map(type, cells)):
        return None
    try:
        numbers = list(map(float, cells))
    except OverflowError:
        return None
    return numbers if value == "score" or all(map(math.isfinite, numbers)) else None


def _numbers_one_by_one(
    cells: Cells, query: list[str], document: list[str], value: str, faults: Faults
) -> list[float]:
    numbers = []
    for i, cell in enumerate(cells.columns[value]):
        try:
            number = to_float(cell)
            if value != "score" and not math.isfinite(number):
                raise ValueError(number)
            numbers.append(number)
        except (TypeError, ValueError, OverflowError):
            kind = "a number" if value == "score" else "a finite number"
            message = f"query {query[i]!r}, document {document[i]!r}: {value} {shown(cell)} is not"
            hint = f"give each document a numeric {value}"
            faults.add(f"bad-{value}", f"{message} {kind}", hint, cells.at(i))
    return numbers


def pivot(rows: Iterable[tuple[Any, Any, dict[str, Any]]], value: str = "") -> dict[str, list[Any]]:
    """Turn rows of query, document and other cells into columns; a missing cell is None.

    If only some rows have the `value`, the others get an ellipsis, which is not the same as a null.

    >>> pivot([("q1", "d1", {"score": 2}), ("q1", "d2", {"score": 1, "tokens": 9})])["tokens"]
    [None, 9]
    """
    columns: dict[str, list[Any]] = {"query": [], "document": []}
    for count, (query, document, cells) in enumerate(rows):
        columns["query"].append(query)
        columns["document"].append(document)
        for key in [key for key in cells if key not in columns]:
            columns[key] = [... if key == value else None] * count
        for key, cell in cells.items():
            columns[key].append(cell)
        if len(cells) + 2 < len(columns):
            for key, column in columns.items():
                column.extend([... if key == value else None] * (count + 1 - len(column)))
    return columns


def plain(data: Any) -> Table | None:
    """Read a dict of dicts of text and finite numbers; None if anything needs a closer look.

    >>> plain({"q1": {"d1": 2}})
    Table(query=['q1'], document=['d1'], value=[2.0], columns={}, empty=[], lines=None, without=0)
    >>> plain({"q1": ["d1"]})
    """
    if type(data) is not dict or not {str} >= set(map(type, data)) or "" in data:
        return None
    result = Table()
    for query, entries in data.items():
        if type(entries) is not dict or not entries or "" in entries:
            return None
        if {str} != set(map(type, entries)) or not {int, float} >= set(map(type, entries.values())):
            return None
        result.query.extend([query] * len(entries))
        result.document.extend(entries)
        result.value.extend(entries.values())
    ids = "".join(data) + "".join(result.document)
    try:
        result.value = list(map(float, result.value))
    except OverflowError:
        return None
    return result if ids.isascii() and all(map(math.isfinite, result.value)) else None
