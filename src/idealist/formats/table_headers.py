"""Which columns text has: as its header says, or as its user does; what is unclear is refused.

An error proposes the option that names the columns, with the file's own names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from idealist.data.columns import is_number
from idealist.formats import delimited
from idealist.formats.column_guesses import SEEN, is_numeric, listed_option, named_option
from idealist.formats.column_names import columns_option, listed, ours
from idealist.formats.delimited import BLANKS, Header
from idealist.formats.reading import Reading
from idealist.formats.wide_tables import ranking_in

NEEDED = ("query", "document")


def table_header(text: bytes, reading: Reading) -> Header | None:
    """Find how text is divided into columns, if it is: as its header says, or else its user."""
    header = delimited.header_of(text, reading.options.columns) or _wide(text, reading)
    layout = reading.options.layout(reading.value)
    if layout is None:
        return header
    if header is not None:
        _check_layout(header, layout, reading)
        return header
    header = delimited.unnamed(text, layout)
    if header is not None and reading.value in layout:
        _check_first(delimited.sample(text, header, 2), header, layout, reading)
    return header


def _wide(text: bytes, reading: Reading) -> Header | None:
    found = delimited.headers(text).values()
    return next((one for one in found if ranking_in(one.names, reading)), None)


def _check_layout(header: Header, layout: Sequence[str], reading: Reading) -> None:
    """Refuse a list of columns that is not what the header says."""
    names, found, told = header.names, reading.ours(header.names), _named(layout, header.names)
    if len(names) == len(layout) and any(found.get(key) != told[key] for key in NEEDED):
        message = f"the header {','.join(names)[:60]!r} does not say {listed(layout)}"
        hint = f"if the header is wrong: {columns_option(told)}"
        reading.faults.fail("columns", message, hint, header.line - 1)


def _check_first(
    rows: list[list[str]], header: Header, layout: Sequence[str], reading: Reading
) -> None:
    """Refuse a header that is not known, where the user says that there is none."""
    cells = [row[layout.index(reading.value)] for row in rows if len(row) == len(layout)]
    if len(cells) == 2 and not is_numeric(cells[0]) and is_numeric(cells[1]):
        hint = f"name its columns: {columns_option(_named(layout, rows[0]))}"
        message = f"{','.join(rows[0])[:60]!r} looks like a header"
        reading.faults.fail("columns", message, hint, header.line)


def _named(layout: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    return {ours: theirs for ours, theirs in zip(layout, names, strict=False) if ours != "-"}


def unread_table(text: bytes, suffix: str) -> Header | None:
    """Find what looks like a table whose columns nobody named; TREC text has no such first line."""
    headers = delimited.headers(text).values()
    widest = max(headers, key=lambda header: len(header.names), default=None)
    begin, line, _ = delimited.beginning(text)
    first = delimited.line_at(text, begin).decode().strip()
    if widest is None or suffix == ".csv":
        return widest or (Header(BLANKS, [first], begin, line + 1) if suffix == ".csv" else None)
    half = len({*NEEDED} & ours(widest.names).keys()) == 1
    words = widest.names if half else first.split()
    is_header = len(widest.names) > 2 and not any(map(is_number, words))
    return widest if is_header or (len(words) == 1 and widest.sign != "\t") else None


def refuse_table(text: bytes, header: Header, reading: Reading) -> NoReturn:
    """Say which column is not known, and which option says it."""
    names, line, fail = header.names, header.line - 1, reading.faults.fail
    rows = delimited.sample(text, header, SEEN)
    first, layout = header.sign.join(names)[:60], reading.options.layout(reading.value)
    message = f"{first!r} names neither the query column nor the document column"
    if len(names) == 1:
        fail("columns", message, f"start with a header: query,document,{reading.value}", line)
    if layout is not None:
        counted = f"{len(names)} columns, but {listed(layout)} names {len(layout)}: {first!r}"
        hint = "name each column, or - where it does not matter"
        fail("columns", counted, f"{hint}: {listed_option([names, *rows], reading)}", line)
    reading.check_given(names)
    found = reading.ours(names)
    known = [name for name in NEEDED if name in found]
    if len(known) == 1:
        (missing,) = {*NEEDED} - {*known}
        lacking = f"there is no {missing} column; {found[known[0]]} is the {known[0]}"
        hint = f"the columns are {', '.join(names)}; say which one it is"
        fail("missing-column", lacking, f"{hint}: {_option(names, rows, reading)}", line)
    by_name = f"say which column is which: {_option(names, rows, reading)}"
    in_order = f"if it is the first row, name all columns: {listed_option([names, *rows], reading)}"
    below = list(zip(*rows, strict=False))
    again = any(name in cells for name, cells in zip(names, below, strict=False))
    if again or any(map(is_number, names)):
        fail("columns", message, in_order, line)
    told = any(all(map(is_numeric, cells)) for cells in below)
    fail("columns", message, by_name if told else f"{by_name}; {in_order}", line)


def _option(names: list[str], rows: list[list[str]], reading: Reading) -> str:
    columns = zip(*rows, strict=False) if rows else [()] * len(names)
    return named_option(dict(zip(names, columns, strict=False)), reading)
