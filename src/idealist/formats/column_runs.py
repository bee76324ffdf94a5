"""Runs in columns: NumPy arrays, data frames and Arrow tables, read in place.

The kernel takes what is plain. The Python reader reads or refuses everything else, so whatever is
unclear about a column ends with None here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from idealist import kernel
from idealist.data import Qrels, Rows
from idealist.data.remarks import Remark
from idealist.errors import Faults
from idealist.formats.kernel_columns import KINDS, Columns, chosen, known, our_names, picked
from idealist.formats.reading import Reading, ReadOptions
from idealist.formats.run_sources import ObjectRun
from idealist.ranking.compiled import KernelAnswer, KernelRequest


def is_columns(data: Any) -> bool:
    """Whether data is columns that can be read twice, unlike those of a reader."""
    if type(data) is dict:
        return bool(data) and all(type(column) is np.ndarray for column in data.values())
    if isinstance(data, Mapping) or hasattr(data, "collect"):  # a lazy frame
        return False
    return _is_indexed(data) or (hasattr(data, "__arrow_c_stream__") and hasattr(data, "__len__"))


def _is_indexed(data: Any) -> bool:
    """Whether data is a frame with an index, such as those of pandas."""
    return all(hasattr(data, name) for name in ("columns", "to_dict", "index"))


@dataclass(frozen=True)
class ColumnRun(ObjectRun):
    """A run in columns; they must not change while this is used."""

    @cached_property
    def _noted(self) -> Reading:
        return self._reading()

    @cached_property
    def _columns(self) -> Columns | None:
        module = kernel.native()
        return None if module is None else _columns(self.data, self._noted, module)

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What reading its names, or its rows, remarked on."""
        compiled = not self.read and self._columns is not None
        return tuple(self._noted.remarks) if compiled else super().remarks

    def ranked(self, request: KernelRequest) -> KernelAnswer | None:
        """Let the kernel read and rank the columns."""
        columns = None if self.read else self._columns
        used = None if columns is None else columns.used(request.needs)
        if used is None:
            return None
        found = request.kernel.rank_columns(used, request.judged, request.rules, request.threads)
        return None if found is None else KernelAnswer(*found)

    def some(self, queries: Collection[str]) -> Rows:
        """Return the rows of some queries."""
        return self._picked(tuple(dict.fromkeys(queries))) or super().some(queries)

    def _picked(self, queries: tuple[str, ...]) -> Rows | None:
        """Let the kernel look for the rows of some queries."""
        module, columns = kernel.native(), None if self.read else self._columns
        if module is None or columns is None:
            return None
        found = {"ignored": columns.ignored, "name": self.name}
        return picked(module, columns.cells, queries, **found)


def compiled_qrels(data: Any, options: ReadOptions, name: str) -> Qrels | None:
    """Let the kernel read judgments in columns, or in a dict of dicts; None if it cannot.

    It neither renumbers grades nor merges judges.
    """
    module, found = kernel.native(), None
    if options.scale is not None or options.merge:
        return None
    reading = Reading("grade", Faults(name), options)
    if module is not None and is_columns(data):
        columns = _columns(data, reading, module)
        found = None if columns is None else module.read_judgments(columns.cells)
    elif module is not None and type(data) is dict:
        found = module.read_judgment_dict(data)
    return None if found is None else Qrels.of_kernel(found, None, name, reading.remarks)


def _columns(data: Any, reading: Reading, module: ModuleType) -> Columns | None:
    try:
        if type(data) is dict:
            return _of_arrays(data, reading)
        of = _of_frame if _is_indexed(data) else _of_stream
        return of(data, reading, module)
    except Exception:  # whatever is wrong, the Python reader reports it
        return None


def _of_arrays(data: dict[Any, Any], reading: Reading) -> Columns | None:
    if len({column.shape[0] for column in data.values()}) > 1:
        return None
    numeric = {theirs: column.dtype.kind in KINDS for theirs, column in data.items()}
    return chosen(our_names(data, reading), numeric, data, reading)


def _of_frame(frame: Any, reading: Reading, module: ModuleType) -> Columns | None:
    if any(index is not None for index in frame.index.names):
        return None
    named, columns = our_names(frame.columns, reading), known(reading)
    used = {theirs: frame[theirs] for theirs, ours in named.items() if ours in columns}
    numeric = {theirs: series.dtype.kind in KINDS for theirs, series in used.items()}
    cells = {theirs: _cells(series, named[theirs], module) for theirs, series in used.items()}
    if any(one is None for one in cells.values()):
        return None
    return chosen(named, numeric, cells, reading)


def _cells(series: Any, ours: str, module: ModuleType) -> Any:
    """Return a column of pandas; None if it has nulls, which may be NaN."""
    text = ours in ("query", "document") and getattr(series.dtype, "storage", "") == "pyarrow"
    if text and hasattr(series, "__arrow_c_stream__"):
        table = module.arrow_table(series.__arrow_c_stream__())
        return (table, 0) if table is not None and table.read() else None
    cells = series.to_numpy()
    return None if ours == "score" and np.isnan(cells).any() else cells


def _of_stream(data: Any, reading: Reading, module: ModuleType) -> Columns | None:
    """Read the columns of a stream, and close it before another may begin."""
    table = module.arrow_table(data.__arrow_c_stream__())
    if table is None or table.names is None:
        return None
    numeric = dict(zip(table.names, table.numeric, strict=True))
    cells = {theirs: (table, number) for number, theirs in enumerate(table.names)}
    columns = chosen(our_names(table.names, reading), numeric, cells, reading)
    return columns if columns is not None and table.read() else None
