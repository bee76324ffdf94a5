"""How a run's text holds its rows, as the compiled kernel must know it; its first rows tell.

The Python readers are the definition. They read the head of the file, and what they made of it is
found again among its columns or keys. Where that leaves anything open, there is no layout, and they
read the whole file or name its fault. The kernel in turn declines a file whose rows are not as
plain as its head promised.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from idealist.data.columns import to_float, to_id
from idealist.data.remarks import Remark
from idealist.errors import Faults, InputError
from idealist.formats import build, contents, trec
from idealist.formats.cells import Table, checked
from idealist.formats.collected_runs import is_collected
from idealist.formats.column_names import (
    BESIDE,
    DISTANCES,
    EITHER,
    ITEM_SCORES,
    RANKINGS,
    RECORD_IDS,
    matching,
)
from idealist.formats.delimited import Header
from idealist.formats.items import SURE_IDS
from idealist.formats.objects import names_in
from idealist.formats.reading import Reading, ReadOptions
from idealist.formats.source import HEAD, Source
from idealist.formats.table_headers import table_header

#: A head is made longer until there is a whole record in it, or so long.
LONGEST_HEAD = 2**24
#: What a row may hold besides its ids.
NUMBERS, QUERY = frozenset({"score", "rank", "tokens"}), frozenset({"query"})
COLUMNS = NUMBERS | QUERY | {"document"}
#: What judgments hold that the kernel reads.
JUDGED = {"query", "document", "score"}
#: Names that the Python readers look at, and that may hold something else further on.
TELLING = (
    *RANKINGS, *EITHER, *BESIDE, *RECORD_IDS, *ITEM_SCORES, *SURE_IDS, "tokens", "rank",
)  # fmt: skip
#: The kernel tells so many keys of an object apart.
MOST_KEYS = 64

#: Names of theirs, each with what it holds: one of our columns, or nothing.
Fields = list[tuple[str, str]]


@dataclass(frozen=True)
class TextLayout:
    """What the kernel is told about a text; so many `lines` come before its first row."""

    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    lines: int = 0
    remarks: tuple[Remark, ...] = ()

    @property
    def has_ranks(self) -> bool:
        """Whether rows have ranks."""
        fields = (*self.facts.get("fields", ()), *self.facts.get("item_fields", ()))
        return not fields or "rank" in {role for _, role in fields}

    def native(self, module: ModuleType) -> Any:
        """Make the kernel's own."""
        return module.Layout(self.kind, **self.facts)


def layout_of(source: Source, options: ReadOptions, value: str = "score") -> TextLayout | None:
    """Find how a file holds its rows; None where Python has to read it.

    Judgments have a grade for a score, and no other columns.
    """
    if contents.is_trec(source, options):
        if value == "grade":
            return None
        is_msmarco = trec.is_msmarco(trec.first_line(source.head()))
        return TextLayout("msmarco" if is_msmarco else "trec")
    if is_collected(source.head()):
        return None  # a query may have several lines, and some say that it failed
    try:
        if contents.is_json_lines(source):
            layout = _of_json(source, options, value)
        else:
            layout = _of_delimited(source, options, value)
    except (InputError, ValueError, TypeError, RecursionError, csv.Error):
        return None  # the Python reader reports it
    used = layout is None or {role for _, role in layout.facts["fields"]} == JUDGED
    return layout if used or value == "score" else None


@dataclass(frozen=True)
class _Head:
    """The first rows of a file, and what the Python readers make of them."""

    table: Table
    reading: Reading

    @classmethod
    def of(cls, source: Source, head: bytes, options: ReadOptions, value: str) -> _Head:
        """Read a head as if it were the file; raise what is wrong with it."""
        reading = Reading(value, Faults(source.name), options)
        found = contents.cells(Source(source.name, spooled=head), reading)
        if isinstance(found, bytes):
            raise ValueError("there are no names")
        table = checked(found, reading)
        if not table.query:
            raise ValueError("there are no rows")
        if value == "score":
            build.rows(table, source.name)
        return cls(table, reading)

    def named(
        self, names: list[Any], rows: Sequence[Mapping[Any, Any]], which: frozenset[str] = COLUMNS
    ) -> Fields:
        """Find which of their names holds each of our columns; nothing if that is not clear."""
        usual, found = self.reading.ours(names), dict[Any, str]()
        for ours, column in self._columns(which).items():
            same = [name for name in names if self._holds(name, rows, ours, column)]
            name = self.reading.value if ours == "score" else ours
            best = [one for one in same if one == usual.get(name)] or same
            if len(best) != 1 or best[0] in found:
                return []
            found[best[0]] = ours
        return [(str(name), found.get(name, "")) for name in names]

    def _columns(self, which: frozenset[str]) -> dict[str, Sequence[Any]]:
        table = self.table
        found: dict[str, Sequence[Any]] = {"query": table.query, "document": table.document}
        found |= {"score": table.value}
        found |= {name: table.columns.get(name, []) for name in ("rank", "tokens")}
        return {name: column for name, column in found.items() if column and name in which}

    @staticmethod
    def _holds(
        name: str, rows: Sequence[Mapping[str, Any]], ours: str, column: Sequence[Any]
    ) -> bool:
        """Whether the cells under this name are those of our column."""
        read: Callable[[Any], Any] = READ.get(ours, _unread)
        try:
            cells = [read(row[name]) for row in rows]
        except (KeyError, TypeError, ValueError, OverflowError):
            return False
        pairs = zip(cells, column, strict=False)
        return len(cells) == len(column) and all(
            cell == own or str(cell) == str(own) == "nan" for cell, own in pairs
        )

    def layout(self, kind: str, fields: Fields, lines: int = 0, **facts: Any) -> TextLayout | None:
        """Make a layout of fields, unless it is not clear what they hold, here or further on."""
        if not fields or (kind != "delimited" and len(fields) > MOST_KEYS):
            return None
        every = [*fields, *facts.get("item_fields", ())]
        passed = tuple(name for name, role in every if role in ("", "required"))
        known = DISTANCES if kind == "delimited" else (*TELLING, *DISTANCES)
        if matching(tuple(name for name, _ in every), DISTANCES) or matching(passed, known):
            return None
        facts["fields"] = fields
        return TextLayout(kind, facts, lines, tuple(self.reading.remarks))


