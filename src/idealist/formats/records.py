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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import Any, NoReturn

from idealist.data.columns import is_number
from idealist.formats import items
from idealist.formats.cells import Cells, add_query, shown
from idealist.formats.column_names import (
    ALIASES,
    BESIDE,
    EITHER,
    GOLDS,
    ITEM_SCORES,
    MAYBE_IDS,
    NEGATIVES,
    ORDER_HINT,
    PARTS,
    RANKINGS,
    RECORD_ID,
    RECORD_IDS,
    RECORD_TEXTS,
    REFERENCES,
    WRAPPERS,
    folded,
)
from idealist.formats.items import SURE_IDS, Lists, are_texts, is_text, matching
from idealist.formats.objects import flat, opened
from idealist.formats.reading import Reading

#: Finds the line of a key in JSON by its path.
Locate = Callable[..., int | None]

INSIDE = frozenset(map(folded, (*PARTS, *REFERENCES, "retrieval")))
#: A dict with more keys than this has queries for keys, not fields.
MOST = 500
REFERENCE = frozenset(map(folded, REFERENCES))
#: What may be known of a document by name.
CELLS = (*ALIASES["grade"], *ITEM_SCORES, *ALIASES["rank"], *ALIASES["tokens"])
#: Names that need no remark.
USUAL = {
    "query": (*RECORD_IDS, "query", "query_text", "topic", *RECORD_ID),
    "ranking": ("ranking", "retrieved", "retrieved_ids", "results"),
    "gold": ("gold", "ground_truth", "relevant", "expected"),
}


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
        return tuple(dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, self.rows)))))

    def held(self, name: Any) -> list[Any]:
        """Return what a field holds in each record, None where it is not."""
        return [row.get(name) for row in self.rows]

    @cached_property
    def rankings(self) -> list[Any]:
        """The fields that could be the ranking."""
        found = [name for name in matching(self.names, (*RANKINGS, *EITHER)) if self._lists(name)]
        golds = self.golds
        return [name for name in found if name not in golds]

    @cached_property
    def golds(self) -> list[Any]:
        """The fields that can only be the gold."""
        any_side = matching(self.names, (*GOLDS, *RANKINGS, *EITHER))
        found = [n for n in any_side if _reference(n) or n in matching(self.names, GOLDS)]
        if matching(self.names, ("retrieval_context",)):  # DeepEval calls the gold context
            found += [name for name in matching(self.names, ("context",)) if name not in found]
        return [name for name in found if self._lists(name) or self._is_id(name)]

    def _lists(self, name: Any) -> bool:
        return any(value is not None and holds_list(value) for value in self.held(name))

    def _is_id(self, name: Any) -> bool:
        """Whether a field may hold one id, as the only relevant document."""
        held = [value for value in self.held(name) if value is not None]
        texts = any(isinstance(v, str) for v in held)
        one = texts and all(isinstance(v, str) or holds_list(v) for v in held)
        return one and "document" not in self.reading.ours(self.names)

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
        free = [name for name in self.names if name not in taken and self._lists(name)]
        return f"--columns {side}={free[0] if free else '…'}"

    def cells(self) -> Cells:
        """Read the side that is asked for."""
        return Side(self, self.reading).cells()


def _reference(name: Any) -> bool:
    return any(folded(part) in REFERENCE for part in str(name).split(".")[:-1])


