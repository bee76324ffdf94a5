"""Numbers with commas: read where only one reading is possible, refused where there are two.

A comma is a decimal point if some number of the column cannot be written with thousands: 0,75 or
12,5. Where all of them look like 1,234, nobody can tell, and the user must say it.
"""

from __future__ import annotations

import re
from typing import Any

from idealist.formats.cells import Cells, shown
from idealist.formats.reading import Reading

#: The columns that hold numbers.
NUMBERS = ("grade", "score", "rank", "tokens")

_DECIMAL = re.compile(r" *[+-]?\d*,\d+(e[+-]?\d+)? *", re.ASCII | re.IGNORECASE)
_THOUSANDS = re.compile(r" *[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)? *", re.ASCII)


def read(cells: Cells, reading: Reading) -> Cells:
    """Write decimal points for commas, in the columns that hold numbers."""
    for name in NUMBERS:
        column = cells.columns.get(name, [])
        if any(isinstance(cell, str) and "," in cell for cell in column):
            cells.columns[name] = _pointed(name, column, cells, reading)
    reading.faults.check()
    return cells


def _pointed(name: str, column: list[Any], cells: Cells, reading: Reading) -> list[Any]:
    found = [(i, cell) for i, cell in enumerate(column) if isinstance(cell, str) and "," in cell]
    decimals = [cell for _, cell in found if _DECIMAL.fullmatch(cell)]
    certain = [cell for cell in decimals if not _THOUSANDS.fullmatch(cell)]
    decimal = reading.options.decimal or ("comma" if certain else None)
    if decimal == "point":
        return [_without_thousands(cell) for cell in column]
    if decimal is None:
        if decimals:
            line, cell = next((cells.at(i), cell) for i, cell in found if cell in decimals)
            message = f"{name} {shown(cell)} could be a decimal or a thousand"
            hint = "say what the comma is: --decimal comma, or --decimal point for thousands"
            reading.faults.fail(_code(name), message, hint, line)
        return column
    for i, cell in enumerate(column):
        if isinstance(cell, str) and "." in cell:
            message = f"{name} {shown(cell)} has a point where others have a comma"
            hint = "write all numbers alike, without thousands separators"
            reading.faults.add(_code(name), message, hint, cells.at(i))
    if reading.options.decimal is None:
        pointed = certain[0].strip().replace(",", ".")
        message = f"{reading.faults.file}: {name} {certain[0].strip()} is read as {pointed}"
        reading.remark("read-as", message)
    return [_with_point(cell) for cell in column]


def _code(name: str) -> str:
    return "bad-column" if name == "tokens" else f"bad-{name}"


def _with_point(cell: Any) -> Any:
    plain = isinstance(cell, str) and _DECIMAL.fullmatch(cell)
    return cell.replace(",", ".") if plain else cell


def _without_thousands(cell: Any) -> Any:
    plain = isinstance(cell, str) and _THOUSANDS.fullmatch(cell)
    return cell.replace(",", "") if plain else cell
