"""What a run is read from: a file that stays a file, or an object that stays where it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from idealist import kernel
from idealist.data import Rows
from idealist.data.columns import freeze
from idealist.data.remarks import Remark
from idealist.errors import Faults
from idealist.formats import build, contents, python_data, trec
from idealist.formats.cells import Table, checked, plain
from idealist.formats.reading import Reading, ReadOptions
from idealist.formats.source import Source
from idealist.ranking.compiled import KernelAnswer, KernelRequest

#: Hands the kernel a file from its beginning: a descriptor, or blocks of bytes.
Begin = Callable[[], Any]


@dataclass(frozen=True)
class FileRun:
    """A run's file; the kernel ranks TREC text while reading it, never all of it in memory."""

    source: Source
    options: ReadOptions = field(default_factory=ReadOptions)

    @property
    def name(self) -> str:
        """What errors call it."""
        return self.source.name

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """None: what must be remarked on is held as rows."""
        return ()

    def rows(self) -> Rows:
        """Read all rows."""
        reading = Reading("score", Faults(self.name), self.options)
        found = contents.cells(self.source, reading)
        if isinstance(found, bytes):
            return trec.read_run(found, self.name)
        return build.rows(checked(found, reading), self.name, reading.remarks)

    def held(self) -> FileRun | Rows:
        """Return the file itself if the kernel reads it, or else its rows."""
        return self if kernel.native() is not None and self._is_text else self.rows()

    @cached_property
    def _is_text(self) -> bool:
        return contents.is_trec(self.source, self.options)

    @cached_property
    def _first(self) -> trec.Line:
        return trec.first_line(self.source.head())

    @property
    def _is_msmarco(self) -> bool:
        return trec.is_msmarco(self._first)

    def ranked(self, request: KernelRequest) -> KernelAnswer | None:
        """Let the kernel rank the file while reading it."""
        if not self._is_text or "tokens" in request.needs:
            return None
        with self._begin() as (begin, size):
            found = request.kernel.rank_text(
                begin, self._is_msmarco, request.judged, request.rules, request.threads
            )
        if found["rows"] == 0:
            return None
        self._check(found, size)
        return KernelAnswer(found["columns"], found["unknown"])

    def some(self, queries: Collection[str]) -> Rows:
        """Read the rows of some queries."""
        module = kernel.native()
        if module is None or not self._is_text:
            return self.rows().some(queries)
        wanted = module.Judged(tuple(queries), np.zeros(len(queries) + 1, np.int64), ())
        with self._begin() as (begin, size):
            found = module.pick_rows(begin, self._is_msmarco, wanted, kernel.threads())
        self._check(found, size)
        numbers = {key: _numbers(found[key]) for key in ("scores", "ranks")}
        lines, starts = (_numbers(found[key], np.int64) for key in ("lines_of_rows", "starts"))
        facts: dict[str, Any] = {"lines": lines, "name": self.name}
        facts |= {key: column for key, column in numbers.items() if len(column) or not len(lines)}
        return Rows(tuple(queries), starts, found["documents"], **facts).present()

    @contextmanager
    def _begin(self) -> Iterator[tuple[Begin, int]]:
        if not self.source.is_plain:
            yield self.source.blocks, 0
            return
        with self.source.descriptor() as (descriptor, size):

            def begin() -> int:
                os.lseek(descriptor, 0, os.SEEK_SET)
                return descriptor

            yield begin, size

    def _check(self, found: dict[str, Any], size: int) -> None:
        """Raise what the kernel found wrong with the text, in the words of the Python reader."""
        faults = Faults(self.name)
        if found["bytes"] < size:
            hint = "wait until it is written, then read it again"
            faults.fail("truncated", "the file shrank while it was read", hint)
        if found["shortened"]:
            self.source.read()  # the rest may not be text
        for kind, line, byte in found["text"]:
            self.source.refuse_text(kind, line, byte)
        if found["lines"]:
            layout = trec.MSMARCO if self._is_msmarco else trec.RUN
            layout.refuse(found["lines"], faults, found["faults"], first=self._first)
        if self._is_msmarco:
            trec.check_least_rank(found["least_rank"], faults)


def _numbers(data: bytes, kind: Any = np.float64) -> Any:
    return freeze(np.frombuffer(data, kind))


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
    return plain(data) or checked(python_data.cells_of(data, reading), reading)
