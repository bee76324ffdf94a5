"""Records of one query each: what names the query, what was retrieved, and what should have been.

[{"question": …, "retrieved_ids": […], "expected_ids": […]}, …]     a record a query
{"question": […], "contexts": [[…], …]}                            the same in columns
{query: {"retrieved": […], "gold": […]}}                           by query
{"relevant_docs": {query: […]}, "results": {query: {…}}}           by side
{"results": [{…}, …]}                                              any of these in a wrapper

What a field is follows from its name and from what it holds; where that leaves a choice, the data
is refused with the candidates, and with the option that decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import Any, NoReturn

from idealist.data.columns import is_number
from idealist.formats import frames
from idealist.formats.cells import shown
from idealist.formats.column_names import (
    ALIASES,
    BESIDE,
    EITHER,
    GOLDS,
    ITEM_SCORES,
    NEGATIVES,
    PARTS,
    RANKINGS,
    RECORD_ID,
    RECORD_IDS,
    RECORD_TEXTS,
    REFERENCES,
    WRAPPERS,
    folded,
    matching,
    naming_option,
)
from idealist.formats.objects import flat, names_in, opened
from idealist.formats.reading import Reading

#: Finds the line of a key in JSON by its path.
Locate = Callable[..., int | None]

INSIDE = frozenset(map(folded, (*PARTS, *REFERENCES, "retrieval")))
#: A dict with more keys than this has queries for keys, not fields.
MOST = 500
REFERENCE = frozenset(map(folded, REFERENCES))
#: What may be known of a document by name.
CELLS = (*ALIASES["grade"], *ITEM_SCORES, *ALIASES["rank"], *ALIASES["tokens"])


def holds_list(value: Any) -> bool:
    """Whether a field holds documents: a list, or scores by document."""
    if isinstance(value, Mapping):
        return all(_is_cell(cell) for cell in value.values())
    return isinstance(value, (list, tuple, set, frozenset)) or hasattr(value, "tolist")


def _is_cell(cell: Any) -> bool:
    """Whether this can be what is known of a document: a number, or several things by name."""
    if isinstance(cell, Mapping):
        return not cell or bool(matching(tuple(cell), CELLS))
    return cell is None or isinstance(cell, (int, float)) or (
        isinstance(cell, str) and is_number(cell)
    )  # fmt: skip


@dataclass(frozen=True)
class Records:
    """Records with the same fields, and where each stands.

    `queries` names them where a key does, `inside` says what they were wrapped in.
    """

    rows: Sequence[Mapping[Any, Any]]
    reading: Reading
    line: Callable[[int], int | None]
    queries: Sequence[Any] | None = None
    inside: str = ""

    @cached_property
    def names(self) -> tuple[Any, ...]:
        """All fields of all records."""
        return names_in(self.rows)

    def held(self, name: Any) -> list[Any]:
        """Return what a field holds in each record, None where it is not."""
        return [row.get(name) for row in self.rows]

    @cached_property
    def rankings(self) -> list[Any]:
        """The fields that could be the ranking."""
        found = [
            name for name in matching(self.names, (*RANKINGS, *EITHER)) if self.holds_lists(name)
        ]
        golds = self.golds
        return [name for name in found if name not in golds]

    @cached_property
    def golds(self) -> list[Any]:
        """The fields that can only be the gold."""
        any_side = matching(self.names, (*GOLDS, *RANKINGS, *EITHER))
        found = [n for n in any_side if _reference(n) or n in matching(self.names, GOLDS)]
        if matching(self.names, ("retrieval_context",)):  # DeepEval calls the gold context
            found += [name for name in matching(self.names, ("context",)) if name not in found]
        return [name for name in found if self.holds_lists(name) or self._is_id(name)]

    def holds_lists(self, name: Any) -> bool:
        """Whether a field holds documents in some record."""
        return any(value is not None and holds_list(value) for value in self.held(name))

    def _is_id(self, name: Any) -> bool:
        """Whether a field may hold one id, as the only relevant document."""
        held = [value for value in self.held(name) if value is not None]
        texts = any(isinstance(v, str) for v in held) or name in self.numbers
        one = texts and all(is_name(v) or holds_list(v) for v in held)
        return one and "document" not in self.reading.ours(self.names)

    @cached_property
    def numbers(self) -> list[Any]:
        """The fields whose numbers are ids of retrieved documents, not flags or counts."""
        lists = matching(self.names, (*RANKINGS, *EITHER))
        return [name for name in self.names if any(
            type(row.get(name)) is int and isinstance(row.get(other), list)
            and row[name] in row[other]
            for other in lists for row in self.rows
        )]  # fmt: skip

    @cached_property
    def are_lists(self) -> bool:
        """Whether a record holds a list for its query, not a document."""
        named = any(self.given(side) is not None for side in ("ranking", "gold"))
        return bool(self.rankings or self.golds or named)

    @property
    def are_both(self) -> bool:
        """Whether the records hold both sides."""
        given = {side: self.given(side) for side in ("ranking", "gold")}
        named = [name for name in given.values() if name is not None]
        ranking = self.rankings or given["ranking"] is not None
        gold = self.golds or given["gold"] is not None
        return bool((ranking and gold) or (len(self.rankings) > 1 and named))

    def given(self, side: str) -> Any:
        """Return the field that a user named for a side; None if there is none."""
        return self.reading.given(side, self.names)

    def naming(self, side: str) -> str:
        """Write the option that names a side, with a list that is no side yet."""
        taken = {*self.rankings, *self.golds, *matching(self.names, (*NEGATIVES, *BESIDE))}
        taken |= {self.given(other) for other in ("ranking", "gold")}
        free = [name for name in self.names if name not in taken and self.holds_lists(name)]
        return naming_option(side, free[:1])

    def fields(self, number: int = 0) -> str:
        """Name the first fields of a record."""
        return ", ".join(map(str, list(self.rows[number])[:8])) or "no fields"

    def refuse(self, message: str, hint: str, code: str = "bad-shape", number: int = 0) -> NoReturn:
        """Report a fault of all records, at the line of one."""
        self.reading.faults.fail(code, message, hint, self.line(number))

    def refuse_one(self, number: int, message: str, hint: str) -> NoReturn:
        """Report a fault of one record."""
        self.refuse(f"record {number + 1}: {message}", hint, number=number)


def _reference(name: Any) -> bool:
    return any(folded(part) in REFERENCE for part in str(name).split(".")[:-1])


def records_in(
    data: Any, reading: Reading, locate: Locate | None = None, lines: Sequence[int] | None = None
) -> Records | None:
    """Find records with a list for each query; None for anything else."""
    columns = frames.columns(data, reading.faults)
    data = opened(data) if columns is None else columns
    if isinstance(data, Mapping):
        return _in_dict(data, reading, locate or (lambda *path: None))
    if isinstance(data, (list, tuple)) and data:
        return _in_list(data, reading, locate, lines)
    return None


def _in_list(
    data: Sequence[Any],
    reading: Reading,
    locate: Locate | None,
    lines: Sequence[int] | None = None,
    path: tuple[str, ...] = (),
) -> Records | None:
    rows = [opened(row) for row in data]
    good = [row for row in rows if isinstance(row, Mapping)]

    def line(number: int) -> int | None:
        if lines is not None:
            return lines[number]
        first = next(iter(rows[number]), "") if isinstance(rows[number], Mapping) else ""
        return locate(*path, number, first) if locate is not None else None

    found = Records([_flat(row) for row in good], reading, line, inside=".".join(path))
    if not good or not found.are_lists:
        return None
    if len(good) < len(rows):
        number = next(n for n, row in enumerate(rows) if not isinstance(row, Mapping))
        hint = "give every record the same fields"
        found.refuse_one(number, f"cannot read {shown(rows[number])}", hint)
    return found


def _flat(row: Mapping[Any, Any]) -> Mapping[Any, Any]:
    asked = row.get("search_query")  # the vector stores of OpenAI put it into a list
    if isinstance(asked, list) and len(asked) == 1:
        row = {**row, "search_query": asked[0]}
    if any(hasattr(value, "tolist") for value in row.values()):
        row = {
            name: opened(value) if hasattr(value, "tolist") else value
            for name, value in row.items()
        }
    return flat(row, INSIDE, holds_list)


def _in_dict(data: Mapping[Any, Any], reading: Reading, locate: Locate) -> Records | None:
    if len(data) > MOST:
        return _by_query(data, reading, locate)
    find = partial(_in_list, reading=reading, locate=locate)
    for name in matching(tuple(data), WRAPPERS):
        inner = opened(data[name])
        if isinstance(inner, (list, tuple)) and inner:
            found = find(inner, path=(name,))
            if found is not None and _names_query(found):
                return found
    one = Records([_flat(data)], reading, lambda number: locate(next(iter(data))))
    if one.are_lists and _names_query(one):
        return one
    return (
        _in_columns(data, reading)
        or _by_side(data, reading, locate)
        or _by_query(data, reading, locate)
    )


def is_name(value: Any) -> bool:
    """Whether a value may name a query."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _names_query(records: Records) -> bool:
    given = records.given("query")
    known = matching(records.names, (*RECORD_IDS, *RECORD_ID, *RECORD_TEXTS))
    names = [*known, *([] if given is None else [given])]
    return any(any(map(is_name, records.held(name))) for name in names)


