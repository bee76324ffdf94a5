"""Responses of Elasticsearch and OpenSearch, and requests to their `_rank_eval`.

{query: {"hits": {"hits": [{"_id": …, "_score": …}, …]}}}         search responses, by query
{"requests": [{"id": query, "ratings": [{"_id": …, "rating": …}]}]}  a `_rank_eval` request
{"details": {query: {"hits": [{"hit": {"_id": …}, …}]}}}            its response

A document is known by its ``_id``; the index that holds it is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from idealist.errors import Faults
from idealist.formats.cells import add_query, shown
from idealist.formats.reading import Reading

AGAIN = "search again, and save the whole response"


def lists(data: Any, reading: Reading) -> dict[Any, list[Any]] | None:
    """Read an engine's JSON as ``{query: [(document, value), …]}``; None for anything else."""
    value, faults = reading.value, reading.faults
    if isinstance(data, list) and data and all(map(_is_response, data)):
        data = by_query(data, reading)
    if not isinstance(data, Mapping) or not data:
        return None
    if _is_response(data) or isinstance(data.get("responses"), list):
        hint = 'a response does not name its query: give {"q1": response, "q2": response}'
        faults.fail("bad-shape", "these are search responses without queries", hint)
    if isinstance(data.get("requests"), list):
        return _ratings(data["requests"], value, faults)
    if isinstance(data.get("details"), Mapping) and "metric_score" in data:
        return _details(data["details"], value, faults)
    if any(map(_is_response, data.values())) and all(map(_is_answer, data.values())):
        _check_run(value, "search responses", "ratings", faults)
        return _hits({query: _whole(query, r, faults) for query, r in data.items()}, faults)
    return None


def _is_response(data: Any) -> bool:
    hits = data.get("hits") if isinstance(data, Mapping) else None
    return isinstance(hits, Mapping) and isinstance(hits.get("hits"), list)


def _is_answer(data: Any) -> bool:
    return _is_response(data) or (isinstance(data, Mapping) and {"error", "status"} <= data.keys())


def by_query(
    responses: list[Any], reading: Reading, lines: Sequence[int] | None = None
) -> dict[str, Any]:
    """Sort responses by the query that each one names."""
    found: dict[str, Any] = {}
    for number, response in enumerate(responses):
        query = response.get(reading.ours(response).get("query", "id"))
        add_query(found, query, response, reading.faults, lines[number] if lines else None)
    reading.faults.check()
    return found


def _whole(query: Any, response: Mapping[str, Any], faults: Faults) -> list[Any]:
    """Return a response's hits; refuse a response that failed or is incomplete."""
    shards = response.get("_shards")
    failed = shards.get("failed") if isinstance(shards, Mapping) else 0
    if "error" in response:
        faults.fail("failed-search", f"query {query!r} failed: {shown(response['error'])}", AGAIN)
    if response.get("timed_out") is True or failed:
        why = "timed out" if response.get("timed_out") is True else f"failed on {failed} shards"
        faults.fail("failed-search", f"query {query!r} {why}: its hits are incomplete", AGAIN)
    hits: list[Any] = response["hits"]["hits"]
    return hits


def _check_run(value: str, found: str, missing: str, faults: Faults) -> None:
    if value == "grade":
        hint = "give the _rank_eval request, which holds all ratings"
        faults.fail("bad-shape", f"{found} are a run: they lack the {missing}", hint)


def _details(details: Mapping[str, Any], value: str, faults: Faults) -> dict[Any, list[Any]]:
    _check_run(value, "the details of _rank_eval", "ratings of what was not found", faults)
    found = {}
    for query, detail in details.items():
        try:
            found[query] = [entry["hit"] for entry in detail["hits"]]
        except (TypeError, KeyError):
            _refuse(query, detail, faults)
    return _hits(found, faults)


def _hits(found: dict[Any, list[Any]], faults: Faults) -> dict[Any, list[Any]]:
    """Return documents with their scores, or just in order where a sort ranked any of them."""
    for query, hits in found.items():
        if not all(isinstance(hit, Mapping) and "_id" in hit for hit in hits):
            _refuse(query, hits, faults)
    every = [hit for hits in found.values() for hit in hits]
    by_score = all(hit.get("_score") is not None and "sort" not in hit for hit in every)
    return {
        query: [(hit["_id"], hit["_score"]) if by_score else hit["_id"] for hit in hits]
        for query, hits in found.items()
    }


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
