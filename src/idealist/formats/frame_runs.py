"""Runs in Parquet and Arrow files: the columns that rank, handed to the kernel batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from idealist import kernel
from idealist.data import Rows
from idealist.data.remarks import Remark
from idealist.errors import Faults
from idealist.formats import frames
from idealist.formats.frames import FrameFile
from idealist.formats.kernel_columns import Columns, chosen, our_names, picked
from idealist.formats.reading import Reading, ReadOptions
from idealist.formats.source import Source
from idealist.ranking.compiled import KernelAnswer, KernelRequest


@dataclass(frozen=True)
class FrameRun:
    """A Parquet or Arrow file, and their names of the columns that the kernel reads."""

    source: Source
    columns: Columns
    remarks: tuple[Remark, ...] = ()

    @property
    def has_ranks(self) -> bool:
        """Whether rows have ranks."""
        return "ranks" in self.columns.cells

    def ranked(self, request: KernelRequest) -> KernelAnswer | None:
        """Let the kernel rank a query as soon as its rows are there; None if it declines.

        Where the rows of a query are apart, all of them are read first.
        """
        used, module = self.columns.used(request.needs), request.kernel
        asked = request.judged, request.rules, request.threads
        if used is None:
            return None
        with self._table(used, module) as (table, numbers):
            found = None if table is None else module.rank_batches(table, numbers, *asked)
        if found is None:
            cells = self._cells(used, module)
            found = None if cells is None else module.rank_columns(cells, *asked)
        return None if found is None else KernelAnswer(*found)

    def picked(self, queries: tuple[str, ...], module: ModuleType) -> Rows | None:
        """Let the kernel look for the rows of some queries; None if it declines."""
        cells = self._cells(self.columns.cells, module)
        facts: dict[str, Any] = {"ignored": self.columns.ignored, "name": self.source.name}
        facts["remarks"] = self.remarks
        return None if cells is None else picked(module, cells, queries, **facts)

    def judgments(self, module: ModuleType) -> Any:
        """Let the kernel read judgments; None if it declines."""
        cells = self._cells(self.columns.cells, module)
        return None if cells is None else module.read_judgments(cells)

    def _cells(self, used: dict[str, str], module: ModuleType) -> dict[str, Any] | None:
        """Read these columns."""
        with self._table(used, module) as (table, numbers):
            whole = table is not None and table.read()
        return {ours: (table, number) for ours, number in numbers.items()} if whole else None

    @contextmanager
    def _table(
        self, used: dict[str, str], module: ModuleType
    ) -> Iterator[tuple[Any, dict[str, int]]]:
        """Open the file as a stream of these columns; yield it, and their numbers in it."""
        with opened_frame(self.source) as file:
            fields = [field for field in file.schema if field.name in used.values()]
            numbers = {field.name: number for number, field in enumerate(fields)}
            if not {*used.values()} <= numbers.keys():  # damaged: the Python reader says how
                yield None, {}
                return
            stream = frames.arrow().RecordBatchReader.from_batches(
                frames.arrow().schema(fields), file.batches(list(numbers))
            )
            table = module.arrow_table(stream.__arrow_c_stream__())
            yield table, {ours: numbers[theirs] for ours, theirs in used.items()}


def frame_run(source: Source, options: ReadOptions, value: str = "score") -> FrameRun | None:
    """Find the columns of a file that the kernel reads; None if Python has to read it."""
    module, reading = kernel.native(), Reading(value, Faults(source.name), options)
    if module is None:
        return None
    try:
        with opened_frame(source) as file:
            if file.cells > frames.most_cells(file.size):
                return None
            empty = module.arrow_table(file.schema.empty_table().__arrow_c_stream__())
        numeric = dict(zip(empty.names, empty.numeric, strict=True))
        columns = chosen(
            our_names(empty.names, reading), numeric, {name: name for name in numeric}, reading
        )
    except Exception:  # whatever is wrong, the Python reader reports it
        return None
    return columns and FrameRun(source, columns, tuple(reading.remarks))


@contextmanager
def opened_frame(source: Source) -> Iterator[FrameFile]:
    """Open a file for pyarrow; what is compressed, or no file, is read into memory first."""
    pyarrow = frames.arrow()
    is_plain = source.path is not None and not source.is_compressed
    with (
        pyarrow.OSFile(str(source.path))
        if is_plain
        else pyarrow.BufferReader(source.data()) as file
    ):
        yield FrameFile(file, source.head(8))
