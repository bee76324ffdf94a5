"""Where bytes come from: files, compressed files and standard input; and whether they are text."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import BinaryIO, Literal, NoReturn

from idealist.errors import Faults
from idealist.formats import frames, spreadsheets
from idealist.formats.compression import KINDS, Raw, blocks, compression_of, whole

#: How many bytes are read to tell what a file is, and how many at once.
HEAD, BLOCK = 2**16, 2**22
#: The most bytes that are kept of what can be read only once, and the longest line of texts.
SPOOLED, LONGEST_TEXT = 2**30, 2**26

#: The name of standard input in messages.
STDIN = "<stdin>"
#: The suffixes of Excel's workbooks, and of bundles.
WORKBOOK, BUNDLE = ".xlsx", ".ilb"
#: The member that describes the others of a bundle, which is its first: a zip begins with it.
INDEX, ZIP = "bundle.json", b"PK\x03\x04"
#: Suffixes that are not part of a run's name.
SUFFIXES = frozenset({
    ".run", ".trec", ".txt", ".tsv", ".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".arrow",
    ".feather", ".gz", ".xz", ".zst", ".qrels", ".xlsx", ".ilb",
})  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A file, a `sheet` of one (or a run of a bundle), or bytes that can be read only once."""

    name: str
    path: Path | None = None
    spooled: bytes = b""
    sheet: str = ""

    @classmethod
    def of(cls, path: str | Path) -> Source:
        """Open a path, ``-`` for standard input; refuse at once a file that does not exist."""
        if str(path) == "-":
            if sys.stdin is None:
                Faults(STDIN).fail("no-file", "standard input is closed", "give a file")
            return cls(STDIN, spooled=_spooled(sys.stdin.buffer, STDIN))
        name, (path, sheet) = str(path), parted(path)
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            _refuse(path, error)
        if stat.S_ISDIR(mode):
            Faults(str(path)).fail("no-file", "this is a folder", "give a file inside it")
        found = cls(name, path, sheet=sheet)
        if not stat.S_ISREG(mode):  # a pipe can be read only once
            with found._opened() as file:
                return cls(str(path), spooled=_spooled(file, str(path)))
        return found

    def kept(self, most: int) -> Source:
        """Read the bytes of a file now, for all later uses, unless there are more than `most`."""
        if self.path is None:
            return self
        with self._opened() as file:
            small = os.fstat(file.fileno()).st_size <= most
            return replace(self, path=None, spooled=_spooled(file, self.name)) if small else self

    @property
    def suffix(self) -> str:
        """The suffix, compression aside."""
        return plain_suffix(self.name)

    @property
    def is_compressed(self) -> bool:
        """Whether its bytes are compressed data."""
        with self._opened() as file:
            return compression_of(file, self.name, Faults(self.name)) is not None

    @property
    def is_plain(self) -> bool:
        """Whether it is a file that can be read through its `descriptor` as it is."""
        if self.path is None or self.is_compressed:
            return False
        with self.descriptor() as (_, size):
            return size > 0  # the files of /proc hold more than they say

    @contextmanager
    def descriptor(self) -> Iterator[tuple[int, int]]:
        """Open a plain file; yield its descriptor, at the beginning, and its size."""
        with self._opened() as file:
            yield file.fileno(), os.fstat(file.fileno()).st_size

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """Yield the bytes, decompressed, in blocks of about a size, or with -1 as they come."""
        with self._opened() as file:
            yield from blocks(file, self.name, size, Faults(self.name))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines without their ends, and their numbers; the file is never held whole."""
        rest, number = b"", 0
        for block in self.blocks():
            *lines, rest = (rest + block).split(b"\n")
            if lines and not number:
                lines[0] = lines[0].removeprefix(BOM_UTF8)
            yield from enumerate(lines, number + 1)
            number += len(lines)
            if len(rest) > LONGEST_TEXT:
                message = f"the line is longer than {LONGEST_TEXT:,} bytes: {rest[:40]!r}"
                Faults(self.name).fail("overlong", message, "end lines with LF or CRLF", number + 1)
        yield number + 1, rest.removeprefix(b"" if number else BOM_UTF8)

    def decoded(self, line: bytes, number: int) -> str:
        """Decode a line, or several from a number on; refuse what is not UTF-8."""
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            number += line.count(b"\n", 0, error.start)
            self.refuse_text("utf8", number, line[error.start])

    def head(self, size: int = HEAD) -> bytes:
        """Return the first bytes, decompressed, without a UTF-8 mark; read no further."""
        with self._opened() as file:
            found = blocks(file, self.name, size + len(BOM_UTF8), Faults(self.name))
            return next(found, b"").removeprefix(BOM_UTF8)[:size]

    def data(self) -> bytes:
        """Return all bytes, decompressed; refuse what would exhaust the memory."""
        with self._opened() as file:
            return whole(file, self.name, Faults(self.name))

    def read(self) -> bytes:
        """Return all bytes, decompressed; refuse what is not UTF-8 text."""
        return self.text(self.data())

    def text(self, data: bytes) -> bytes:
        """Refuse bytes that are not UTF-8 text."""
        data = data.removeprefix(BOM_UTF8)
        if not data or data.isspace():
            hint = "did the step that writes it succeed?"
            Faults(self.name).fail("empty", "the file is empty", hint)
        self.check_binary(data)
        if b"\r" in data and (bare := re.search(rb"\r(?!\n|\Z)", data)):
            self.refuse_text("cr", _line(data, bare.start()))
        if not data.isascii():
            try:
                data.decode()
            except UnicodeDecodeError as error:
                self.refuse_text("utf8", _line(data, error.start), data[error.start])
        return data

    def check_binary(self, data: bytes) -> None:
        """Refuse what UTF-8 text never holds; the first bytes may be enough to tell."""
        if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            Faults(self.name).fail("encoding", "this is UTF-16 text", "save the file as UTF-8")
        if (nul := data.find(b"\x00")) >= 0:
            self.refuse_text("binary", _line(data, nul))

    def refuse_text(
        self, kind: Literal["binary", "cr", "utf8"], line: int, byte: int = 0
    ) -> NoReturn:
        """Report a NUL, a bare CR or a `byte` that is not UTF-8 on a line.

        Wherever they are, the first NUL is reported before the first bare CR, and that before the
        first such byte.
        """
        faults = Faults(self.name)
        if kind == "binary":
            head = self.head()
            if begins_bundle(head):
                if self.is_plain:
                    hint = "idealist eval FILE.ilb measures the runs of a bundle"
                    faults.fail("bad-shape", "this is a bundle, and text is wanted", hint)
                hint = "give its file as it is: a bundle is read from a plain file only"
                faults.fail("bad-shape", "this is a bundle that was compressed, or piped", hint)
            excel = head.startswith(ZIP)
            hint = "if it is a spreadsheet, save it as CSV" if excel else "give a text file"
            faults.fail("binary", "this is binary data, not text", hint, line)
        if kind == "cr":
            faults.fail("encoding", "a bare CR ends the line", "end lines with LF or CRLF", line)
        faults.fail("encoding", f"byte 0x{byte:02x} is not UTF-8", "save the file as UTF-8", line)

    @contextmanager
    def _opened(self) -> Iterator[Raw]:
        """Open for reading, without a buffer; refuse what cannot be read."""
        spooled = io.BytesIO(self.spooled)
        try:
            with spooled if self.path is None else io.FileIO(self.path) as file:
                yield file
        except OSError as error:
            _unreadable(self.name, error)


def _spooled(file: Raw | BinaryIO, name: str) -> bytes:
    """Read to the end, block by block: a single read would ignore Ctrl-C.

    A first block that shows binary data is enough: it will be refused, and may have no end.
    """
    blocks, total = [], 0
    for block in iter(lambda: file.read(BLOCK), b""):
        blocks.append(block)
        total += len(block)
        if total > SPOOLED:
            message = f"there are more than {SPOOLED:,} bytes, the most that is read from a pipe"
            Faults(name).fail("oversized", message, "write it to a file, and give that")
        if len(blocks) == 1 and b"\0" in block and not _is_binary_data(block, name):
            break
    return b"".join(blocks)


def _is_binary_data(block: bytes, name: str) -> bool:
    """Whether bytes that are no text can be read all the same."""
    start = io.BytesIO(block[:HEAD])
    known = frames.is_binary(block) or spreadsheets.may_be_workbook(block)
    return known or compression_of(start, name, Faults(name)) is not None


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def _unreadable(name: str, error: OSError) -> NoReturn:
    Faults(name).fail("no-file", f"cannot be read: {error.strerror}", "check its permissions")


def _refuse(path: Path, error: Exception) -> NoReturn:
    missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
    if isinstance(error, OSError) and not missing:
        _unreadable(str(path), error)
    hint = "check the path" if os.path.isdir(path.parent) else f"there is no folder {path.parent}"
    Faults(str(path)).fail("no-file", "there is no such file", hint)


def begins_bundle(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a bundle."""
    return head.startswith(ZIP) and head[30 : 30 + len(INDEX)] == INDEX.encode()


