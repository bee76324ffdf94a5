"""The plain record of a store: everything it holds, a JSON object a line; and a store made of it.

The first line names the record and counts its rows. Each other line is a row: `row` names its
table, and a field that is left out is empty. Rows refer to each other by `id`. A new store made of
a record holds the same rows under the same ids; rows that a store has already are not added again.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, NoReturn

from idealist import files
from idealist.data import Scale
from idealist.errors import Faults
from idealist.formats.source import Source
from idealist.formats.stored_judgments import store_address
from idealist.judging.choosing.adaptive import WALKS
from idealist.judging.schema import KEPT, PEOPLE
from idealist.judging.store import Store
from idealist.notation import tidy
from idealist.rendering.document import Document, Table, Text
from idealist.rendering.plain_data import records_table
from idealist.rendering.result import Result
from idealist.rendering.wording import counted

#: How the first line of a record begins; the number of rows of each table follows.
NAMED = {"record": "idealist store of judgments", "version": 1}
#: Suffixes of files that are not compressed.
RECORDED = ("", ".jsonl", ".ndjson")
#: Tables whose rows have another name when there are several.
SEVERAL = {"query": "queries", "batch": "batches", "pooled": "pooled pairs"}
#: How many lines are written at once.
LINES = 1000
#: Largest whole number up to which each one has its own floating-point number.
EXACT = 2**53


@dataclass(frozen=True)
class Shape:
    """The columns of a table: what each holds where nothing is said, and the rows that it names."""

    table: str
    empty: Mapping[str, Any]
    names: Mapping[str, str]

    @classmethod
    def of(cls, table: str, connection: sqlite3.Connection) -> Shape:
        """Ask a store for the columns of one of its tables."""
        columns = connection.execute(f"PRAGMA table_info({table})")
        empty = {name: _empty(kind, needed) for _, name, kind, needed, _, _ in columns}
        keys = connection.execute(f"PRAGMA foreign_key_list({table})")
        names = {own: parent for _, _, parent, own, *_ in keys}
        return cls(table, empty, names)

    @cached_property
    def insert(self) -> str:
        """The statement that adds a row, unless it says again what may be said only once."""
        marks = ", ".join("?" * len(self.empty))
        return f"INSERT INTO {self.table} VALUES ({marks}) ON CONFLICT DO NOTHING"


def _empty(kind: str, needed: int) -> Any:
    return ("" if kind == "TEXT" else 0) if needed else None


def shapes(connection: sqlite3.Connection) -> dict[str, Shape]:
    """Find the tables of a record, those that others refer to first."""
    made = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
    return {name: Shape.of(name, connection) for (name,) in made if name in KEPT}


def record_blocks(connection: sqlite3.Connection) -> Iterator[bytes]:
    """Write everything that a store holds, many lines at once."""
    sizes = {table: _size(table, connection) for table in shapes(connection)}
    held = {table: size for table, size in sizes.items() if size}
    yield f"{json.dumps({**NAMED, 'rows': held})}\n".encode()
    lines: list[str] = []
    for line in _lines(connection):
        lines.append(line)
        if len(lines) == LINES:
            yield "".join(lines).encode()
            lines.clear()
    yield "".join(lines).encode()


def _size(table: str, connection: sqlite3.Connection) -> int:
    return int(connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])


def _lines(connection: sqlite3.Connection) -> Iterator[str]:
    for shape in shapes(connection).values():
        head = f'{{"row": "{shape.table}"'
        named = [(f', "{name}": ', nothing) for name, nothing in shape.empty.items()]
        for row in connection.execute(f"SELECT * FROM {shape.table} ORDER BY rowid"):
            said = [
                name + (encode_basestring(cell) if type(cell) is str else _number(cell))
                for (name, nothing), cell in zip(named, row, strict=True)
                if cell != nothing
            ]
            yield f"{head}{''.join(said)}}}\n"


def _number(cell: float) -> str:
    """Write a number; a whole one without a fraction, as the column makes it real again."""
    if type(cell) is float and cell.is_integer() and abs(cell) < EXACT:
        return str(int(cell))
    written = repr(cell)
    return written if written[-1].isdigit() else json.dumps(cell)


def record_in(path: str | Path) -> Source | None:
    """Find the plain record that a file is, or that a store has; None of any other file."""
    if (address := store_address(path)) is not None:
        with Store.to_read(address.path) as store, store.reading() as connection:
            return Source(str(path), spooled=b"".join(record_blocks(connection)))
    source, start = Source.of(path), json.dumps(NAMED)[:-1]
    return source if source.head(len(start)).decode(errors="replace") == start else None


@dataclass(frozen=True, repr=False)
class Restored(Result):
    """What was taken out of a record: rows that were new, and rows that were there, by table."""

    name: str
    added: Mapping[str, int]
    known: Mapping[str, int]

    @property
    def summary(self) -> str:
        """What was added, in one sentence."""
        if not self.added:
            return f"Nothing new: all that {self.name} holds was there already"
        known = sum(self.known.values())
        there = f"; {counted(known, 'row was', 'rows were')} there already" if known else ""
        return f"{rows_words(self.added)} of {self.name} added{there}"

    def report(self) -> Document:
        """Say what was added."""
        return Document((Text(f"{self.summary}.", strong=True),))

    def table(self) -> Table:
        """Return it as one row for programs."""
        return records_table([self.data()])

    def data(self) -> Any:
        """Return the counts as plain data."""
        return {"name": self.name, "added": dict(self.added), "known": dict(self.known)}


def rows_words(counts: Mapping[str, int]) -> str:
    """Name how many rows of which table there are.

    >>> rows_words({"query": 2, "judgment": 1})
    '2 queries, 1 judgment'
    """
    rows = {"pooled": "pooled pair"}
    return ", ".join(
        counted(n, rows.get(table, table), SEVERAL.get(table, f"{table}s"))
        for table, n in counts.items()
        if n
    )


def write_record(store: Store, path: str | Path) -> str:
    """Write everything that a store holds to a file, whole or not at all; say how much it is."""
    with store.reading() as connection:
        sizes = {table: _size(table, connection) for table in shapes(connection)}
        files.write(path, _compressed(path, record_blocks(connection)))
    return rows_words(sizes) or "no rows"


def _compressed(path: str | Path, blocks: Iterator[bytes]) -> Iterable[bytes]:
    if Path(path).suffix.lower() in RECORDED:
        return blocks
    return [files.compressed(path, b"".join(blocks))]


def restored(path: str | Path, source: Source) -> Restored:
    """Add what a record holds to a store, all of it or nothing; make the store if there is none.

    Settings are only taken into a store without any, and grades must be on its scale.
    """
    if Path(path).exists():
        with Store(path) as store:
            return _restored(store, source)
    try:
        with Store.create(path) as store:
            return _restored(store, source)
    except BaseException:  # nothing was in it
        for end in ("", "-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        raise


def _restored(store: Store, source: Source) -> Restored:
    with store.writing() as connection:
        restoring = Restoring(connection, source.name, store.scale)
        restoring.add(record_rows(source))
        _hand_over_turns(connection)
    return Restored(source.name, restoring.added, restoring.known)


@dataclass
class Restoring:
    """Rows of a record on their way into a store; `added` counts those that were new, by table.

    A row that the store holds already, to the letter, is the same row: as many of them as the
    record has. In a table without rows, ids stay what they were.
    """

    connection: sqlite3.Connection
    name: str
    scale: Scale | None
    added: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    ids: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    held: dict[str, dict[tuple[Any, ...], deque[int]] | None] = field(default_factory=dict)

    @cached_property
    def shaped(self) -> dict[str, Shape]:
        """The tables of the store."""
        return shapes(self.connection)

    def add(self, rows: Iterable[tuple[int, dict[str, Any]]]) -> None:
        """Add the rows of a record, each with the number of its line."""
        for line, row in rows:
            table = row.pop("row", None)
            if table not in self.shaped:
                hint = "is the record made by a later version of idealist?"
                self._refuse(line, f"there are no rows {table!r} in a store", hint)
            try:
                self._add(self.shaped[table], row, line)
            except (sqlite3.Error, OverflowError, UnicodeEncodeError) as error:
                self._refuse(line, f"this {table} cannot be kept: {error}", "check the line")

    def _add(self, shape: Shape, row: dict[str, Any], line: int) -> None:
        if not row.keys() <= shape.empty.keys():
            unknown = ", ".join(sorted(row.keys() - shape.empty.keys()))
            self._refuse(line, f"a {shape.table} has no {unknown}", "check the line")
        for column, parent in shape.names.items():
            if row.get(column) is not None and "id" in self.shaped[parent].empty:
                row[column] = self._renamed(parent, row[column], line)
        old, held = row.pop("id", None), self._held(shape)
        if shape.table == "setting" and held is not None:
            self.known["setting"] += 1
            return
        self._check_grade(row.get("grade"), line)
        cells = [row.get(name, nothing) for name, nothing in shape.empty.items() if name != "id"]
        if held is not None and (same := held.get(tuple(cells))):
            self.ids[shape.table][old or 0] = same.popleft()
            self.known[shape.table] += 1
            return
        if "id" in shape.empty:
            cells = [old if held is None else None, *cells]
        done = self.connection.execute(shape.insert, cells)
        (self.added if done.rowcount else self.known)[shape.table] += 1
        if old is not None:
            new = done.lastrowid if done.rowcount else self._same(shape, row, line)
            self.ids[shape.table][old] = int(new or 0)

    def _check_grade(self, grade: Any, line: int) -> None:
        if self.scale is not None and grade is not None and grade not in self.scale.grades:
            known = ", ".join(str(tidy(one)) for one in self.scale.grades)
            message = f"grade {grade} is not on the scale of the store"
            Faults(self.name).fail("off-scale", message, f"its grades: {known}", line)

    def _held(self, shape: Shape) -> dict[tuple[Any, ...], deque[int]] | None:
        """Return the ids of the rows that were there before by what they hold; None without any."""
        if shape.table not in self.held:
            found: dict[tuple[Any, ...], deque[int]] = defaultdict(deque)
            if "id" in shape.empty:
                own = list(shape.empty).index("id")
                for row in self.connection.execute(f"SELECT * FROM {shape.table} ORDER BY id"):
                    found[row[:own] + row[own + 1 :]].append(row[own])
            self.held[shape.table] = found or None
        return self.held[shape.table]

    def _renamed(self, parent: str, old: Any, line: int) -> int:
        if old not in self.ids[parent]:
            message = f"this refers to {parent} {old!r}, which no line before it holds"
            self._refuse(line, message, "give the whole record")
        return self.ids[parent][old]

    def _same(self, shape: Shape, row: Mapping[str, Any], line: int) -> int:
        """Find the row that says already what may be said only once."""
        for column in ("token", "undoes", "request"):
            if row.get(column):
                asked = f"SELECT id FROM {shape.table} WHERE {column} = ? ORDER BY id DESC"
                if found := self.connection.execute(asked, (row[column],)).fetchone():
                    return int(found[0])
        self._refuse(line, f"another {shape.table} has the same id", "give the record as it was")

    def _refuse(self, line: int, message: str, hint: str) -> NoReturn:
        Faults(self.name).fail("bad-shape", message, hint, line)


def _hand_over_turns(connection: sqlite3.Connection) -> None:
    """Give documents that were judged the turns that strategies which learn gave them then."""
    marks = ", ".join("?" * len(WALKS))
    lacking = connection.execute(_WITHOUT_TURN.format(marks), [*WALKS]).fetchall()
    for batch, query, document in lacking:
        first = "SELECT MIN(place) FROM turn WHERE batch = ?1 AND query = ?2 AND judged = 0"
        asked = (
            f"UPDATE turn SET document = ?3 WHERE batch = ?1 AND query = ?2 AND place = ({first})"
        )
        connection.execute(asked, (batch, query, document))
        counted_anew = f"UPDATE turn SET (judged, people) = ({PEOPLE.format(row='turn')})"
        where = "batch = ?1 AND query = ?2 AND document = ?3"
        connection.execute(f"{counted_anew} WHERE {where}", (batch, query, document))


_WITHOUT_TURN = """
SELECT DISTINCT one.batch, one.query, one.document
FROM every_current_judgment AS one JOIN batch ON batch.id = one.batch
JOIN pooled USING (batch, query, document)
WHERE batch.strategy IN ({}) AND one.status <> 'later' AND NOT EXISTS (
    SELECT 1 FROM turn WHERE turn.batch = one.batch AND turn.query = one.query
    AND turn.document = one.document
)
"""


def record_rows(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the rows of a record, each with the number of its line; refuse one that is cut off."""
    faults, rest, number, size = Faults(source.name), b"", 0, 0
    for block in source.blocks():
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            number += 1
            row = _row(line, number, faults)
            if number == 1:
                size = sum(row.get("rows", {}).values())
            else:
                yield number, row
    if rest or number != size + 1:
        message = f"the record has {max(number - 1, 0):,} rows, and should have {size:,}"
        faults.fail("truncated", message, "export it again", number + 1)


def _row(line: bytes, number: int, faults: Faults) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        shown = line[:60].decode(errors="replace")
        faults.fail("json", f"not a row of a record: {shown}", "export it again", number)
    return found
