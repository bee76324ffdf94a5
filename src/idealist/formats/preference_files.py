"""Preferences: from TREC's text of five columns, tables and Python data, as judgments."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from idealist.data import Qrels
from idealist.data.columns import freeze, to_id
from idealist.data.preferences import UNNAMED, Preferences
from idealist.errors import Contradictions, Faults
from idealist.formats import contents, frames, json_text, shapes, trec
from idealist.formats.cells import ID_RULE, Cells, Table, checked, checked_id, shown
from idealist.formats.source import Source
from idealist.notation import tidy

NAMES = ("query", "group", "subgroup", "document", "level")
SHAPE_HINT = "give {query: {group: {document: level}}}, or columns " + ", ".join(NAMES)


def read_preferences(data: Any, *, name: str = "") -> Qrels:
    """Read preferences from a file or Python data, as judgments that hold them.

    A file is TREC text of five columns (query, group, subgroup, document, level), or qrels, whose
    second column is then the group, or a table or JSON with these names. Python data may also be
    {query: {group: {document: level}}}. Within a subgroup, a document of a higher level is
    preferred to one of a lower level; level 0 says that a document is not relevant.

    >>> some = read_preferences({"q1": {"ann": {"d1": 2, "d2": 1}, "ben": {"d2": 1, "d1": 0}}})
    >>> len(some), some.preferences.group
    (2, ('ann', 'ben', 'ann', 'ben'))
    """
    if isinstance(data, Qrels):
        made = data
    elif isinstance(data, (str, Path)):
        made = _of_file(Source.of(data))
    else:
        faults = Faults(name or "preferences")
        made = _of_cells(_cells(data, faults), faults)
    return replace(made, name=name) if name else made


def of_trec(data: bytes, name: str) -> Qrels:
    """Read TREC text: preferences, or qrels with groups in their second column."""
    return _built(_Rows(*trec.preference_rows(data, name)), Faults(name))


def _of_file(source: Source) -> Qrels:
    faults, data = Faults(source.name), source.data()
    if not (frames.is_binary(data) or contents.is_lines(data, source)):
        content = source.text(data)
        if contents.is_json(content):
            return _of_cells(_cells(json_text.load(content, source.name), faults, content), faults)
    found = contents.cells(source, "level", faults)
    return of_trec(found, source.name) if isinstance(found, bytes) else _of_cells(found, faults)


def _cells(data: Any, faults: Faults, content: bytes = b"") -> Cells:
    """Read documents by query and group, or any table; `content` is the JSON that it stood in."""
    if not (isinstance(data, Mapping) and all(isinstance(one, Mapping) for one in data.values())):
        return shapes.cells_of(data, "level", faults)
    columns: dict[str, list[Any]] = {key: [] for key in ("query", "group", "document", "level")}
    for query, groups in data.items():
        for group, documents in groups.items():
            if not isinstance(documents, Mapping):
                message = f"query {shown(query)}, group {shown(group)}: cannot read "
                faults.fail("bad-shape", message + shown(documents), SHAPE_HINT)
            for row in ((query, group, *cell) for cell in documents.items()):
                for cells, cell in zip(columns.values(), row, strict=True):
                    cells.append(cell)
    named = (checked_id(query, faults) for query, some in data.items() if not any(some.values()))
    empty = [query for query in named if query is not None]
    faults.check()
    return Cells(columns, line=_line(columns, content), empty=empty)


def _line(columns: Mapping[str, list[Any]], content: bytes) -> Any:
    """Find the line of a row in JSON, where it stood in one."""

    @cache  # no file without a fault should pay
    def lines() -> dict[json_text.Path, int]:
        return dict(json_text.keys(content.decode()))

    def line(row: int) -> int | None:
        return lines().get(tuple(columns[key][row] for key in ("query", "group", "document")))

    return line if content else None


def _of_cells(cells: Cells, faults: Faults) -> Qrels:
    table = checked(cells, "level", faults)
    if len(table.value) < len(table.query):
        faults.fail("missing-column", "the preferences have no levels", SHAPE_HINT)
    group, subgroup = (_names(key, table, faults) for key in ("group", "subgroup"))
    faults.check()
    ignored = [key for key in table.columns if key not in NAMES]
    rows = _Rows(table.query, group, subgroup, table.document, table.value, table.lines)
    made = _built(rows, faults, table.empty)
    return replace(made, ungraded=table.without, ignored=tuple(ignored))


def _names(key: str, table: Table, faults: Faults) -> list[str]:
    """Check the names of groups; those that are not given are all the same."""
    names = []
    for i, cell in enumerate(table.columns.get(key, [None] * len(table.query))):
        try:
            names.append(UNNAMED if cell is None else to_id(cell))
        except (TypeError, ValueError):
            message = f"{key} {shown(cell)}: {ID_RULE}"
            faults.add("bad-id", message, f"write a {key} as text", table.line(i))
    return names


@dataclass(frozen=True)
class _Rows:
    """Preferences as they came."""

    query: list[str]
    group: list[str]
    subgroup: list[str]
    document: list[str]
    level: list[float]
    lines: list[int] | None = None
    disputed: set[tuple[str, str]] = field(default_factory=set)

    def line(self, i: int) -> int | None:
        """Give the line of a row, where it has one."""
        return self.lines[i] if self.lines is not None else None

    def unique(self, faults: Faults) -> list[int]:
        """Order the rows by document, group and subgroup, without repeats; note contradictions."""
        columns = (self.query, self.document, self.group, self.subgroup)
        keys = list(zip(*columns, strict=True))
        kept: list[int] = []
        for i in sorted(range(len(keys)), key=keys.__getitem__):
            last = kept[-1] if kept else i
            if not kept or keys[i] != keys[last]:
                kept.append(i)
                if keys[i][:3] == keys[last][:3] and (self.level[i] > 0) != (self.level[last] > 0):
                    hint = "level 0 is for documents that are not relevant, in all of a group"
                    self._contradicts(i, last, hint, faults)
            elif self.level[i] != self.level[last]:
                self._contradicts(i, last, "keep one level of a document in a subgroup", faults)
        return kept

    def without(self, groups: Set[tuple[str, str]]) -> _Rows:
        """Leave out groups of judges, each named with its query."""
        names = zip(self.query, self.group, strict=True)
        kept = [i for i, name in enumerate(names) if name not in groups]
        columns = ("query", "group", "subgroup", "document", "level", "lines")
        given: dict[str, Any] = {key: getattr(self, key) for key in columns}
        some: dict[str, Any] = {key: own and [own[i] for i in kept] for key, own in given.items()}
        return _Rows(**some)

    def _contradicts(self, i: int, before: int, hint: str, faults: Faults) -> None:
        where = f" (line {self.line(before)})" if self.lines else ""
        message = f"query {self.query[i]!r}, group {self.group[i]!r}, document "
        message += f"{self.document[i]!r}: level {tidy(self.level[i])} contradicts "
        message += f"{tidy(self.level[before])}{where}"
        faults.add("contradiction", message, hint, self.line(i))
        self.disputed.add((self.query[i], self.group[i]))


def _built(rows: _Rows, faults: Faults, empty: list[str] | None = None) -> Qrels:
    kept = rows.unique(faults)
    _check_contradictions(rows, faults, empty)
    highest: dict[tuple[str, str], float] = {}
    for i in kept:
        key = rows.query[i], rows.document[i]
        highest[key] = max(rows.level[i], highest.get(key, -np.inf))
    queries, documents = [query for query, _ in highest], [document for _, document in highest]
    levels = list(highest.values())
    made = Qrels.build(queries, documents, levels, empty=empty or (), name=faults.file)
    pair = [made.lookup[rows.query[i]][rows.document[i]] for i in kept]
    preferences = Preferences(
        freeze(np.array(pair, dtype=np.int64)),
        tuple(rows.group[i] for i in kept),
        tuple(rows.subgroup[i] for i in kept),
        freeze(np.array([rows.level[i] for i in kept], dtype=np.float64)),
    )
    made = replace(made, repeats=len(rows.query) - len(kept), preferences=preferences)
    _note_conflicts(made, rows, faults)
    _check_contradictions(rows, faults, empty)
    return made


def _check_contradictions(rows: _Rows, faults: Faults, empty: list[str] | None) -> None:
    """Refuse preferences that contradict each other; they can be read without these groups."""
    if rows.disputed:

        def without() -> Qrels:
            return _built(rows.without(rows.disputed), Faults(faults.file), empty)

        raise Contradictions(faults.shown, faults.total, {"query": rows.query}, without)
    faults.check()


def _note_conflicts(qrels: Qrels, rows: _Rows, faults: Faults) -> None:
    """Note groups that prefer each of two documents to the other one."""
    for query, groups in zip(qrels.queries, qrels.preferred or (), strict=True):
        for group in groups:
            if group.divided and (both := group.conflict):
                a, b = (qrels.documents[pair] for pair in both)
                message = f"query {query!r}, group {group.name!r}: {a!r} is preferred to {b!r}, "
                hint = "put preferences that contradict each other into different groups"
                faults.add("contradiction", f"{message}and {b!r} to {a!r}", hint)
                rows.disputed.add((query, group.name))
