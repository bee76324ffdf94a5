"""Finding queries, runs and documents by words or ids."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from idealist.errors import IdealistError
from idealist.web.visit import Page, Visit

#: How many of each kind are found.
MOST = 20


def page(visit: Visit) -> Page:
    """Show what is found."""
    found = list(_found(visit))
    filled = {"found": found, "words": visit.state.find}
    return Page("Search", "search.html", filled, lambda: {"find": visit.state.find, "found": found})


def _found(visit: Visit) -> Iterator[dict[str, Any]]:
    """Find runs by name, queries by id or words, judged documents by id; runs first."""
    words = visit.state.find.lower().strip()
    state = visit.state.kept("column")
    if not words:
        return
    runs = (one for one in visit.workspace.runs if words in one.lower())
    for run in islice(runs, MOST):
        yield {"kind": "run", "name": run, "address": state.address("/compare", run=run)}
    for query, text in islice(_queries(visit, words), MOST):
        name = f"{query}: {text}" if text else query
        yield {"kind": "query", "name": name, "address": state.address("/query", query=query)}
    for document, query in islice(_documents(visit, words), MOST):
        address = state.address("/query", query=query)
        yield {"kind": "document", "name": f"{document}, judged for {query}", "address": address}


def _judged(visit: Visit) -> dict[str, Any]:
    try:
        return dict(visit.workspace.qrels(visit.state).lookup)
    except IdealistError:  # there are none, or they cannot be read
        return {}


def _queries(visit: Visit, words: str) -> Iterator[tuple[str, str]]:
    known = visit.workspace.queries
    texts = known.text if known else {}
    for query in _judged(visit):
        text = texts.get(query, "")
        if words in query.lower() or words in text.lower():
            yield query, text


def _documents(visit: Visit, words: str) -> Iterator[tuple[str, str]]:
    for query, documents in _judged(visit).items():
        for document in documents:
            if words in document.lower():
                yield document, query
