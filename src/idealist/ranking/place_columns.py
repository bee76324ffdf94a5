"""The columns of `Placements` before they have judgments: joined, moved to others, packed.

Per query and per judged document found, as `Placements` has them; `judgment` is an index into the
judgments that they were made with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from idealist.data.columns import Bools, Ints

#: The columns of `Placements` for each query, and for each place.
PER_QUERY = ("in_run", "empty", "retrieved", "duplicates", "merged", "ties", "float32")
PER_PLACE = ("query", "rank", "first", "last", "score", "judgment")
#: Those that others are made of: a list is empty where nothing was retrieved.
FLAGS, COUNTS = ("in_run", "ties", "float32"), ("retrieved", "duplicates", "merged")

Columns: TypeAlias = dict[str, Any]


def spliced(columns: Columns, others: Columns, some: Bools) -> Columns:
    """Replace what belongs to some queries."""
    kept, taken = ~some[columns["query"]], some[others["query"]]
    query = np.concatenate([columns["query"][kept], others["query"][taken]])
    by_query = np.argsort(query, kind="stable")
    places = {
        name: np.concatenate([columns[name][kept], others[name][taken]])[by_query]
        for name in PER_PLACE
    }
    return {name: np.where(some, others[name], columns[name]) for name in PER_QUERY} | places


def changed(columns: Columns, others: Columns) -> Bools:
    """Mark the queries that have anything else in the other columns."""
    found = np.zeros(len(columns["in_run"]), dtype=bool)
    for name in PER_QUERY:
        found |= columns[name] != others[name]
    sizes = [np.bincount(one["query"], minlength=len(found)) for one in (columns, others)]
    found |= sizes[0] != sizes[1]
    kept, taken = (~found[one["query"]] for one in (columns, others))
    query = columns["query"][kept]
    for name in PER_PLACE:
        a, b = columns[name][kept], others[name][taken]
        found[query[(a != b) & ~(np.isnan(a) & np.isnan(b))]] = True
    return found


class Part(NamedTuple):
    """The columns of some queries: where their judgments begin, and which query each is elsewhere.

    `place` is -1 for a query that is not there.
    """

    columns: Columns
    starts: Ints
    place: Ints


def moved(parts: Iterable[Part], starts: Ints) -> Columns:
    """Put the columns of parts under other judgments, which begin at `starts` for each query.

    Queries of no part are not in the run.
    """
    size = len(starts) - 1
    found: Columns = {name: np.zeros(size, dtype=bool) for name in FLAGS}
    found |= {name: np.zeros(size, dtype=np.int64) for name in COUNTS}
    pieces: list[Columns] = []
    for columns, old, place in parts:
        there = place >= 0
        for name in (*FLAGS, *COUNTS):
            found[name][place[there]] = columns[name][there]
        kept = there[columns["query"]]
        own = {name: columns[name][kept] for name in PER_PLACE}
        query = place[own["query"]]
        pieces.append(own | {
            "query": query, "judgment": own["judgment"] - old[own["query"]] + starts[query],
        })  # fmt: skip
    return found | {"empty": found["retrieved"] == 0} | _by_query(pieces)


def _by_query(pieces: list[Columns]) -> Columns:
    nothing: Columns = {name: np.zeros(0, np.float64 if name == "score" else np.int64)
                        for name in PER_PLACE}  # fmt: skip
    pieces = pieces or [nothing]
    joined = {name: np.concatenate([one[name] for one in pieces]) for name in PER_PLACE}
    if np.all(joined["query"][1:] >= joined["query"][:-1]):
        return joined
    order = np.argsort(joined["query"], kind="stable")
    return {name: column[order] for name, column in joined.items()}


def packed(columns: Columns, starts: Ints, some: Bools) -> dict[str, Any]:
    """Write the columns of some queries as small arrays; `unpacked` has all others empty.

    >>> starts = np.array([0, 2, 3])
    >>> found = packed(moved([], starts), starts, np.array([False, True]))
    >>> found["queries"], found["queries"].dtype
    (array([2], dtype=uint8), dtype('uint8'))
    """
    queries = np.flatnonzero(some)
    flags = sum(columns[name][queries].astype(np.uint8) << i for i, name in enumerate(FLAGS))
    kept = some[columns["query"]]
    rank = columns["rank"][kept]
    found = {
        "queries": np.diff(queries, prepend=-1),
        "flags": np.asarray(flags, dtype=np.uint8),
        "places": np.bincount(columns["query"][kept], minlength=len(some))[queries],
        "rank": rank,
        "first": rank - columns["first"][kept],
        "last": columns["last"][kept] - rank,
        "judgment": columns["judgment"][kept] - starts[columns["query"][kept]],
        **{name: columns[name][queries] for name in COUNTS},
    }
    small = {name: _small(column) for name, column in found.items()}
    return small | {"score": np.asarray(columns["score"][kept], dtype="<f8")}


def _small(column: Any) -> Any:
    """Keep whole numbers, none of them negative, in as few bytes as they need."""
    return column.astype(np.min_scalar_type(int(column.max(initial=0))).newbyteorder("<"))


def unpacked(found: Mapping[str, Any], starts: Ints) -> tuple[Columns, Bools]:
    """Read what `packed` wrote: the columns of all queries, and which of them were written."""
    size = len(starts) - 1
    whole = {name: column.astype(np.int64) for name, column in found.items() if name != "score"}
    queries = np.cumsum(whole["queries"]) - 1
    some = np.zeros(size, dtype=bool)
    some[queries] = True
    columns: Columns = {}
    for i, name in enumerate(FLAGS):
        columns[name] = np.zeros(size, dtype=bool)
        columns[name][queries] = (whole["flags"] >> i) & 1
    for name in COUNTS:
        columns[name] = np.zeros(size, dtype=np.int64)
        columns[name][queries] = whole[name]
    rank, query = whole["rank"], np.repeat(queries, whole["places"])
    return columns | {
        "empty": columns["retrieved"] == 0,
        "query": query,
        "rank": rank,
        "first": rank - whole["first"],
        "last": rank + whole["last"],
        "score": found["score"].astype(np.float64),
        "judgment": whole["judgment"] + starts[query],
    }, some
