"""Where bytes come from: files, compressed files, standard input; and whether they are text."""

from __future__ import annotations

import gzip
import lzma
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from idealist.errors import Faults, UsageError

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
        ".parquet",
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
            return cls("<stdin>", spooled=sys.stdin.buffer.read())
        path = Path(path)
        if not path.exists():
            hint = "check the path" if path.parent.exists() else f"there is no folder {path.parent}"
            Faults(str(path)).fail("no-file", "there is no such file", hint)
        if path.is_dir():
            Faults(str(path)).fail("no-file", "this is a folder", "give a file inside it")
        return cls(str(path), path)

    def read(self) -> bytes:
        """Give all bytes, decompressed, and refuse what is not UTF-8 text."""
        faults = Faults(self.name)
        data = _decompressed(self._raw(faults), self.name, faults)
        return _text(data, faults)

    def _raw(self, faults: Faults) -> bytes:
        if self.path is None:
            return self.spooled
        try:
            return self.path.read_bytes()
        except OSError as error:
            faults.fail("no-file", f"cannot be read: {error.strerror}", "check its permissions")


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


def _unzstd(data: bytes) -> bytes:
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]  # Python 3.14

        return bytes(zstd.decompress(data))
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        raise UsageError(
            "reading .zst files needs a package that is not installed",
            "pip install 'idealist[zstd]'",
        ) from None
    reader = zstandard.ZstdDecompressor().decompressobj()
    plain = reader.decompress(data)
    if not reader.eof:
        raise EOFError("the zstd frame is not complete")
    return plain


#: Suffix, first bytes and reader of each kind of compression.
_COMPRESSIONS: tuple[tuple[str, bytes, Callable[[bytes], bytes]], ...] = (
    (".gz", b"\x1f\x8b", gzip.decompress),
    (".xz", b"\xfd7zXZ\x00", lzma.decompress),
    (".zst", b"\x28\xb5\x2f\xfd", _unzstd),
)


def _decompressed(data: bytes, name: str, faults: Faults) -> bytes:
    for suffix, magic, decompress in _COMPRESSIONS:
        if data.startswith(magic):
            return _inflated(data, suffix, decompress, faults)
        if name.lower().endswith(suffix) and data:
            short = magic.startswith(data)
            code = "truncated" if short else "compressed"
            faults.fail(code, f"this is not a {suffix} file", "copy it anew, or correct its suffix")
    return data


def _inflated(
    data: bytes, suffix: str, decompress: Callable[[bytes], bytes], faults: Faults
) -> bytes:
    try:
        return decompress(data)
    except (EOFError, lzma.LZMAError, zlib.error, OSError, ValueError) as error:
        cut = (
            isinstance(error, EOFError)
            or "end-of-stream" in str(error)
            or "incomplete" in str(error)
        )
        code, what = ("truncated", "ends too early") if cut else ("compressed", "is damaged")
        faults.fail(code, f"the {suffix} data {what}: {error}", "copy or make the file anew")
    except Exception as error:  # zstandard has an error class of its own
        if type(error).__name__ != "ZstdError":
            raise
        faults.fail("compressed", f"the {suffix} data is damaged: {error}", "copy the file anew")


def _text(data: bytes, faults: Faults) -> bytes:
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        faults.fail("empty", "the file is empty", "was the step that writes it successful?")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        faults.fail("encoding", "this is UTF-16 text", "save the file as UTF-8")
    if (nul := data.find(b"\x00")) >= 0:
        line = data.count(b"\n", 0, nul) + 1
        faults.fail("binary", "this is binary data, not text", "give a text file", line)
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            bad = f"byte 0x{data[error.start]:02x} is not UTF-8"
            faults.fail("encoding", bad, "save the file as UTF-8", line)
    return data
