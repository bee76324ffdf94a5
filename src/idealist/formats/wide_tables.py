"""Wide tables: a row a query, and a column for each rank, as in ``query,doc1,doc2,doc3``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from idealist.formats.column_names import PLAIN, folded, ours
from idealist.formats.reading import Reading

_STEMS = "doc|document|docid|docno|result|hit|item|product|sku|url|rank|position|pos|top"
_NUMBERED = re.compile(rf"((?:{_STEMS})?#?)(\d{{1,4}})")


def ranking_in(names: Iterable[Any], reading: Reading) -> list[Any] | None:
    """Find the columns that are ranks 1 to n, where the only other one is the query.

    >>> from idealist.errors import Faults
    >>> ranking_in(["Query", "Doc 1", "Doc 2"], Reading("score", Faults()))
    ['Doc 1', 'Doc 2']
    """
    named = [name for name in names if str(name).strip()]
    query = reading.ours(named).get("query")
    others = [name for name in named if name != query]
    found = [_NUMBERED.fullmatch(re.sub(r"[\s_-]", "", str(name).lower())) for name in others]
    plain = folded(query) in PLAIN  # beside another word, bare numbers may be data
    numbers = [int(match[2]) for match in found if match and (match[1] or plain)]
    is_wide = len(named) - len(others) == 1 and len(numbers) == len(others) > 1
    return others if is_wide and numbers == [*range(1, len(numbers) + 1)] else None


def unfolded(
    columns: dict[Any, list[Any]], lines: list[int] | None, reading: Reading
) -> tuple[dict[Any, list[Any]], list[int] | None]:
    """Make a row of each document of a wide table; leave others as they are."""
    ranking = ranking_in(columns, reading)
    if ranking is None or "document" in ours(columns, reading.options.columns):
        return columns, lines
    shown = f"{ranking[0]} … {ranking[-1]}"
    if reading.value != "score":
        hint = "judgments have a row for each document: query,document,grade"
        reading.faults.fail("missing-column", f"{shown} are a ranking, not judgments", hint)
    query = reading.ours(columns)["query"]
    reading.remark_names({"query": query, "ranking": shown})
    found = [
        (i, rank, columns[name][i])
        for i in range(len(columns[query]))
        for rank, name in enumerate(ranking, 1)
        if columns[name][i] is not None or rank == 1
    ]
    return {
        "query": [columns[query][i] for i, _, _ in found],
        "document": [document for _, _, document in found],
        "rank": [None if document is None else rank for _, rank, document in found],
    }, None if lines is None else [lines[i] for i, _, _ in found]
