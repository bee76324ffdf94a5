"""What other tools call our columns. The one table of such names."""

from __future__ import annotations

from collections.abc import Iterable

#: Our name of each column and the names that are understood as it.
ALIASES: dict[str, tuple[str, ...]] = {
    "query": ("query_id", "query-id", "qid", "q_id", "queryid", "topic"),
    "document": (
        "doc_id", "document_id", "doc-id", "docid", "docno", "doc", "corpus-id", "corpus_id", "pid",
    ),
    "grade": ("relevance", "rel", "label", "rating"),
    "score": ("sim", "similarity"),
    "rank": (),
    "tokens": ("token_count", "num_tokens", "n_tokens"),
    "subtopic": (),
    "iteration": ("iter",),
}  # fmt: skip


def ours(names: Iterable[str]) -> dict[str, str]:
    """Map our column names to the names found.

    >>> ours(["query-id", "corpus-id", "score"])
    {'query': 'query-id', 'document': 'corpus-id', 'score': 'score'}
    """
    folded = {str(name).strip().lower(): name for name in names}
    found = {}
    for column, aliases in ALIASES.items():
        for alias in (column, *aliases):
            if alias in folded:
                found[column] = folded[alias]
                break
    return found
