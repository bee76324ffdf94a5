"""Searches in an index of Tantivy, by its Python package.

The template is JSON: ``query`` in Tantivy's syntax, and ``fields`` that are searched by default.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from idealist.asking.secret_texts import Secrets
from idealist.collecting.asked_queries import AskedQuery
from idealist.collecting.engine_answers import Answer, Hopeless, ResponseReader, failed
from idealist.collecting.request_templates import Template
from idealist.errors import UsageError
from idealist.formats.engines.table import INFERRED, Engine, Score

#: What is made of Tantivy's hits.
HITS = Engine(
    "Tantivy", ("hits",), ("fields/id", "fields/docid", "fields/doc_id", INFERRED),
    (Score("score"),), fields="fields",
)  # fmt: skip


@dataclass(frozen=True)
class TantivySearch:
    """The folder of an index."""

    path: Path
    template: Template
    reader: ResponseReader
    secrets: Secrets = field(default_factory=Secrets)
    concurrency: int = 1
    doubt: str = ""

    @property
    def places(self) -> frozenset[str]:
        """What a query must have."""
        return self.template.places

    def told(self) -> dict[str, Any]:
        """Say what is asked."""
        _tantivy()
        told = {"engine": "tantivy", "version": metadata.version("tantivy")}
        return {**told, "address": str(self.path), "index": None}

    def opened(self, timeout: float) -> TantivyOpened:
        """Open the index."""
        return TantivyOpened(self)


class TantivyOpened:
    """An index as it was when it was opened."""

    def __init__(self, search: TantivySearch) -> None:
        self.search = search
        try:
            self._index = _tantivy().Index.open(str(search.path))
        except ValueError as error:
            raise Hopeless(f"cannot open {search.path}: {error}", "check the folder") from None
        self._searcher = self._index.searcher()

    def ask(self, query: AskedQuery) -> Answer:
        """Search for a query."""
        said = self.search.template.filled(query.values)
        begun = time.perf_counter()
        try:
            parsed = self._index.parse_query(said["query"], said.get("fields"))
            found = self._searcher.search(parsed, self.search.reader.k)
            hits = [self._hit(score, place) for score, place in found.hits]
        except (ValueError, TypeError, KeyError) as error:
            return failed(f"{error}", time.perf_counter() - begun)
        return self.search.reader.answer({"hits": hits}, time.perf_counter() - begun)

    def _hit(self, score: float, place: Any) -> dict[str, Any]:
        """Give a hit the fields that are stored; one that has a single value is that value."""
        stored = self._searcher.doc(place).to_dict()
        fields = {key: one[0] if len(one) == 1 else one for key, one in stored.items()}
        return {"score": score, "fields": fields}

    def cut(self) -> None:
        """Do nothing: a search of Tantivy cannot be ended."""

    def close(self) -> None:
        """Let go of the index."""


def _tantivy() -> Any:
    try:
        import tantivy
    except ImportError:
        message = "asking Tantivy needs a package that is not installed"
        raise UsageError(message, "pip install 'idealist[collect]'") from None
    return tantivy
