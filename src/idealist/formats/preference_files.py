"""Preferences: from TREC text of five columns, tables and Python data, as judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from idealist.data import Qrels
from idealist.data.columns import to_id
from idealist.data.judgments import Judgments
from idealist.data.preferences import UNNAMED, Preferences
from idealist.errors import Contradictions, Faults
from idealist.formats import contents, json_text, python_data, trec
from idealist.formats.cells import ID_RULE, Cells, Table, checked, checked_id, pivot, shown
from idealist.formats.reading import Reading
from idealist.formats.source import Source

SHAPE_HINT = (
    "give {query: {group: {document: level}}}, "
    "or the columns query, group, subgroup, document and level"
)


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
    return _built(trec.read_preferences(data, name), Faults(name))


def _of_file(source: Source) -> Qrels:
    faults = Faults(source.name)
    content = contents.content_of(source, faults)
    if content.is_document:
        return _of_cells(_cells(content.value, faults, content.text), faults)
    found = contents.cells_of(content, source, Reading("level", faults))
    return of_trec(found, source.name) if isinstance(found, bytes) else _of_cells(found, faults)


def _cells(data: Any, faults: Faults, text: bytes = b"") -> Cells:
    """Read documents by query and group, or any table; `text` is the JSON that held them."""
    if not (isinstance(data, Mapping) and all(isinstance(one, Mapping) for one in data.values())):
        return python_data.cells_of(data, Reading("level", faults))
    columns = pivot(_rows(data, faults))
    named = (checked_id(query, faults) for query, some in data.items() if not any(some.values()))
    empty = [query for query in named if query is not None]
    faults.check()
    locate = json_text.locator(text)

    def line(row: int) -> int | None:
        return locate(*(columns[key][row] for key in ("query", "group", "document")))

    return Cells(columns, line=line if text else None, empty=empty)


def _rows(data: Mapping[Any, Mapping[Any, Any]], faults: Faults) -> Iterator[python_data.Row]:
    for query, groups in data.items():
        for group, documents in groups.items():
            if not isinstance(documents, Mapping):
                message = f"query {shown(query)}, group {shown(group)}: cannot read "
                faults.fail("bad-shape", message + shown(documents), SHAPE_HINT)
            for document, level in documents.items():
                yield query, document, {"group": group, "level": level}


def _of_cells(cells: Cells, faults: Faults) -> Qrels:
    table = checked(cells, Reading("level", faults))
    if len(table.value) < len(table.query):
        faults.fail("missing-column", "the preferences have no levels", SHAPE_HINT)
    columns = {
        "query": table.query, "document": table.document, "level": table.value,
        "group": _names("group", table, faults), "subgroup": _names("subgroup", table, faults),
        "lines": table.lines,
    }  # fmt: skip
    faults.check()
    ignored = tuple(key for key in table.columns if key not in columns)
    made = _built(columns, faults, table.empty)
    return replace(made, ungraded=table.without, ignored=ignored)


def _names(key: str, table: Table, faults: Faults) -> list[str]:
    """Check the names of groups; groups without a name are all the same."""
    names = []
    for i, cell in enumerate(table.columns.get(key, [None] * len(table.query))):
        try:
            names.append(UNNAMED if cell is None else to_id(cell))
        except (TypeError, ValueError):
            message = f"{key} {shown(cell)}: {ID_RULE}"
            faults.add("bad-id", message, f"write a {key} as text", table.line(i))
    return names


@dataclass(frozen=True)
class _Levels(Judgments):
    """Preferences as they came: the grade is a level, the subtopic a group and its subgroup.

    `disputed` collects the groups that contradict themselves, each with its query.
    """

    disputed: set[tuple[str, str]] = field(default_factory=set)
    value, hint = "level", "keep one level of a document in a subgroup"

    def group(self, i: int) -> tuple[str, str]:
        """Return the query and the group of a row."""
        return self.query[i], self.subtopic[i][0]

    def words(self, i: int) -> str:
        """Name the query, the group and the document of a row."""
        query, group = self.group(i)
        return f"query {query!r}, group {group!r}, document {self.document[i]!r}"

    def check_zeros(self, kept: list[int], faults: Faults) -> None:
        """Note documents that one group holds to be relevant and not relevant."""
        for last, i in pairwise(kept):
            same = self.pair(i) == self.pair(last) and self.group(i) == self.group(last)
            if same and (self.grade[i] > 0) != (self.grade[last] > 0):
                hint = "within a group, a document is relevant or, with level 0, not relevant"
                self.note_contradiction(i, last, faults, hint)

    def note_contradiction(self, i: int, before: int, faults: Faults, hint: str) -> None:
        """Note that a row contradicts one before it, and its group."""
        super().note_contradiction(i, before, faults, hint)
        self.disputed.add(self.group(i))

    def check_conflicts(self, qrels: Qrels, faults: Faults) -> None:
        """Note groups that prefer each of two documents to the other one."""
        for query, groups in zip(qrels.queries, qrels.preferred or (), strict=True):
            for group in groups:
                if group.divided and (both := group.conflict):
                    a, b = (qrels.documents[pair] for pair in both)
                    message = f"query {query!r}, group {group.name!r}: {a!r} is preferred to {b!r},"
                    hint = "put preferences that contradict each other into different groups"
                    faults.add("contradiction", f"{message} and {b!r} to {a!r}", hint)
                    self.disputed.add((query, group.name))


def _built(columns: Mapping[str, Any], faults: Faults, empty: Sequence[str] = ()) -> Qrels:
    groups = cast(Any, list(zip(columns["group"], columns["subgroup"], strict=True)))
    query, document = columns["query"], columns["document"]
    rows = _Levels(query, document, columns["level"], groups, columns["lines"])

    def check() -> None:
        if rows.disputed:
            raise Contradictions(faults.shown, faults.total, {"query": query}, undisputed)
        faults.check()

    def undisputed() -> Qrels:
        """Read the preferences without the groups that contradict themselves."""
        kept = [i for i in range(len(query)) if rows.group(i) not in rows.disputed]
        some = {key: cells and [cells[i] for i in kept] for key, cells in columns.items()}
        return _built(some, Faults(faults.file), empty)

    kept = rows.unique(faults)
    rows.check_zeros(kept, faults)
    check()
    pairs = rows.pairs(kept)
    highest, levels = rows.by_subtopic(kept, pairs)
    queries, documents = ([column[i] for i in pairs] for column in (query, document))
    made = Qrels.build(queries, documents, highest.tolist(), empty=empty, name=faults.file)
    group, subgroup = (tuple(groups[i][n] for i in kept) for n in (0, 1))
    preferences = Preferences(levels.pair, group, subgroup, levels.grade)
    made = replace(made, repeats=len(query) - len(kept), preferences=preferences)
    rows.check_conflicts(made, faults)
    check()
    return made