@dataclass(frozen=True)
class Side:
    """One side of records, while it is read: the judgments or the run."""

    records: Records
    reading: Reading

    @property
    def is_gold(self) -> bool:
        """Whether the judgments are read."""
        return self.reading.value == "grade"

    def cells(self) -> Cells:
        """Read the lists by query."""
        records, reading = self.records, self.reading
        ranking, gold = self._ranking(), self._gold()
        name = gold if self.is_gold else ranking
        query = self._query(ranking is not None and gold is not None)
        either = self.is_gold and name in records.rankings
        lists = Lists(reading, str(name), records.line, unscored=either)
        names = self._names(query)
        negatives = matching(records.names, NEGATIVES) if self.is_gold else ()
        seen: dict[Any, Any] = {}
        for number, (own, row) in enumerate(zip(names, records.rows, strict=True)):
            line, place = records.line(number), f"record {number + 1}: "
            add_query(seen, own, number, reading.faults, line, place)
            lists.add(own, self._entries(row, name, number), number)
            for other in negatives:
                if holds_list(row.get(other)):
                    lists.add(own, row[other], number, grade=0)
        reading.faults.check()
        self._remark(query, ranking, gold)
        return lists.result()

    def _names(self, field: Any) -> Sequence[Any]:
        """Name the query of each record: by its key, by a field of it, or by its number."""
        records = self.records
        if records.queries is not None:
            return records.queries
        if field is None:
            return [number + 1 for number in range(len(records.rows))]
        if field not in records.names:  # a field of the hits, such as hits.qid
            part, _, own = str(field).rpartition(".")
            return [row[part][0][own] for row in records.rows]
        return [self._name(field, number) for number in range(len(records.rows))]

    def _name(self, field: Any, number: int) -> Any:
        """Name the query of a record by a field."""
        held = self.records.rows[number].get(field)
        if isinstance(held, Mapping) and (inner := matching(tuple(held), RECORD_IDS + RECORD_ID)):
            held = held[inner[0]]
        return held

    def _entries(self, row: Mapping[Any, Any], name: Any, number: int) -> Any:
        """Return the list of a record, with what is listed beside it."""
        entries = row.get(name)
        if entries is None:
            self._odd(name, row, number)
        if self.is_gold:
            return [entries] if isinstance(entries, str) else entries
        entries = self._indexed(row, name, entries, number)
        return self._joined(row, entries, number)

    def _odd(self, name: Any, row: Mapping[Any, Any], number: int) -> NoReturn:
        line = self.records.line(number)
        what = "is null" if name in row else "is missing"
        message = f"record {number + 1}: {name} {what}; it has {_few(row)}"
        hint = f"give every record the same fields; {name} may be [] where there is nothing"
        self.reading.faults.fail("bad-shape", message, hint, line)

    def _indexed(self, row: Mapping[Any, Any], name: Any, entries: Any, number: int) -> Any:
        """Look documents up that are only named by their place in a list beside them."""
        if not _are_places(entries):
            return entries
        beside = [other for other in self.records.rankings if other != name]
        source = row.get(beside[0]) if len(beside) == 1 else None
        if not isinstance(source, list):
            message = f"record {number + 1}: {name} holds places in a list of documents, no ids"
            hint = 'put the ids beside it as "documents", in the order they were sent'
            self.reading.faults.fail("bad-shape", message, hint, self.records.line(number))
        try:
            score = ITEM_SCORES
            return [(source[e["index"]], e[matching(tuple(e), score)[0]]) for e in entries]
        except (IndexError, TypeError):
            message = f"record {number + 1}: {name} has a place that {beside[0]} does not have"
            hint = "places count from 0"
            self.reading.faults.fail("bad-shape", message, hint, self.records.line(number))

    def _joined(self, row: Mapping[Any, Any], entries: Any, number: int) -> Any:
        """Join documents with the scores and lengths listed beside them."""
        beside = {
            BESIDE[alias]: (name, row[name])
            for alias in BESIDE
            for name in matching(tuple(row), (alias,))
            if not isinstance(row[name], (Mapping, int, float)) and row[name] is not None
        }
        if not beside or not isinstance(entries, (list, tuple)):
            return entries
        for name, cells in beside.values():
            if not isinstance(cells, (list, tuple)) or len(cells) != len(entries):
                message = f"record {number + 1}: {name} {shown(cells)} for {len(entries)} documents"
                hint = "give one for each retrieved document"
                self.reading.faults.fail("bad-shape", message, hint, self.records.line(number))
        if "distance" in beside:
            words = items.distance_words(self.reading, beside["distance"][0])
            self.reading.remark("read-as", words)
        columns = zip(*(cells for _, cells in beside.values()), strict=True)
        return [
            self._beside(entry, dict(zip(beside, cells, strict=True)), number)
            for entry, cells in zip(entries, columns, strict=True)
        ]

    def _beside(self, entry: Any, cells: dict[str, Any], number: int) -> Any:
        if "distance" in cells:
            cells["score"] = items.negated(cells.pop("distance"))
        entry = opened(entry)
        if not isinstance(entry, (Mapping, list, tuple)):
            return {"document": entry, **cells}
        known = matching(tuple(entry), ITEM_SCORES) if isinstance(entry, Mapping) else entry
        if "score" in cells and known:
            message = (
                f"record {number + 1}: documents have scores, and there are scores beside them"
            )
            hint = "keep one of the two"
            self.reading.faults.fail("bad-shape", message, hint, self.records.line(number))
        return {**entry, **cells} if isinstance(entry, Mapping) else entry

    def _ranking(self) -> Any:
        """Find the field that is the ranking; None if there is none."""
        records, gold = self.records, self.records.given("gold")
        if "ranking" in self.reading.options.columns:
            return self._given("ranking", needed=not self.is_gold)
        found = [name for name in records.rankings if name != gold]
        if self.is_gold and not records.golds and gold is None:
            return None
        if len(found) > 1:
            ids = [name for name in found if not self._texts(name) and not self._are_places(name)]
            places = [name for name in found if self._are_places(name)]
            found = places if len(places) == 1 and len(found) == 2 else ids or found
        if self.is_gold:
            return found[0] if len(found) == 1 else None
        if not found:
            golds = ", ".join(map(str, records.golds[:1]))
            message = f"these are judgments: {golds} is the gold, and no field is a ranking"
            hint = f"{ORDER_HINT}; or say which field it is: {records.naming('ranking')}"
            self.reading.faults.fail("bad-shape", message, hint, records.line(0))
        if len(found) > 1:
            self._choose(found, "ranking")
        self._check_texts(found[0], "ranking", records.golds)
        return found[0]

    def _gold(self) -> Any:
        """Find the field that is the gold; None if there is none."""
        records, ranking = self.records, self.records.given("ranking")
        if "gold" in self.reading.options.columns:
            return self._given("gold", needed=self.is_gold)
        found = [name for name in records.golds if name != ranking]
        if len(found) > 1:
            ids = [name for name in found if not self._texts(name)]
            found = ids or [name for name in found if records._lists(name)] or found
        if not self.is_gold:
            return found[0] if len(found) == 1 else None
        if not found:
            found = [n for n in records.rankings if n in matching(records.names, EITHER)]
            found = [name for name in found if name != ranking]
            if len(records.rankings) > len(found) or not found:
                named = ", ".join(map(str, records.rankings[:1]))
                message = f"these are a run: {named} is the ranking, and no field is the gold"
                hint = f"{ORDER_HINT}; or say which field it is: {records.naming('gold')}"
                self.reading.faults.fail("bad-shape", message, hint, records.line(0))
        if len(found) > 1:
            self._choose(found, "gold")
        self._check_texts(found[0], "gold", records.rankings)
        return found[0]

    def _given(self, side: str, needed: bool) -> Any:
        """Take the field that the user names; refuse a name that no record has."""
        if (found := self.records.given(side)) is not None or not needed:
            return found
        message = f"there is no field {self.reading.options.columns[side]!r} to be the {side}"
        hint = f"the fields are {_few(self.records.rows[0])}"
        self.reading.faults.fail("missing-column", message, hint, self.records.line(0))

    def _choose(self, names: list[Any], side: str) -> NoReturn:
        first, second = names[:2]
        message = f"{first} and {second} could each be the {side}"
        hint = f"choose one: --columns {side}={first} or --columns {side}={second}"
        both = (n for n, row in enumerate(self.records.rows) if first in row and second in row)
        line = self.records.line(next(both, 0))
        self.reading.faults.fail("bad-column", message, hint, line)

    def _texts(self, name: Any) -> bool:
        return are_texts(_words(self.records.held(name)))

    def _are_places(self, name: Any) -> bool:
        return any(map(_are_places, self.records.held(name)))

    def _check_texts(self, name: Any, side: str, others: Sequence[Any]) -> None:
        """Refuse texts for ids, unless texts of the other side are the same."""
        if not self._texts(name):
            return
        texts = {word for word in _words(self.records.held(name)) if is_text(word)}
        for other in others:
            if texts & set(_words(self.records.held(other))):
                file = self.reading.faults.file
                words = f"{file}: documents are known by their texts, which must be equal to meet"
                self.reading.remark("read-as", words)
                return
        message = f"{name} holds texts, and ids are needed"
        hint = f"add a field with ids; if the texts are the ids: --columns {side}={name}"
        self.reading.faults.fail("bad-shape", message, hint, self.records.line(0))

    def _query(self, both: bool) -> Any:
        """Find the field that names the query; None where records are numbered."""
        records, reading = self.records, self.reading
        if records.queries is not None:
            return None
        if (given := records.given("query")) is not None:
            return self._whole(given)
        held = tuple(n for n in records.names if any(v is not None for v in records.held(n)))
        sure, own, texts = (
            matching(held, names) for names in (RECORD_IDS, RECORD_ID, RECORD_TEXTS)
        )
        if sure:
            return self._whole(self._same(sure))
        if own and not (texts and not both and self._counts(own[0])):
            return self._whole(own[0])
        if own:
            message = f"{own[0]} could be the number of the record, and {texts[0]} the query"
            hint = f"choose one: --columns query={texts[0]} or --columns query={own[0]}"
            reading.faults.fail("bad-column", message, hint, records.line(0))
        if texts:
            return self._of_hits() or self._whole(self._same(texts))
        if both:
            return None
        message = "no field names the query"
        some = [n for n in held if n not in records.golds and any(map(_is_name, records.held(n)))]
        hint = f"say which one does: --columns query={some[0] if some else '…'}"
        reading.faults.fail("missing-column", message, hint, records.line(0))

    def _of_hits(self) -> str | None:
        """Find the id of the query in its hits, where the record itself has only the text."""
        for name in self.records.rankings:
            held = self.records.held(name)
            if not all(isinstance(v, list) and v and isinstance(v[0], Mapping) for v in held):
                continue
            for own in matching(tuple(held[0][0]), RECORD_IDS):
                if all(_is_name(entry.get(own)) for entries in held for entry in entries):
                    return f"{name}.{own}"
        return None

    def _counts(self, name: Any) -> bool:
        """Whether a field only counts the records."""
        held = list(map(str, self.records.held(name)))
        starts = (0, 1)
        return any(held == [str(n + start) for n in range(len(held))] for start in starts)

    def _same(self, names: Sequence[Any]) -> Any:
        """Return the only name; several are as good as one where they hold the same."""
        first, *others = names
        for other in others:
            if self.records.held(first) != self.records.held(other):
                self._choose([first, other], "query")
        return first

    def _whole(self, name: Any) -> Any:
        """Refuse a record that lacks the field which names the queries of others."""
        for number, row in enumerate(self.records.rows):
            if row.get(name) is None:
                line = self.records.line(number)
                message = f"record {number + 1}: {name}, which names the query, is missing"
                hint = f"give every record its {name}; it has {_few(row)}"
                self.reading.faults.fail("bad-shape", message, hint, line)
        return name

    def _remark(self, query: Any, ranking: Any, gold: Any) -> None:
        """Say what was taken for what, where the names are not ours."""
        records = self.records
        found = {"query": query, "ranking": ranking, "gold": gold}
        named = {side: name for side, name in found.items() if name is not None}
        if query is None and self.records.queries is None:
            named = {"query": "the number of the record", **named}
        given = [records.given(side) for side in named]
        if any(folded(n) not in map(folded, USUAL[s]) and n not in given for s, n in named.items()):
            said = ", ".join(f"{side} = {name}" for side, name in named.items())
            inside = f"in {self.records.inside}, " if self.records.inside else ""
            self.reading.remark("read-as", f"{self.reading.faults.file}: {inside}{said}")


