"""Changing labels: what one, two, … changed labels of a query can make of its difference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from idealist.bounding.ndcg_extremes import gains_of
from idealist.comparing.fragility.relabelling import Labels, Relabelling
from idealist.data.columns import Floats, Ints
from idealist.measures.cumulative import CG, DCG, nDCG
from idealist.measures.relevance import Threshold
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import limited

#: As many sets of changes a query are all tried; of more, the promising ones.
SETS = 5_000
#: So many judgments are measured at most; what is left out then is bounded.
BUDGET = 50_000_000
#: How many of the best sets are extended, and by how many of the best single changes.
BEAM = 6
#: No more labels of one query are changed than this, unless all sets of them are tried.
DEEPEST = 4


class Ways(NamedTuple):
    """The single changes of a query: documents that are alike, as a group, get another grade."""

    groups: list[Ints]
    group: Ints
    grade: Floats

    @property
    def size(self) -> int:
        """The number of documents that can get another grade."""
        return sum(len(self.groups[group]) for group in np.unique(self.group).tolist())

    def labels(self, chosen: Ints) -> tuple[list[int], list[float]]:
        """Say which judgments a set of changes is of; each takes the next of its group."""
        used: Counter[int] = Counter()
        judgments = []
        for group in self.group[chosen].tolist():
            judgments.append(int(self.groups[group][used[group]]))
            used[group] += 1
        return judgments, self.grade[chosen].tolist()

    def labels_of(self, sets: Ints) -> tuple[Ints, Floats]:
        """Do so for several sets, a row each."""
        if sets.shape[1] == 1:  # the first of each group
            return self.first[self.group[sets]], self.grade[sets]
        judgments, grades = zip(*map(self.labels, sets), strict=True)
        return np.array(judgments, dtype=np.int64), np.array(grades)

    @property
    def first(self) -> Ints:
        """The first document of each group."""
        return np.array([members[0] for members in self.groups], dtype=np.int64)

    def possible(self, chosen: Iterable[int]) -> bool:
        """Whether each group has as many documents as the changes need."""
        used = Counter(self.group[list(chosen)].tolist())
        return all(count <= len(self.groups[group]) for group, count in used.items())


class Tried(NamedTuple):
    """Differences that sets of changes give, with the sets; `all` says that there are no others."""

    values: Floats
    sets: Ints
    all: bool


@dataclass
class Changing:
    """The changes of all queries that count, tried with ever more labels a query.

    `sign` turns differences round where the baseline is ahead, so that the mean is never below 0.
    """

    relabelling: Relabelling
    sign: float
    tried: list[list[Tried]] = field(default_factory=list)
    spent: int = 0

    def __post_init__(self) -> None:
        base, new = self.relabelling.now
        start = self.sign * (new.values - base.values)[self.queries]
        nothing = np.zeros((1, 0), dtype=np.int64)
        self.tried = [[Tried(start[i : i + 1], nothing, True)] for i in range(len(start))]
        self.grow()

    @cached_property
    def queries(self) -> Ints:
        """The queries that count."""
        return np.flatnonzero(self.relabelling.counted)

    @property
    def start(self) -> Floats:
        """The differences as they are."""
        return np.array([tried[0].values[0] for tried in self.tried])

    @property
    def depth(self) -> int:
        """How many labels of a query are changed at most."""
        return len(self.tried[0]) - 1

    @cached_property
    def ways(self) -> list[Ways]:
        """The single changes of each query that counts."""
        runs = self.relabelling
        levels = np.array(sorted(runs.written, key=lambda level: (abs(level), level)))
        kinds, first = np.unique(_kinds(runs, levels), return_index=True)
        own = _kinds(runs, runs.grades)
        key, starts, targets = _alike(runs, own), runs.qrels.starts, (kinds, levels[first])
        return [_ways(key, own, targets, *starts[q : q + 2].tolist()) for q in self.queries]

    def grow(self) -> bool:
        """Try sets with one label more; False where there is nothing left to try."""
        found = [self._sets(i, self.depth + 1) for i in range(len(self.queries))]
        counts = [len(sets) for sets, _ in found]
        if not any(counts):
            return False
        labels = self.labels([sets for sets, _ in found])
        self.spent += int(np.diff(self.relabelling.qrels.starts)[labels.query].sum())
        values = self.sign * self.relabelling.differences(labels)
        parts = np.split(values, np.cumsum(counts)[:-1])
        for mine, part, (sets, every) in zip(self.tried, parts, found, strict=True):
            there = ~np.isnan(part)
            mine.append(Tried(part[there], sets[there], every))
        return True

    def labels(self, sets: list[Ints]) -> Labels:
        """Write sets of changes as labels, query by query."""
        counts = [len(some) for some in sets]
        made = [
            ways.labels_of(some) for ways, some in zip(self.ways, sets, strict=True) if len(some)
        ]
        judgment, grade = zip(*made, strict=True) if made else ((np.zeros(0),), (np.zeros(0),))
        query = np.repeat(self.queries, counts)
        return Labels(query, np.concatenate(judgment), np.concatenate(grade))

    def _sets(self, i: int, j: int) -> tuple[Ints, bool]:
        """Return sets of j changes of a query: all or, where these are too many, the best."""
        ways = self.ways[i]
        if j == 1:
            return np.arange(len(ways.group))[:, None], True
        count = math.comb(len(ways.group) + j - 1, j)
        if count <= SETS and self.spent + count * ways.size <= BUDGET:
            drawn = combinations_with_replacement(range(len(ways.group)), j)
            return _table([one for one in drawn if ways.possible(one)], j), True
        if j > DEEPEST or self.spent > BUDGET:
            return _table([], j), j > ways.size
        return _table(sorted(self._extended(i)), j), False

    def _extended(self, i: int) -> set[tuple[int, ...]]:
        """Extend the best sets by the best single changes, in both directions."""
        ways, (_, singles, *_), last = self.ways[i], self.tried[i], self.tried[i][-1]
        return {
            extended
            for end in (slice(None, BEAM), slice(-BEAM, None))
            for one in last.sets[np.argsort(last.values, kind="stable")[end]].tolist()
            for more in singles.sets[np.argsort(singles.values, kind="stable")[end]].tolist()
            if ways.possible(extended := tuple(sorted(one + more)))
        }


def _table(sets: list[tuple[int, ...]], j: int) -> Ints:
    return np.array(sets, dtype=np.int64).reshape(len(sets), j)


def _ways(key: Ints, own: Floats, targets: tuple[Floats, Floats], first: int, last: int) -> Ways:
    """Find the single changes of the judgments of one query."""
    order = first + np.argsort(key[first:last], kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(key[order])) + 1) if first < last else []
    pairs = [
        (i, level)
        for i, members in enumerate(groups)
        for kind, level in zip(*targets, strict=True)
        if kind != own[members[0]]
    ]
    group, grade = np.array(pairs, dtype=np.float64).reshape(len(pairs), 2).T
    return Ways(groups, group.astype(np.int64), grade)


def _kinds(runs: Relabelling, grades: Floats) -> Floats:
    """Map grades to numbers, the same for those that the measure does not distinguish."""
    measure = runs.instrument.measure
    if runs.moving:
        return grades
    if isinstance(measure, Threshold):
        return np.where(measure.relevant(grades), 2.0, 0.0) + (grades < 0)
    if isinstance(measure, CG) and type(measure) in (CG, DCG, nDCG):
        return gains_of(measure, grades)
    return grades


def _alike(runs: Relabelling, kinds: Floats) -> Ints:
    """Map judgments to numbers, the same for those that the measure does not distinguish.

    These have the same grade and the same places.

    Below its cutoff, a measure only sees that a document was retrieved.
    """
    qrels = runs.qrels
    query = np.repeat(np.arange(len(qrels.queries)), np.diff(qrels.starts))
    own = np.arange(len(query)) if qrels.numbers else np.zeros(len(query), dtype=np.int64)
    places = [_places(runs, one) for one in runs.ranked]
    table = np.stack([query, kinds, own, *places], axis=1)
    inverse: Ints = np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)
    return inverse


def _places(relabelling: Relabelling, whole: Placements) -> Floats:
    """Return the rank of judged documents: 0 if not retrieved, below 0 if it does not matter."""
    protocol, cutoff = relabelling.instrument.protocol, relabelling.instrument.measure.cutoff
    placed = whole if relabelling.moving else limited(whole, protocol)
    place = np.zeros(len(relabelling.qrels), dtype=np.float64)
    if cutoff is None or relabelling.moving:
        place[placed.judgment] = placed.rank
    else:
        below = np.where(placed.score > 0, -1, -2)
        place[placed.judgment] = np.where(placed.first > cutoff, below, placed.rank)
    return place
