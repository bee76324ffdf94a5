"""Compressed files: recognised by their first bytes, decompressed little by little."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO, NamedTuple

from idealist.errors import Faults
from idealist.files import zstd

#: A file that is open without a buffer.
Raw = io.FileIO | io.BytesIO


class Compression(NamedTuple):
    """One kind of compression, whose files hold one part or several in a row.

    `tool` decompresses them. `readers` returns what makes the reader of one part. `bite` is how
    many bytes a reader gets at once: so few that even a file made to exhaust the memory yields some
    64 MB at most.
    """

    suffix: str
    tool: str
    starts: tuple[bytes, ...]
    part: str
    padding: bytes
    bite: int
    readers: Callable[[], Callable[[], Any]]


def _xz_readers() -> Callable[[], Any]:
    lzma = import_module("lzma")  # slow to import, and few files need it
    return partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=XZ_MEMORY)


def _zstd_readers() -> Callable[[], Any]:
    reader = zstd("reading").ZstdDecompressor
    is_one = hasattr(reader, "eof")  # in the package zstandard, it only makes readers
    made: Callable[[], Any] = reader if is_one else reader().decompressobj
    return made


#: Each frame of zstd may be one to skip: what pzstd writes begins with one.
KINDS = (
    Compression(
        ".gz", "gzip", (b"\x1f\x8b",), "gzip member", b"\x00", 2**16,
        lambda: partial(zlib.decompressobj, wbits=31),
    ),
    Compression(
        ".xz", "xz", (b"\xfd7zXZ\x00",), "xz stream", b"\x00", 2**13,
        _xz_readers,
    ),
    Compression(
        ".zst", "zstd", (b"\x28\xb5\x2f\xfd", *(b"%c\x2a\x4d\x18" % n for n in range(0x50, 0x60))),
        "zstd frame", b"", 2**11, _zstd_readers,
    ),
)  # fmt: skip

AGAIN = "copy or create the file again"
#: How much decompressing may yield to a reader that holds a file as a whole: so many bytes, or so
#: many times the compressed ones, whichever is more. Text with ids never reaches that ratio; files
#: made to exhaust the memory are known by it. Readers that go block by block need no limit.
MOST, RATIO = 2**26, 200
#: The most memory that xz may ask for; `xz -9` needs 65 MiB.
XZ_MEMORY = 2**28


def compression_of(file: BinaryIO, name: str, faults: Faults) -> Compression | None:
    """Tell how a file is compressed, if it is; refuse one that is not what its suffix says."""
    start = _start(file)
    for kind in KINDS:
        if start and name.lower().endswith(kind.suffix) and not start.startswith(kind.starts):
            if _may_be(start, kind):
                faults.fail("truncated", f"the {kind.suffix} data ends early", AGAIN)
            hint = "copy it again, or correct its suffix"
            faults.fail("compressed", f"this is not a {kind.suffix} file", hint)
    return next((kind for kind in KINDS if start.startswith(kind.starts)), None)


def blocks(file: Raw, name: str, size: int, faults: Faults) -> Iterator[bytes]:
    """Yield what a file holds, decompressed, in blocks of a size or somewhat more.

    With -1, an uncompressed file comes at once, a compressed one as it is decompressed.
    """
    kind = compression_of(file, name, faults)
    if kind is None:
        return iter(partial(file.read, size), b"")
    return _gathered(_decompressed(file, kind, faults), size)


def whole(file: Raw, name: str, faults: Faults) -> bytes:
    """Return all that a file holds, decompressed; refuse what would exhaust the memory."""
    kind = compression_of(file, name, faults)
    if kind is None:
        return file.read() or b""
    pieces, total = [], 0
    for piece in _decompressed(file, kind, faults):
        pieces.append(piece)
        total += len(piece)
        if total > max(MOST, RATIO * (read := file.tell())):
            times = f"{total / read:,.0f} times its size"
            message = f"the {kind.suffix} data decompresses to more than {MOST:,} bytes, {times}"
            hint = f"more than {RATIO} times is not read at once; if it is right, decompress it: "
            faults.fail("oversized", message, f"{hint}{kind.tool} -d")
    return b"".join(pieces)


def _decompressed(raw: Raw, kind: Compression, faults: Faults) -> Iterator[bytes]:
    """Decompress part after part."""
    made = kind.readers()
    with io.BufferedReader(raw, 2**16) as file:
        while _is_at_part(file, kind, faults):
            reader = made()
            while not reader.eof:
                yield _inflated(file.read(kind.bite), reader, kind, faults)
            file.seek(-len(reader.unused_data), os.SEEK_CUR)


def _inflated(bite: bytes, reader: Any, kind: Compression, faults: Faults) -> bytes:
    if not bite:
        message = f"the {kind.suffix} data ends early: the {kind.part} is incomplete"
        faults.fail("truncated", message, AGAIN)
    try:
        return bytes(reader.decompress(bite))
    except Exception as error:  # each zstd package has an error class of its own
        if isinstance(error, zlib.error) or type(error).__name__ in ("LZMAError", "ZstdError"):
            faults.fail("compressed", f"the {kind.suffix} data is damaged: {error}", AGAIN)
        raise


def _is_at_part(file: BinaryIO, kind: Compression, faults: Faults) -> bool:
    """Go to the next part, if there is one; refuse anything else but padding."""
    rest = b""
    while not rest and (bite := file.read(kind.bite)):
        rest = bite.lstrip(kind.padding)
    file.seek(-len(rest), os.SEEK_CUR)
    if rest and not _may_be(_start(file), kind):
        message = f"the {kind.suffix} data is damaged: something else follows"
        faults.fail("compressed", message, AGAIN)
    return bool(rest)


def _start(file: BinaryIO) -> bytes:
    """Look at as many of the next bytes as it takes to tell the kinds apart."""
    start = file.read(max(len(known) for kind in KINDS for known in kind.starts))
    file.seek(-len(start), os.SEEK_CUR)
    return start


def _may_be(start: bytes, kind: Compression) -> bool:
    """Whether bytes are the start of this kind, or would be if they were not cut off."""
    return any(known.startswith(start[: len(known)]) for known in kind.starts)


def _gathered(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Join pieces until they have a size."""
    held, length = [], 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length >= size:
            yield b"".join(held)
            held, length = [], 0
    if length:
        yield b"".join(held)
