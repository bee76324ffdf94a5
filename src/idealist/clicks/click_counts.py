"""What a log comes down to: its different lists of documents, and how often each place was clicked.

All models are estimated from this, whatever the size of the log: a list is a query with documents
at positions; of it are counted the clicks at each place, and where the last click of a page was.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from idealist.data.columns import Ints, starts_of

#: Odd numbers that spread the parts of a key over 64 bits.
SPREAD = tuple(
    np.uint64(one)
    for one in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
)

Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class ClickCounts:
    """Different lists of documents with their counts; ids are sorted, and so are the lists.

    The places of list i are ``starts[i]:starts[i + 1]``, from the first down. For each there are
    its `document`, its `position`, its `clicks`, and in `lasts` how often the last click of a page
    was there; `unclicked` counts the pages without a click for each list.
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    query: Ints
    starts: Ints
    document: Any
    position: Any
    clicks: Any
    lasts: Any
    unclicked: Ints

    @cached_property
    def owner(self) -> Any:
        """The list of each place."""
        return np.repeat(np.arange(len(self.query), dtype=np.int32), np.diff(self.starts))

    @cached_property
    def pages(self) -> Ints:
        """How often each list was shown."""
        found: Ints = self.unclicked + self.sums(self.lasts)
        return found

    @cached_property
    def shown(self) -> Any:
        """How often each place was shown."""
        return self.pages.astype(np.int32)[self.owner]

    @property
    def reached(self) -> Any:
        """How often each place was at or above the last click, or on a page without any."""
        before = np.cumsum(self.lasts) - self.lasts  # within a list, less what precedes the list
        before -= before[self.starts[:-1]][self.owner]
        return self.shown - before.astype(np.int32)

    @cached_property
    def pair_keys(self) -> tuple[Ints, Any]:
        """A number for each different pair of query and document, and the pair of each place."""
        key = self.query[self.owner] * len(self.documents) + self.document
        pairs, place = np.unique(key, return_inverse=True)
        return pairs, place.astype(np.int32)

    @property
    def pair(self) -> Any:
        """The pair of each place."""
        return self.pair_keys[1]

    @property
    def pair_query(self) -> Ints:
        """The query of each pair."""
        return self.pair_keys[0] // max(len(self.documents), 1)

    @property
    def pair_document(self) -> Ints:
        """The document of each pair."""
        return self.pair_keys[0] % max(len(self.documents), 1)

    def by_pair(self, values: Any) -> NDArray[np.float64]:
        """Sum a value of each place by pair."""
        return np.bincount(self.pair, values, len(self.pair_keys[0])).astype(np.float64)

    def sums(self, values: Any) -> Any:
        """Sum a value of each place by list."""
        return np.add.reduceat(values, self.starts[:-1]) if len(self.query) else np.zeros(0, int)

    @property
    def offset(self) -> Ints:
        """The place of each entry in its list, from 0."""
        found: Ints = np.arange(len(self.document)) - self.starts[self.owner]
        return found

    def joined(self) -> ClickCounts:
        """Add up lists that are the same, and sort them by query."""
        if not len(self.query):
            return self
        key = self._list_keys()
        order = np.lexsort((key, self.query))
        new = np.ones(len(order), bool)
        new[1:] = (np.diff(key[order]) != 0) | (np.diff(self.query[order]) != 0)
        kept, group = order[new], np.empty(len(order), np.int64)
        group[order] = np.cumsum(new) - 1
        found = self.lists(kept)
        target = found.starts[group][self.owner] + self.offset
        size = len(found.document)
        return replace(
            found,
            clicks=_added(target, self.clicks, size),
            lasts=_added(target, self.lasts, size),
            unclicked=_added(group, self.unclicked, len(kept)),
        )

    def _list_keys(self) -> Keys:
        """Make a key of each list; two different lists of a query hardly ever share one."""
        with np.errstate(over="ignore"):
            place = (
                (self.document.astype(np.uint64) + np.uint64(1)) * SPREAD[0]
                ^ (self.position.astype(np.uint64) + np.uint64(1)) * SPREAD[1]
            ) + self.offset.astype(np.uint64) * SPREAD[2]
            keys: Keys = np.add.reduceat(mixed(place), self.starts[:-1])
        return keys

    def lists(self, some: Ints) -> ClickCounts:
        """Keep some lists, in this order."""
        sizes = np.diff(self.starts)[some]
        starts = starts_of(sizes)
        places = np.arange(starts[-1]) + np.repeat(self.starts[some] - starts[:-1], sizes)
        return replace(
            self, query=self.query[some], starts=starts, document=self.document[places],
            position=self.position[places], clicks=self.clicks[places], lasts=self.lasts[places],
            unclicked=self.unclicked[some],
        )  # fmt: skip

    def renamed(self, names: Mapping[str, str]) -> ClickCounts:
        """Give queries other names, some of them the same one; leave out those without any."""
        queries = sorted({names[query] for query in self.queries if query in names})
        place = {query: i for i, query in enumerate(queries)}
        number = np.array([place.get(names.get(one, ""), -1) for one in self.queries], np.int64)
        kept = self.lists(np.flatnonzero(number[self.query] >= 0))
        return replace(kept, queries=tuple(queries), query=number[kept.query]).joined()

    def named(self, queries: Sequence[str], documents: Sequence[str]) -> ClickCounts:
        """Take the numbers of sorted names, among which are all of these queries and documents."""
        query = np.array([bisect_left(queries, one) for one in self.queries], np.int64)
        document = np.array([bisect_left(documents, one) for one in self.documents], np.int32)
        return replace(
            self, queries=tuple(queries), documents=tuple(documents),
            query=query[self.query], document=document[self.document],
        )  # fmt: skip


def together(parts: Sequence[ClickCounts]) -> ClickCounts:
    """Add up counts of different pages, from anywhere."""
    if len(parts) == 1:
        return parts[0].joined()
    if any(one.queries is not parts[0].queries for one in parts):
        queries = sorted({name for one in parts for name in one.queries})
        documents = sorted({name for one in parts for name in one.documents})
        first = parts[0].named(queries, documents)
        parts = [first, *(
            replace(one.named(queries, documents), queries=first.queries, documents=first.documents)
            for one in parts[1:]
        )]  # fmt: skip
    names = ("query", "document", "position", "clicks", "lasts", "unclicked")
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in parts]) for name in names
    }
    starts = starts_of(np.concatenate([np.diff(one.starts) for one in parts]))
    return replace(parts[0], starts=starts, **columns).joined()


def mixed(keys: Keys) -> Keys:
    """Mix the bits of keys, so that like ones lie far apart.

    Reference: Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195 (SplitMix64)
    """
    with np.errstate(over="ignore"):
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _added(target: Ints, values: Any, size: int) -> Any:
    return np.bincount(target, values, size).astype(values.dtype)
