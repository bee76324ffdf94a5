"""Files of SQLite: read without writing anything, and what can be wrong with them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, NoReturn, TypeVar

from idealist import files
from idealist.errors import Faults, UsageError

#: How every file of SQLite begins.
MAGIC = b"SQLite format 3\x00"
#: How long one waits for what another program does with a file, in seconds.
PATIENCE = 30.0
#: How long nobody has written to a file that is at rest, in seconds: longer than a time stamp is
#: exact, on usual disks and on those that count whole seconds.
AT_REST, AT_REST_COARSE = 0.1, 2.5
#: What SQLite says where it cannot make the files that it wants beside the one it reads.
_NO_ROOM_BESIDE = ("SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY", "SQLITE_READONLY_CANTINIT")

T = TypeVar("T")


def is_sqlite(path: Path) -> bool:
    """Whether a path is a file that begins as those of SQLite do."""
    if files.is_open_database(path):  # which only SQLite may open again
        return True
    try:
        if not path.is_file():  # a pipe can be read only once
            return False
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return False


def read(path: Path, use: Callable[[sqlite3.Connection], T]) -> T:
    """Read one state of a file, and write neither to it nor beside it.

    SQLite makes files beside one that it reads, and fails where it may not. So a file at rest is
    read as one that never changes, and read again should it have changed meanwhile. One that SQLite
    cannot read where it lies is copied.
    """
    path = path.resolve()  # the log lies beside the file, not beside a link to it
    with explained(path):
        before = _State.of(path)
        if before.at_rest and not files.is_open_database(path):
            try:
                found = _used(path, "immutable=1", use)
                if _State.of(path) == before:
                    return found
            except Exception:
                if _State.of(path) == before:
                    raise
        try:
            return _used(path, "mode=ro", use)
        except sqlite3.OperationalError as error:
            if _name(error) not in _NO_ROOM_BESIDE:
                raise
        with _copied(path) as copy:
            return _used(copy, "mode=rw", use)


def _used(path: Path, how: str, use: Callable[[sqlite3.Connection], T]) -> T:
    address = f"{path.absolute().as_uri()}?{how}"
    with closing(sqlite3.connect(address, PATIENCE, isolation_level=None, uri=True)) as connection:
        connection.execute("BEGIN")  # all that is read is of one state
        return use(connection)


class _State(NamedTuple):
    """What changes whenever a file, or the log beside it, is written to."""

    changed: int
    size: int
    log: tuple[int, int]

    @classmethod
    def of(cls, path: Path) -> _State:
        file, log = path.stat(), Path(f"{path}-wal")
        about = log.stat() if log.exists() else None
        return cls(
            file.st_mtime_ns, file.st_size, (about.st_size, about.st_mtime_ns) if about else (0, 0)
        )

    @property
    def at_rest(self) -> bool:
        """Whether nobody writes, as far as one can see."""
        rest = AT_REST if self.changed % 10**6 else AT_REST_COARSE
        return not self.log[0] and time.time() - self.changed / 1e9 > rest


@contextmanager
def readable(path: Path) -> Iterator[tuple[Path, str]]:
    """Say where to read a file beside which nothing can be written, and how to open it there."""
    path = path.resolve()
    with ExitStack() as stack:
        try:
            found = stack.enter_context(_copied(path)), "mode=rw"
        except OSError:
            if not _State.of(path).at_rest:  # what is in its log would be missed
                raise
            found = path, "immutable=1"
        yield found


@contextmanager
def _copied(path: Path) -> Iterator[Path]:
    """Copy a file with its log into a folder of our own."""
    with TemporaryDirectory() as folder:
        copy = Path(folder, "copy.db")
        for _ in range(10):
            before = _State.of(path)
            for end in ("", "-wal"):
                if Path(f"{path}{end}").exists():
                    shutil.copyfile(f"{path}{end}", f"{copy}{end}")
            if _State.of(path) == before:
                break
        yield copy


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Say in words what is wrong with a file."""
    try:
        yield
    except sqlite3.Error as error:
        _explain(path, error)
    except (UnicodeDecodeError, json.JSONDecodeError):
        refuse_damage(path, "what it holds cannot be read")


def _explain(path: Path, error: sqlite3.Error) -> NoReturn:
    name = _name(error)
    if name.startswith(_DAMAGE) or (isinstance(error, sqlite3.OperationalError) and not name):
        refuse_damage(path, error)
    if name.startswith("SQLITE_CANTOPEN"):
        Faults(str(path)).fail("no-file", f"cannot be opened: {error}", "check its permissions")
    for start, (message, hint) in _CAUSES.items():
        if name.startswith(start):
            raise UsageError(f"{path}: {message}", hint) from None
    raise UsageError(f"{path}: {error}", "nothing of this was written") from None


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "")  # Python's own errors have none


def refuse_damage(path: Path, what: object) -> NoReturn:
    """Say that a file is damaged."""
    hint = f"see what is left of it: idealist judge doctor {path}; or take a copy or an export"
    Faults(str(path)).fail("damaged", f"the file is damaged: {what}", hint)


#: What SQLite says of a damaged file; tables that lack what we ask for are damaged too.
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ", "SQLITE_ERROR")
#: What keeps a file from being written to, and what to do.
_CAUSES = {
    "SQLITE_CONSTRAINT_FOREIGNKEY": (
        "a row refers to a batch, a call, a prompt or a judgment that is not there",
        "add that first; nothing of this was written",
    ),
    "SQLITE_FULL": ("the disk is full", "nothing of this was written: make room, and try again"),
    "SQLITE_IOERR": (
        "the disk does not take what is written",
        "nothing of this was written: is the disk full, or a quota reached?",
    ),
    "SQLITE_READONLY": (
        "the file cannot be written to",
        "check the permissions of the file and of its folder",
    ),
    "SQLITE_PERM": ("the file cannot be written to", "check its permissions"),
    "SQLITE_BUSY": (
        f"another program has kept the file locked for {PATIENCE:g} seconds",
        "nothing of this was written: wait for it or end it, and try again",
    ),
}
