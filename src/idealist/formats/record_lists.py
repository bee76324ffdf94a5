"""The lists of records, with what is listed beside them, read as judgments or as a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from idealist.formats.cells import Cells, add_query, shown
from idealist.formats.column_names import (
    BESIDE,
    GRADES_BESIDE,
    ITEM_SCORES,
    NEGATIVES,
    RECORD_ID,
    RECORD_IDS,
    matching,
)
from idealist.formats.items import Lists, negated, remark_distance
from idealist.formats.objects import opened
from idealist.formats.record_fields import RecordFields, are_places
from idealist.formats.records import Records, holds_list


def read_side(records: Records) -> Cells:
    """Read the side of records that is asked for."""
    fields, reading = RecordFields(records), records.reading
    name = fields.own
    queries = _queries(records, fields.query)
    if fields.is_gold and fields.ranking not in (None, name):
        fields.check_gold()
    unscored = fields.is_gold and name in records.rankings
    lists = Lists(reading, str(name), records.line, unscored=unscored)
    negatives = matching(records.names, NEGATIVES) if fields.is_gold else ()
    seen: dict[Any, Any] = {}
    for number, (query, row) in enumerate(zip(queries, records.rows, strict=True)):
        place = f"record {number + 1}: "
        add_query(seen, query, number, reading.faults, records.line(number), place)
        lists.add(query, _Row(records, number, name).entries(), number)
        for wrong in negatives:
            if holds_list(row.get(wrong)):
                lists.add(query, row[wrong], number, grade=0)
    reading.faults.check()
    fields.remark()
    return lists.result()


def _queries(records: Records, field: Any) -> Sequence[Any]:
    """Name the query of each record: by its key, by a field of it, or by its number."""
    if records.queries is not None:
        return records.queries
    if field is None:
        return range(1, len(records.rows) + 1)
    if field not in records.names:  # a field of the hits, such as hits.qid
        part, _, own = str(field).rpartition(".")
        return [row[part][0][own] for row in records.rows]
    return [_id_in(held) for held in records.held(field)]


def _id_in(held: Any) -> Any:
    """Take the id of a query that is an object."""
    if isinstance(held, Mapping) and (inner := matching(tuple(held), RECORD_IDS + RECORD_ID)):
        return held[inner[0]]
    return held


@dataclass(frozen=True)
class _Row:
    """One record, while its list is read."""

    records: Records
    number: int
    name: Any

    @property
    def row(self) -> Mapping[Any, Any]:
        return self.records.rows[self.number]

    def entries(self) -> Any:
        """Return the list of the record, with what is listed beside it."""
        entries = self.row.get(self.name)
        if entries is None:
            what = "is null" if self.name in self.row else "is missing"
            message = f"{self.name} {what}; it has {self.records.fields(self.number)}"
            hint = "give every record the same fields"
            self._refuse(message, f"{hint}; {self.name} may be [] where there is nothing")
        if self.records.reading.value == "grade":
            is_number = type(entries) is int and self.name in self.records.numbers
            return [entries] if isinstance(entries, str) or is_number else self._graded(entries)
        return self._joined(self._looked_up(entries) if are_places(entries) else entries)

    def _graded(self, entries: Any) -> Any:
        """Join ids of the gold with the grades listed beside them."""
        held = (self.row[name] for name in matching(tuple(self.row), GRADES_BESIDE))
        beside = [cells for cells in held if isinstance(cells, (list, tuple))]
        if not beside or not isinstance(entries, (list, tuple)) or not set(map(type, entries)) <= {
            str, int
        }:  # fmt: skip
            return entries
        if len(beside) > 1 or len(beside[0]) != len(entries):
            message = f"{shown(beside[0])} for {len(entries)} documents of {self.name}"
            self._refuse(message, "give one grade for each document of the gold")
        return list(zip(entries, beside[0], strict=True))

    def _refuse(self, message: str, hint: str) -> NoReturn:
        self.records.refuse_one(self.number, message, hint)

    def _looked_up(self, entries: list[Any]) -> list[Any]:
        """Look documents up that are only named by their place in a list beside them."""
        beside = [other for other in self.records.rankings if other != self.name]
        source = self.row.get(beside[0]) if len(beside) == 1 else None
        if not isinstance(source, list):
            hint = 'put the ids beside it as "documents", in the order they were sent'
            self._refuse(f"{self.name} holds places in a list of documents, no ids", hint)
        try:
            scores = (entry[matching(tuple(entry), ITEM_SCORES)[0]] for entry in entries)
            return [(source[e["index"]], score) for e, score in zip(entries, scores, strict=True)]
        except (IndexError, TypeError):
            message = f"{self.name} has a place that {beside[0]} does not have"
            self._refuse(message, "places count from 0")

    def _joined(self, entries: Any) -> Any:
        """Join documents with the scores and lengths listed beside them."""
        row, reading = self.row, self.records.reading
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
                message = f"{name} {shown(cells)} for {len(entries)} documents"
                self._refuse(message, "give one for each retrieved document")
        if "distance" in beside:
            remark_distance(reading, beside["distance"][0])
        columns = zip(*(cells for _, cells in beside.values()), strict=True)
        return [
            self._with(entry, dict(zip(beside, cells, strict=True)))
            for entry, cells in zip(entries, columns, strict=True)
        ]

    def _with(self, entry: Any, cells: dict[str, Any]) -> Any:
        """Join a document with what is known of it."""
        if "distance" in cells:
            cells["score"] = negated(cells.pop("distance"))
        entry = opened(entry)
        if not isinstance(entry, (Mapping, list, tuple)):
            return {"document": entry, **cells}
        known = matching(tuple(entry), ITEM_SCORES) if isinstance(entry, Mapping) else entry
        if "score" in cells and known:
            message = "documents have scores, and there are scores beside them"
            self._refuse(message, "keep one of the two")
        return {**entry, **cells} if isinstance(entry, Mapping) else entry
