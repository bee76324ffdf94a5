"""Text with a header: columns divided by commas, tabs or semicolons, as RFC 4180 quotes them.

BEIR's judgments, Quepid's exports and what spreadsheets save are of this kind. TREC text has no
header and never comes here.
"""

from __future__ import annotations

import csv
import io
from typing import Any

from idealist.errors import Faults
from idealist.formats.names import ours

#: The header of Quepid's ratings.
QUEPID = ["query", "docid", "rating"]
HEADER_HINT = "the first line names the columns, such as query,document,grade"


def delimiter_of(content: bytes) -> str | None:
    """Find what divides the columns, where the first line names the query and the document.

    >>> delimiter_of(b"query-id\\tcorpus-id\\tscore\\nq1\\td1\\t2\\n")
    '\\t'
    >>> delimiter_of(b"q1 0 d1 2\\n")
    """
    first = content.split(b"\n", 1)[0].decode().rstrip("\r")
    for sign in "\t,;":
        if sign in first and {"query", "document"} <= ours(cells(first, sign)).keys():
            return sign
    return None


def cells(line: str, sign: str) -> list[str]:
    """Divide a line."""
    try:
        return next(csv.reader([line], delimiter=sign, skipinitialspace=True), [])
    except csv.Error:  # a cell beyond all bounds
        return []


def read(content: bytes, sign: str, faults: Faults) -> tuple[dict[str, list[Any]], list[int]]:
    """Give the columns and the line of each row; an empty cell is None."""
    text = io.StringIO(content.decode(), newline="")
    blanks = f"{sign} ".encode() in content.split(b"\n", 1)[0]  # query, document, grade
    reader = csv.reader(text, delimiter=sign, strict=True, skipinitialspace=blanks)
    try:
        header = next(reader)
        _check_header(header, faults)
        rows, lines, before = [], [], reader.line_num
        for row in reader:
            start, before = before + 1, reader.line_num
            if any(row):
                rows.append(_fitted(row, header, start, faults))
                lines.append(start)
    except csv.Error as error:
        message = f"cannot be read: {error}"
        faults.fail(
            "columns", message, 'close quotes, and double those inside: "a ""b"""', reader.line_num
        )
    faults.check()
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    pairs = zip(header, columns, strict=True)
    return {name: [cell or None for cell in column] for name, column in pairs}, lines


def _check_header(header: list[str], faults: Faults) -> None:
    for name in header:
        if header.count(name) > 1:
            faults.fail("columns", f"two columns are called {name!r}", HEADER_HINT, 1)


def _fitted(row: list[str], header: list[str], line: int, faults: Faults) -> list[str]:
    """Take a row as long as the header; Quepid writes an unrated query as one cell alone."""
    unrated = len(row) == 1 and [name.lower() for name in header] == QUEPID
    if len(row) != len(header) and not unrated:
        message = f"{len(row)} cells, the header has {len(header)}: {','.join(row)[:60]!r}"
        faults.add("columns", message, HEADER_HINT, line)
    return (row + [""] * len(header))[: len(header)]
