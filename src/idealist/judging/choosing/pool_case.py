"""What a strategy chooses from: the ranked lists of runs, and what is judged already."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from idealist.data import Qrels, Run, Scale
from idealist.errors import UsageError
from idealist.formats import one_or_several
from idealist.judging.store_records import Pooled
from idealist.protocol import Protocol
from idealist.ranking.ranked import listing
from idealist.rendering.result import Result
from idealist.rendering.wording import counted, few

#: The documents of one query, best first, in the order of the runs; empty where one lacks it.
Lists = tuple[tuple[str, ...], ...]

#: How much ranks far down still count when lists are fused: Cormack, Clarke and Büttcher 2009.
FUSION_CONSTANT = 60


@dataclass(frozen=True, eq=False)
class PoolCase:
    """Runs, their `lists` by query, and the `grades` known by query and document.

    `qrels` are what is judged, None if nothing is; `asked` the queries of a store and `scale` its
    grades. `budget` counts documents over all queries, `per_query` those of one; None where there
    is no limit. A document is relevant from grade `rel` on. `axes` say how the runs were ranked.
    `waiting` are the documents of earlier batches that no person has judged yet, `untold` those of
    which people said that they cannot tell.
    """

    runs: tuple[Run, ...]
    lists: Mapping[str, Lists]
    qrels: Qrels | None = None
    asked: tuple[str, ...] | None = None
    scale: Scale | None = None
    budget: int | None = None
    per_query: int | None = None
    seed: int = 0
    rel: float = 1
    remarks: tuple[str, ...] = ()
    axes: Mapping[str, Any] = field(default_factory=dict)
    waiting: Mapping[str, Collection[str]] = field(default_factory=dict)
    untold: Mapping[str, Collection[str]] = field(default_factory=dict)
    grades: Mapping[str, Mapping[str, float]] = field(init=False)

    def __post_init__(self) -> None:
        grades = {} if self.qrels is None else self.qrels.to_dict()
        object.__setattr__(self, "grades", grades)

    @property
    def names(self) -> list[str]:
        """The names of the runs."""
        return [run.name for run in self.runs]

    @property
    def longest(self) -> int:
        """How many documents the longest list has."""
        return max((len(one) for lists in self.lists.values() for one in lists), default=0)

    def cut(self, query: str, depth: int | None) -> Lists:
        """Return the first documents of a query in each run."""
        return tuple(one[:depth] for one in self.lists[query])

    def known(self, query: str) -> Mapping[str, float]:
        """Return the grades of a query."""
        return self.grades.get(query, {})

    def unjudged(self, query: str, documents: Iterable[str]) -> list[str]:
        """Leave out what is judged, and all but the first of what is repeated."""
        known = self.known(query)
        return [one for one in dict.fromkeys(documents) if one not in known]

    def unasked(self, query: str, documents: Iterable[str]) -> list[str]:
        """Leave out what is judged or waits to be, and all but the first of what is repeated."""
        waiting = self.waiting.get(query, ())
        return [one for one in self.unjudged(query, documents) if one not in waiting]

    def shares(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Share the budget among queries that have so many documents to judge."""
        most = self.per_query
        return shares(
            self.budget, {q: size if most is None else min(size, most) for q, size in sizes.items()}
        )


@dataclass(frozen=True)
class Choice:
    """What a strategy chose: documents, the `parameters` it used, and `remarks` for the user.

    The documents to be judged have a place; others are in the batch because the strategy needs
    them later. `how` completes the sentence "12 documents of 3 queries are to be judged, …".
    A strategy that answers a question says so first, in `answer`.
    """

    pooled: tuple[Pooled, ...]
    how: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    answer: Result | None = None


def ranked_lists(
    runs: Any, queries: Collection[str] | None = None, axes: Mapping[str, Any] | None = None
) -> PoolCase:
    """Rank runs; one that repeats another counts once, and one that shares no query is refused.

    `queries` are those that count, all where None. `axes` say how the runs are ranked.
    """
    protocol = Protocol(**(axes or {}))
    found = [run.loaded() for run in one_or_several(runs)]
    ranked = {run.name: _whole(run, queries, protocol) for run in found}
    _check_queries(ranked, queries)
    copies = _copies(ranked)
    used = tuple(run for run in found if run.name not in copies)
    names = sorted({query for lists in ranked.values() for query in lists})
    lists = {q: tuple(tuple(ranked[run.name].get(q, ())) for run in used) for q in names}
    said = [f"the run {copy} ranks as {run} does, and counts once" for copy, run in copies.items()]
    if partly := [query for query in names if not all(lists[query])]:
        said.append(f"{len(partly)} of {len(names)} queries are not in every run")
    if queries is not None:
        said += _unknown({q for run in found for q in run.rows().queries}, set(queries))
    return PoolCase(used, lists, remarks=tuple(said), axes=axes or {})


