"""Whether a store is sound: its file, its tables, its references, and what its library can do."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealist.errors import Faults
from idealist.formats.sqlite_files import is_sqlite, read
from idealist.formats.stored_judgments import APPLICATION, VERSION, scale_of_store
from idealist.judging.pair_views import scale_words
from idealist.judging.record_files import rows_words
from idealist.judging.schema import KEPT, PEOPLE
from idealist.rendering.document import Block, Command, Document, Items, Table, Text
from idealist.rendering.result import Result
from idealist.rendering.wording import counted, few

#: How many faults of one kind are shown.
SHOWN = 5
#: Releases of SQLite from here on are free of a rare race that can damage a file in WAL mode while
#: several processes write; 3.52.0 was withdrawn. https://sqlite.org/wal.html
MENDED, WITHDRAWN = (3, 51, 3), (3, 52, 0)

#: What a check found: how grave it is, in words.
Finding = tuple[str, str]


@dataclass(frozen=True)
class Check:
    """One look at a store: `state` is ok, note or wrong."""

    name: str
    state: str
    says: str

    def __str__(self) -> str:
        return f"{self.name}{'' if self.state == 'ok' else f' ({self.state})'}: {self.says}"


@dataclass(frozen=True, repr=False)
class Checkup(Result):
    """What is found of a store's health; it `is_sound` if nothing is wrong."""

    path: str
    checks: tuple[Check, ...]

    @property
    def wrong(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.state == "wrong")

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong; what is only worth knowing does not count."""
        return not self.wrong

    @property
    def summary(self) -> str:
        """Whether the store is sound, in one sentence."""
        if self.is_sound:
            return f"{self.path} is sound"
        failed = few([check.name for check in self.wrong])
        return f"{self.path} is not sound: {failed} failed"

    def report(self) -> Document:
        """Describe what was checked, and how to keep the judgments safe."""
        found = tuple(map(str, self.checks))
        advice = "Keep a plain copy of everything elsewhere; it can be read without SQLite, and "
        advice += "imported into a new store:"
        if not self.is_sound:
            advice = "Save what can be read before anything else is written to it, then import "
            advice += "that into a new store:"
        blocks: tuple[Block, ...] = (
            Text(f"{self.summary}.", strong=True), Items(found), Text(advice),
            Command(f"idealist judge export {self.path} -o {Path(self.path).stem}-record.jsonl"),
        )  # fmt: skip
        return Document(blocks)

    def table(self) -> Table:
        """Return the checks for programs."""
        rows = [(one.name, one.state, one.says) for one in self.checks]
        return Table.of(["check", "state", "found"], [], rows)

    def data(self) -> Any:
        """Return the checks as plain data."""
        checks = [{"check": one.name, "state": one.state, "found": one.says} for one in self.checks]
        return {"store": self.path, "sound": self.is_sound, "checks": checks}


def examine(path: str | Path) -> Checkup:
    """Look a store over without changing it: the file, its rows, its settings and texts."""
    if not Path(path).exists():
        hint = f"make one: idealist judge init {path}"
        Faults(str(path)).fail("no-file", "there is no such store", hint)
    if not is_sqlite(Path(path)):
        hint = "give a file that idealist judge init made"
        Faults(str(path)).fail("bad-shape", "this is not a store of judgments", hint)
    return Checkup(str(path), read(Path(path), lambda connection: tuple(_checks(connection, path))))


def _checks(connection: sqlite3.Connection, path: str | Path) -> Iterator[Check]:
    yield Check("file", "ok", _size(path))
    yield Check("library", *_library())
    for name, look in CHECKS.items():
        try:
            yield Check(name, *look(connection))
        except sqlite3.Error as error:  # a damaged file fails where it is read
            yield Check(name, "wrong", f"could not be checked: {error}")


def _size(path: str | Path) -> str:
    log = Path(f"{path}-wal")
    more = f", and {_bytes(log.stat().st_size)} in its write-ahead log" if log.exists() else ""
    return f"{_bytes(os.path.getsize(path))}{more}"


def _bytes(size: float) -> str:
    """Write a size as people do.

    >>> _bytes(900), _bytes(81920)
    ('900 bytes', '80.0 KiB')
    """
    if size < 1024:
        return f"{size:.0f} bytes"
    return f"{size / 1024:,.1f} KiB" if size < 1024**2 else f"{size / 1024**2:,.1f} MiB"


def _library(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> Finding:
    """Say which SQLite serves, and whether it has the race.

    >>> _library((3, 53, 0))
    ('ok', 'SQLite 3.53.0')
    """
    named = f"SQLite {'.'.join(map(str, version))}"
    if version >= MENDED and version != WITHDRAWN:
        return "ok", named
    risk = "may, very rarely, damage a file that several processes write to at once"
    return "note", f"{named} {risk}; SQLite 3.51.3 does not"


def _integrity(connection: sqlite3.Connection) -> Finding:
    found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    if found == ["ok"]:
        return "ok", "every page and index can be read"
    return "wrong", "; ".join(found[:SHOWN])


def _references(connection: sqlite3.Connection) -> Finding:
    found = list(connection.execute("PRAGMA foreign_key_check"))
    if not found:
        return "ok", "every row refers to rows that are there"
    tables = sorted({f"{table} to {parent}" for table, _, parent, _ in found})
    return "wrong", f"{counted(len(found), 'reference leads', 'references lead')} nowhere: " + (
        few(tables)
    )


def _tables(connection: sqlite3.Connection) -> Finding:
    """Check that it is a store, of a version that is known, and that its rows are counted."""
    application, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version")
    )
    if application != APPLICATION:
        return "wrong", "this is a database of SQLite, but not a store of judgments"
    if version != VERSION:
        return "wrong", f"version {version} of the tables; this idealist knows {VERSION}"
    sizes = {table: _count(connection, table) for table in KEPT}
    return "ok", f"version {version}; {rows_words(sizes) or 'no rows yet'}"


def _count(connection: sqlite3.Connection, rows: str) -> int:
    return int(connection.execute(f"SELECT COUNT(*) FROM {rows}").fetchone()[0])


def _settings(connection: sqlite3.Connection) -> Finding:
    """Check that the grades that count are on the scale."""
    scale = scale_of_store(connection)
    if scale is None:
        return "note", "no scale is declared, so any number is a grade"
    asked = "SELECT DISTINCT grade FROM every_current_judgment WHERE grade IS NOT NULL"
    given = {grade for (grade,) in connection.execute(asked)}
    if off := sorted(given - {*map(float, scale.grades)}):
        return "wrong", f"grades that are not on the scale: {few([f'{one:g}' for one in off])}"
    return "ok", f"every grade is on the scale: {scale_words(scale)}"


def _turns(connection: sqlite3.Connection) -> Finding:
    """Check what is derived: how many people have judged each pair that is to be judged."""
    total = _count(connection, "turn")
    said = f"(SELECT said.* FROM ({PEOPLE.format(row='turn')}) AS said)"
    wrong = _count(connection, f"turn WHERE (judged, people) <> {said}")
    missing = _count(connection, f"({_LOST_TURNS})")
    if wrong + missing:
        pairs, queries = counted(wrong, "pair", "pairs"), counted(missing, "query", "queries")
        return "wrong", f"the judges of {pairs}, and the turns of {queries}, are miscounted"
    return "ok", f"who has judged what is counted right, for {counted(total, 'pair', 'pairs')}"


#: Queries that lost turns; strategies that learn give a turn to another document of the query.
_LOST_TURNS = """
SELECT batch, query, COUNT(*) FROM pooled WHERE place IS NOT NULL GROUP BY batch, query
EXCEPT SELECT batch, query, COUNT(*) FROM turn GROUP BY batch, query
"""


def _texts(connection: sqlite3.Connection) -> Finding:
    """Note documents and queries that judges could not read."""
    lacking = {
        what: [one for (one,) in connection.execute(_LACKING.format(what=what))]
        for what in ("query", "document")
    }
    several = {"query": ("query", "queries"), "document": ("document", "documents")}
    said = [
        f"{counted(len(names), *several[what])} without a text: {few(names, 3)}"
        for what, names in lacking.items()
        if names
    ]
    return ("note", "; ".join(said)) if said else ("ok", "all that is to be judged can be read")


_LACKING = """
SELECT {what} FROM pooled WHERE place IS NOT NULL UNION SELECT {what} FROM judgment
EXCEPT SELECT {what} FROM {what}
"""
CHECKS: dict[str, Callable[[sqlite3.Connection], Finding]] = {
    "integrity": _integrity, "references": _references, "tables": _tables, "scale": _settings,
    "turns": _turns, "texts": _texts,
}  # fmt: skip
