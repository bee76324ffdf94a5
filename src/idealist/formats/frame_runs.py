"""Runs in Parquet and Arrow files: the columns that rank, handed to the kernel batch by batch."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from idealist import kernel
from idealist.data import Rows
from idealist.data.remarks import Remark
from idealist.errors import Faults
from idealist.formats import frame_parts, frames
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

        Where the rows of a query are apart, those of many queries are read first: of all, unless
        there are too many rows.
        """
        used, module = self.columns.used(request.needs), request.kernel
        asked = request.judged, request.rules, request.threads
        if used is None:
            return None
        with self._table(used, module) as (table, numbers):
            found = None if table is None else module.rank_batches(table, numbers, *asked)
        found = found or self._in_parts(used, request)
        if found is None:
            cells = self._cells(used, module)
            found = None if cells is None else module.rank_columns(cells, *asked)
        return None if found is None else KernelAnswer(*found)

    def _in_parts(
        self, used: dict[str, str], request: KernelRequest
    ) -> tuple[list[tuple[Any, ...]], set[str]] | None:
        """Rank some queries at a time; None if all fit into memory, or the kernel declines."""
        answers, unknown = [], set[str]()
        for queries in self._parts(used["query"]):
            cells = self._cells(used, request.kernel, queries)
            asked = request.judged, request.rules, request.threads
            found = None if cells is None else request.kernel.rank_columns(cells, *asked)
            if found is None:
                return None
            answers.append(found[0])
            unknown.update(found[1])
        columns = frame_parts.joined(answers) if answers else None
        return None if columns is None else (columns, unknown)

    def _parts(self, theirs: str) -> list[set[str]]:
        """Part the queries of a large file; none if its rows can be held at once, or not parted."""
        with opened_frame(self.source) as file:
            try:
                is_small = 0 < file.rows <= frame_parts.MOST_ROWS
                if is_small or not frame_parts.can_be_parted(file.schema.field(theirs).type):
                    return []
                parts = frame_parts.parts_of(file.batches([theirs]))
            except (frames.arrow().ArrowException, OSError, ValueError):  # its reader says how
                return []
        return parts if len(parts) > 1 else []

    def picked(self, queries: tuple[str, ...], module: ModuleType) -> Rows | None:
        """Let the kernel look for the rows of some queries; None if it declines.

        Of a large file no others are held; ranking it has checked them.
        """
        with opened_frame(self.source) as file:
            some = set(queries) if file.rows > frame_parts.MOST_ROWS else None
        cells = self._cells(self.columns.cells, module, some)
        facts: dict[str, Any] = {"ignored": self.columns.ignored, "name": self.source.name}
        facts["remarks"] = self.remarks
        return None if cells is None else picked(module, cells, queries, **facts)

    def judgments(self, module: ModuleType) -> Any:
        """Let the kernel read judgments; None if it declines."""
        cells = self._cells(self.columns.cells, module)
        return None if cells is None else module.read_judgments(cells)

    def _cells(
        self, used: dict[str, str], module: ModuleType, queries: Collection[str] | None = None
    ) -> dict[str, Any] | None:
        """Read these columns, of some queries if they can be told before that."""
        with self._table(used, module, queries) as (table, numbers):
            whole = table is not None and table.read()
        return {ours: (table, number) for ours, number in numbers.items()} if whole else None

    @contextmanager
    def _table(
        self, used: dict[str, str], module: ModuleType, queries: Collection[str] | None = None
    ) -> Iterator[tuple[Any, dict[str, int]]]:
        """Open the file as a stream of these columns; yield it, and their numbers in it."""
        with opened_frame(self.source) as file:
            fields = [field for field in file.schema if field.name in used.values()]
            numbers = {field.name: number for number, field in enumerate(fields)}
            if not {*used.values()} <= numbers.keys():  # damaged: the Python reader says how
                yield None, {}
                return
            batches, number = file.batches(list(numbers)), numbers[used["query"]]
            if queries is not None and frame_parts.can_be_parted(fields[number].type):
                batches = frame_parts.rows_of(batches, number, queries)
            stream = frames.arrow().RecordBatchReader.from_batches(
                frames.arrow().schema(fields), batches
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
