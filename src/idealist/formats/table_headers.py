"""The header of a table in text: how it is divided, and where its rows begin."""

from __future__ import annotations

import csv
from typing import NamedTuple

from idealist.formats import delimited
from idealist.formats.reading import Reading


class Header(NamedTuple):
    """How a table is divided: its separator, the names, and where the rows begin.

    `body` is the position of the first byte behind the header, on the line number `line`. With
    `skips`, blanks at the beginning of a cell are skipped.
    """

    sign: str
    names: list[str]
    body: int
    line: int
    skips: bool = False


def table_header(text: bytes, reading: Reading) -> Header | None:
    """Find the header of a table; None if there is none."""
    sign = delimited.delimiter_of(text, reading.options.columns)
    first = text.split(b"\n", 1)[0]
    if sign is None or first.count(b'"') % 2:
        return None
    skips = f"{sign} ".encode() in first
    line = first.decode().rstrip("\r")
    names = next(csv.reader([line], delimiter=sign, strict=True, skipinitialspace=skips))
    return Header(sign, names, len(first) + 1, 2, skips)
