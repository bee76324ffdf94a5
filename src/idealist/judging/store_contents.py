"""What judges need, put into a store: scale, guidelines, queries, and texts of documents."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from idealist.errors import UsageError
from idealist.formats import read_queries
from idealist.formats.document_texts import document_entries
from idealist.formats.grade_words import scale_of
from idealist.formats.judges import PROPOSED
from idealist.formats.source import Source
from idealist.formats.stored_judgments import store_address
from idealist.judging.pair_views import scale_words
from idealist.judging.store import Store
from idealist.rendering.document import Block, Command, Items, Text
from idealist.rendering.plain_data import records_table
from idealist.rendering.result import Listing
from idealist.rendering.wording import counted

#: Documents up to which a whole collection is put into a store. Suggested.
MOST_TEXTS = 50_000


def create(
    path: str | Path, *, scale: str | None = None, merge: str | None = None,
    guidelines: str | None = None, queries: str | None = None, docs: str | None = None,
    every: bool = False,
) -> Listing:  # fmt: skip
    """Make a store, whole or not at all, and say what is in it."""
    if Path(path).exists():
        if store_address(path) is None:
            raise UsageError(f"{path} exists already, and is no store", "choose another name")
        hint = f"idealist judge add {path} changes it; or choose another name"
        raise UsageError(f"{path} exists already", hint)
    whole = docs is not None and (every or _is_small(docs))
    with Store.create(
        path, scale=None if scale is None else scale_of(scale), merge=merge or "",
        guidelines=_words(guidelines), queries=queries, docs=docs if whole else None,
    ) as store:  # fmt: skip
        texts, asked = len(_documents(store, "document")), len(store.queries)
        answer = f"{path} is made: {_counts(asked, texts)}"
        facts = [*_settings(store), *([] if whole or docs is None else [_later(path, docs)])]
    plain = {"store": str(path), "queries": asked, "documents": texts}
    return _listing(answer, facts, plain, f"idealist judge pool {path} RUN… --by depth --depth 10")


def extend(
    path: str | Path, *, scale: str | None = None, merge: str | None = None,
    guidelines: str | None = None, queries: str | None = None, docs: str | None = None,
    every: bool = False,
) -> Listing:  # fmt: skip
    """Add to a store, all or nothing, and say what is new."""
    found = None if queries is None else read_queries(queries)
    with Store(path) as store, store.writing():
        store.set(
            scale=None if scale is None else scale_of(scale), merge=merge,
            guidelines=None if guidelines is None else _words(guidelines),
        )  # fmt: skip
        asked = 0 if found is None else store.add_queries(found)
        needed = None if docs is None or every or _is_small(docs) else _needed(store)
        texts = 0 if docs is None else store.add_documents(docs, needed)
        facts = list(_settings(store))
        if docs is not None and needed is not None and not needed:
            facts.append(_later(path, docs))
    answer = f"{path} is set"
    if found is not None or docs is not None:
        answer = f"{_counts(asked, texts)} added to {path}"
    return _listing(answer, facts, {"store": str(path), "queries": asked, "documents": texts})


def _listing(answer: str, facts: list[str], plain: dict[str, Any], then: str = "") -> Listing:
    blocks: list[Block] = [Text(f"{answer}.", strong=True), Items(tuple(facts))]
    blocks += [Text("Choose what to judge:"), Command(then)] if then else []
    return Listing(answer, tuple(blocks), plain, records_table([plain]))


def _counts(queries: int, texts: int) -> str:
    """Count what there is.

    >>> _counts(1, 20), _counts(0, 0)
    ('1 query and 20 texts of documents', 'no queries and no texts')
    """
    asked = counted(queries, "query", "queries") if queries else ""
    told = counted(texts, "text of a document", "texts of documents") if texts else ""
    return " and ".join(filter(None, [asked, told])) or "no queries and no texts"


def _words(path: str | None) -> str:
    return "" if path is None else Source.of(path).read().decode().strip()


def _settings(store: Store) -> list[str]:
    grades = scale_words(store.scale)
    lines = counted(len(store.guidelines.splitlines()), "line", "lines")
    told = [f"Guidelines: {lines}."] if store.guidelines else []
    return [f"Grades: {grades}; several judges: {store.merge or PROPOSED}.", *told]


def _documents(store: Store, *tables: str) -> set[str]:
    with store.reading() as connection:
        asked = (connection.execute(f"SELECT document FROM {table}") for table in tables)
        return {document for rows in asked for (document,) in rows}


def _needed(store: Store) -> set[str]:
    """Name the documents that judges were or will be shown."""
    return _documents(store, "pooled WHERE place IS NOT NULL", "judgment")


def _is_small(docs: str) -> bool:
    return len(list(islice(document_entries(docs), MOST_TEXTS + 1))) <= MOST_TEXTS


def _later(path: str | Path, docs: str) -> str:
    return (
        f"{docs} has more than {MOST_TEXTS:,} documents, and nothing is pooled. Pool first; then"
        f" idealist judge add {path} --docs {docs} adds the texts that are needed; --all adds all."
    )