def _number(cell: Any) -> float:
    return to_float(cell.replace(",", ".") if isinstance(cell, str) else cell)


def _unread(cell: Any) -> Any:
    return cell


#: How the cells of our columns are read; the others are checked later.
READ = {"query": to_id, "document": to_id, "score": _number}


def _of_delimited(source: Source, options: ReadOptions, value: str) -> TextLayout | None:
    data = source.head()
    header = table_header(data, Reading(value, Faults(source.name), options))
    if header is None or header.sign == " ":
        return None
    rows, end = _whole_rows(data, header)
    head = _Head.of(source, data[:end], options, value)
    cells = [
        dict(zip(header.names, row, strict=False)) for row in rows if "".join(row).strip(" \t")
    ]
    fields = head.named(header.names, cells)
    numbers = [name for name, role in fields if role in NUMBERS]
    commas = any("," in row[name] for row in cells for name in numbers)
    if commas and len(numbers) > 1:  # each may be written in its own way
        return None
    return head.layout(
        "delimited", fields, header.line - 1, header=header.body, separator=header.sign,
        skip_blanks=header.skips, decimal_comma=commas,
    )  # fmt: skip


def _whole_rows(data: bytes, header: Header) -> tuple[list[list[str]], int]:
    """Split the head of a table into rows; return them, and where the last whole one ends."""
    lines = data[header.body :].split(b"\n")
    texts = (line.decode(errors="replace") + "\n" for line in lines)
    reader = csv.reader(texts, delimiter=header.sign, strict=True, skipinitialspace=header.skips)
    rows, ends = [], [0]
    with suppress(csv.Error):  # the last row goes on, or is a fault to report
        for row in reader:
            rows.append(row)
            ends.append(reader.line_num)
    if len(data) < HEAD:
        return rows, len(data)
    last = max(len(rows) - 1, 0)
    return rows[:last], header.body + sum(len(line) + 1 for line in lines[: ends[last]])


def _of_json(source: Source, options: ReadOptions, value: str) -> TextLayout | None:
    data = _whole_lines(source)
    head = _Head.of(source, data, options, value)
    records = [json.loads(line) for line in data.split(b"\n") if line.strip()]
    names = list(names_in(records))
    always = {name for name in names if all(name in record for record in records)}
    if len(records) == len(head.table.query) and (fields := head.named(names, records)):
        return head.layout("hits", _required(fields, always))
    lists = [name for name in names if all(isinstance(r.get(name), list) for r in records)]
    found = [(name, fact) for name in lists if (fact := _items_of(name, names, records, head))]
    if len(found) != 1:
        return None
    ((name, (query, kind, item_fields)),) = found
    roles = {name: "list", query: "query"}
    fields = [(one, roles.get(one, "")) for one in names]
    return head.layout("lists", _required(fields, always), items=kind, item_fields=item_fields)


def _required(fields: Fields, always: Collection[str]) -> Fields:
    """Require what all records had so far: one without it may be read in another way."""
    return [(name, role or ("required" if name in always else "")) for name, role in fields]


def _items_of(
    name: str, names: list[str], records: list[dict[str, Any]], head: _Head
) -> tuple[str, str, Fields] | None:
    """Find out if the rows are the items of this list, in records of one query each.

    Return the name of the query, what the items are, and their fields.
    """
    items = [item for record in records for item in record[name]]
    owners = [record for record in records for _ in record[name]]
    if len(kinds := {_kind(item) for item in items}) != 1:
        return None
    (kind,) = kinds
    if kind != "objects":
        items = [dict(enumerate(item if kind == "pairs" else [item])) for item in items]
    query = [one for one, role in head.named(names, owners, QUERY) if role]
    fields = head.named(list(names_in(items)), items, COLUMNS - QUERY)
    return (query[0], kind, fields) if query and fields else None


def _kind(item: Any) -> str:
    pair = isinstance(item, list) and len(item) == 2
    return "objects" if isinstance(item, dict) else "pairs" if pair else "ids"


def _whole_lines(source: Source) -> bytes:
    """Read a head of whole lines, which is made longer until there is one."""
    size = HEAD
    while len(data := source.head(size)) == size and b"\n" not in data and size < LONGEST_HEAD:
        size *= 8
    return data[: data.rfind(b"\n") + 1] if len(data) == size else data
