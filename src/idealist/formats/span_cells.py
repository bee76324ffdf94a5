"""Spans in columns: rows with start and end, or with a text to be found, get the ids of spans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from idealist.data.columns import Ints, to_float, to_id
from idealist.data.spans import Span
from idealist.formats.cells import Cells, Table, checked, shown
from idealist.formats.column_names import ENDS, QUOTES, STARTS, folded, matching
from idealist.formats.quotes import Found, SearchedText, normalised
from idealist.formats.reading import Reading
from idealist.notation import many
from idealist.rendering.wording import few

DOCS_HINT = "give the documents' texts: docs=…, or --docs PATH"
#: How many quotes are listed where many are lost.
LISTED = 10
SPAN_HINT = "give each row start and end, whole numbers, or a text and --docs"


class _Row(NamedTuple):
    """Where a row says that it is; None where it does not say."""

    number: int
    document: Any
    start: int | None
    end: int | None
    quote: str | None


@dataclass
class Spans:
    """The rows of a table, while their places in documents are looked for."""

    cells: Cells
    reading: Reading
    moved: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)

    @property
    def is_gold(self) -> bool:
        """Whether these are judgments."""
        return self.reading.value == "grade"

    @cached_property
    def rows(self) -> list[_Row]:
        """The rows, with the columns that say where they are."""
        size, names = len(self.cells), tuple(self.cells.columns)
        own = [next(iter(matching(names, known)), None) for known in (STARTS, ENDS, QUOTES)]
        none: list[Any] = [None] * size
        starts, ends, quotes = (self.cells.columns[n] if n is not None else none for n in own)
        found = zip(range(size), self.cells.columns["document"], starts, ends, quotes, strict=True)
        return [
            _Row(i, document, self._offset(start, i), self._offset(end, i), self._text(quote))
            for i, document, start, end, quote in found
        ]

    def _offset(self, cell: Any, row: int) -> int | None:
        try:
            number = math.nan if cell is None or cell == "" else to_float(cell)
            if math.isnan(number):  # which is what frames have for nothing
                return None
            if number < 0 or number != int(number):
                raise ValueError(cell)
        except (TypeError, ValueError, OverflowError):
            self._fault(row, f"offset {shown(cell)} is no whole number of at least 0")
            return None
        return int(number)

    @staticmethod
    def _text(cell: Any) -> str | None:
        return cell if isinstance(cell, str) and cell else None

    def _fault(self, row: int, message: str, hint: str = SPAN_HINT) -> None:
        query, document = (self.cells.columns[name][row] for name in ("query", "document"))
        words = f"query {shown(query)}, document {shown(document)}: {message}"
        self.reading.faults.add("bad-span", words, hint, self.cells.at(row))

    @cached_property
    def texts(self) -> dict[str, SearchedText]:
        """The texts of the documents, those that were given and are needed."""
        from idealist.formats.document_texts import document_texts  # which reads tables itself

        options = self.reading.options
        if options.docs is None:
            return {}
        asked = {str(row.document) for row in self.rows}
        found = document_texts(options.docs, asked).found if asked else {}
        return {name: SearchedText(text.text or text.title) for name, text in found.items()}

    def span(self, row: _Row) -> Span | None:
        """Find where a row is; None where its quote is lost, or something is wrong with it.

        Of evidence, the quote is believed; of a chunk the offsets, as splitters change its text.
        """
        document, text = str(row.document), self.texts.get(str(row.document))
        start, end = (self._characters(one, text, row) for one in (row.start, row.end))
        if row.quote is not None and text is not None and (self.is_gold or start is None):
            return self._sought(row, Span(document, start or 0, end or 0), text)
        if start is not None and end is None and row.quote is not None:
            end = start + len(row.quote)
        if start is None or end is None:
            return self._without(row)
        self._check(row, span := Span(document, start, end), text)
        return span

    def _check(self, row: _Row, span: Span, text: SearchedText | None) -> None:
        """Note a span that ends too early or too late, and doubt one unlike its text."""
        name, start, end = span
        if start > end or (self.is_gold and start == end):
            self._fault(row.number, f"the span from {start} to {end} is empty")
        elif self.is_gold and text is not None and end > len(text.text):
            self._fault(row.number, f"it ends at {end}, and the document at {len(text.text)}")
        elif text is None:
            if self.reading.options.docs is not None:
                self.odd.append(f"{span.name}, of no document that is there")
            elif self.is_gold and row.quote is not None and end - start != len(row.quote):
                self.odd.append(span.name)
        elif end > len(text.text):
            self.odd.append(f"{span.name}, and {name} ends at {len(text.text)}")
        elif row.quote is not None and not _alike(text.text[start:end], row.quote):
            self.odd.append(f"{span.name}, where its text is not")

    def _characters(self, offset: int | None, text: SearchedText | None, row: _Row) -> int | None:
        """Turn an offset into one that counts characters."""
        unit = self.reading.options.offsets or "characters"
        if offset is None or unit == "characters":
            return offset
        if text is None:
            hint = DOCS_HINT if self.reading.options.docs is None else "check its id"
            self._fault(row.number, f"offsets in {unit} need the text of the document", hint)
            return offset
        place = int(np.searchsorted(edges := _edges(text.text, unit), offset))
        if place == len(edges) or edges[place] != offset:
            self._fault(row.number, f"{offset} in {unit} is no place between two characters")
        return place

    def _sought(self, row: _Row, said: Span, text: SearchedText) -> Span | None:
        """Look for a quote in its document, nearest to where it is said to be."""
        assert row.quote is not None  # only such rows are sought
        if row.start is not None and text.text[said.start : said.end] == row.quote:
            return said
        found = text.find(row.quote, None if row.start is None else said.start)
        if found is None:
            return self._missed(row)
        span = Span(said.document, found.start, found.end)
        if found.times > 1 and row.start is None:
            self.repeated.append(f"{span.name}, one of {found.times} places")
        if found.how == "fuzzy" or (self.is_gold and row.start is not None and span != said):
            self.moved.append(_moved(said if row.start is not None else None, span, found))
        return span

    def _missed(self, row: _Row) -> Span | None:
        """Give up a quote; a chunk that is lost was read all the same, and covers nothing."""
        assert row.quote is not None  # only such rows are sought
        words = " ".join(row.quote.split())
        self.lost.append(f"{row.document}: {words[:40]!r}{'…' if len(words) > 40 else ''}")
        if self.is_gold:
            return None
        return Span(f"{row.document}?{row.number}", 0, len(row.quote))

    def _without(self, row: _Row) -> Span | None:
        """Read a row that says nothing, whose id may be that of a span."""
        if row.start is None and row.end is None and (known := Span.of(str(row.document))):
            return known
        if row.quote is None:
            self._fault(row.number, "nothing says where in the document it is")
        elif self.reading.options.docs is None:
            self._fault(row.number, "only its text says where it is", DOCS_HINT)
        else:  # the collection has no such document
            return self._missed(row)
        return None

    def remark(self) -> None:
        """Say what was moved and what is lost."""
        kind, total = "quotes" if self.is_gold else "chunks", len(self.cells)
        gone = "and left out" if self.is_gold else "and finds nothing"
        for code, found, said, severity in (
            ("moved-quotes", self.moved, "found again, moved or edited", "note"),
            ("repeated-quotes", self.repeated, "in several places, and the first counts", "note"),
            ("lost-quotes", self.lost, f"in none of the documents, {gone}", "warning"),
            (
                "odd-quotes",
                self.odd,
                "not found at the offsets given: what do they count?",
                "warning",
            ),
        ):
            if found:
                verb = "is" if len(found) == 1 else "are"
                words = f"{len(found)} of {total} {kind} {verb} {said} ({few(found, LISTED)})"
                self.reading.remark(
                    code, f"{self.reading.faults.file}: {words}", len(found), severity
                )


def _alike(text: str, quote: str) -> bool:
    """Whether a text is a chunk's, which splitters trim, and to which some add a title."""
    if text == quote:
        return True
    one, other = (normalised(each)[0].strip() for each in (text, quote))
    return one in other or other in one


