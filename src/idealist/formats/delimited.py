"""Tables as text: CSV, TSV and what spreadsheets save; this defines how they are read.

- Lines end with LF or CRLF. Before the header, blank lines are passed over, and those that begin
  with a ``#`` which is not a cell alone; so is Excel's line ``sep=;``.
- The header is the first record behind them. What separates the columns is the first of tab, comma,
  semicolon and ``|`` at which it splits into names that say which column is the query and which the
  document; next to a number, only names that leave no doubt do. A user may name the columns of a
  file without a header; white space may separate these.
- A ``"`` at the beginning of a cell opens a quoted one, in which ``""`` is a quote, and separators
  and line ends are data; behind its end must come a separator or the end of the line (RFC 4180).
  Elsewhere a quote is a character like others.
- Cells are taken as they are. Only where the header has a blank behind a separator, blanks at the
  beginning of cells are skipped. A cell has at most 131,072 characters.
- A row without anything but blanks and tabs in its cells is passed over. An empty cell, quoted or
  not, says nothing (None).
- A row has as many cells as the header. It may have more if these are blank, and fewer where the
  header's last names are blank. Columns without a name are passed over.

TREC text has no header and never comes here. Numbers with decimal commas are read in `decimals`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from idealist.data.columns import is_number
from idealist.errors import Faults, InputError
from idealist.formats.column_names import Given, are_columns, ours

#: What may separate columns, and what does where a file without a header has none of these.
SIGNS, BLANKS = "\t,;|", " "
#: How many bytes are enough to see what columns hold.
HEAD = 2**16
#: The header of Quepid's ratings.
QUEPID = ["query", "docid", "rating"]
CELLS_HINT = "give each row a cell for each column, and quote cells that hold the separator"


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


def header_of(content: bytes, given: Given | None = None) -> Header | None:
    """Find the header, if there is one that names the query and the document.

    >>> header_of(b"query-id\\tcorpus-id\\tscore\\nq1\\td1\\t2\\n").names
    ['query-id', 'corpus-id', 'score']
    >>> header_of(b"q1 0 d1 2\\n")
    """
    return next((one for one in headers(content).values() if _names(one.names, given)), None)


def _names(cells: list[str], given: Given | None) -> bool:
    """Whether cells are names; next to a number, words such as search and product are data."""
    known = {"query", "document"} <= ours(cells, given).keys()
    return known and (are_columns(cells, given) or not any(map(is_number, cells)))


def headers(content: bytes) -> dict[str, Header]:
    """Split the first record at each separator that it could have."""
    begin, line, signs = beginning(content)
    found = {}
    for sign in signs:
        if sign.encode() in line_at(content, begin):
            names, lines = _record(content, begin, sign)
            body = begin
            for _ in range(lines):
                body += len(line_at(content, body))
            skips = f"{sign} ".encode() in content[begin:body]  # query, document, grade
            found[sign] = Header(sign, names, body, line + lines, skips)
    return {sign: header for sign, header in found.items() if header.names}


def unnamed(content: bytes, names: Sequence[str]) -> Header | None:
    """Find what separates columns without a header, if they are as many as these names.

    >>> unnamed(b"q1;d1;0,5\\n", ["query", "document", "-"])
    Header(sign=';', names=['query', 'document', ''], body=0, line=1, skips=False)
    """
    names = ["" if name == "-" else name for name in names]
    begin, line, signs = beginning(content)
    first = line_at(content, begin)
    for sign in signs:
        if sign.encode() in first and len(_record(content, begin, sign)[0]) == len(names):
            return Header(sign, names, begin, line, f"{sign} ".encode() in first)
    same = len(first.split()) == len(names)
    return Header(BLANKS, names, begin, line) if same else None


def beginning(content: bytes) -> tuple[int, int, str]:
    """Find where the first record begins, on which line, and what may separate its cells."""
    begin, line, signs = 0, 1, SIGNS
    while begin < len(content):
        found = line_at(content, begin)
        text = found.rstrip(b"\r\n")
        if len(text) == 5 and text[:4].lower() == b"sep=" and chr(text[4]) in SIGNS:
            signs = chr(text[4])
        elif text.strip(b" \t") and not _is_comment(text):
            break
        begin, line = begin + len(found), line + 1
    return begin, line, signs


def _is_comment(line: bytes) -> bool:
    """Whether a line begins with a #, which is not the name of a column alone."""
    return line.startswith(b"#") and chr(line[1] if len(line) > 1 else 0) not in SIGNS


