"""Data that holds both sides: what was retrieved for each query, and what should have been."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from idealist.data import Qrels, Run, Scale
from idealist.errors import Faults
from idealist.formats import build, contents, json_text, python_data
from idealist.formats.cells import Cells, shown
from idealist.formats.column_names import GOLDS, ORDER_HINT, REFERENCES, folded
from idealist.formats.contents import Content
from idealist.formats.evidence_gold import as_evidence
from idealist.formats.reading import DescribedFile, Reading, ReadOptions
from idealist.formats.records import records_in
from idealist.formats.source import Source, run_name
from idealist.formats.span_cells import checked_rows

GOLD = frozenset(map(folded, (*GOLDS, *REFERENCES, "context")))
PAIRS_HINT = 'give {"query": …, "retrieved": […], "gold": […]} for each query'


@dataclass(frozen=True)
class Pairs:
    """Such data, before it is known whether it holds both sides."""

    content: Content
    source: Source | None
    options: ReadOptions
    place: str

    @classmethod
    def of(cls, data: Any, options: ReadOptions, name: str = "") -> Pairs:
        """Open a file, or take Python data as it is."""
        if isinstance(data, (str, Path)):
            source = Source.of(data)
            found = contents.content_of(source, Faults(source.name))
            return cls(found, source, options, source.name)
        place = name or "pairs"
        if isinstance(data, (str, bytes, int, float)) or data is None:
            Faults(place).fail("bad-shape", f"cannot read {shown(data)}", PAIRS_HINT)
        whole = isinstance(data, Mapping) or not isinstance(data, Iterable)
        plain = whole or hasattr(data, "columns") or hasattr(data, "__arrow_c_stream__")
        return cls(Content("json", data if plain else list(data)), None, options, place)

    def _cells(self, reading: Reading) -> Cells | bytes:
        if self.source is None:
            return python_data.cells_of(self.content.value, reading)
        return contents.cells_of(self.content, self.source, reading)

    @cached_property
    def are_both(self) -> bool:
        """Whether there are judgments and a run: lists of both, or grades beside scores."""
        reading = Reading("score", Faults(self.place), self.options)
        if self.content.kind == "json" or self.content.holds_lists:
            found = records_in(self.content.value, reading, lines=self.content.lines)
            if found is not None:
                return found.are_both
        cells = self._cells(reading)
        if isinstance(cells, bytes):
            return False
        ranked = {"score", "rank"} & cells.columns.keys()
        return bool(ranked and contents.JUDGED & cells.columns.keys())

    def read(self, name: str) -> tuple[Qrels, Run]:
        """Read both sides, or refuse data that holds only one."""
        if not self.are_both:
            reading = Reading("score", Faults(self.place), self.options)
            faults = Faults(self.place)
            found = records_in(self.content.value, reading, lines=self.content.lines)
            if found is None:
                hint = f"give two files, QRELS and RUNS: {ORDER_HINT}"
                faults.fail("bad-shape", "this holds judgments or a run, not both", hint)
            side, other = ("gold", "ranking") if found.golds else ("ranking", "gold")
            hint = f"give two files, {ORDER_HINT}; or name it: {found.naming(other)}"
            message = f"record 1: there is a {side} and no {other}"
            faults.fail("bad-shape", message, hint, found.line(0))
        grades, scores = (Reading(v, Faults(self.place), self.options) for v in ("grade", "score"))
        judged = checked_rows(self._both(grades), grades)
        retrieved = checked_rows(self._both(scores), scores)
        said = self.options
        scale = None if said.scale is None else Scale.of(said.scale)
        qrels = build.qrels(judged, scale, self.place, grades.remarks, said.merge)
        if said.spans:
            qrels = as_evidence(qrels, said.cover or "any")
        return qrels, Run(build.rows(retrieved, self.place, scores.remarks), name)

    def _both(self, reading: Reading) -> Cells:
        found = self._cells(reading)
        assert isinstance(found, Cells)  # text was refused
        return found


def holds_both(file: DescribedFile) -> bool:
    """Whether a file's records hold both sides; large files are not read to find out."""
    if file.path == "-" or file.path.startswith(contents.IRDS) or not os.path.isfile(file.path):
        return False
    source = Source.of(file.path)
    head = source.head().lstrip()
    names = {folded(name.decode()) for name in re.findall(rb'"([\w .-]+)"\s*:', head)}
    if head[:1] not in (b"{", b"[") or not (names & GOLD or "gold" in file.options.columns):
        return False
    if contents.is_lines(head, source):
        first = json_text.load(head.split(b"\n", 1)[0], source.name)
        return Pairs(Content("json", [first], [1]), source, file.options, source.name).are_both
    return Pairs.of(file.path, file.options).are_both


def pairs_name(data: Any) -> str:
    """Name the run of such data."""
    return run_name(data) if isinstance(data, (str, Path)) else "run"
