"""Data frames and Arrow data of any library, as columns of Python values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

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


def named_columns(data: Any, faults: Faults) -> dict[str, list[Any]] | None:
    """Return the columns of a frame, or of a dict that holds them; None for anything else."""
    if (found := columns(data, faults)) is not None or not isinstance(data, Mapping):
        return found
    if not all(isinstance(one, (list, tuple)) or hasattr(one, "tolist") for one in data.values()):
        return None
    found = {str(name): list(cells) for name, cells in data.items()}
    if len(set(map(len, found.values()))) > 1:
        lengths = ", ".join(f"{name} has {len(cells):,}" for name, cells in found.items())
        hint = "give each row a cell in every column, None where there is none"
        faults.fail("bad-column", f"the columns are not of one length: {lengths[:300]}", hint)
    return found


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
    pyarrow = arrow()
    try:
        file = FrameFile(pyarrow.BufferReader(content), content)
        if file.cells > most_cells(len(content)):
            _refuse_size(file.cells, len(content), faults)
        table = pyarrow.Table.from_batches(file.batches(), file.schema)
        table.validate(full=True)
        return _of_arrow(table, faults)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        words = str(error).splitlines()[0][:80]
        faults.fail("damaged", f"the data cannot be read: {words}", "copy or create the file again")


class FrameFile:
    """A Parquet or Arrow file: its schema, and its rows in batches.

    What it is read from is pyarrow's own, since threads may outlive a file of Python's.
    """

    def __init__(self, opened: Any, head: bytes) -> None:
        ipc = import_module("pyarrow.ipc")
        self.size = int(opened.size())
        self._is_parquet = not head.startswith((ARROW, STREAM))
        if head.startswith(ARROW):
            self._file = ipc.open_file(opened)
        elif head.startswith(STREAM):
            self._file = ipc.open_stream(opened)
        else:
            self._file = import_module("pyarrow.parquet").ParquetFile(opened)
        self.schema = self._file.schema_arrow if self._is_parquet else self._file.schema

    @property
    def rows(self) -> int:
        """How many rows a Parquet file has; 0 of others, which are as large as what they hold."""
        return int(self._file.metadata.num_rows) if self._is_parquet else 0

    @property
    def cells(self) -> int:
        """How many cells a Parquet file has; 0 of others."""
        return self.rows * int(self._file.metadata.num_columns) if self._is_parquet else 0

    def batches(self, names: list[str] | None = None) -> Iterator[Any]:
        """Yield batches of some columns, in the order of the schema."""
        if self._is_parquet:
            for group in range(self._file.num_row_groups):  # one by one: the next would be kept
                yield from self._file.iter_batches(
                    row_groups=[group], columns=names, use_threads=False
                )
            return
        numbers = getattr(self._file, "num_record_batches", None)
        found = self._file if numbers is None else map(self._file.get_batch, range(numbers))
        for batch in found:
            batch.validate(full=True)  # invalid offsets are read without an error
            kept = [name for name in batch.schema.names if names is None or name in names]
            yield batch.select(kept)


def most_cells(size: int) -> int:
    """Return how many cells so many bytes may hold; they could be billions, all alike."""
    return max(compression.MOST, compression.RATIO * size)


def _refuse_size(cells: int, size: int, faults: Faults) -> NoReturn:
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