def _moved(said: Span | None, found: Span, how: Found) -> str:
    edits = f" with {many(how.edits, 'edit', 'edits')}" if how.edits else ""
    return f"{said.name} at {found.start}:{found.end}{edits}" if said else f"{found.name}{edits}"


def _edges(text: str, unit: str) -> Ints:
    """Return where each character begins, and the last one ends, in UTF-8 or in UTF-16 units."""
    sign = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    wide = (sign > 0xFFFF).astype(np.int64)
    width = 1 + wide + (0 if unit == "utf16" else (sign > 0x7F) + (sign > 0x7FF).astype(np.int64))
    return np.concatenate(([0], np.cumsum(width)))


def checked_rows(cells: Cells, reading: Reading) -> Table:
    """Check ids and values, those of spans where rows are parts of documents."""
    return checked(with_span_ids(cells, reading) if reading.options.spans else cells, reading)


def with_span_ids(cells: Cells, reading: Reading) -> Cells:
    """Name rows by their spans, ``document[start:end]``; lost quotes of judgments are left out."""
    spans = Spans(cells, reading)
    names: list[Any] = list(cells.columns["document"])
    kept = []
    for row in spans.rows:
        try:
            to_id(row.document)
        except (TypeError, ValueError):  # reported with all other ids
            kept.append(row.number)
            continue
        if (span := spans.span(row)) is not None:
            names[row.number] = span.name
            kept.append(row.number)
    spans.remark()
    reading.faults.check()
    gone = {*range(len(cells))} - {*kept}
    columns = _others(cells.columns) | {"document": names}
    queries = [cells.columns["query"][i] for i in sorted(gone)]
    found = replace(cells, columns=columns)
    if not gone:
        return found
    return replace(found.only(kept), empty=[*cells.empty, *dict.fromkeys(map(to_id, queries))])


def _others(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Leave out the columns that said where rows are, and what lies beside them in text."""
    used = matching(tuple(columns), (*STARTS, *ENDS, *QUOTES))
    return {name: cells for name, cells in columns.items() if name not in used}


def names_spans(names: Sequence[Any]) -> bool:
    """Whether columns of judgments say where in documents they are.

    >>> names_spans(["query", "document", "start", "end"]), names_spans(["query", "doc", "text"])
    (True, False)
    """
    plain = set(map(folded, names))
    both = all(plain & set(map(folded, known)) for known in (STARTS, ENDS))
    return both or "quote" in plain
