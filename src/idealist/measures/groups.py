"""Judgments in groups: a measure computed for each group of a query, then averaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from idealist.data import Qrels
from idealist.data.columns import Bools, Floats, Ints, freeze, starts_of, sums_by
from idealist.data.judgments import Subtopics
from idealist.errors import UsageError
from idealist.measures.average_precision import AP
from idealist.measures.base import by_query
from idealist.measures.relevance import Binary
from idealist.measures.sets import P, Rprec
from idealist.protocol import Protocol
from idealist.ranking.padded_lists import finite_grades
from idealist.ranking.placements import Placements

K = TypeVar("K")
V = TypeVar("V")


def _once(make: Callable[[K], V]) -> Callable[[K], V]:
    """Compute something from a table once, cache it, and forget it with the table."""
    known: WeakKeyDictionary[K, V] = WeakKeyDictionary()

    @wraps(make)
    def find(table: K) -> V:
        if table not in known:
            known[table] = make(table)
        return known[table]

    return find


@dataclass(frozen=True, eq=False)
class Groups:
    """The judgments of each query, split by group.

    `qrels` has one query per group, and `query` maps each group to its query; `pair` maps each
    judgment to its query-document pair. Conversely, the judgments of pair i are
    ``judgment[starts[i]:starts[i + 1]]``. `known` caches what measures compute from the judgments.
    """

    qrels: Qrels
    query: Ints
    pair: Ints
    starts: Ints
    judgment: Ints
    known: dict[Any, Any] = field(default_factory=dict)


@_once
def divided(qrels: Qrels) -> Groups:
    """Split judgments into groups: by subtopic, else by TREC's second column if there is one.

    >>> qrels = Qrels.build(["q", "q"], ["d", "d"], [1, 0], subtopic=["a", "b"])
    >>> divided(qrels).qrels.to_dict()
    {'q a': {'d': 1}, 'q b': {'d': 0}}
    """
    rows = qrels.subtopics or _undivided(qrels)
    query = np.repeat(np.arange(len(qrels.queries)), np.diff(qrels.starts))[rows.pair]
    keys = list(zip(query.tolist(), rows.subtopic, strict=True))
    index = {key: i for i, key in enumerate(sorted(set(keys)))}
    group = np.array([index[key] for key in keys], dtype=np.int64)
    order = np.argsort(group, kind="stable")
    pair = rows.pair[order]
    tables = Qrels(
        queries=tuple(f"{qrels.queries[query]} {name}" for query, name in index),
        starts=freeze(starts_of(np.bincount(group, minlength=len(index)))),
        documents=tuple(qrels.documents[i] for i in pair.tolist()),
        grades=freeze(rows.grade[order]),
        columns={name: freeze(column[pair]) for name, column in qrels.numbers.items()},
        scale=qrels.scale,
        name=qrels.name,
    )
    return Groups(
        tables,
        query=np.array([query for query, _ in index], dtype=np.int64),
        pair=pair,
        starts=starts_of(np.bincount(rows.pair, minlength=len(qrels))),
        judgment=np.argsort(order),
    )


def _undivided(qrels: Qrels) -> Subtopics:
    """Return the rows of judgments that judge no document twice."""
    names = [qrels.columns[key] for key in ("subtopic", "iteration") if key in qrels.columns]
    subtopic = tuple(names[0]) if names else ("",) * len(qrels)
    return Subtopics(np.arange(len(qrels)), subtopic, qrels.grades)


@_once
def by_group(placements: Placements) -> Placements:
    """Assign each group the list of its query, with the places of the documents it judged."""
    groups = divided(placements.qrels)
    counts = np.diff(groups.starts)[placements.judgment]
    place = np.repeat(np.arange(len(counts)), counts)
    nth = np.arange(len(place)) - starts_of(counts)[place]  # of the judgments of one pair
    judgment = groups.judgment[groups.starts[placements.judgment][place] + nth]
    group = np.searchsorted(groups.qrels.starts, judgment, side="right") - 1
    order = np.argsort(group, kind="stable")  # by rank within each group, as they are
    place = place[order]
    lists = ("in_run", "empty", "retrieved", "duplicates", "merged", "ties", "float32")
    return replace(
        placements,
        qrels=groups.qrels,
        query=group[order],
        judgment=judgment[order],
        **{name: getattr(placements, name)[groups.query] for name in lists},
        **{name: getattr(placements, name)[place] for name in ("rank", "first", "last", "score")},
    )


def placed(grades: Sequence[Any], judged: Sequence[Any]) -> Placements:
    """Make the placements of one list: for each document its grades by group, None if unjudged."""
    try:
        documents = [*grades, *judged]
    except TypeError:
        hint = "give a list with a dict of grades by subtopic for each document"
        raise UsageError("the grades are not a list", hint) from None
    rows = [
        (f"{n:08}", str(group), grade)
        for n, one in enumerate(documents)
        for group, grade in (one if isinstance(one, Mapping) else {"": one}).items()
        if grade is not None
    ]
    grade = finite_grades([grade for _, _, grade in rows])[1].tolist()
    query, document = ["list"] * len(rows), [document for document, _, _ in rows]
    subtopic = [subtopic for _, subtopic, _ in rows]
    qrels = Qrels.build(query, document, grade, subtopic=subtopic, empty=["list"])
    rank = np.array([int(document) + 1 for document in qrels.documents], dtype=np.int64)
    rank = rank[rank <= len(grades)]
    none, size = np.array([0]), len(rank)
    return Placements(
        qrels, Protocol(), in_run=none == 0, empty=np.array([len(grades) == 0]),
        retrieved=np.array([len(grades)]), duplicates=none, merged=none, ties=none > 0,
        float32=none > 0, query=np.zeros(size, np.int64), rank=rank, first=rank, last=rank,
        score=np.full(size, np.nan), judgment=np.arange(size),
    )  # fmt: skip


class PerGroup(Binary):
    """Base of measures computed for each group separately; the formula sees one group's list."""

    monotone = False
    #: Whether a group without relevant documents counts, as 0.
    counts_all = False

    def worth(self, placements: Placements) -> Floats:
        """Count the groups each ranked document is relevant for."""
        groups = divided(placements.qrels)
        relevant = self.filled().relevant(groups.qrels.grades).astype(np.float64)
        return sums_by(groups.pair, relevant, len(placements.qrels))[placements.judgment]

    def seen(self, placements: Placements) -> Placements:
        """Return the list that each group sees: that of its query."""
        return by_group(placements)

    def computed(self, placements: Placements) -> Floats:
        """Apply the formula to every group, and combine the groups of each query."""
        lists, query = self.seen(placements), divided(placements.qrels).query
        values, relevant = super().computed(lists), self._some_relevant(lists)
        size = len(placements.qrels.queries)
        total = sums_by(query, np.where(relevant, np.nan_to_num(values), 0.0), size)
        found = sums_by(query, relevant, size)
        number = sums_by(query, relevant | self.counts_all, size)
        return self.combined(total, np.where(found > 0, number, np.nan), placements)

    def combined(self, total: Floats, number: Floats, placements: Placements) -> Floats:
        """Combine the values of each query's groups, given their sum and the number that count."""
        return total / number

    def _some_relevant(self, lists: Placements) -> Bools:
        """Mark the groups that have a relevant document."""
        return by_query(lists, self.all_relevant) > 0

    def __call__(self, grades: Sequence[Any], judged: Sequence[Any] = (), **columns: Any) -> float:
        """Measure one list: for each document a dict of grades by group, None if unjudged."""
        return float(self.values(placed(grades, judged))[0])


