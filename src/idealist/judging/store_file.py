"""The file of a store: made whole, opened, brought up to date, and written to in transactions."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from idealist import files
from idealist.errors import Faults, IdealistError, UsageError
from idealist.formats.sqlite_files import PATIENCE, explained, is_sqlite, readable
from idealist.formats.stored_judgments import (
    APPLICATION,
    VERSION,
    Address,
    check_store,
    store_address,
)
from idealist.judging.schema import MIGRATIONS, statements

#: Connections of a parent process: a child must neither use nor close them.
_INHERITED: list[sqlite3.Connection] = []


class StoreFile(os.PathLike[str]):
    """A file of SQLite with the tables of a store, and the one connection of a process to it."""

    def __init__(self, path: str | Path, *, how: str = "mode=rw") -> None:
        """Open a file that exists, and bring its tables up to date; `how` is a word of SQLite."""
        self.path, self._how = Path(path), how
        if not self.path.exists():
            hint = f"make one: idealist judge init {path}"
            Faults(str(path)).fail("no-file", "there is no such store", hint)
        if store_address(path) != Address(self.path):
            hint = "give one that idealist judge init made"
            Faults(str(path)).fail("bad-shape", "this is not a store of judgments", hint)
        self._connect()
        with explained(self.path):
            self._bring_up_to_date()
            self._connection.execute("PRAGMA journal_mode = WAL")

    @classmethod
    @contextmanager
    def to_read(cls, path: str | Path) -> Iterator[Self]:
        """Open a store that is only read, where nothing can be written too.

        SQLite wants to write beside a file that it reads. Where the folder or the disk does not let
        it, what is read is a copy, or the file itself where there is no room for one.
        """
        with ExitStack() as stack:
            try:
                store = cls(path)
            except IdealistError as error:
                if not is_sqlite(Path(path)):
                    raise
                try:
                    where, how = stack.enter_context(readable(Path(path)))
                    store = cls(where, how=how)
                except (IdealistError, OSError):
                    raise error from None
                store.path = Path(path)  # which messages name
            with store:
                yield store

    def _connect(self) -> None:
        self._process, self._lock = os.getpid(), threading.RLock()
        self._inside: Literal["", "DEFERRED", "IMMEDIATE"] = ""
        held = files.hold_database(self.path)
        self._let_go = weakref.finalize(self, files.release_database, held)
        with explained(self.path):
            self._connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?{self._how}", PATIENCE, uri=True,
                isolation_level=None, check_same_thread=False,
            )  # fmt: skip
            for setting in _SETTINGS:
                self._connection.execute(f"PRAGMA {setting}")

    def _bring_up_to_date(self) -> None:
        """Lead an older file to the tables of today: all the way, or not at all."""
        found = [self._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _HEADER]
        if found[0] == APPLICATION and found[1] < VERSION:
            with self.writing() as connection:
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                for number in range(version, VERSION):  # another process may have been first
                    migrate(connection, number)
        check_store(self._connection, self.path)

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of this process; a child opens its own."""
        if self._process != os.getpid():
            _INHERITED.append(self._connection)
            self._connect()
        return self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Write several rows: all of them, or none. What is written is on the disk at the end."""
        with self._transaction("IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read several things of one state."""
        with self._transaction("DEFERRED") as connection:
            yield connection

    @contextmanager
    def _transaction(self, kind: Literal["DEFERRED", "IMMEDIATE"]) -> Iterator[sqlite3.Connection]:
        connection = self.connection
        with self._lock, explained(self.path):
            if self._inside:
                if kind == "IMMEDIATE" != self._inside:
                    raise UsageError(
                        "nothing can be written while one state is read", "do it after"
                    )
                yield connection
                return
            connection.execute(f"BEGIN {kind}")
            self._inside = kind
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                self._inside = ""
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Let go of the file."""
        if self._process == os.getpid():
            with self._lock, explained(self.path):
                self._connection.close()
            self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path}>"


#: How a file is written: what is acknowledged is on the disk, for which macOS has a word of its
#: own; and large imports find room in memory, in KiB.
_SETTINGS = (
    "foreign_keys = ON", "synchronous = FULL", "fullfsync = ON", "cache_size = -65536",
    "temp_store = MEMORY",
)  # fmt: skip
#: What the header of a file says: whose it is, and which version its tables have.
_HEADER = ("application_id", "user_version")


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Lead the tables from one version to the next, inside a transaction."""
    for statement in statements(MIGRATIONS[version]):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version + 1}")


@contextmanager
def fresh_file(path: Path) -> Iterator[Path]:
    """Make an empty store under another name; it gets its own once it is filled, or vanishes."""
    if path.exists():
        raise UsageError(f"{path} exists already", "open it, or choose another name")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}", f"there is no folder {path.parent}")
    fresh = path.parent / f".{os.urandom(8).hex()}.tmp"
    try:
        with explained(path):
            connection = sqlite3.connect(fresh, isolation_level=None)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            for number in range(VERSION):
                migrate(connection, number)
            connection.execute("COMMIT")
            connection.close()
        yield fresh
        _name(fresh, path)
    finally:
        for end in ("", "-journal", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(f"{fresh}{end}")


def _name(fresh: Path, path: Path) -> None:
    """Give a file its name, unless another one got that meanwhile."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise UsageError(f"{path} exists already", "open it, or choose another name") from None
    except OSError:  # there are disks without links
        os.replace(fresh, path)
    folder = os.open(path.parent, os.O_RDONLY)
    with suppress(OSError):
        os.fsync(folder)
    os.close(folder)
