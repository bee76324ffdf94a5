"""A run's text, ranked by the kernel while it is read, never all of it in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from idealist import kernel
from idealist.data import Rows
from idealist.data.columns import freeze
from idealist.data.remarks import Remark
from idealist.errors import Faults
from idealist.formats import trec
from idealist.formats.source import Source
from idealist.formats.text_layouts import TextLayout
from idealist.ranking.compiled import KernelAnswer, KernelRequest

#: Hands the kernel a file from its beginning: a descriptor, or blocks of bytes.
Begin = Callable[[], Any]


@dataclass(frozen=True)
class TextRun:
    """A file of text whose layout is known."""

    source: Source
    layout: TextLayout

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What its head made the readers remark on; they keep to it."""
        return self.layout.remarks

    @property
    def has_ranks(self) -> bool:
        """Whether rows have ranks."""
        return self.layout.has_ranks

    def ranked(self, request: KernelRequest) -> KernelAnswer | None:
        """Let the kernel rank the file while reading it; None if it declines."""
        with self._begin() as (begin, size):
            found = request.kernel.rank_text(
                begin, self.layout.native(request.kernel), request.judged, request.rules,
                request.threads,
            )  # fmt: skip
        if found is None or found["rows"] == 0:
            return None
        self._check(found, size)
        return KernelAnswer(found["columns"], found["unknown"])

    def picked(self, queries: tuple[str, ...], module: ModuleType) -> Rows | None:
        """Let the kernel look for the rows of some queries; None if it declines."""
        wanted = module.Judged(queries, np.zeros(len(queries) + 1, np.int64), ())
        with self._begin() as (begin, size):
            found = module.pick_rows(begin, self.layout.native(module), wanted, kernel.threads())
        if found is None or found["empty"]:
            return None
        self._check(found, size)
        names = [name for name in ("scores", "ranks", "tokens") if name in found]
        facts: dict[str, Any] = {name: _numbers(found[name]) for name in names}
        lines, starts = (_numbers(found[key], np.int64) for key in ("lines_of_rows", "starts"))
        if self.layout.kind != "lists":  # a line holds many rows there, and none is named
            facts["lines"] = freeze(lines + self.layout.lines)
        facts["name"] = self.source.name
        return Rows(queries, starts, found["documents"], remarks=self.remarks, **facts).present()

    def judgments(self, module: ModuleType) -> Any:
        """Let the kernel read judgments; None if it declines."""
        with self._begin() as (begin, _):
            return module.read_judged_text(begin, self.layout.native(module))

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
        faults = Faults(self.source.name)
        if found["bytes"] < size:
            hint = "wait until it is written, then read it again"
            faults.fail("truncated", "the file shrank while it was read", hint)
        if found["shortened"]:
            self.source.read()  # the rest may not be text
        for kind, line, byte in found["text"]:
            self.source.refuse_text(kind, line, byte)
        is_msmarco = self.layout.kind == "msmarco"
        if found["lines"]:
            defined = trec.MSMARCO if is_msmarco else trec.RUN
            first = trec.first_line(self.source.head())
            defined.refuse(found["lines"], faults, found["faults"], first=first)
        if is_msmarco:
            trec.check_least_rank(found["least_rank"], faults)


def _numbers(data: bytes, kind: Any = np.float64) -> Any:
    return freeze(np.frombuffer(data, kind))