class OverJudges(PerGroup):
    """Base of means over groups that judged the same query independently.

    If the protocol drops negative or unjudged documents, each group sees a list of its own.
    """

    needs = "groups"
    counts_all = True

    def seen(self, placements: Placements) -> Placements:
        """Return the list that each group sees: that of its query, without what it ignores."""
        lists, protocol = by_group(placements), placements.protocol
        if protocol.negative == "drop":
            lists = lists.without_negative()
        return lists.condensed() if protocol.unjudged == "drop" else lists


class AP_avgjg(OverJudges, AP):
    """Average precision for each group of judges, averaged over the groups of the query.

    Formula: (1/G) Σ_{g≤G} AP(list, judgments of group g)

    A group is a value in TREC's second column, such as one of several judges of the same query
    (``trec_eval -R qrels_jg``). A group without relevant documents counts as 0. When called with a
    list, each document is a dict of grades by group.

    >>> AP_avgjg()([{"ann": 1, "bob": 0}, {"ann": 0, "bob": 1}])
    0.75

    Reference: Buckley and Voorhees 2005, in TREC: Experiment and Evaluation, chapter 3, for AP;
    trec_eval's map_avgjg for the mean
    """


class P_avgjg(OverJudges, P):
    """Precision for each group of judges, averaged over the groups of the query.

    Formula: (1/G) Σ_{g≤G} P@k(list, judgments of group g)

    A group is a value in TREC's second column, such as one of several judges of the same query
    (``trec_eval -R qrels_jg``). When called with a list, each document is a dict of grades by
    group.

    >>> (P_avgjg @ 2)([{"ann": 1, "bob": 0}, {"ann": 1, "bob": 1}])
    0.75

    Reference: Kent et al. 1955, doi:10.1002/asi.5090060209, for P; trec_eval's P_avgjg for the mean
    """


class Rprec_avgjg(OverJudges, Rprec):
    """R-precision for each group of judges, averaged over the groups of the query.

    Formula: (1/G) Σ_{g≤G} Rprec(list, judgments of group g)

    A group is a value in TREC's second column, such as one of several judges of the same query
    (``trec_eval -R qrels_jg``). With ``times`` it is trec_eval's Rprec_mult_avgjg. A group without
    relevant documents counts as 0. When called with a list, each document is a dict of grades by
    group.

    >>> Rprec_avgjg()([{"ann": 1, "bob": 0}, {"ann": 1, "bob": 1}])
    0.5

    Reference: Buckley and Voorhees 2005, in TREC: Experiment and Evaluation, chapter 3, for
    R-precision; trec_eval's Rprec_mult_avgjg for the mean
    """
