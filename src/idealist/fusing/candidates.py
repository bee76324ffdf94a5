"""Candidates: the documents that several runs found for some queries, and where each run had them.

Fusion is a formula over this table, one entry for each run that found a document, as a measure is
one over placements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from idealist.data.columns import Floats, Ints, sums_by
from idealist.ranking.document_lists import DocumentLists


@dataclass(frozen=True, eq=False)
class Candidates:
    """The documents of some queries, and an entry for each run that found one.

    The documents of query q are numbers ``starts[q]`` to ``starts[q + 1]``. Entries stand by query,
    then by run, then by rank: the list of run r for query q is ``lists[q * runs + r]`` on. Each has
    the number of its `document`, the run's `score` (NaN in a run without scores) and its `rank`,
    which is infinite where a method gives something to documents that the run did not find. `names`
    are the ids of the documents.
    """

    starts: Ints
    runs: int
    lists: Ints
    document: Ints
    score: Floats
    rank: Floats
    names: DocumentLists

    @classmethod
    def of(
        cls, starts: Ints, runs: int, lists: Ints, document: Ints, score: Floats,
        names: DocumentLists,
    ) -> Candidates:  # fmt: skip
        """Make candidates of lists whose entries stand by rank."""
        sizes = np.diff(lists)
        rank = np.arange(1.0, len(document) + 1) - np.repeat(lists[:-1], sizes)
        return cls(starts, runs, lists, document, score, rank, names)

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return int(self.starts[-1])

    @cached_property
    def sizes(self) -> Ints:
        """How many entries each list has."""
        return np.diff(self.lists)

    @cached_property
    def list(self) -> Ints:
        """The list of each entry."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def run(self) -> Ints:
        """The run of each entry."""
        return self.list % self.runs

    @cached_property
    def found_by(self) -> Floats:
        """How many runs found each document."""
        return np.bincount(self.document, minlength=self.documents).astype(np.float64)

    def total(self, values: Floats) -> Floats:
        """Sum the values of each document's entries, run by run."""
        return sums_by(self.document, values, self.documents)

    def of_lists(self, values: Floats) -> Floats:
        """Sum the values of each list, in the order of ranks."""
        return sums_by(self.list, values, len(self.sizes))

    def lowest(self) -> Floats:
        """Return the lowest score of each list; 0 of an empty one."""
        return self._extreme(np.minimum)

    def highest(self) -> Floats:
        """Return the highest score of each list; 0 of an empty one."""
        return self._extreme(np.maximum)

    def _extreme(self, of: np.ufunc) -> Floats:
        found = np.zeros(len(self.sizes))
        some = self.sizes > 0
        found[some] = of.reduceat(self.score, self.lists[:-1][some])
        return found

    @cached_property
    def by_document(self) -> tuple[Ints, Ints]:
        """The entries in the order of their documents, and where each document's begin."""
        order = np.argsort(self.document, kind="stable")
        return order, np.searchsorted(self.document[order], np.arange(self.documents))

    @cached_property
    def per_query(self) -> Ints:
        """How many documents each query has."""
        return np.diff(self.starts)

    def completed(self) -> Candidates:
        """Add an entry for each document that a run did not find: infinite rank, score NaN."""
        here = np.zeros(self.documents * self.runs, dtype=bool)
        here[self.document * self.runs + self.run] = True
        document, run = np.divmod(np.flatnonzero(~here), self.runs)
        query = np.repeat(np.arange(len(self.per_query)), self.per_query)[document]
        lists = np.concatenate((self.list, query * self.runs + run))
        order = np.argsort(lists, kind="stable")
        none = len(document)
        joined: dict[str, Any] = {
            "document": np.concatenate((self.document, document)),
            "score": np.concatenate((self.score, np.full(none, np.nan))),
            "rank": np.concatenate((self.rank, np.full(none, np.inf))),
        }
        starts = np.searchsorted(lists[order], np.arange(len(self.sizes) + 1))
        return replace(self, lists=starts, **{key: value[order] for key, value in joined.items()})
