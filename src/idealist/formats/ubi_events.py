"""Events of OpenSearch's User Behavior Insights (UBI): which fields say what was seen and clicked.

A search is a query_id. The index ubi_queries has its text, ``user_query``, and what the engine
returned, ``query_response_hit_ids``. The index ubi_events has what its user saw and did: the action
``impression`` for a document that was shown, ``click`` or ``click_through`` for one that was
clicked, with ``object_id`` and ``position.ordinal`` in its ``event_attributes``. Other actions are
passed over. Exports wrap what they hold into ``_source``, and responses of a search into ``hits``.

Reference: https://o19s.github.io/ubi, version 1.3.0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from idealist.errors import Faults
from idealist.formats.cells import Line, shown
from idealist.formats.click_names import CLICKED as CLICKED_NAMES
from idealist.formats.click_names import named
from idealist.formats.click_rows import (
    CLICKED,
    RETURNED,
    SHOWN,
    ClickRows,
    coded,
    event_rows,
    is_nothing,
)

#: What logs of it are read as.
UBI = "events of UBI"
#: What each action says of its document.
ACTIONS = {"impression": SHOWN, "click": CLICKED, "click_through": CLICKED}
#: A row: the search, its query, a document, a position, flags, and the number of the record.
Row = tuple[Any, Any, Any, Any, int, int]


def is_event(record: Mapping[str, Any]) -> bool:
    """Whether a record is an event, or a query.

    >>> is_event({"query_id": "s1", "action_name": "click"}), is_event({"query": "a"})
    (True, False)
    """
    is_clicked = named(record, ("clicked", *chain(*CLICKED_NAMES)))
    return "action_name" in record or ({"query_id", "user_query"} <= {*record} and not is_clicked)


def opened(
    record: Mapping[str, Any], faults: Faults, line: int | None
) -> Sequence[Mapping[str, Any]]:
    """Unwrap a record: what an export says of it, or the hits of a response that was saved."""
    response = _response(record)
    if response is None:
        return [_source(record, faults, line)] if "_source" in record else [record]
    if not response["hits"]:
        faults.fail("empty", "the response has no hits", "ask for hits: size=10000", line)
    return [_source(hit, faults, line) for hit in response["hits"]]


def lacking_hits(record: Mapping[str, Any]) -> str:
    """Say how many of the hits a response has, where it has not all.

    >>> lacking_hits({"hits": {"total": {"value": 25}, "hits": [{}]}}), lacking_hits({"hits": 3})
    (', 1 of 25 hits', '')
    """
    if (response := _response(record)) is None:
        return ""
    found, total = len(response["hits"]), response.get("total")
    total = total.get("value") if isinstance(total, Mapping) else total
    return f", {found:,} of {total:,} hits" if isinstance(total, int) and total > found else ""


def _response(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Find the hits in the response of a search, beside how many there are."""
    found = record.get("hits")
    return found if isinstance(found, Mapping) and isinstance(found.get("hits"), list) else None


def _source(hit: Any, faults: Faults, line: int | None) -> Mapping[str, Any]:
    """Return what the index holds of a hit."""
    found: Any = hit.get("_source") if isinstance(hit, Mapping) else None
    if not isinstance(found, Mapping):
        hint = "give what the index holds: ask for _source"
        faults.fail("bad-shape", f"_source is {shown(found)}", hint, line)
    return found


def read_events(records: Sequence[Mapping[str, Any]], faults: Faults, line: Line) -> ClickRows:
    """Read events and queries, in any mixture; count events that name no search."""
    every = [row for number, one in enumerate(records) for row in _rows(one, number)]
    rows = [row for row in every if not row[4] or not is_nothing(row[0])]
    cells = list(zip(*rows, strict=True)) or [()] * 6
    names = ("session", "query", "document", "position")
    columns = {name: coded(column) for name, column in zip(names, cells, strict=False)}
    owner = cells[5]
    flags, lost = np.array(cells[4], np.uint8), len(every) - len(rows)
    return event_rows(columns, flags, lost, faults, lambda row: line(owner[row]))


def _rows(record: Mapping[str, Any], number: int) -> Iterator[Row]:
    """Take a record apart: an event is a row, and a query one for itself and each of its hits."""
    search, query = record.get("query_id"), record.get("user_query")
    if "action_name" in record:
        flags = ACTIONS.get(str(record["action_name"]).lower(), 0)
        if flags:
            thing, place = _parts(record.get("event_attributes"))
            yield search, query, thing, place, flags, number
        return
    yield search, query, None, None, 0, number
    hits = record.get("query_response_hit_ids") or ()
    for place, hit in enumerate(hits if isinstance(hits, list) else (), 1):
        yield search, None, hit, place, RETURNED, number


def _parts(attributes: Any) -> tuple[Any, Any]:
    """Return the document and the position of an event."""
    found = attributes if isinstance(attributes, Mapping) else {}
    thing, place = found.get("object"), found.get("position")
    return (
        thing.get("object_id") if isinstance(thing, Mapping) else None,
        place.get("ordinal") if isinstance(place, Mapping) else place,
    )
