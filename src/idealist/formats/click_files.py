"""Logs of clicks: tables, records and events of OpenSearch's UBI, read a block of rows at a time.

A log is a table with a row for each document that was shown: session, query, document, position and
whether it was clicked; CSV, TSV, JSON lines, Parquet, Arrow, a data frame or records. Or it is what
UBI collects: ubi_queries and ubi_events as JSON lines. No file is ever held whole, unless it is one
JSON text or a workbook.
"""

from __future__ import annotations

import io
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from idealist.errors import Faults, UsageError
from idealist.formats import contents, delimited, frames, json_text, ubi_events
from idealist.formats.cells import Line, shown
from idealist.formats.click_names import (
    ASKED,
    CLICKED,
    POSITIONS,
    SESSIONS,
    Tiers,
    candidates,
    ours_among,
)
from idealist.formats.click_rows import ClickRows, coded, coded_arrow, shown_rows
from idealist.formats.column_names import TIERS, Given, folded, given_names
from idealist.formats.frame_runs import opened_frame
from idealist.formats.source import Source

#: Our columns, and the names that are understood as them.
COLUMNS: dict[str, Tiers] = {
    "session": SESSIONS, "query": ASKED, "document": TIERS["document"], "position": POSITIONS,
    "clicked": CLICKED,
}  # fmt: skip
#: How many rows of text make a block.
BLOCK = 8192
HINT = (
    "name it: --columns session=THEIRS,query=THEIRS,document=THEIRS,position=THEIRS,clicked=THEIRS"
)