def _whole(run: Run, queries: Iterable[str] | None, protocol: Protocol) -> dict[str, list[str]]:
    rankings = listing(run, protocol, run.rows().queries if queries is None else queries)
    return {query: one.documents for query, one in rankings.items() if one.documents}


def _unknown(theirs: set[str], ours: set[str]) -> Iterator[str]:
    """Say which queries are left out, or have no documents."""
    if new := sorted(theirs - ours):
        queries = counted(len(new), "query of the runs is", "queries of the runs are")
        yield f"{queries} not in the store, and left out: {few(new)}"
    if missing := sorted(ours - theirs):
        queries = counted(len(missing), "query of the store is", "queries of the store are")
        yield f"{queries} in no run: {few(missing)}"


def _check_queries(ranked: Mapping[str, Mapping[str, Any]], queries: Iterable[str] | None) -> None:
    hint = "check that all spell the ids of queries alike"
    for name, lists in ranked.items():
        others = {query for other, theirs in ranked.items() if other != name for query in theirs}
        if not lists:
            what = "retrieves nothing" if queries is None else "has none of the store's queries"
            raise UsageError(f"{name} {what}", hint)
        if len(ranked) > 1 and others.isdisjoint(lists):
            raise UsageError(f"{name} shares no query with the other runs", hint)


def _copies(ranked: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, str]:
    """Find runs that rank exactly as an earlier one does."""
    first: dict[str, str] = {}
    owners = {name: first.setdefault(lists_hash(lists), name) for name, lists in ranked.items()}
    return {name: owner for name, owner in owners.items() if name != owner}


def lists_hash(lists: Mapping[str, Sequence[str]]) -> str:
    """Return ten hexadecimal digits that depend on which documents are ranked where.

    >>> lists_hash({"q1": ["d1", "d2"]}) == lists_hash({"q1": ["d2", "d1"]})
    False
    """
    made = hashlib.sha256()
    for query in sorted(lists):
        made.update("\0".join((query, *lists[query], "")).encode() + b"\n")
    return made.hexdigest()[:10]


def ranks_of(lists: Lists) -> dict[str, tuple[int, ...]]:
    """Return the rank of each document in each list, 0 where it is not retrieved.

    >>> ranks_of((("a", "b"), ("b",)))
    {'a': (1, 0), 'b': (2, 1)}
    """
    found: dict[str, list[int]] = {}
    for run, documents in enumerate(lists):
        for rank, document in enumerate(documents, 1):
            found.setdefault(document, [0] * len(lists))[run] = rank
    return {document: tuple(ranks) for document, ranks in found.items()}


def fused(lists: Lists, constant: int = FUSION_CONSTANT) -> list[str]:
    """Order documents by Σ 1/(constant + rank) over the lists; equal ones by id.

    >>> fused((("a", "b"), ("b", "c")))
    ['b', 'a', 'c']
    """
    scores = {
        document: math.fsum(1 / (constant + rank) for rank in ranks if rank)
        for document, ranks in ranks_of(lists).items()
    }
    return sorted(scores, key=lambda document: (-scores[document], document))


def shares(budget: int | None, sizes: Mapping[str, int]) -> dict[str, int]:
    """Share a budget equally; what a query has no documents for goes to the others.

    >>> shares(7, {"q1": 1, "q2": 9, "q3": 9})
    {'q1': 1, 'q2': 3, 'q3': 3}
    """
    left = sum(sizes.values()) if budget is None else budget
    given: dict[str, int] = {}
    for i, query in enumerate(sorted(sizes, key=lambda query: (sizes[query], query))):
        given[query] = min(sizes[query], left // (len(sizes) - i))
        left -= given[query]
    return {query: given[query] for query in sizes}


def in_turn(chosen: Mapping[str, Sequence[str]]) -> tuple[Pooled, ...]:
    """Give documents their places: query by query, so that a judge reads each query once."""
    pairs = [(query, document) for query, documents in chosen.items() for document in documents]
    return tuple(Pooled(*pair, place) for place, pair in enumerate(pairs, 1))
