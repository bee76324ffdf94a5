"""Where bytes come from: files, compressed files, standard input; and whether they are text."""

from __future__ import annotations

import gzip
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from idealist.errors import Faults
from idealist.files import zstd_error

#: Suffixes that are no part of a run's name.
SUFFIXES = frozenset(
    [
        ".run",
        ".trec",
        ".txt",
        ".tsv",
        ".csv",
        ".json",
        ".jsonl",
        ".ndjson",
        ".parquet",
        ".arrow",
        ".feather",
        ".gz",
        ".xz",
        ".zst",
        ".qrels",
    ]
)


@dataclass(frozen=True)
class Source:
    """A file, or bytes that were read once because their source can be read only once."""

    name: str
    path: Path | None = None
    spooled: bytes = b""

    @classmethod
    def of(cls, path: str | Path) -> Source:
        """Take a path, ``-`` for standard input; a file that is not there is refused at once."""
        if str(path) == "-":
            if sys.stdin is None:
                Faults("<stdin>").fail("no-file", "standard input is closed", "give a file")
            return cls("<stdin>", spooled=sys.stdin.buffer.read())
        path = Path(path)
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            _refuse(path, error)
        if stat.S_ISDIR(mode):
            Faults(str(path)).fail("no-file", "this is a folder", "give a file inside it")
        found = cls(str(path), path)
        if not stat.S_ISREG(mode):  # a pipe can be read only once
            return cls(str(path), spooled=found._raw(Faults(str(path))))
        return found

    @property
    def suffix(self) -> str:
        """What kind of file it says it is, compression aside."""
        return plain_suffix(self.name)

    def data(self) -> bytes:
        """Give all bytes, decompressed."""
        faults = Faults(self.name)
        return _decompressed(self._raw(faults), self.name, faults)

    def text(self, data: bytes) -> bytes:
        """Refuse bytes that are not UTF-8 text."""
        return _text(data, Faults(self.name))

    def read(self) -> bytes:
        """Give all bytes, decompressed, and refuse what is not UTF-8 text."""
        return self.text(self.data())

    def _raw(self, faults: Faults) -> bytes:
        if self.path is None:
            return self.spooled
        try:
            return self.path.read_bytes()
        except OSError as error:
            faults.fail("no-file", f"cannot be read: {error.strerror}", "check its permissions")


def _refuse(path: Path, error: Exception) -> NoReturn:
    faults = Faults(str(path))
    if isinstance(error, OSError) and not isinstance(
        error, (FileNotFoundError, NotADirectoryError)
    ):
        faults.fail("no-file", f"cannot be read: {error.strerror}", "check its permissions")
    hint = "check the path" if os.path.isdir(path.parent) else f"there is no folder {path.parent}"
    faults.fail("no-file", "there is no such file", hint)


def run_name(path: str | Path) -> str:
    """Name a run after its file, less the suffixes that only say what kind of file it is.

    >>> run_name("runs/bm25.trec.gz"), run_name("smith.bm25"), run_name("-")
    ('bm25', 'smith.bm25', 'stdin')
    """
    if str(path) == "-":
        return "stdin"
    path = Path(path)
    while path.suffix.lower() in SUFFIXES and path.stem:
        path = path.with_suffix("")
    return path.name


_XZ = b"\xfd7zXZ\x00"


def _unxz(data: bytes) -> bytes:
    """Decompress every stream; `lzma.decompress` drops what it cannot read behind the first."""
    plain = []
    while data:
        if not data.startswith(_XZ[: len(data)]):
            raise lzma.LZMAError("something else follows")
        reader = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        plain.append(reader.decompress(data))
        if not reader.eof:
            raise EOFError("the xz stream is not complete")
        data = reader.unused_data.lstrip(b"\x00")  # streams may be padded
    return b"".join(plain)


def _unzstd(data: bytes) -> bytes:
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]  # Python 3.14

        return bytes(zstd.decompress(data))
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        raise zstd_error("reading") from None
    plain = []
    while data:  # a reader stops behind the first frame
        reader = zstandard.ZstdDecompressor().decompressobj()
        plain.append(reader.decompress(data))
        if not reader.eof:
            raise EOFError("the zstd frame is not complete")
        data = reader.unused_data
    return b"".join(plain)


ANEW = "copy or make the file anew"

#: What readers of damaged data raise.
_DAMAGE = (EOFError, lzma.LZMAError, zlib.error, OSError, ValueError)

#: Suffix, possible first bytes and reader of each kind of compression; pzstd begins with a frame
#: that is to be skipped.
_COMPRESSIONS: tuple[tuple[str, tuple[bytes, ...], Callable[[bytes], bytes]], ...] = (
    (".gz", (b"\x1f\x8b",), gzip.decompress),
    (".xz", (_XZ,), _unxz),
    (".zst", (b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"), _unzstd),
)


_COMPRESSED = frozenset(suffix for suffix, _, _ in _COMPRESSIONS)


def plain_suffix(path: str | Path) -> str:
    """Give a file's suffix, that of its compression aside.

    >>> plain_suffix("runs/bm25.JSONL.gz"), plain_suffix("bm25")
    ('.jsonl', '')
    """
    plain = Path(str(path).lower())
    while plain.suffix in _COMPRESSED:
        plain = plain.with_suffix("")
    return plain.suffix


def _decompressed(data: bytes, name: str, faults: Faults) -> bytes:
    for suffix, magics, _ in _COMPRESSIONS:
        if data and name.lower().endswith(suffix) and not data.startswith(magics):
            if any(magic.startswith(data) for magic in magics):
                faults.fail("truncated", f"the {suffix} data ends too early", ANEW)
            hint = "copy it anew, or correct its suffix"
            faults.fail("compressed", f"this is not a {suffix} file", hint)
    for suffix, magics, decompress in _COMPRESSIONS:
        if data.startswith(magics):
            return _inflated(data, suffix, decompress, faults)
    return data


def _inflated(
    data: bytes, suffix: str, decompress: Callable[[bytes], bytes], faults: Faults
) -> bytes:
    try:
        return decompress(data)
    except Exception as error:  # each zstd package has an error class of its own
        if not isinstance(error, _DAMAGE) and type(error).__name__ != "ZstdError":
            raise
        cut = isinstance(error, EOFError) or "end-of-stream" in str(error)
        code, what = ("truncated", "ends too early") if cut else ("compressed", "is damaged")
        faults.fail(code, f"the {suffix} data {what}: {error}", ANEW)


def _text(data: bytes, faults: Faults) -> bytes:
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        faults.fail("empty", "the file is empty", "was the step that writes it successful?")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        faults.fail("encoding", "this is UTF-16 text", "save the file as UTF-8")
    if (nul := data.find(b"\x00")) >= 0:
        line = data.count(b"\n", 0, nul) + 1
        excel = data.startswith(b"PK\x03\x04")
        hint = "if it is a spreadsheet, save it as CSV" if excel else "give a text file"
        faults.fail("binary", "this is binary data, not text", hint, line)
    if b"\r" in data and (bare := re.search(rb"\r(?!\n|\Z)", data)):
        line = data.count(b"\n", 0, bare.start()) + 1
        faults.fail("encoding", "a line ends in CR alone", "end lines in LF or CRLF", line)
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            bad = f"byte 0x{data[error.start]:02x} is not UTF-8"
            faults.fail("encoding", bad, "save the file as UTF-8", line)
    return data
