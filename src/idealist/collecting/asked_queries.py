"""The queries that are asked: their texts, and whatever else a template may name."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from idealist.data import Queries
from idealist.errors import Faults
from idealist.formats import read_queries
from idealist.formats.cells import shown
from idealist.rendering.wording import few

#: Those that no column may fill, and what they are.
FIXED = {"id": "the id of a query", "k": "the number of hits"}
#: How a list of numbers begins.
NUMBERS = re.compile(r"\s*\[\s*-?[\d.]+(?:[eE][+-]?\d+)?\s*,")


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


def asked_queries(given: Any, k: int, places: frozenset[str] = frozenset()) -> list[AskedQuery]:
    """Read queries; a column such as ``vector`` may hold a list, or a list in JSON.

    Words of a column ``query`` beside the text fill its place.

    >>> asked_queries({"q1": {"text": "red shoes", "vector": "[0.5, 1]"}}, 10)[0].values
    {'query': 'red shoes', 'text': 'red shoes', 'id': 'q1', 'k': 10, 'vector': [0.5, 1]}
    """
    queries = read_queries(given)
    if not len(queries):
        Faults(queries.name).fail("empty", "there are no queries", "give at least one")
    for name in sorted(places & FIXED.keys() & queries.columns.keys()):
        message = f"{{{{{name}}}}} is {FIXED[name]}, and there is a column {name} too"
        Faults(queries.name).fail("bad-column", message, "give the column another name")
    found = dict(_columns(queries))
    return [
        AskedQuery(
            one, text, {"query": text, "text": text, "id": one, "k": k, **found.get(one, {})}
        )
        for one, text in queries.text.items()
    ]


def _columns(queries: Queries) -> Iterator[tuple[str, dict[str, Any]]]:
    faults = Faults(queries.name)
    columns = {
        str(name): _opened(str(name), column, faults)
        for name, column in queries.columns.items()
        if name not in FIXED
    }
    faults.check()
    for query in queries:
        yield (
            query,
            {name: column[query] for name, column in columns.items() if query in column},
        )


def _opened(name: str, column: Mapping[str, Any], faults: Faults) -> dict[str, Any]:
    """Open arrays, and a column of lists that are written as JSON: then all of them must be."""
    cells = {q: one.tolist() if hasattr(one, "tolist") else one for q, one in column.items()}
    texts = {q: one for q, one in cells.items() if isinstance(one, str) and one.strip()}
    lists = {q: _list(one) for q, one in texts.items()}
    are_lists = any(one is not None for one in lists.values()) or any(
        map(NUMBERS.match, texts.values())
    )
    if not are_lists or not all(one.lstrip().startswith("[") for one in texts.values()):
        return cells
    for query, one in lists.items():
        if one is None:
            message = f"query {query!r}: {name} is {shown(texts[query])}, and no list in JSON"
            faults.add("bad-shape", message, "write [0.12, -0.5]")
    return cells | lists


def _list(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        found = json.loads(text)
        return found if isinstance(found, list) else None
    return None


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
