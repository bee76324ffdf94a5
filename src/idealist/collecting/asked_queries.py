"""The queries that are asked: their texts, and whatever else a template may name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from idealist.data import Queries
from idealist.errors import Faults
from idealist.formats import read_queries
from idealist.rendering.wording import few

#: The places that every query fills; others are columns of the file of queries.
OWN = ("query", "text", "id", "k")


@dataclass(frozen=True)
class AskedQuery:
    """A query: its id, its text, and what fills each place of a template."""

    id: str
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def filled(self, places: frozenset[str]) -> str | None:
        """Hash what fills these places beyond what every query has; None where nothing does.

        >>> one = AskedQuery("q1", "red", {"query": "red", "vector": [0.5, 1]})
        >>> one.filled(frozenset({"query"})), one.filled(frozenset({"query", "vector"}))
        (None, '9d98ec606eff5dcd')
        """
        own = {"query": self.text, "text": self.text, "id": self.id, "k": self.values.get("k")}
        more = {name: self.values.get(name) for name in places}
        more = {name: one for name, one in more.items() if name not in own or one != own[name]}
        said = json.dumps(more, sort_keys=True, default=str)
        return hashlib.sha256(said.encode()).hexdigest()[:16] if more else None


def asked_queries(given: Any, k: int) -> list[AskedQuery]:
    """Read queries; a column such as ``vector`` may hold a list, or a list in JSON.

    >>> asked_queries({"q1": {"text": "red shoes", "vector": "[0.5, 1]"}}, 10)[0].values
    {'query': 'red shoes', 'text': 'red shoes', 'id': 'q1', 'k': 10, 'vector': [0.5, 1]}
    """
    queries = read_queries(given)
    if not len(queries):
        Faults(queries.name).fail("empty", "there are no queries", "give at least one")
    found = dict(_columns(queries))
    return [
        AskedQuery(
            one, text, {"query": text, "text": text, "id": one, "k": k, **found.get(one, {})}
        )
        for one, text in queries.text.items()
    ]


def _columns(queries: Queries) -> Iterator[tuple[str, dict[str, Any]]]:
    for query in queries:
        yield (
            query,
            {
                str(name): _opened(column[query])
                for name, column in queries.columns.items()
                if query in column and name not in OWN
            },
        )


def _opened(cell: Any) -> Any:
    """Open a list that is written as JSON, and an array."""
    if isinstance(cell, str) and cell.lstrip()[:1] == "[":
        with suppress(ValueError):
            return json.loads(cell)
    return cell.tolist() if hasattr(cell, "tolist") else cell


def check_values(queries: Sequence[AskedQuery], places: frozenset[str], name: str) -> None:
    """Refuse queries that lack what a template asks for, before anything is sent."""
    faults = Faults(name)
    for place in sorted(places):
        lacking = [one.id for one in queries if one.values.get(place) in (None, "")]
        if len(lacking) == len(queries):
            columns = dict.fromkeys(key for one in queries for key in one.values)
            message = f"no query has a value for {{{{{place}}}}}"
            faults.add("missing-column", message, f"the queries have: {', '.join(columns)}")
        elif lacking:
            some = f"{len(lacking)} of {len(queries)} queries have"
            message = f"{some} no value for {{{{{place}}}}}: {few(lacking)}"
            faults.add("missing-column", message, "give every query one, or leave these out")
    faults.check()
