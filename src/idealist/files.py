"""Files written whole or not at all, compressed as their names say."""

from __future__ import annotations

import gzip
import lzma
import os
import sys
import tempfile
from pathlib import Path

from idealist.errors import UsageError


def write(path: str | Path, data: bytes) -> None:
    """Write a file; what stood there before stays until all of the new is on the disk.

    ``-`` is standard output.
    """
    if str(path) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    try:
        if target.exists() and not target.is_file():  # a pipe or device is not to be replaced
            target.write_bytes(data)
        else:
            _replace(target.resolve(), data)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}", "check the folder") from None


def compressed(path: str | Path, data: bytes) -> bytes:
    """Compress what is to be written to a file of this name; the same data gives the same bytes."""
    suffix = Path(path).suffix.lower()
    if suffix == ".gz":
        return gzip.compress(data, mtime=0)
    if suffix == ".xz":
        return lzma.compress(data)
    return _zstd(data) if suffix == ".zst" else data


def zstd_error(what: str) -> UsageError:
    """Say what to install."""
    message = f"{what} .zst files needs a package that is not installed"
    return UsageError(message, "pip install zstandard")


def _zstd(data: bytes) -> bytes:
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]  # Python 3.14

        return bytes(zstd.compress(data))
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        raise zstd_error("writing") from None
    return zstandard.ZstdCompressor().compress(data)


def _replace(target: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=target.name, delete=False) as file:
        try:
            file.write(data)
            file.close()
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
