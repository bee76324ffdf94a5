"""Which columns of a table the kernel reads, whatever the table lies in, and how it is asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from idealist import kernel
from idealist.data import Rows
from idealist.data.columns import starts_of
from idealist.formats.column_names import DISTANCES, matching
from idealist.formats.reading import Reading

#: The columns of a run that are numbers, and what its rows call them.
NUMBERS = {"score": "scores", "rank": "ranks", "tokens": "tokens"}
#: All columns that the kernel reads.
USED = {"query": "query", "document": "document", **NUMBERS}
#: All columns of judgments that it reads.
JUDGED = {"query": "query", "document": "document", "grade": "grades"}
#: What NumPy calls whole numbers and floats.
KINDS = frozenset("iuf")


class Columns(NamedTuple):
    """Columns the kernel reads, each an array or (Arrow table, number), and the other names."""

    cells: dict[str, Any]
    ignored: tuple[str, ...]

    def used(self, needs: Collection[str]) -> dict[str, Any] | None:
        """Return the columns that rank; None if one that is needed is missing."""
        if not self.cells.keys() >= set(needs):
            return None
        ranking = {"query", "document", *needs, "scores" if "scores" in self.cells else "ranks"}
        return {name: cells for name, cells in self.cells.items() if name in ranking}


def our_names(names: Iterable[Any], reading: Reading) -> dict[Any, str]:
    """Map the names found to ours; raise what is wrong with them."""
    names = list(names)
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    return reading.named(names)


def known(reading: Reading) -> dict[str, str]:
    """Return what the kernel calls the columns that it reads."""
    return JUDGED if reading.value == "grade" else USED


def chosen(
    named: Mapping[Any, str],
    numeric: Mapping[Any, bool],
    cells: Mapping[Any, Any],
    reading: Reading,
) -> Columns | None:
    """Choose the columns the kernel reads; ranks must be numbers even where nothing needs them.

    Judgments keep every column, so that the kernel reads them only where there are no others.
    Distances, and rows in the order of the file beside some number, are for the Python reader.
    """
    ours, columns = set(named.values()), known(reading)
    if columns is USED and matching((*named, *reading.told("score")), DISTANCES):
        return None
    if columns is USED and not {"score", "rank"} & ours and len(named) > 2:
        return None
    if reading.value == "grade" and ours != columns.keys():
        return None
    if not {"query", "document"} <= ours or (
        columns is USED and "grade" in ours and not {"score", "rank"} & ours
    ):
        return None
    numbers = columns.keys() - {"query", "document"}
    if not all(numeric[theirs] for theirs, ours in named.items() if ours in numbers):
        return None
    used = {columns[ours]: cells[theirs] for theirs, ours in named.items() if ours in columns}
    return Columns(used, tuple(ours for ours in named.values() if ours not in columns))


def picked(
    module: ModuleType, cells: dict[str, Any], queries: tuple[str, ...], **facts: Any
) -> Rows | None:
    """Let the kernel look for the rows of some queries; None if it declines."""
    wanted = module.Judged(queries, starts_of([0] * len(queries)), ())
    found = module.pick_columns(cells, wanted, kernel.threads())
    if found is None:
        return None
    sizes, documents, numbers = found
    facts |= {name: np.frombuffer(column) for name, column in numbers.items()}
    return Rows(queries, starts_of(sizes), documents, **facts).present()