def _in_columns(data: Mapping[Any, Any], reading: Reading) -> Records | None:
    """Read fields that each hold a list with an entry a record."""
    columns = {n: column for n, held in data.items() if (column := _listed(held)) is not None}
    queries = matching(tuple(columns), (*RECORD_IDS, *RECORD_ID, *RECORD_TEXTS))
    lengths = {len(columns[name]) for name in queries}
    if len(lengths) > 1:
        return None
    rows = [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=False)
        if len(set(map(len, columns.values()))) == 1
    ]
    found = Records([_flat(row) for row in rows], reading, lambda number: None)
    if not rows or not (found.rankings or found.golds):
        return None
    named = bool(queries) and all(map(is_name, columns[queries[0]]))
    pairs = any(
        map(_is_pair, chain.from_iterable(columns[n] for n in found.rankings + found.golds))
    )
    return found if named or (found.are_both and not pairs) else None


def _is_pair(entry: Any) -> bool:
    """Whether an entry is an id with its score, not a list of a record."""
    return isinstance(entry, (list, tuple)) and len(entry) == 2 and isinstance(
        entry[1], (int, float)
    )  # fmt: skip


def _listed(column: Any) -> list[Any] | None:
    column = column.tolist() if hasattr(column, "tolist") else column
    return list(column) if isinstance(column, (list, tuple)) else None


