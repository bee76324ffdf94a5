"""Which documents a model is asked about, and whether their words are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from idealist.errors import UsageError
from idealist.formats import read_qrels, read_run
from idealist.formats.contents import kind_of
from idealist.rendering.wording import counted, few

if TYPE_CHECKING:
    from idealist.judging.store import Store

#: Whose judgments a model can be held to.
PEOPLE = ("human", "import")


class AskedPair(NamedTuple):
    """A document for a query; if it was pooled, in which batch, and with what probability.

    `replaces` is the judgment of a text that the document had before.
    """

    query: str
    document: str
    batch: int | None = None
    inclusion: float | None = None
    replaces: int | None = None


def pairs_of(store: Store, what: str | Path) -> list[AskedPair]:
    """Return what was `pooled`, or `judged` by people, or what a file of judgments or a run lists.

    Each pair comes once.
    """
    found = {"pooled": _pooled, "judged": _judged}.get(str(what))
    pairs = list(_listed(what) if found is None else found(store))
    once = {pair[:2]: pair for pair in reversed(pairs)}
    if not once:
        hints = {
            "pooled": f"idealist judge pool {store.path} RUN…, or ask about what people judged: "
            "--what judged",
            "judged": f"idealist judge grade {store.path}, or idealist judge import",
        }  # fmt: skip
        raise UsageError(f"nothing is {what}", hints.get(str(what), "the file lists nothing"))
    return list(reversed(once.values()))


def _pooled(store: Store) -> Iterator[AskedPair]:
    for batch in store.batches():
        for one in batch.pooled:
            if one.place is not None:  # it was drawn
                yield AskedPair(one.query, one.document, batch.id, one.inclusion)


def _judged(store: Store) -> Iterator[AskedPair]:
    for one in store.current():
        if one.kind in PEOPLE and one.status == "graded":
            yield AskedPair(one.query, one.document)


def people_of(store: Store) -> str:
    """Name the kind of people whose judgments count in a store."""
    kinds = {one.kind for one in store.current()}
    return next((kind for kind in PEOPLE if kind in kinds), "")


def _listed(path: str | Path) -> Iterator[AskedPair]:
    if kind_of(path) == "run":
        rows = read_run(path).rows()
        for query, span in rows.spans().items():
            yield from (AskedPair(query, document) for document in rows.documents[span])
        return
    for query, grades in read_qrels(path).to_dict().items():
        yield from (AskedPair(query, document) for document in grades)


def with_words(store: Store, pairs: list[AskedPair], skip_missing: bool = False) -> list[AskedPair]:
    """Return the pairs whose query and document have words; without `skip_missing` all must have.

    It is asked before anything is sent.
    """
    texts = store.queries.text
    with store.reading() as connection:
        told = {row[0] for row in connection.execute("SELECT DISTINCT document FROM document")}
    queries = dict.fromkeys(pair.query for pair in pairs if not texts.get(pair.query, "").strip())
    documents = dict.fromkeys(pair.document for pair in pairs if pair.document not in told)
    able = [p for p in pairs if p.query not in queries and p.document not in documents]
    if (queries or documents) and not (skip_missing and able):
        raise UsageError(_missing(list(queries), list(documents)), _hint(store, queries, documents))
    return able


def _missing(queries: list[str], documents: list[str]) -> str:
    words = []
    if queries:
        words.append(f"{counted(len(queries), 'query', 'queries')} without text: {few(queries)}")
    if documents:
        many = counted(len(documents), "document", "documents")
        words.append(f"{many} without text: {few(documents)}")
    return "; ".join(words)


def _hint(store: Store, queries: Iterable[str], documents: Iterable[str]) -> str:
    given = [*(["--queries FILE"] if queries else []), *(["--docs FILE"] if documents else [])]
    return f"idealist judge add {store.path} {' '.join(given)}; or leave them out: --skip-missing"
