"""Tables in Python: dicts, lists, tuples, records and columns become rows of plain values.

{query: {document: value}}           value a number, or {"grade": 2, "abstain": 0.1}
{query: [document, …]}               a ranking, best first; for judgments: the relevant ones
{query: [(document, value), …]}
[(query, document, value), …]        also named tuples and records (dicts)
{"query": […], "document": […], …}   columns
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from idealist.errors import Faults
from idealist.formats.names import ours
from idealist.tables.columns import to_float, to_id

Locate = Callable[[str, str | None], int | None]
Row = tuple[Any, Any, Mapping[str, Any]]

SHAPES_HINT = (
    "give {query: {document: value}}, {query: [document, …]}, {query: [(document, value), …]}, "
    "[(query, document, value), …] or {'query': […], 'document': […], …}"
)


ID_RULE = "an id must be text that is not empty, or a whole number"


@dataclass
class Table:
    """Rows as columns of checked values.

    `columns` holds what is neither id nor value, `empty` the queries named without any document.
    """

    query: list[str] = field(default_factory=list)
    document: list[str] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)


def table(data: Any, value: str, faults: Faults, locate: Locate | None = None) -> Table:
    """Read any of the shapes; `value` is "grade" or "score". All faults are reported together."""
    result = Table(empty=_empty(data, faults))
    for query, document, cells in _rows(data, value, faults, locate):
        checked = _checked(query, document, cells, value, faults, locate)
        if checked is not None:
            _append(result, *checked, faults)
    faults.check()
    if result.value and len(result.value) != len(result.query):
        faults.fail("bad-shape", f"some rows have a {value} and some have none", SHAPES_HINT)
    return result


def shown(value: Any) -> str:
    """Give a value as errors show it: in short, however large or deep it is."""
    return _SHORT.repr(value)


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


def checked_id(query: Any, faults: Faults, line: int | None = None) -> str | None:
    """Give a query's id, or note that it is none."""
    try:
        return to_id(query)
    except (TypeError, ValueError):
        faults.add("bad-id", f"query {shown(query)}: {ID_RULE}", "write ids as text", line)
        return None


def _empty(data: Any, faults: Faults) -> list[str]:
    if not isinstance(data, Mapping) or _column_names(data):
        return []
    found = (
        checked_id(query, faults)
        for query, entries in data.items()
        if hasattr(entries, "__len__") and not len(entries)
    )
    return [query for query in found if query is not None]


def _column_names(data: Mapping[Any, Any]) -> dict[str, str]:
    """Map our column names to those found, where the data is columns and not queries."""
    names = ours(str(key) for key in data)
    columns = {"query", "document"} <= names.keys()
    return names if columns and not isinstance(data[names["query"]], Mapping) else {}


def _rows(data: Any, value: str, faults: Faults, locate: Locate | None) -> Iterator[Row]:
    if hasattr(data, "columns") and hasattr(data, "to_dict"):  # a data frame
        data = {str(name): data[name] for name in data.columns}
    if isinstance(data, Mapping):
        if names := _column_names(data):
            yield from _from_columns(data, names, value, faults)
        else:
            for query, entries in data.items():
                yield from _of_query(query, entries, value, faults, locate)
    elif isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        for number, record in enumerate(data):
            yield _from_record(record, number, value, faults)
    else:
        faults.fail("bad-shape", f"{type(data).__name__} cannot be read as a table", SHAPES_HINT)


def _of_query(
    query: Any, entries: Any, value: str, faults: Faults, locate: Locate | None
) -> Iterator[Row]:
    def refuse(found: Any) -> NoReturn:
        line = locate(str(query), None) if locate else None
        message = f"query {shown(query)}: cannot read {shown(found)}"
        faults.fail("bad-shape", message, SHAPES_HINT, line)

    if isinstance(entries, Mapping):
        for document, cell in entries.items():
            yield query, document, cell if isinstance(cell, Mapping) else {value: cell}
    elif isinstance(entries, Iterable) and not isinstance(entries, (str, bytes)):
        for entry in entries:
            if isinstance(entry, (tuple, list)) and len(entry) == 2:
                yield query, entry[0], {value: entry[1]}
            elif isinstance(entry, (tuple, list, Mapping)):
                refuse(entry)
            else:
                yield query, entry, {"grade": 1} if value == "grade" else {}
    else:
        refuse(entries)


