"""Files written completely or not at all, compressed as their names say; and their fingerprints."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from idealist.errors import UsageError


def write(path: str | Path, data: bytes | Iterable[bytes], private: bool = False) -> None:
    """Write a file, at once or block by block; the old content stays until all is written.

    ``-`` is standard output. What is `private` only its owner can read.
    """
    blocks = [data] if isinstance(data, bytes) else data
    if str(path) == "-":
        _to_standard_output(blocks)
        return
    target = Path(path)
    try:
        if is_in_place(target):
            with target.open("ab") as file:  # never truncate a file that someone has open
                file.writelines(blocks)
        else:
            _replace(target.resolve(), blocks, private)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}", "check the folder") from None


def check_folder(path: str | Path) -> None:
    """Refuse a file whose folder is not there or may not be written, before work is done for it."""
    folder = Path(path).resolve().parent
    if str(path) != "-" and (Path(path).is_dir() or not os.access(folder, os.W_OK)):
        raise UsageError(f"cannot write {path}", "check the folder")


def check_target(target: str | Path, inputs: Iterable[Any]) -> None:
    """Refuse to write over an input."""
    paths = [one for one in inputs if isinstance(one, (str, Path)) and one != "-"]
    if Path(target).resolve() in [Path(one).resolve() for one in paths]:
        raise UsageError(f"{target} is an input, and would be overwritten", "write another file")


#: Databases that this process has open, by device and inode. A process that opens and closes such a
#: file in any other way loses its locks on it (POSIX); then another one that closes it deletes the
#: log that this one goes on writing to.
_DATABASES: Counter[tuple[int, int]] = Counter()


def identity(path: str | Path) -> tuple[int, int] | None:
    """Return what tells a file from another of the same name; None where there is none."""
    try:
        told = os.stat(path)
    except (OSError, ValueError):
        return None
    return told.st_dev, told.st_ino


def hold_database(path: str | Path) -> tuple[int, int] | None:
    """Remember that this process has a database open; return what lets go of it."""
    if (file := identity(path)) is not None:
        _DATABASES[file] += 1
    return file


def release_database(file: tuple[int, int] | None) -> None:
    """Forget a database that was closed."""
    if file is not None:
        _DATABASES[file] -= 1


def is_open_database(path: str | Path) -> bool:
    """Whether it is a database that this process has open: it must be opened by SQLite only."""
    return _DATABASES[file] > 0 if (file := identity(path)) is not None else False


class Fingerprint(NamedTuple):
    """What tells a file from every other: its SHA-256, and how many bytes it has."""

    path: str
    sha256: str
    size: int


def fingerprint(path: str | Path) -> Fingerprint | None:
    """Take the fingerprint of a file; None of what is not a file that can be read again."""
    with suppress(OSError, ValueError):  # gone, forbidden, or a name that no file can have
        if os.path.isfile(path) and not is_open_database(path):
            with open(path, "rb") as file:
                digest = import_module("hashlib").file_digest(file, "sha256").hexdigest()
                return Fingerprint(str(path), digest, file.tell())
    return None


def compressed(path: str | Path, data: bytes) -> bytes:
    """Compress data for a file of this name; the same data always yields the same bytes."""
    suffix = Path(path).suffix.lower()
    if suffix == ".gz":
        return bytes(import_module("gzip").compress(data, mtime=0))
    if suffix == ".xz":
        return bytes(import_module("lzma").compress(data))
    return bytes(zstd("writing").compress(data)) if suffix == ".zst" else data


def zstd(what: str) -> Any:
    """Import the module for .zst files, Python's own (3.14) or zstandard, or say what to install.

    Both compress with `compress(data)`.
    """
    for module in ("compression.zstd", "zstandard"):
        with suppress(ImportError):
            return import_module(module)
    message = f"{what} .zst files needs a package that is not installed"
    raise UsageError(message, "pip install zstandard")


def check_standard_output() -> None:
    """Refuse standard output that is closed."""
    if sys.stdout is None:
        raise UsageError("standard output is closed", "write to a file")


def _to_standard_output(blocks: Iterable[bytes]) -> None:
    check_standard_output()
    sys.stdout.buffer.writelines(blocks)
    sys.stdout.buffer.flush()


def is_in_place(target: Path) -> bool:
    """Whether a path is a pipe, a device or an open file, which must not be replaced."""
    special = target.exists() and not target.is_file()
    return special or target.absolute().parts[1:2] in (("dev",), ("proc",))


def _replace(target: Path, blocks: Iterable[bytes], private: bool) -> None:
    fresh, mode = target.parent / f".{os.urandom(8).hex()}.tmp", 0o600 if private else 0o666
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.writelines(blocks)
        if target.exists() and not private:
            os.chmod(fresh, stat.S_IMODE(target.stat().st_mode))
        os.replace(fresh, target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
