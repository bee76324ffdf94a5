"""What orders a list, where a table could mean another order than that of its scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from idealist.data.columns import to_float
from idealist.formats.column_names import naming_option
from idealist.formats.reading import Reading

#: So many lists of so many documents must count 1, 2, 3 before that looks like ranks. Suggested.
LISTS, LENGTH = 3, 3


def remark_order(
    query: Sequence[str], scores: Sequence[float], ranks: Sequence[Any], reading: Reading
) -> None:
    """Warn of ranks that say another order than the scores, and of scores that may be ranks."""
    lists: dict[str, list[int]] = {}
    for i, one in enumerate(query):
        lists.setdefault(one, []).append(i)
    named = reading.used.get("rank", "rank")
    if ranks and (other := _ordered_otherwise(lists, scores, ranks)) is not None:
        words = f"score and {named} order documents differently, such as those of query {other!r}"
        message = f"{words}: the score ranks them, unless you say --set order=rank"
        reading.remark("rank-or-score", message, severity="warning")
    if not ranks and _all_count(lists, scores):
        theirs = reading.used.get("score")
        lists_hint = "if they are, give each query a list of documents, the best first"
        hint = lists_hint if theirs is None else f"if they are: {naming_option('rank', [theirs])}"
        words = "the scores count 1, 2, 3, … in every list, and the highest ranks first"
        reading.remark("rank-or-score", f"{words}: are they ranks? {hint}", severity="warning")


def _ordered_otherwise(
    lists: Mapping[str, list[int]], scores: Sequence[float], ranks: Sequence[Any]
) -> str | None:
    """Find a query in which a document of a worse rank has a higher score."""
    for query, rows in lists.items():
        placed = sorted((_place(ranks[i]), -scores[i]) for i in rows)
        if any(a[0] < b[0] < math.inf and a[1] > b[1] for a, b in pairwise(placed)):
            return query
    return None


def _place(rank: Any) -> float:
    """Return a rank as a number; what is none is named elsewhere."""
    try:
        found = to_float(rank)
    except (TypeError, ValueError, OverflowError):
        return math.inf
    return math.inf if math.isnan(found) else found


def _all_count(lists: Mapping[str, list[int]], scores: Sequence[float]) -> bool:
    """Whether the scores of each list count its rows, from 1 or from 0."""
    long = [rows for rows in lists.values() if len(rows) >= LENGTH]
    return len(long) >= LISTS and any(
        all(scores[i] == place for rows in lists.values() for place, i in enumerate(rows, first))
        for first in (1, 0)
    )
