"""A Parquet or Arrow file in which the rows of a query lie apart, read some queries at a time.

Ranking takes all rows of a query together. To hold them all would take as much memory as the table,
so a large file is read several times, each time for the rows of other queries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from idealist.formats import frames

#: The most rows that are held at once, unless one query has more.
MOST_ROWS = 2**23


def can_be_parted(kind: Any) -> bool:
    """Whether a column of queries can be: text, whole numbers, or either by dictionary."""
    types = frames.arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind))


def rows_of(batches: Iterable[Any], number: int, queries: Collection[str]) -> Iterator[Any]:
    """Keep the rows of some queries, which are in the column of a number."""
    pyarrow = frames.arrow()
    for batch in batches:
        known, codes = _encoded(batch.column(number))
        kept = np.array([query in queries for query in known], dtype=bool)
        if kept.any():
            yield batch.filter(pyarrow.array(kept[codes]))


def parts_of(batches: Iterable[Any]) -> list[set[str]]:
    """Part the queries of batches, their only column, so that each part has few enough rows."""
    sizes: dict[str, int] = {}
    for batch in batches:
        known, codes = _encoded(batch.column(0))
        for query, size in zip(known, np.bincount(codes, minlength=len(known)), strict=True):
            sizes[query] = sizes.get(query, 0) + int(size)
    parts, rows = [set[str]()], 0
    for query, size in sizes.items():
        if rows and rows + size > MOST_ROWS:
            parts.append(set())
            rows = 0
        parts[-1].add(query)
        rows += size
    return parts


def _encoded(column: Any) -> tuple[list[str], Any]:
    """Return the queries in a column, and which of them each row has; refuse nulls."""
    types = frames.arrow().types
    found = column if types.is_dictionary(column.type) else column.dictionary_encode()
    if found.null_count:
        raise ValueError("a row has no query")
    return [str(query) for query in found.dictionary.to_pylist()], found.indices.to_numpy()


def joined(answers: Sequence[Sequence[tuple[Any, ...]]]) -> list[tuple[Any, ...]] | None:
    """Join the columns of each ranking, of which each part has other queries.

    None if documents are named: only a list of all their texts would hold them.
    """
    rankings = [*zip(*answers, strict=True)]
    if any(found[4][2] for parts in rankings for found in parts):
        return None
    return [_joined(parts) for parts in rankings]


def _joined(parts: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    counts = np.sum([np.frombuffer(part[0], np.int64) for part in parts], axis=0)
    flags = np.any([np.frombuffer(part[1], np.bool_) for part in parts], axis=0)
    places = np.hstack([np.frombuffer(part[2], np.int64).reshape(5, -1) for part in parts])
    scores = np.concatenate([np.frombuffer(part[3]) for part in parts])
    by_query = np.argsort(places[0], kind="stable")
    ordered = places[:, by_query].tobytes(), scores[by_query].tobytes()
    return counts.tobytes(), flags.tobytes(), *ordered, parts[0][4]