def _by_side(data: Mapping[Any, Any], reading: Reading, locate: Locate) -> Records | None:
    """Read {"relevant_docs": {query: […]}, "results": {query: {…}}}."""
    names = tuple(name for name, lists in data.items() if _are_lists(lists))
    golds, rankings = matching(names, GOLDS), matching(names, RANKINGS)
    if len(golds) > 1 or len(rankings) > 1 or not golds + rankings:
        return None
    mine, other = (golds, rankings) if reading.value == "grade" else (rankings, golds)
    first, *more = mine + other
    queries = list(data[first])
    rows = [{name: data[name].get(query, []) for name in (first, *more)} for query in queries]
    return Records(rows, reading, lambda number: locate(first, queries[number]), queries)


def _are_lists(lists: Any) -> bool:
    """Whether these are lists by query, one level deeper than documents of one query."""
    return (
        isinstance(lists, Mapping)
        and bool(lists)
        and all(holds_list(entries) for entries in lists.values())
        and not holds_list(lists)
    )


def _by_query(data: Mapping[Any, Any], reading: Reading, locate: Locate) -> Records | None:
    """Read {query: {"retrieved": […], "gold": […]}}."""
    first = opened(next(iter(data.values()), None))
    if not isinstance(first, Mapping) or holds_list(first):
        return None
    rows = [opened(row) for row in data.values()]
    if not all(isinstance(row, Mapping) and not holds_list(row) for row in rows):
        return None
    queries = list(data)
    made = [_flat(row) for row in rows]
    found = Records(made, reading, lambda number: locate(str(queries[number])), queries)
    return found if found.are_lists else None
