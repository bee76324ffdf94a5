"""Events of OpenSearch's User Behavior Insights (UBI): which fields say what was seen and clicked.

A search is a query_id. The index ubi_queries has its text, ``user_query``, and what the engine
returned, ``query_response_hit_ids``. The index ubi_events has what its user saw and did: the action
``impression`` for a document that was shown, ``click`` or ``click_through`` for one that was
clicked, with ``object_id`` and ``position.ordinal`` in its ``event_attributes``. Other actions are
passed over. What an export wraps into ``_source`` is unwrapped.

Reference: https://o19s.github.io/ubi, version 1.3.0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from idealist.errors import Faults
from idealist.formats.cells import Line, shown
from idealist.formats.click_rows import CLICKED, RETURNED, SHOWN, ClickRows, coded, event_rows
from idealist.formats.column_names import CLICKED as CLICKED_NAMES
from idealist.formats.column_names import known

#: What each action says of its document.
ACTIONS = {"impression": SHOWN, "click": CLICKED, "click_through": CLICKED}
#: A row: the search, its query, a document, a position, flags, and the number of the record.
Row = tuple[Any, Any, Any, Any, int, int]


def is_event(record: Any) -> bool:
    """Whether a record is an event, or a query.

    >>> is_event({"_source": {"query_id": "s1", "action_name": "click"}}), is_event({"query": "a"})
    (True, False)
    """
    if not isinstance(record, Mapping):
        return False
    record = record.get("_source", record)
    names = {*record} if isinstance(record, Mapping) else set()
    is_query = {"query_id", "user_query"} <= names and not known(names, CLICKED_NAMES)
    return "action_name" in names or is_query


def read_events(records: Sequence[Mapping[str, Any]], faults: Faults, line: Line) -> ClickRows:
    """Read events and queries, in any mixture."""
    rows = [row for number, one in enumerate(records) for row in _rows(one, number, faults, line)]
    faults.check()
    cells = list(zip(*rows, strict=True)) or [()] * 6
    names = ("session", "query", "document", "position")
    columns = {name: coded(column) for name, column in zip(names, cells, strict=False)}
    owner = cells[5]
    return event_rows(columns, np.array(cells[4], np.uint8), faults, lambda row: line(owner[row]))


def _rows(record: Mapping[str, Any], number: int, faults: Faults, line: Line) -> Iterator[Row]:
    """Take a record apart: an event is a row, and a query one for itself and each of its hits."""
    found: Any = record.get("_source", record)
    if not isinstance(found, Mapping):
        faults.add("bad-shape", f"_source is {shown(found)}", "give an object", line(number))
        return
    record = found
    search, query = record.get("query_id"), record.get("user_query")
    if "action_name" in record:
        flags = ACTIONS.get(str(record["action_name"]).lower(), 0)
        if flags and search is not None:
            thing, place = _parts(record.get("event_attributes"))
            yield search, _scalar(query), _scalar(thing), _scalar(place), flags, number
        return
    yield search, _scalar(query), None, None, 0, number
    hits = record.get("query_response_hit_ids") or ()
    for place, hit in enumerate(hits if isinstance(hits, list) else (), 1):
        yield search, None, _scalar(hit), place, RETURNED, number


def _parts(attributes: Any) -> tuple[Any, Any]:
    """Return the document and the position of an event."""
    found = attributes if isinstance(attributes, Mapping) else {}
    thing, place = found.get("object"), found.get("position")
    return (
        thing.get("object_id") if isinstance(thing, Mapping) else None,
        place.get("ordinal") if isinstance(place, Mapping) else place,
    )


def _scalar(cell: Any) -> Any:
    """Return a cell that can be numbered; a list or an object will be a fault."""
    return (shown(cell),) if isinstance(cell, (list, dict)) else cell
