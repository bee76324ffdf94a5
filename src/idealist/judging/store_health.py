"""Whether a store is sound: its file, its tables, its references, and what its library can do."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealist.errors import Faults
from idealist.rendering.document import TEXT, Block, Column, Command, Document, Table, Text
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
        rows = tuple((one.name, one.state, one.says) for one in self.checks)
        columns = (Column("check", TEXT), Column("", TEXT), Column("found", TEXT))
        advice = "Keep a plain copy of everything elsewhere; it can be read without SQLite, and "
        advice += "imported into a new store:"
        if not self.is_sound:
            advice = "Save what can be read before anything else is written to it, then import "
            advice += "that into a new store:"
        blocks: tuple[Block, ...] = (
            Text(f"{self.summary}.", strong=True), Table(columns, rows), Text(advice),
            Command(f"idealist judge export {self.path} -o {Path(self.path).stem}-record.jsonl"),
        )  # fmt: skip
        return Document(blocks)

    def data(self) -> Any:
        """Return the checks as plain data."""
        checks = [{"check": one.name, "state": one.state, "found": one.says} for one in self.checks]
        return {"store": self.path, "sound": self.is_sound, "checks": checks}


def examine(path: str | Path) -> Checkup:
    """Look a store over without changing it: the file, its references, its settings and texts."""
    _check_file(path)
    uri = f"{Path(path).absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=5)) as connection:
        return Checkup(str(path), tuple(_checks(connection, path)))


def _check_file(path: str | Path) -> None:
    if not os.path.isfile(path):
        Faults(str(path)).fail("no-file", "there is no such store", f"idealist judge init {path}")
    with open(path, "rb") as file:
        if not file.read(16).startswith(b"SQLite format 3"):
            hint = "give a file that idealist judge init made"
            Faults(str(path)).fail("bad-shape", "this file is not a store of judgments", hint)


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
    risk = "has a rare fault that can damage a file while several processes write to it"
    return "note", f"{named} {risk}; it is mended in 3.51.3"


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


def _rows(connection: sqlite3.Connection) -> Finding:
    tables = ("judgment", "query", "document", "batch", "call", "preference")
    counts = {t: connection.execute(f"SELECT COUNT(*) FROM {t}").fetchone()[0] for t in tables}
    named = {"judgment": "judgments", "query": "queries", "batch": "batches"}
    said = [counted(n, t, named.get(t, f"{t}s")) for t, n in counts.items() if n]
    return "ok", ", ".join(said) or "nothing yet"


CHECKS: dict[str, Callable[[sqlite3.Connection], Finding]] = {
    "integrity": _integrity,
    "references": _references,
    "rows": _rows,
}
