"""Elasticsearch's `_rank_eval`: its request holds judgments, its response a run.

{"requests": [{"id": query, "ratings": [{"_id": …, "rating": …}]}]}  the request
{"details": {query: {"hits": [{"hit": {"_id": …}, …}]}}}            the response

A document is known by its ``_id``; the index that holds it is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from idealist.errors import Faults
from idealist.formats.cells import add_query, shown
from idealist.formats.engines import hits
from idealist.formats.engines.table import ENGINES
from idealist.formats.reading import Reading


def lists(data: Mapping[Any, Any], reading: Reading) -> dict[Any, list[Any]] | None:
    """Read a request or a response as ``{query: [(document, value), …]}``, or return None."""
    if isinstance(data.get("requests"), list):
        return _ratings(data["requests"], reading.value, reading.faults)
    if isinstance(data.get("details"), Mapping) and "metric_score" in data:
        return _details(data["details"], reading)
    return None


def _details(details: Mapping[str, Any], reading: Reading) -> dict[Any, list[Any]]:
    if reading.value == "grade":
        message = "the details of _rank_eval are a run: they lack the ratings of what was not found"
        hint = "give the _rank_eval request, which holds all ratings"
        reading.faults.fail("bad-shape", message, hint)
    found = {}
    for query, detail in details.items():
        try:
            found[query] = [entry["hit"] for entry in detail["hits"]]
        except (TypeError, KeyError):
            _refuse(query, detail, reading.faults)
    return hits.ranked(found, ENGINES[0], reading)


def _ratings(requests: list[Any], value: str, faults: Faults) -> dict[Any, list[Any]]:
    if value == "score":
        hint = "give its response, or search responses by query"
        faults.fail("bad-shape", "a _rank_eval request holds judgments, not a run", hint)
    judged: dict[Any, Any] = {}
    for number, request in enumerate(requests, 1):
        try:
            ratings = [(entry["_id"], entry["rating"]) for entry in request["ratings"]]
            add_query(judged, request["id"], ratings, faults)
        except (TypeError, KeyError):
            _refuse(f"request {number}", request, faults)
    faults.check()
    return judged


def _refuse(query: Any, found: Any, faults: Faults) -> NoReturn:
    hint = "hits need an _id, ratings an _id and a rating"
    faults.fail("bad-shape", f"query {shown(query)}: cannot read {shown(found)}", hint)
