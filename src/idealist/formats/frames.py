"""Data frames and Arrow data of any library, as columns of Python values."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from idealist.errors import Faults, UsageError
from idealist.formats import compression

#: The suffixes of such files.
SUFFIXES = (".parquet", ".arrow", ".feather")
#: The first bytes of Parquet, Arrow (Feather) and streamed Arrow files.
PARQUET, ARROW, STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"


def columns(data: Any, faults: Faults) -> dict[str, list[Any]] | None:
    """Return the columns of a frame by name, nulls as None; None for anything else."""
    if hasattr(data, "collect_schema") and hasattr(data, "collect"):  # a polars plan
        data = data.collect()
    if hasattr(data, "columns") and hasattr(data, "to_dict"):
        return _of_frame(data, faults)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _of_stream(data, faults)
    return None


def _of_stream(data: Any, faults: Faults) -> dict[str, list[Any]]:
    pyarrow = arrow()
    try:
        table = pyarrow.table(data)
    except (pyarrow.ArrowException, TypeError, ValueError):
        message = f"{type(data).__name__} is not a table of columns"
        faults.fail("bad-shape", message, "give a frame with a column for query and document")
    return _of_arrow(table, faults)


def of_file(content: bytes, name: str, faults: Faults) -> dict[str, list[Any]] | None:
    """Return the columns of a Parquet or Arrow file; None for anything else."""
    if not is_binary(content) and Path(name).suffix.lower() not in SUFFIXES:
        return None
    pyarrow, ipc = arrow(), import_module("pyarrow.ipc")
    source = pyarrow.BufferReader(content)  # threads may outlive a file of Python's
    try:
        if content.startswith(ARROW):
            table = ipc.open_file(source).read_all()
        elif content.startswith(STREAM):
            table = ipc.open_stream(source).read_all()
        else:
            file = import_module("pyarrow.parquet").ParquetFile(source)
            _check_size(file.metadata, len(content), faults)
            table = file.read(use_threads=False)
        table.validate(full=True)  # invalid offsets are read without an error
        return _of_arrow(table, faults)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        words = str(error).splitlines()[0][:80]
        faults.fail("damaged", f"the data cannot be read: {words}", "copy or create the file again")


def _check_size(metadata: Any, size: int, faults: Faults) -> None:
    """Refuse a few bytes that hold billions of cells, all alike."""
    cells = metadata.num_rows * metadata.num_columns
    if cells > max(compression.MOST, compression.RATIO * size):
        message = f"{size:,} bytes of Parquet hold {cells:,} cells"
        hint = f"more than {compression.RATIO} cells a byte are not read; write it anew, as CSV"
        faults.fail("oversized", message, hint)


def is_binary(content: bytes) -> bool:
    """Whether these are the bytes of a Parquet or Arrow file."""
    return content.startswith((PARQUET, ARROW, STREAM)) and b"\0" in content


def arrow() -> Any:
    """Import pyarrow, or say how to get it."""
    try:
        import pyarrow
    except ImportError:
        message = "Parquet and Arrow data need a package that is not installed"
        raise UsageError(message, "pip install pyarrow") from None
    return pyarrow


def _of_frame(frame: Any, faults: Faults) -> dict[str, list[Any]]:
    names = list(frame.index.names) if hasattr(frame, "index") else []
    if any(name is not None and name not in frame.columns for name in names):
        frame = frame.reset_index()
    names = list(frame.columns)
    _check_names(names, faults)
    return {name: _cells(frame[name]) for name in names}


def _cells(series: Any) -> list[Any]:
    """Return a column's cells; NaN, NaT and NA of pandas are None."""
    if hasattr(series, "to_list") and not hasattr(series, "isna"):  # polars knows NaN from null
        return list(series.to_list())
    cells = series.tolist()
    if series.isna().any():
        cells = [None if gone else c for c, gone in zip(cells, series.isna(), strict=True)]
    return list(cells)


def _of_arrow(table: Any, faults: Faults) -> dict[str, list[Any]]:
    _check_names(table.column_names, faults)
    pairs = zip(table.column_names, table.columns, strict=True)
    return {name: _listed(name, column, faults) for name, column in pairs}


def _listed(name: str, column: Any, faults: Faults) -> list[Any]:
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):  # a time that Python has no date for
        message = f"column {name!r} holds a {column.type} that Python cannot represent"
        faults.fail("bad-column", message, "leave the column out, or make it text")


def _check_names(names: list[Any], faults: Faults) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        faults.fail("bad-column", f"two columns are called {twice!r}", "rename one of them")
