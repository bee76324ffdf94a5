"""Documents in lists: ids, pairs of id and value, and objects that hold an id and a score.

"d1"                                  an id
["d1", 0.9]                           an id and its score, or its grade
{"d1": 0.9}                           the same, for all documents of a query
{"doc_id": "d1", "score": 0.9}        an object, whatever it calls its id
{"node": {"id_": "d1"}, "score": 0.9}
{"page_content": …, "metadata": {"source": "d1"}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, NoReturn

from idealist.data.columns import to_float
from idealist.formats.cells import Cells, checked_id, pivot, shown
from idealist.formats.column_names import (
    ALIASES,
    DISTANCES,
    ENDS,
    ITEM_IDS,
    ITEM_PARTS,
    ITEM_SCORES,
    MAYBE_IDS,
    METADATA,
    QUOTES,
    RECORD_IDS,
    STARTS,
    TIERS,
    WHOLES,
    folded,
    last,
    matching,
    naming_option,
    refuse_choice,
    renamed,
)
from idealist.formats.objects import flat, names_in, opened
from idealist.formats.reading import Reading

#: Names that say where in a document an item is.
PLACES = (*STARTS, *ENDS, *QUOTES)
PARTS = frozenset(map(folded, (*ITEM_PARTS, *METADATA)))
#: Names that say id.
SURE_IDS = (*TIERS["document"][0], *TIERS["document"][1], *ITEM_IDS)
#: From how many words on an entry is a text, not an id; and how many entries are looked at.
WORDS, LOOKED_AT = 4, 100
LIST_HINT = 'give ids, [id, score] pairs, or objects such as {"id": …, "score": …}'


def is_text(entry: Any) -> bool:
    """Whether an entry reads like a passage, not like an id.

    >>> is_text("Lists can be sorted in place."), is_text("annual report.pdf")
    (True, False)
    """
    return isinstance(entry, str) and len(entry.split(None, WORDS)) >= WORDS


def are_texts(entries: Iterable[Any]) -> bool:
    """Whether most of the first entries are texts."""
    found = [is_text(entry) for entry, _ in zip(entries, range(LOOKED_AT), strict=False)]
    return sum(found) * 2 > len(found)


@dataclass
class Lists:
    """The documents of many queries, until all are known: then it is decided what names them.

    `where` names the lists in messages, `line` finds the line of the record with a number. With
    `unscored`, scores show that these are no judgments. With `hits`, each object is a row of its
    own, and its ``id`` may be a number of the row.
    """

    reading: Reading
    where: str = "the lists"
    line: Callable[[int], int | None] = lambda number: None
    unscored: bool = False
    hits: bool = False
    query: list[Any] = field(default_factory=list)
    document: list[Any] = field(default_factory=list)
    cells: list[dict[str, Any]] = field(default_factory=list)
    number: list[int] = field(default_factory=list)
    items: dict[int, int] = field(default_factory=dict)
    empty: list[Any] = field(default_factory=list)
    spans: list[slice] = field(default_factory=list)

    def add(self, query: Any, entries: Any, number: int = 0, grade: int = 1) -> None:
        """Add the documents of a query; as judgments without grades they have this one."""
        if hasattr(entries, "to_dict") and not hasattr(entries, "columns"):  # a series
            entries = entries.to_dict()
        before = len(self.query)
        if isinstance(entries, Mapping):
            for document, cell in entries.items():
                cells = {self.reading.value: cell}
                if isinstance(cell, Mapping):
                    cells = self._named(query, document, cell, number)
                self._row(query, document, cells, number)
        elif self._is_list(entries):
            if type(entries) is not list or not self._add_plain(query, entries, number, grade):
                for entry in entries:
                    self._entry(query, entry, number, grade)
            self.spans.append(slice(before, len(self.query)))
        else:
            self.refuse(query, entries, number)
        if len(self.query) == before:
            self.empty.append(query)

    def _add_plain(self, query: Any, entries: list[Any], number: int, grade: int) -> bool:
        """Add a whole list at once, if all its entries are ids, pairs or objects without parts."""
        kinds, cells = set(map(type, entries)), None
        if kinds == {str}:
            default = {"grade": grade} if self.reading.value == "grade" else {}
            documents, cells = entries, [default] * len(entries)
        elif kinds in ({list}, {tuple}) and all(len(e) == 2 and type(e[0]) is str for e in entries):
            value = self.reading.value
            documents, cells = [e[0] for e in entries], [{value: e[1]} for e in entries]
        elif kinds == {dict} and all(entries) and not any(map(_has_parts, entries)):
            start = len(self.query)
            self.items.update(dict.fromkeys(range(start, start + len(entries)), grade))
            documents, cells = [None] * len(entries), entries
        if cells is None:
            return False
        self.query.extend([query] * len(entries))
        self.document.extend(documents)
        self.cells.extend(cells)
        self.number.extend([number] * len(entries))
        return True

    def _is_list(self, entries: Any) -> bool:
        """Whether these are documents one by one; a set has no order to rank them by."""
        unordered = self.reading.value == "score" and isinstance(entries, Set)
        no_list = isinstance(entries, (str, bytes)) or hasattr(entries, "columns")
        return isinstance(entries, Iterable) and not no_list and not unordered

    def _row(self, query: Any, document: Any, cells: dict[str, Any], number: int) -> None:
        self.query.append(query)
        self.document.append(document)
        self.cells.append(cells)
        self.number.append(number)

    def _entry(self, query: Any, entry: Any, number: int, grade: int) -> None:
        """Add an id, a pair of document and value, or everything known about a document."""
        entry, cells = opened(entry), {}
        if isinstance(entry, (tuple, list)) and len(entry) == 2:
            entry, cells = opened(entry[0]), {self.reading.value: entry[1]}
            if isinstance(entry, Mapping):
                known = matching(tuple(entry), (*ITEM_SCORES, *DISTANCES, *ALIASES["grade"]))
                entry = {name: cell for name, cell in entry.items() if name not in known}
        elif isinstance(entry, (tuple, list)) or entry == {}:
            self.refuse(query, entry, number)
        if isinstance(entry, Mapping) and entry:
            if "lc" in entry and isinstance(entry.get("kwargs"), Mapping):  # LangChain's own JSON
                entry = entry["kwargs"]
            self.items[len(self.query)] = grade
            self._row(query, None, {**flat(entry, PARTS), **cells}, number)
        else:
            default = {"grade": grade} if self.reading.value == "grade" else {}
            self._row(query, entry, cells or default, number)

    def _named(self, query: Any, document: Any, cells: Any, number: int) -> dict[str, Any]:
        """Read the cells of a document that has a key, and may be named once more."""
        found = {ours: cells[theirs] for theirs, ours in self.reading.renamed(cells).items()}
        own = found.pop("query", query), found.pop("document", document)
        known = {"grade", "score", "rank", "tokens"} & found.keys()
        if own != (query, document) or (found and not known and self.reading.value == "score"):
            self.refuse(query, cells, number)
        return found

    def refuse(self, query: Any, found: Any, number: int) -> NoReturn:
        """Report that documents have none of the shapes."""
        message = f"query {shown(query)}: cannot read {shown(found)}"
        self.reading.faults.fail("bad-shape", message, LIST_HINT, self.line(number))

    def columns(self) -> dict[str, list[Any]]:
        """Return all documents as columns under our names."""
        if self.items:
            self._settle([self.cells[i] for i in self.items])
        names = dict.fromkeys(map(tuple, self.cells))
        if len(names) == 1:  # as in most files
            columns = {name: [cells[name] for cells in self.cells] for name in next(iter(names))}
            return {"query": self.query, "document": self.document, **columns}
        return pivot(zip(self.query, self.document, self.cells, strict=True), self.reading.value)

    def result(self) -> Cells:
        """Return the columns with the queries that have no documents."""
        found = self.columns()
        if self.reading.value == "score" and "score" in found and "rank" not in found:
            self._compare_order(found["score"])
        ids = (checked_id(query, self.reading.faults) for query in self.empty)
        empty = [query for query in ids if query is not None]
        return Cells(found, line=lambda row: self.line(self.number[row]), empty=empty)

    def _compare_order(self, scores: list[Any]) -> None:
        """Say that scores contradict the order of their lists: they may be distances, or old."""
        try:
            lists = [list(map(to_float, scores[span])) for span in self.spans]
        except (TypeError, ValueError, OverflowError):
            return  # reported as a bad score, or as none
        against = [one for one in lists if any(a < b for a, b in pairwise(one))]
        if not against:
            return
        rising = all(a <= b for one in against for a, b in pairwise(one))
        why = " (in all of them they rise: are they distances?)" if rising else ""
        words = f"the scores of {len(against)} of {len(lists)} lists looked at do not fall{why}"
        message = f"{words}: ranked by score; --set order=given ranks as listed"
        place = self.reading.faults.file
        self.reading.remark("list-order", f"{place}: {message}", len(against), "warning")

    def _settle(self, items: Sequence[Mapping[Any, Any]]) -> None:
        """Decide what is the id and the score of all objects, and read them by it."""
        names = names_in(items)
        value, given = self.reading.value, dict(self.reading.options.columns)
        given["document"] = document = self._document(names, items)
        score = self._score(names, items) if value == "score" else None
        if score is not None:
            given["score"] = score
        told = matching(names, PLACES) if self.reading.options.spans else ()
        plain = [n for n in names if "." not in str(n) or n in (document, score, *told)]
        ours = renamed(plain, value, self.reading.faults, given)
        grades = [name for name, own in ours.items() if own == "grade"]
        if self.unscored and matching(tuple(grades), ITEM_SCORES):
            message = f"{self.where} holds scores and no grades: this is a run, not judgments"
            hint = (
                f"judgments come first; if these are grades: {naming_option('grade', grades[:1])}"
            )
            self.reading.faults.fail("bad-column", message, hint, self._line_of_items())
        query = next((name for name, own in ours.items() if own == "query"), None)
        if query is not None:
            self._check_queries(query, items)
        kept = {name: own for name, own in ours.items() if name not in (document, query)}
        far = score is not None and last(score) in map(folded, DISTANCES)
        for (place, grade), item in zip(self.items.items(), items, strict=True):
            self.document[place] = item.get(document)
            self.cells[place] = cells = {
                own: item[name] for name, own in kept.items() if name in item
            }
            if value == "grade" and not grades:
                cells["grade"] = grade
            if far and "score" in cells:
                cells["score"] = negated(cells["score"])
        self._remark(document, score)

    def _check_queries(self, name: Any, items: Sequence[Mapping[Any, Any]]) -> None:
        """Refuse an object that says it belongs to another query."""
        is_id = last(name) in map(folded, ("query", *RECORD_IDS))
        if not is_id or "query" in self.reading.options.columns:
            return
        for place, item in zip(self.items, items, strict=True):
            found, own = item.get(name), self.query[place]
            if found is not None and found != own and str(found) != str(own):
                self.refuse(own, {name: found}, self.number[place])

    def _document(self, names: tuple[Any, ...], items: Sequence[Mapping[Any, Any]]) -> Any:
        """Find what names the documents: an id of the object before one of its metadata."""
        given = self.reading.given("document", names)
        if given is not None:
            return given
        if self.reading.options.spans and (whole := self._held(matching(names, WHOLES), items)):
            return whole[0]
        meta = tuple(map(folded, METADATA))
        inside = tuple(name for name in names if _part(name) in meta)
        outside = tuple(name for name in names if name not in inside)
        tiers = [(outside, SURE_IDS), (outside, MAYBE_IDS[:2]), (outside, MAYBE_IDS)]
        for some, aliases in (*tiers, (inside, SURE_IDS), (inside, MAYBE_IDS)):
            found = self._held(matching(some, aliases), items)
            if aliases is not SURE_IDS:
                found = [name for name in found if not are_texts(item.get(name) for item in items)]
            if self.hits and found and last(found[0]) == "id" and found[0] in outside:
                message = f"{found[0]} could be the number of the row, or the document"
                hint = f"if it is the document: {naming_option('document', found[:1])}"
                self.reading.faults.fail("bad-column", message, hint, self._line_of_items())
            if found:
                return self._one(found, items, "document")
        held = self._held(names, items)
        place, item = next(iter(self.items)), items[0]
        whose = f"query {shown(self.query[place])}"
        message = f"{whose}: cannot read {shown(dict(item))}: there is no id"
        hint = f"say which field is the id: {naming_option('document', held[:1])}"
        self.reading.faults.fail("bad-shape", message, hint, self._line_of_items())

    def _score(self, names: tuple[Any, ...], items: Sequence[Mapping[Any, Any]]) -> Any:
        """Find what orders the documents; None if nothing does."""
        given = self.reading.given("score", names)
        outside = tuple(name for name in names if _part(name) not in map(folded, METADATA))
        found = self._held(matching(outside, (*ITEM_SCORES, *DISTANCES)), items)
        return given if given is not None else self._one(found, items, "score") if found else None

    def _held(self, names: Iterable[Any], items: Sequence[Mapping[Any, Any]]) -> list[Any]:
        return [name for name in names if any(_is_scalar(item.get(name)) for item in items)]

    def _one(self, names: list[Any], items: Sequence[Mapping[Any, Any]], ours: str) -> Any:
        """Return the only name; several are as good as one where they hold the same."""
        first, *others = names
        for other in others:
            for place, item in zip(self.items, items, strict=True):
                both = item.get(first), item.get(other)
                if None not in both and both[0] != both[1]:
                    line, where = self.line(self.number[place]), f" in {self.where}"
                    refuse_choice(ours, [first, other], self.reading.faults, line, where)
        return first

    def _line_of_items(self) -> int | None:
        return self.line(self.number[next(iter(self.items))])

    def _remark(self, document: Any, score: Any) -> None:
        """Say what was taken for the id and the score, where the names are not ours."""
        usual = {"document": (*SURE_IDS, *MAYBE_IDS[:2]), "score": (*ALIASES["score"], "_score")}
        found = {"document": document, "score": score}
        if any(
            name is not None and folded(name) not in map(folded, usual[ours])
            for ours, name in found.items()
            if name not in ("id", "_id")
        ):
            self.reading.remark_names(found, f"in {self.where}, ")
        if score is not None and last(score) in map(folded, DISTANCES):
            remark_distance(self.reading, score)


def named_in(item: Mapping[Any, Any]) -> bool:
    """Whether anything in an object may be its id."""
    return bool(matching(tuple(flat(item, PARTS)), (*SURE_IDS, *MAYBE_IDS)))


def remark_distance(reading: Reading, name: Any) -> None:
    """Say that a distance ranks the other way round."""
    reading.remark_file(f"{name} is a distance: the smallest one ranks first")


def negated(distance: Any) -> Any:
    """Turn a distance into a score; what is no number is reported as it is."""
    try:
        return -to_float(distance)
    except (TypeError, ValueError, OverflowError):
        return distance


def _has_parts(item: Mapping[Any, Any]) -> bool:
    """Whether an object must be opened before it is read."""
    return "lc" in item or any(
        type(item[name]) not in (str, int, float) for name in _parts(tuple(item))
    )


@lru_cache(1000)  # objects mostly have the same names
def _parts(names: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(name for name in names if folded(name) in PARTS)


def _part(name: Any) -> str:
    """Return the part that a field stands in."""
    return folded(str(name).rpartition(".")[0].rpartition(".")[2])


def _is_scalar(value: Any) -> bool:
    return value is not None and not isinstance(value, (Mapping, list, tuple))
