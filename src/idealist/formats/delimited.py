"""Text with a header: columns separated by commas, tabs or semicolons, quoted as in RFC 4180.

BEIR's judgments, Quepid's exports and what spreadsheets save are of this kind. TREC text has no
header and never comes here.
"""

from __future__ import annotations

import csv
import io
from typing import Any

from idealist.errors import Faults
from idealist.formats.column_names import Given, ours

#: The header of Quepid's ratings.
QUEPID = ["query", "docid", "rating"]
HEADER_HINT = "the first line names the columns, such as query,document,grade"


def delimiter_of(content: bytes, given: Given | None = None) -> str | None:
    """Find what separates the columns, if the first line names the query and the document.

    >>> delimiter_of(b"query-id\\tcorpus-id\\tscore\\nq1\\td1\\t2\\n")
    '\\t'
    >>> delimiter_of(b"q1 0 d1 2\\n")
    """
    needed = {"query", "document"}
    by_sign = headers(content).items()
    return next((sign for sign, names in by_sign if needed <= ours(names, given).keys()), None)


def headers(content: bytes) -> dict[str, list[str]]:
    """Split the first line at each delimiter that it could have."""
    first = content.split(b"\n", 1)[0].decode().rstrip("\r")
    return {sign: _split(first, sign) for sign in "\t,;" if sign in first}


def _split(line: str, sign: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=sign, skipinitialspace=True), [])
    except csv.Error:  # a cell beyond all bounds
        return []


def read(content: bytes, sign: str, faults: Faults) -> tuple[dict[str, list[Any]], list[int]]:
    """Return the columns and the line of each row; an empty cell is None."""
    text = io.StringIO(content.decode(), newline="")
    blanks = f"{sign} ".encode() in content.split(b"\n", 1)[0]  # query, document, grade
    reader = csv.reader(text, delimiter=sign, strict=True, skipinitialspace=blanks)
    rows, lines = [], []
    try:
        header = next(reader)
        for name in header:
            if header.count(name) > 1:
                faults.fail("columns", f"two columns are called {name!r}", HEADER_HINT, 1)
        before = reader.line_num
        for row in reader:
            start, before = before + 1, reader.line_num
            if any(row):
                rows.append(_fitted(row, header, start, faults))
                lines.append(start)
    except csv.Error as error:
        hint = 'close quotes, and double those inside: "a ""b"""'
        faults.fail("columns", f"cannot be read: {error}", hint, reader.line_num)
    faults.check()
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    pairs = zip(header, columns, strict=True)
    return {name: [cell or None for cell in column] for name, column in pairs}, lines


def _fitted(row: list[str], header: list[str], line: int, faults: Faults) -> list[str]:
    """Make a row as long as the header; Quepid writes an unrated query as one cell alone."""
    unrated = len(row) == 1 and [name.lower() for name in header] == QUEPID
    if len(row) != len(header) and not unrated:
        message = f"{len(row)} cells, the header has {len(header)}: {','.join(row)[:60]!r}"
        faults.add("columns", message, HEADER_HINT, line)
    return (row + [""] * len(header))[: len(header)]
