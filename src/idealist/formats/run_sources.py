"""What a run is read from: a file that stays a file, or an object that stays where it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from idealist import kernel
from idealist.data import Rows
from idealist.data.remarks import Remark
from idealist.errors import Faults
from idealist.formats import build, contents, python_data, trec
from idealist.formats.cells import Table, plain
from idealist.formats.frame_runs import FrameRun, frame_run
from idealist.formats.reading import Reading, ReadOptions
from idealist.formats.source import Source
from idealist.formats.span_cells import checked_rows
from idealist.formats.text_layouts import layout_of
from idealist.formats.text_runs import TextRun
from idealist.ranking.compiled import KernelAnswer, KernelRequest


@dataclass(frozen=True)
class FileRun:
    """A run's file, of which the kernel keeps no more in memory than it has to.

    Where the kernel declines it, a file that is `held` keeps its rows.
    """

    source: Source
    options: ReadOptions = field(default_factory=ReadOptions)
    is_held: bool = False
    kept: list[Rows] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What errors call it."""
        return self.source.name

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What its reader remarked on; the kernel's goes by the head of the file."""
        if self.kept or self._compiled is None:
            return self.kept[0].remarks if self.kept else ()
        return self._compiled.remarks

    @property
    def has_ranks(self) -> bool:
        """Whether the kernel finds ranks in it."""
        return self._compiled is not None and self._compiled.has_ranks

    def rows(self) -> Rows:
        """Read all rows."""
        if self.kept:
            return self.kept[0]
        reading = Reading("score", Faults(self.name), self.options)
        found = contents.cells(self.source, reading)
        if isinstance(found, bytes):
            return trec.read_run(found, self.name)
        rows = build.rows(checked_rows(found, reading), self.name, reading.remarks)
        self.kept.extend([rows] if self.is_held else [])
        return rows

    def chunks(self) -> Rows:
        """Read all rows as parts of documents."""
        return replace(self, options=self.options.of_spans, kept=[]).rows()

    def held(self) -> FileRun | Rows:
        """Return the file itself if the kernel reads it, or else its rows."""
        return self.rows() if self._compiled is None else replace(self, is_held=True)

    @cached_property
    def _compiled(self) -> TextRun | FrameRun | None:
        """The file as the kernel reads it; None if Python has to."""
        if self.kept or self.options.spans or kernel.native() is None:
            return None
        if contents.may_be_frame(self.source):
            return frame_run(self.source, self.options)
        layout = layout_of(self.source, self.options)
        return None if layout is None else TextRun(self.source, layout)

    def ranked(self, request: KernelRequest) -> KernelAnswer | None:
        """Let the kernel rank the file."""
        compiled = None if self.kept else self._compiled
        return None if compiled is None else compiled.ranked(request)

    def some(self, queries: Collection[str]) -> Rows:
        """Read the rows of some queries."""
        compiled, module = None if self.kept else self._compiled, kernel.native()
        if compiled is not None and module is not None:
            found = compiled.picked(tuple(dict.fromkeys(queries)), module)
            if found is not None:
                return found
        return self.rows().some(queries)


@dataclass(frozen=True)
class ObjectRun:
    """A run in Python's memory, read in place: it must not change while this is used."""

    data: Any
    name: str
    options: ReadOptions = field(default_factory=ReadOptions)
    read: list[Rows] = field(default_factory=list)

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What reading it remarked on; what the kernel reads is plain."""
        return self.read[0].remarks if self.read else ()

    def rows(self) -> Rows:
        """Read all rows, once."""
        if not self.read:
            reading = self._reading()
            rows = build.rows(table(self.data, reading), self.name, reading.remarks)
            self.read.append(rows)
        return self.read[0]

    def chunks(self) -> Rows:
        """Read all rows as parts of documents."""
        return ObjectRun(self.data, self.name, self.options.of_spans).rows()

    def _reading(self) -> Reading:
        return Reading("score", Faults(self.name), self.options)

    def some(self, queries: Collection[str]) -> Rows:
        """Return the rows of some queries."""
        return self.rows().some(queries)

    def held(self) -> ObjectRun:
        """Return the object itself."""
        return self

    def ranked(self, request: KernelRequest) -> KernelAnswer | None:
        """Let the kernel read and rank a plain dict."""
        if type(self.data) is not dict or self.read or request.needs:
            return None
        found = request.kernel.rank_dict(self.data, request.judged, request.rules, request.threads)
        if found is None or (found[2] and not python_data.is_nested(self.data, self._reading())):
            return None
        return KernelAnswer(found[0], found[1])


def table(data: Any, reading: Reading) -> Table:
    """Read an object."""
    found = None if reading.options.scale is not None else plain(data)
    return found or checked_rows(python_data.cells_of(data, reading), reading)
