"""What other tools call our columns. The one table of such names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from idealist.errors import Faults

#: Our name of each column and the names that are understood as it, whatever their case.
ALIASES: dict[str, tuple[str, ...]] = {
    "query": ("query_id", "query-id", "qid", "q_id", "queryid", "topic", "query text"),
    "document": (
        "doc_id", "document_id", "doc-id", "docid", "docno", "doc", "corpus-id", "corpus_id", "pid",
        "doc id",
    ),
    "grade": ("relevance", "rel", "label", "rating"),
    "score": ("sim", "similarity"),
    "rank": ("position", "doc position"),
    "tokens": ("token_count", "num_tokens", "n_tokens"),
    "subtopic": (),
    "iteration": ("iter",),
}  # fmt: skip

#: Quepid's book-keeping, the same in each row.
SKIPPED = frozenset({"team name", "case name", "case id", "snapshot name", "snapshot time"})


def ours(names: Iterable[Any]) -> dict[str, Any]:
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


def renamed(names: Iterable[Any], value: str, faults: Faults) -> dict[Any, str]:
    """Map the names found to ours, or to themselves where we have none; `value` as in a table.

    BEIR's judgments call their grade a score.

    >>> renamed(["qid", "pid", "score", "utility"], "grade", Faults())
    {'qid': 'query', 'pid': 'document', 'score': 'grade', 'utility': 'utility'}
    """
    names = list(names)
    found = ours(names)
    if value == "grade" and "grade" not in found and "score" in found:
        found["grade"] = found.pop("score")
    own = {theirs: name for name, theirs in found.items()}
    for name in names:
        try:
            name.encode()
        except (AttributeError, ValueError):  # no text, or a lone surrogate in it
            message = f"{name!a} cannot name a column"
            faults.fail("bad-column", message, "name columns by text")
    return {name: own.get(name, str(name)) for name in names if name.strip().lower() not in SKIPPED}
