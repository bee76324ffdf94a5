"""Facts about the queries: their text and whatever columns slice them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Queries:
    """Queries by id, with their text and any other columns.

    >>> queries = Queries({"q1": "python list to tuple"}, {"type": {"q1": "how-to"}})
    >>> queries.text["q1"], queries.column("type")
    ('python list to tuple', {'q1': 'how-to'})
    """

    text: Mapping[str, str]
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    name: str = "queries"

    def __contains__(self, query: object) -> bool:
        return query in self.text

    def __iter__(self) -> Iterator[str]:
        return iter(self.text)

    def __len__(self) -> int:
        return len(self.text)

    def column(self, name: str) -> dict[str, Any]:
        """Give one column as a mapping from query to value."""
        return dict(self.columns[name])