def _from_columns(
    data: Mapping[Any, Any], names: Mapping[str, str], value: str, faults: Faults
) -> Iterator[Row]:
    renamed = {theirs: own for own, theirs in names.items()}
    columns = {
        renamed.get(str(key), str(key)): _plain(key, column, faults) for key, column in data.items()
    }
    lengths = {key: len(column) for key, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{key} {length}" for key, length in lengths.items())
        faults.fail(
            "bad-column", f"columns of different lengths: {shown}", "make them equally long"
        )
    others = [key for key in columns if key not in ("query", "document")]
    for i, (query, document) in enumerate(zip(columns["query"], columns["document"], strict=True)):
        yield query, document, _named({key: columns[key][i] for key in others}, value)


def _from_record(record: Any, number: int, value: str, faults: Faults) -> Row:
    if hasattr(record, "_asdict"):
        record = record._asdict()
    if isinstance(record, Mapping):
        names = ours(str(key) for key in record)
        if {"query", "document"} <= names.keys():
            renamed = {theirs: own for own, theirs in names.items()}
            cells = {renamed.get(str(key), str(key)): cell for key, cell in record.items()}
            query, document = cells.pop("query"), cells.pop("document")
            return query, document, _named(cells, value)
    elif isinstance(record, (tuple, list)) and len(record) == 3:
        return record[0], record[1], {value: record[2]}
    elif isinstance(record, (tuple, list)) and len(record) == 2 and value == "score":
        return record[0], record[1], {}
    faults.fail("bad-shape", f"row {number + 1}: cannot read {shown(record)}", SHAPES_HINT)


def _named(cells: dict[str, Any], value: str) -> dict[str, Any]:
    """Let BEIR's qrels call their grade a score."""
    if value == "grade" and "grade" not in cells and "score" in cells:
        cells["grade"] = cells.pop("score")
    return cells


def _plain(key: Any, column: Any, faults: Faults) -> list[Any]:
    cells = column.tolist() if hasattr(column, "tolist") else column
    if isinstance(cells, (str, bytes, Mapping)) or not isinstance(cells, Iterable):
        message = f"column {shown(key)} is not a list: {shown(column)}"
        faults.fail("bad-column", message, "give a list for each column")
    return list(cells)


def _checked(
    query: Any, document: Any, cells: Mapping[str, Any], value: str, faults: Faults,
    locate: Locate | None,
) -> tuple[str, str, float | None, dict[str, Any]] | None:  # fmt: skip
    def line() -> int | None:
        return locate(str(query), str(document)) if locate else None

    try:
        ids = to_id(query), to_id(document)
    except (TypeError, ValueError):
        message = f"query {shown(query)}, document {shown(document)}: {ID_RULE}"
        faults.add("bad-id", message, "write ids as text", line())
        return None
    others = {key: cell for key, cell in cells.items() if key != value}
    if value not in cells:
        return *ids, None, others
    try:
        number = to_float(cells[value])
        if value == "grade" and number - number != 0:
            raise ValueError(number)
    except (TypeError, ValueError, OverflowError):
        kind = "a finite number" if value == "grade" else "a number"
        message = f"query {ids[0]!r}, document {ids[1]!r}: {value} {shown(cells[value])} is not"
        hint = f"give each document a numeric {value}"
        faults.add(f"bad-{value}", f"{message} {kind}", hint, line())
        return None
    return *ids, number, others


def _append(
    result: Table, query: str, document: str, value: float | None, cells: dict[str, Any],
    faults: Faults,
) -> None:  # fmt: skip
    result.query.append(query)
    result.document.append(document)
    if value is not None:
        result.value.append(value)
    if cells.keys() != result.columns.keys():
        if len(result.query) > 1:
            message = f"query {query!r}, document {document!r}: other columns than the rows before"
            faults.fail("bad-column", message, "give every row the same columns")
        result.columns = {_column_name(key, faults): [] for key in cells}
    for key, cell in cells.items():
        result.columns[key].append(cell)


def _column_name(key: Any, faults: Faults) -> str:
    try:
        key.encode()
    except (AttributeError, ValueError):  # no text, or a lone surrogate in it
        faults.fail("bad-column", f"{shown(key)} cannot name a column", "name columns by text")
    return str(key)
