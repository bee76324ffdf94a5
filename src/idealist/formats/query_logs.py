"""Logs of queries: how often each was asked, added up row by row without holding the file.

A log is a table with a column for the query and maybe one for how often it was asked, JSON or JSON
by the line, a data frame or a file of one, or text with a search on each line. Where no column
counts, each row is one search. Queries are told apart by every character.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from idealist.data.queries import HEAVIEST, LIGHTEST
from idealist.errors import Faults, UsageError
from idealist.formats import contents, delimited, frames, json_text
from idealist.formats.cells import shown
from idealist.formats.column_names import (
    LOGGED_COUNTS,
    LOGGED_TEXTS,
    Given,
    given_names,
    known,
    refuse_choice,
    spelt,
)
from idealist.formats.source import Source

#: What rows are called that have no column for the query.
HINT = "name the columns: --columns query=THEIRS,count=THEIRS"
#: Suffixes of tables, whose first line names the columns.
TABLES = (".csv", ".tsv")


#: What a row counts where no column says it.
ONE: Any = object()


class LoggedSearch(NamedTuple):
    """A row of a log: its line, the query, and how often it was asked, as it is written."""

    line: int | None
    text: Any
    count: Any = ONE


@dataclass(frozen=True)
class QueryLog:
    """How often each query was asked; `blank` rows without a query are left out.

    `read_as` says what was taken for what.

    >>> log = read_query_log(["red shoes", "Red shoes", "red shoes", ""])
    >>> log.counts, log.total, log.blank, log.variants
    ({'red shoes': 2, 'Red shoes': 1}, 3.0, 1, 1)
    >>> log.folded.counts
    {'red shoes': 3}
    """

    counts: Mapping[str, float]
    rows: int
    blank: int = 0
    name: str = "log"
    read_as: str = ""

    @property
    def total(self) -> float:
        """The traffic: how often anything was asked."""
        return math.fsum(self.counts.values())

    @property
    def variants(self) -> int:
        """How many queries differ from another only in case or blanks."""
        kept = np.fromiter((hash(folded(text)) for text in self.counts), np.int64)
        return len(kept) - len(np.unique(kept))

    @property
    def folded(self) -> QueryLog:
        """The log with queries as one that differ only in case or blanks.

        Each is written as it was asked most often.
        """
        best: dict[str, str] = {}
        total: dict[str, float] = {}
        for text, count in sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0])):
            kept = best.setdefault(folded(text), text)
            total[kept] = total.get(kept, 0) + count
        return replace(self, counts=total)


def folded(text: str) -> str:
    """Return a text without what case and blanks say."""
    return " ".join(text.casefold().split())


def read_query_log(
    log: Any, columns: Given | None = None, layout: Sequence[str] | None = None
) -> QueryLog:
    """Read a log: a file, {query: count}, queries in a list, records, or a data frame.

    `columns` names the columns of the query and of the count, theirs by ours; `layout` names all
    columns of a file without a header, in order.
    """
    given = columns or {}
    for ours in [*given, *(name for name in layout or () if name != "-")]:
        if ours not in ("query", "count"):
            raise UsageError(f"a log has no column {ours!r} of ours", HINT)
    source = Source.of(log) if isinstance(log, (str, Path)) else None
    reader = _Reader(given, Faults("log" if source is None else source.name))
    rows = reader.of_data(log) if source is None else reader.of_file(source, layout)
    return replace(_tallied(rows, reader.faults), read_as=reader.said)


def _tallied(rows: Iterable[LoggedSearch], faults: Faults) -> QueryLog:
    """Add up how often each query was asked."""
    counts: dict[str, float] = {}
    number = blank = 0
    for row in rows:
        number += 1
        try:
            count = 1 if row.count is ONE else _count(row.count)
        except (TypeError, ValueError):
            said = "no count" if row.count in (None, "") else f"the count {shown(row.count)}"
            hint = f"a count is 0, or a number from {LIGHTEST:g} to {HEAVIEST:g}"
            faults.add("bad-weight", f"query {shown(row.text)} has {said}", hint, row.line)
            continue
        text = "" if row.text is None else str(row.text)
        if not text.strip():
            blank += 1
        elif count:
            counts[text] = counts.get(text, 0) + count
    faults.check()
    if not counts:
        message = "no row has a query that was asked" if number else "the log has no rows"
        faults.fail("empty", message, "did the step that writes it succeed?")
    log = QueryLog(counts, number, blank, faults.file)
    if log.total > HEAVIEST:
        message = f"the counts sum to {log.total:g}, more than a weight may be"
        faults.fail("bad-weight", message, "count in thousands, or in millions")
    return log


def _count(written: Any) -> float:
    """Read a count; refuse what is neither 0 nor a number that may be a weight."""
    if isinstance(written, bool) or written is None:
        raise ValueError(written)
    try:
        count: float = int(written) if isinstance(written, str) else written + 0
    except ValueError:
        count = float(written)
    beyond = count and not LIGHTEST <= count <= HEAVIEST
    if math.isnan(count) or beyond or (isinstance(written, str) and "_" in written):
        raise ValueError(written)
    return count


@dataclass
class _Reader:
    """Reads rows, and notes what it took for what."""

    given: Given
    faults: Faults
    said: str = "each row is one search"

    def names(self, names: Sequence[Any], line: int | None = None) -> tuple[Any, Any]:
        """Find the names of the query and of the count; None where rows are not counted."""
        chosen: dict[str, Any] = {}
        for ours, theirs in given_names(self.given):
            if len(alike := spelt(names, theirs)) != 1:
                listed = ", ".join(map(str, names))[:300]
                message = f"there is no column {theirs!r} to be the {ours}"
                self.faults.fail("missing-column", message, f"the columns are {listed}", line)
            chosen.setdefault(ours, alike[0])
        text = chosen.get("query") or next(iter(known(names, LOGGED_TEXTS)), None)
        if text is None:
            message = f"no column is the query: it has {', '.join(map(str, names))}"[:300]
            self.faults.fail("missing-column", message, HINT, line)
        counts = [name for name in known(names, LOGGED_COUNTS) if name != text]
        if len(counts) > 1 and "count" not in chosen:
            refuse_choice("count", counts, self.faults, line)
        count = chosen.get("count") or next(iter(counts), None)
        self.said = f"query = {text}, " + (
            f"count = {count}" if count else "each row is one search"
        )
        return text, count

    def of_file(self, source: Source, layout: Sequence[str] | None) -> Iterator[LoggedSearch]:
        """Read a file by what its head shows it to be."""
        head = source.head()
        if not head.strip():
            hint = "did the step that writes it succeed?"
            self.faults.fail("empty", "the log is empty", hint)
        if contents.may_be_frame(source):  # or a workbook
            return self.of_data(contents.content_of(source, self.faults).value)
        source.check_binary(head)
        if contents.is_json_lines(source):
            return self.of_records(_json_lines(source))
        if source.suffix == ".json" or (head.lstrip()[:1] in (b"{", b"[") and not layout):
            return self.of_data(json_text.load(source.read(), source.name))
        header = self._header_of(head, source, layout)
        return self._of_lines(source) if header is None else self._of_table(source, header)

    def _header_of(
        self, head: bytes, source: Source, layout: Sequence[str] | None
    ) -> delimited.Header | None:
        """Find how a table is divided; None where each line is one search."""
        whole = source.decoded(head[: head.rfind(b"\n") + 1] or head, 1).encode()
        if layout is not None:
            header = delimited.unnamed(whole, layout)
            if header is None or header.sign == delimited.BLANKS:
                message = f"the first line has no {len(layout)} columns that a sign separates"
                self.faults.fail("columns", message, "separate them by tabs or commas", 1)
            return header
        found = list(delimited.headers(whole).values())
        for header in found:
            if self.given or known(header.names, LOGGED_TEXTS):
                return header
        if source.suffix not in TABLES:
            return None
        begin, line, _ = delimited.beginning(whole)
        first = delimited.line_at(whole, begin)
        alone = delimited.Header(",", [first.decode().strip()], begin + len(first), line + 1)
        return max(found, key=lambda header: len(header.names), default=alone)

    def _of_table(self, source: Source, header: delimited.Header) -> Iterator[LoggedSearch]:
        faults, names = self.faults, header.names
        text, count = self.names(names, max(1, header.line - 1))
        at, counted = names.index(text), None if count is None else names.index(count)
        lines = islice(source.lines(), header.line - 1, None)
        texts = (f"{source.decoded(line, number)}\n" for number, line in lines)
        for number, row in delimited.records(texts, header, faults):
            if any(row):
                cells = delimited.fitted(row, names, number, faults)
                faults.check()
                yield LoggedSearch(number, cells[at], ONE if counted is None else cells[counted])

    def _of_lines(self, source: Source) -> Iterator[LoggedSearch]:
        self.said = "each line is one search"
        for number, line in source.lines():
            if text := source.decoded(line, number).rstrip("\r"):
                yield LoggedSearch(number, text)

    def of_data(self, data: Any) -> Iterator[LoggedSearch]:
        """Read {query: count}, columns by name, records, or queries in a list."""
        columns = frames.columns(data, self.faults)
        if columns is None and isinstance(data, Mapping):
            lists = (isinstance(cells, (list, tuple, np.ndarray)) for cells in data.values())
            if not data or not all(lists):
                self.said = "the count of each query"
                return (LoggedSearch(None, text, count) for text, count in data.items())
            columns = {str(name): list(cells) for name, cells in data.items()}
        if columns is not None:
            text, count = self.names(list(columns))
            counts = [ONE] * len(columns[text]) if count is None else columns[count]
            return (LoggedSearch(None, *row) for row in zip(columns[text], counts, strict=True))
        if not isinstance(data, Iterable) or isinstance(data, (str, bytes)):
            hint = "give a file, {query: count}, or a list of queries"
            message = f"{shown(data)} cannot be read as a log of queries"
            self.faults.fail("bad-shape", message, hint)
        return self.of_records((None, row) for row in data)

    def of_records(self, rows: Iterable[tuple[int | None, Any]]) -> Iterator[LoggedSearch]:
        """Read records, or texts, one by one; records mostly have the same names."""
        seen: tuple[Any, ...] = ()
        text, count = "", None
        for line, row in rows:
            if isinstance(row, Mapping):
                if tuple(row) != seen:
                    seen = tuple(row)
                    text, count = self.names(seen, line)
                yield LoggedSearch(line, row[text], ONE if count is None else row[count])
            elif isinstance(row, str):
                yield LoggedSearch(line, row)
            else:
                hint = 'give {"query": …, "count": …}, or the text of a query'
                self.faults.fail("bad-shape", f"cannot read {shown(row)}", hint, line)


def _json_lines(source: Source) -> Iterator[tuple[int, Any]]:
    for number, line in source.lines():
        if line.strip():
            text = source.decoded(line, number).encode()
            yield number, json_text.load(text, source.name, number - 1)
