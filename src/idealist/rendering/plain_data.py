"""Plain data: results as JSON, CSV and TSV, with every digit; and saved results read again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from idealist.rendering.document import Estimate, Interval, Marked, Table


def finite(data: Any) -> Any:
    """Replace numbers that JSON cannot hold by None, and what NumPy made by Python's own.

    >>> finite({"AP": [0.5, float("nan")]})
    {'AP': [0.5, None]}
    """
    if isinstance(data, float):
        return float(data) if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return record(data)
    if isinstance(data, (list, tuple)):
        return [finite(value) for value in data]
    return data


def record(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts by name with nothing in them that JSON cannot hold."""
    return {name: finite(value) for name, value in facts.items()}


def to_json(data: Any) -> str:
    """Write plain data as JSON."""
    import json

    return json.dumps(finite(data), indent=1, ensure_ascii=False, allow_nan=False)


def as_number(value: Any) -> float:
    """Take a number that JSON holds; None stands for undefined."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(value)
    return float(value)


def as_text(value: Any) -> str:
    """Take a text that JSON holds."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def flat(table: Table) -> tuple[list[str], list[list[Any]]]:
    """Divide cells that hold several numbers among columns of their own.

    >>> from idealist.rendering.document import Column
    >>> flat(Table((Column("AP"),), ((Estimate(0.5, 0.25),),)))
    (['AP', 'AP ±'], [[0.5, 0.25]])
    """
    headers, columns = [], []
    for i, column in enumerate(table.columns):
        cells = [dict(_parts(row[i])) for row in table.rows]
        names = max(cells, key=len, default={"": None})
        headers += [column.name + name for name in names]
        columns += [[cell.get(name) for cell in cells] for name in names]
    return headers, [list(row) for row in zip(*columns, strict=True)]


def _parts(cell: Any) -> Iterator[tuple[str, Any]]:
    """Name the numbers of a cell by what is added to the column's name."""
    match cell:
        case Marked(value, _):
            yield from _parts(value)
        case Estimate(value, half):
            yield from (("", value), (" ±", half))
        case Interval(low, high):
            yield from ((" low", low), (" high", high))
        case _:
            yield "", cell


def records_table(records: Sequence[Mapping[str, Any]]) -> Table:
    """Make a table for programs of plain records; a record inside another gets its own columns.

    >>> records_table([{"query": "q1", "losses": {"ties": 0.5}}]).headers
    ['query', 'losses.ties']
    """
    rows = [dict(_unfolded(record)) for record in records]
    keys = list(dict.fromkeys(key for row in rows for key in row))
    headers = [key for key in keys if not any(other.startswith(f"{key}.") for other in keys)]
    return Table.of(headers, [], [[row.get(key) for key in headers] for row in rows])


def _unfolded(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        if isinstance(value, Mapping):
            yield from _unfolded(value, f"{before}{key}.")
        else:
            yield before + key, value


def separated(table: Table, delimiter: str) -> str:
    """Write a table for programs, quoted only where a cell holds the delimiter."""
    headers, rows = flat(table)
    return "\n".join(_line(row, delimiter) for row in (headers, *rows))


def _line(row: Sequence[Any], delimiter: str) -> str:
    import csv
    import io

    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter).writerow(map(_cell, row))  # quotes both \r and \n
    return stream.getvalue().removesuffix("\r\n")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else ""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