def _are_places(entries: Any) -> bool:
    """Whether entries are places in another list with a score, as rerankers answer."""
    return bool(entries) and isinstance(entries, list) and all(
        isinstance(entry, Mapping)
        and "index" in entry
        and bool(matching(tuple(entry), ITEM_SCORES))
        and not matching(tuple(entry), (*SURE_IDS, *MAYBE_IDS[:2]))
        for entry in entries
    )  # fmt: skip


def _words(held: Iterable[Any]) -> Iterable[Any]:
    """Yield the plain entries of a field's lists."""
    for value in held:
        if isinstance(value, (list, tuple)):
            yield from (entry for entry in value if isinstance(entry, str))
        elif isinstance(value, str):
            yield value


def _is_name(value: Any) -> bool:
    """Whether a value may name a query."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _few(row: Mapping[Any, Any]) -> str:
    return ", ".join(map(str, list(row)[:8])) or "no fields"


def records_in(
    data: Any, reading: Reading, locate: Locate | None = None, lines: Sequence[int] | None = None
) -> Records | None:
    """Find records with a list for each query; None for anything else."""
    data = opened(data)
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
        message = f"record {number + 1}: cannot read {shown(rows[number])}"
        hint = "give every record the same fields"
        reading.faults.fail("bad-shape", message, hint, line(number))
    return found


def _flat(row: Mapping[Any, Any]) -> Mapping[Any, Any]:
    asked = row.get("search_query")  # the vector stores of OpenAI put it into a list
    if isinstance(asked, list) and len(asked) == 1:
        row = {**row, "search_query": asked[0]}
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


def _names_query(records: Records) -> bool:
    given = records.given("query")
    known = matching(records.names, (*RECORD_IDS, *RECORD_ID, *RECORD_TEXTS))
    names = [*known, *([] if given is None else [given])]
    return any(any(map(_is_name, records.held(name))) for name in names)


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
    named = bool(queries) and all(map(_is_name, columns[queries[0]]))
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