def parted(path: str | Path) -> tuple[Path, str]:
    """Part a path from what is named behind it: the sheet of a workbook, the run of a bundle.

    A file whose name looks like that is that file.

    >>> parted("shop.xlsx#Dense run")[1], parted("paper.ilb#bm25")[1], parted("a#b.txt")[1]
    ('Dense run', 'bm25', '')
    """
    for suffix in () if os.path.isfile(path) else (WORKBOOK, BUNDLE):
        file, sign, part = str(path).partition(f"{suffix}#")
        if sign:
            return Path(file + suffix), part
    return Path(path), ""


def run_name(path: str | Path) -> str:
    """Name a run after its file, without the suffixes that only say what kind of file it is.

    >>> run_name("runs/bm25.trec.gz"), run_name("smith.bm25"), run_name("-")
    ('bm25', 'smith.bm25', 'stdin')
    >>> run_name("runs.xlsx#dense")
    'dense'
    """
    if str(path) == "-":
        return "stdin"
    path, sheet = parted(path)
    if sheet:
        return sheet
    while path.suffix.lower() in SUFFIXES and path.stem:
        path = path.with_suffix("")
    return path.name


def distinct(names: Sequence[str]) -> list[str]:
    """Tell equal names apart by numbers.

    >>> distinct(["run", "bm25", "run", "run (2)"])
    ['run', 'bm25', 'run (3)', 'run (2)']
    """
    found: dict[str, None] = {}  # in order, and quick to look up
    given = set(names)
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        free = (each for each in numbered if each not in found and each not in given)
        found[next(free) if name in found else name] = None
    return list(found)


def plain_suffix(path: str | Path) -> str:
    """Return a file's suffix, that of its compression aside.

    >>> plain_suffix("runs/bm25.JSONL.gz"), plain_suffix("bm25")
    ('.jsonl', '')
    """
    plain = Path(str(path).lower())
    while plain.suffix in [kind.suffix for kind in KINDS]:
        plain = plain.with_suffix("")
    return plain.suffix


def run_names(paths: Sequence[str]) -> list[str]:
    """Name runs after their files; equal names get their folder in front, or a number.

    >>> run_names(["bm25.run", "a/dense.run", "b/dense.run", "bm25.run"])
    ['bm25', 'a/dense', 'b/dense', 'bm25 (2)']
    """
    files = list(dict.fromkeys(paths))  # one given twice is told apart by a number
    names = [run_name(path) for path in files]
    times = Counter(names)
    folders = [
        f"{Path(path).resolve().parent.name}/{name}" if times[name] > 1 else name
        for path, name in zip(files, names, strict=True)
    ]
    times = Counter(folders)
    known = {
        path: path if times[name] > 1 else name for path, name in zip(files, folders, strict=True)
    }
    return distinct([known[path] for path in paths])
