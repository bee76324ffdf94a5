"""How data is read: as judgments or as a run, with what its user says about it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from idealist.data import Queries
from idealist.data.remarks import Remark
from idealist.errors import Faults, UsageError
from idealist.formats.column_names import ALIASES, Given, ours, renamed


@dataclass(frozen=True)
class ReadOptions:
    """What a user says about files that do not say it themselves.

    `columns` names theirs by ours: {"document": "product_id"}. `queries` name what search engines
    answered, where responses do not: by their texts, or in their order.
    """

    columns: Given = field(default_factory=dict)
    queries: Queries | None = None

    def __post_init__(self) -> None:
        if unknown := [name for name in self.columns if name not in ALIASES]:
            hint = f"the columns are {', '.join(ALIASES)}"
            raise UsageError(f"columns: there is no column {unknown[0]!r} to name", hint)

    def words(self) -> list[str]:
        """Write them as options of the command line.

        >>> ReadOptions({"document": "product_id"}).words()
        ['--columns', 'document=product_id']
        """
        named = ",".join(f"{ours}={theirs}" for ours, theirs in self.columns.items())
        return ["--columns", named] if named else []

    def of(self, path: str | Path) -> DescribedFile:
        """Say this about a file."""
        return DescribedFile(str(path), self)


@dataclass(frozen=True)
class DescribedFile:
    """A file, and what its user says about it; read wherever a path is."""

    path: str
    options: ReadOptions

    def __str__(self) -> str:
        return shlex.join([self.path, *self.options.words()])


@dataclass(frozen=True)
class Reading:
    """What data is read as, what is said about it, and where faults and remarks are noted.

    `value` is the column that matters: "grade" of judgments, "level" of preferences, "score" of
    runs.
    """

    value: str
    faults: Faults
    options: ReadOptions = field(default_factory=ReadOptions)
    remarks: list[Remark] = field(default_factory=list)

    def ours(self, names: Iterable[Any]) -> dict[str, Any]:
        """Map our column names to the names found."""
        return ours(names, self.options.columns)

    def renamed(self, names: Iterable[Any]) -> dict[Any, str]:
        """Map the names found to ours, or to themselves if we have none."""
        return renamed(names, self.value, self.faults, self.options.columns)

    def remark(self, code: str, message: str, count: int = 0, severity: str = "note") -> None:
        """Note something that results should mention, once."""
        if (found := Remark(code, message, count, severity)) not in self.remarks:
            self.remarks.append(found)


def described(
    data: Any, columns: Given | None = None, queries: Queries | None = None
) -> tuple[Any, ReadOptions]:
    """Part a file from what is said about it; what is said now comes first."""
    said = data.options if isinstance(data, DescribedFile) else ReadOptions()
    data = data.path if isinstance(data, DescribedFile) else data
    return data, replace(said, columns=columns or said.columns, queries=queries or said.queries)