@dataclass
class ClickFile:
    """A log, its name, and what was taken for what once it has been read."""

    data: Any
    given: Given = field(default_factory=dict)
    layout: Sequence[str] | None = None
    said: str = ""

    def __post_init__(self) -> None:
        listed = [name for name in self.layout or () if name != "-"]
        for ours in [*self.given, *listed]:
            if ours not in COLUMNS:
                raise UsageError(f"a log of clicks has no column {ours!r} of ours", HINT)
            if listed.count(ours) > 1:
                hint = "name each column once; - skips one that does not matter"
                raise UsageError(f"the list of columns names {ours} twice", hint)
        is_file = isinstance(self.data, (str, Path))
        self.source = Source.of(self.data) if is_file else None
        self.name = self.source.name if self.source else "log"
        self.faults = Faults(self.name)

    def blocks(self) -> Iterator[ClickRows]:
        """Read the log; faults are raised behind the block that has them."""
        for rows in self._of_data(self.data) if self.source is None else self._of_file(self.source):
            self.faults.check()
            yield rows

    def _of_file(self, source: Source) -> Iterator[ClickRows]:
        """Read a file by what its head shows it to be."""
        head = source.head()
        if not head.strip():
            self.faults.fail("empty", "the log is empty", "did the step that writes it succeed?")
        if frames.is_binary(head):
            yield from self._of_frame(source)
        elif contents.may_be_frame(source):  # a workbook
            yield from self._of_data(contents.content_of(source, self.faults).value)
        elif contents.is_json_lines(source):
            yield from self._of_json_lines(source)
        elif head.lstrip()[:1] in (b"{", b"["):
            yield from self._of_data(json_text.load(source.read(), source.name))
        else:
            source.check_binary(head)
            yield from self._of_table(source, head)

    def _of_frame(self, source: Source) -> Iterator[ClickRows]:
        try:
            with opened_frame(source) as file:
                names = self.names(file.schema.names)
                for batch in file.batches(list(dict.fromkeys(names.values()))):
                    columns = {ours: coded_arrow(batch[theirs]) for ours, theirs in names.items()}
                    yield shown_rows(columns, self.faults)
        except (frames.arrow().ArrowException, OSError, UnicodeDecodeError) as error:
            words = str(error).splitlines()[0][:80]
            hint = "copy or create the file again"
            self.faults.fail("damaged", f"the data cannot be read: {words}", hint)

    def _of_table(self, source: Source, head: bytes) -> Iterator[ClickRows]:
        """Read a table that is text, some rows at a time."""
        header = self._header(source.decoded(head[: head.rfind(b"\n") + 1] or head, 1).encode())
        names = self.names(header.names, max(1, header.line - 1))
        places = {ours: header.names.index(theirs) for ours, theirs in names.items()}
        lines = islice(_lines(source), header.line - 1, None)
        records = delimited.records(lines, header, self.faults)
        width, session = len(header.names), itemgetter(places["session"])
        while block := list(islice(records, BLOCK)):
            numbers, rows = zip(*block, strict=True)
            if {*map(len, rows)} != {width} or not all(map(str.strip, map(session, rows))):
                numbers, rows = self._fitted(block, header.names)
            cells = list(zip(*rows, strict=True)) or [()] * width
            columns = {ours: coded(cells[place]) for ours, place in places.items()}
            yield shown_rows(columns, self.faults, numbers.__getitem__)

    def _fitted(
        self, block: Iterable[tuple[int, list[str]]], names: list[str]
    ) -> tuple[tuple[int, ...], tuple[list[str], ...]]:
        """Make rows as long as the header, without those that are blank."""
        filled = [(line, row) for line, row in block if any(cell.strip() for cell in row)]
        fitted = [delimited.fitted(row, names, line, self.faults) for line, row in filled]
        return tuple(line for line, _ in filled), tuple(fitted)

    def _header(self, head: bytes) -> delimited.Header:
        """Find how a table is divided."""
        if self.layout is not None:
            found = delimited.unnamed(head, self.layout)
            if found is None or found.sign == delimited.BLANKS:
                message = f"the first line has no {len(self.layout)} columns that a sign separates"
                self.faults.fail("columns", message, "separate them by tabs or commas", 1)
            return found
        headers = list(delimited.headers(head).values())
        if not headers:
            self.faults.fail("columns", "the first line has no columns", HINT, 1)
        return max(headers, key=lambda one: len(candidates(one.names, self.given, COLUMNS)))

    def names(self, names: Sequence[Any], line: int | None = None) -> dict[str, Any]:
        """Map our columns to theirs; all are needed."""
        delimited.check_twice(names, self.faults, line)
        found = ours_among(names, self.given, _tiers(names), self.faults, line)
        listed = ", ".join(map(str, names))[:300]
        for ours, theirs in given_names(self.given):
            if ours not in found:
                message = f"there is no column {theirs!r} to be the {ours}"
                self.faults.fail("missing-column", message, f"the columns are {listed}", line)
        if lacking := [ours for ours in COLUMNS if ours not in found]:
            message = f"no column is the {' or the '.join(lacking)}; the columns are {listed}"
            self.faults.fail("missing-column", message, HINT, line)
        self.said = ", ".join(f"{ours} = {found[ours]}" for ours in COLUMNS)
        return found

    def _of_json_lines(self, source: Source) -> Iterator[ClickRows]:
        for number, text in _text_blocks(source):
            values, lines = json_text.load_lines(text, source.name, number - 1)
            if values:
                yield self._of_records(values, lines.__getitem__)

    def _of_data(self, data: Any) -> Iterator[ClickRows]:
        """Read columns by name, a data frame, or records."""
        if (columns := frames.named_columns(data, self.faults)) is not None:
            names = self.names(list(columns))
            yield shown_rows(
                {ours: coded(columns[one]) for ours, one in names.items()}, self.faults
            )
            return
        if not isinstance(data, Iterable) or isinstance(data, (str, bytes)):
            hint = "give a file, a data frame, or a list of records"
            message = f"{shown(data)} cannot be read as a log of clicks"
            self.faults.fail("bad-shape", message, hint)
        rows = iter([data] if isinstance(data, Mapping) else data)
        while block := list(islice(rows, BLOCK)):
            yield self._of_records(block, lambda row: None)

    def _of_records(self, found: Sequence[Any], line: Line) -> ClickRows:
        """Read records, which all are events of UBI, or all rows."""
        records, owner = self._opened(found, line)

        def own_line(row: int) -> int | None:
            return line(owner[row])

        if ubi_events.is_event(records[0]):
            if self.given:
                raise UsageError("fields of UBI have their own names", "leave out --columns")
            self.said = f"{ubi_events.UBI}{ubi_events.lacking_hits(found[0])}"
            return ubi_events.read_events(records, self.faults, own_line)
        names = self.names(list(dict.fromkeys(chain.from_iterable(records))), own_line(0))
        columns = {
            ours: coded([one.get(theirs) for one in records]) for ours, theirs in names.items()
        }
        return shown_rows(columns, self.faults, own_line)

    def _opened(
        self, found: Sequence[Any], line: Line
    ) -> tuple[list[Mapping[str, Any]], list[int]]:
        """Unwrap records; say from which one each is."""
        records, owner = list[Mapping[str, Any]](), list[int]()
        for row, one in enumerate(found):
            if not isinstance(one, Mapping):
                hint = 'give {"session": …, "query": …, "document": …, "position": …, "clicked": …}'
                self.faults.fail("bad-shape", f"cannot read {shown(one)}", hint, line(row))
            opened = ubi_events.opened(one, self.faults, line(row))
            records += opened
            owner += [row] * len(opened)
        return records, owner


def _tiers(names: Iterable[Any]) -> dict[str, Tiers]:
    """Give the names that are understood; beside a query's text, its id is that of a search.

    UBI's is, which calls the text user_query; of others, a session is told by a better name.
    """
    is_ubi = "userquery" in map(folded, names)
    searches, *others = SESSIONS
    sessions = [[*searches, "query_id"], *others] if is_ubi else [*SESSIONS, ["query_id"]]
    return {"query": COLUMNS["query"], **COLUMNS, "session": sessions}


def _text_blocks(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with the number of its first; check that they are UTF-8."""
    rest, number = b"", 1
    for block in chain(source.blocks(), [b""]):
        rest += block
        end = rest.rfind(b"\n") + 1 if block else len(rest)
        text, rest = rest[:end], rest[end:]
        if number == 1:
            text = text.removeprefix(BOM_UTF8)
        if text:
            yield number, text
            number += text.count(b"\n")


def _lines(source: Source) -> Iterator[str]:
    """Yield the lines of a table, with their ends."""
    for number, text in _text_blocks(source):
        yield from io.StringIO(source.decoded(text, number), newline="\n")