def line_at(content: bytes, begin: int) -> bytes:
    """Return the line that begins there, with its end."""
    end = content.find(b"\n", begin)
    return content[begin : end + 1] if end >= 0 else content[begin:]


def _lines(content: bytes, begin: int) -> Iterator[str]:
    while line := line_at(content, begin):
        begin += len(line)
        yield line.decode()


def _record(content: bytes, begin: int, sign: str) -> tuple[list[str], int]:
    """Split the record that begins there; return how many lines it takes."""
    lines = _lines(content, begin)
    reader = csv.reader(lines, delimiter=sign, strict=True, skipinitialspace=True)
    try:
        return next(reader, []), reader.line_num
    except csv.Error:  # a quote that is not closed, or a cell beyond all bounds
        return [], 1


def read(content: bytes, header: Header, faults: Faults) -> tuple[dict[str, list[Any]], list[int]]:
    """Return the columns and the line of each row; an empty cell is None."""
    names = header.names
    check_twice(names, faults, header.line - 1)
    rows, lines = [], []
    for line, row in _rows(content, header, faults):
        if row and (row[0].strip(" \t") or any(cell.strip(" \t") for cell in row)):
            rows.append(fitted(row, names, line, faults))
            lines.append(line)
    faults.check()
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    pairs = enumerate(zip(names, columns, strict=True))
    kept = {name: column for i, (name, column) in pairs if name.strip() or i == 0}
    return {name: [cell or None for cell in column] for name, column in kept.items()}, lines


def check_twice(names: Sequence[Any], faults: Faults, line: int | None) -> None:
    """Refuse a name that two columns have; columns without a name are passed over."""
    for name in names:
        if str(name).strip() and names.count(name) > 1:
            faults.fail("columns", f"two columns are called {name!r}", "rename one of them", line)


def sample(content: bytes, header: Header, most: int) -> list[list[str]]:
    """Return some of the first rows, as far as they can be read."""
    head = content[: header.body + HEAD]
    head = head[: head.rfind(b"\n") + 1] if len(head) < len(content) else head
    found: list[list[str]] = []
    with suppress(InputError):
        for _, row in islice(_rows(head, header, Faults()), most):
            found.append(row)
    return [row for row in found if len(row) == len(header.names)]


def _rows(content: bytes, header: Header, faults: Faults) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row, and the line on which it begins."""
    text = io.StringIO(str(memoryview(content)[header.body :], "utf-8"), newline="")
    if header.sign == BLANKS:
        return ((number, line.split()) for number, line in enumerate(text, header.line))
    return records(text, header, faults)


def records(
    lines: Iterable[str], header: Header, faults: Faults
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each record behind the header, and the line on which it begins."""
    reader = csv.reader(lines, delimiter=header.sign, strict=True, skipinitialspace=header.skips)
    before = 0
    try:
        for row in reader:
            start, before = before, reader.line_num
            yield header.line + start, row
    except csv.Error as error:
        message, hint = (
            f"cannot be read: {error}",
            'close quotes, and double those inside: "a ""b"""',
        )
        if "field limit" in str(error):
            message = f"a cell is longer than {csv.field_size_limit():,} characters"
        faults.fail("columns", message, hint, header.line + max(reader.line_num, 1) - 1)


def fitted(row: list[str], names: list[str], line: int, faults: Faults) -> list[str]:
    """Make a row as long as the header; Quepid writes an unrated query as one cell alone."""
    if len(row) == len(names):
        return row
    unrated = len(row) == 1 and [name.lower() for name in names] == QUEPID
    lacking, beyond = names[len(row) :], row[len(names) :]
    if any(cell.strip() for cell in (*lacking, *beyond)) and not unrated:
        message = f"{len(row)} cells, the header has {len(names)}: {','.join(row)[:60]!r}"
        faults.add("columns", message, CELLS_HINT, line)
    return (row + [""] * len(names))[: len(names)]
