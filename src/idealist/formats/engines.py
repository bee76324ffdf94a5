"""What Elasticsearch and OpenSearch answer, and what their `_rank_eval` is asked.

{query: {"hits": {"hits": [{"_id": …, "_score": …}, …]}}}         search responses, by query
{"requests": [{"id": query, "ratings": [{"_id": …, "rating": …}]}]}  a `_rank_eval` request
{"details": {query: {"hits": [{"hit": {"_id": …}, …}]}}}            its response

A document is known by its ``_id``; the index it lies in is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from idealist.errors import Faults
from idealist.formats.table import shown


def lists(data: Any, value: str, faults: Faults) -> dict[Any, list[Any]] | None:
    """Give an engine's JSON as ``{query: [(document, value), …]}``; None for anything else."""
    if not isinstance(data, Mapping) or not data:
        return None
    if _is_response(data) or isinstance(data.get("responses"), list):
        hint = 'a response does not say to which query: give {"q1": response, "q2": response}'
        faults.fail("bad-shape", "these are search responses without queries", hint)
    if isinstance(data.get("requests"), list):
        return _ratings(data["requests"], value, faults)
    if isinstance(data.get("details"), Mapping) and "metric_score" in data:
        return _details(data["details"], value, faults)
    if all(_is_response(entry) for entry in data.values()):
        _only_run(value, "search responses", "ratings", faults)
        return {query: _hits(query, r["hits"]["hits"], faults) for query, r in data.items()}
    return None


def _is_response(data: Any) -> bool:
    hits = data.get("hits") if isinstance(data, Mapping) else None
    return isinstance(hits, Mapping) and isinstance(hits.get("hits"), list)


def _only_run(value: str, found: str, missing: str, faults: Faults) -> None:
    if value == "grade":
        hint = "give the _rank_eval request, which holds all ratings"
        faults.fail("bad-shape", f"{found} are a run: they lack the {missing}", hint)


def _details(details: Mapping[str, Any], value: str, faults: Faults) -> dict[Any, list[Any]]:
    _only_run(value, "the details of _rank_eval", "ratings of what was not found", faults)
    found = {}
    for query, detail in details.items():
        try:
            hits = [entry["hit"] for entry in detail["hits"]]
        except (TypeError, KeyError):
            _refuse(query, detail, faults)
        found[query] = _hits(query, hits, faults)
    return found


def _hits(query: Any, hits: list[Any], faults: Faults) -> list[Any]:
    """Give documents with their scores, or in their order alone where a sort made it."""
    try:
        by_score = all(hit.get("_score") is not None and "sort" not in hit for hit in hits)
        return [(hit["_id"], hit["_score"]) if by_score else hit["_id"] for hit in hits]
    except (TypeError, KeyError, AttributeError):
        _refuse(query, hits, faults)


def _ratings(requests: list[Any], value: str, faults: Faults) -> dict[Any, list[Any]]:
    if value == "score":
        hint = "give its response, or search responses by query"
        faults.fail("bad-shape", "a _rank_eval request holds judgments, not a run", hint)
    judged: dict[Any, Any] = {}
    for number, request in enumerate(requests, 1):
        try:
            query = request["id"]
            ratings = [(entry["_id"], entry["rating"]) for entry in request["ratings"]]
            twice = query in judged
        except (TypeError, KeyError):
            _refuse(f"request {number}", request, faults)
        if twice:
            faults.fail("duplicate-key", f"query {query!r} stands there twice", "keep one of them")
        judged[query] = ratings
    return judged


def _refuse(query: Any, found: Any, faults: Faults) -> NoReturn:
    hint = "hits need an _id, ratings an _id and a rating"
    faults.fail("bad-shape", f"query {shown(query)}: cannot read {shown(found)}", hint)
