"""Counting preferences: how many a ranking fulfils, by group and by level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from idealist.data.columns import Bools, Floats, Ints
from idealist.data.preferences import Group
from idealist.errors import UsageError
from idealist.ranking.padded_lists import QUICK, Array, PaddedLists
from idealist.ranking.placements import Placements


class Counts(NamedTuple):
    """Numbers of preferences, queries x groups.

    `both`: both documents were retrieved; `kept`: of these, the preferred one ranks higher. `won`:
    only the preferred document was retrieved; `lost`: only the other one; `neither`: none of the
    two.
    """

    kept: Array
    both: Array
    won: Array
    lost: Array
    neither: Array


class Sizes(NamedTuple):
    """Numbers of documents, queries x groups: relevant, other, lowest level; each all and found.

    A document is relevant if its level is above 0.
    """

    relevant: Array
    relevant_found: Array
    other: Array
    other_found: Array
    lowest: Array
    lowest_found: Array


class Limit(NamedTuple):
    """How many non-relevant documents count, from the top; if `alone`, only of the lowest level."""

    most: Array
    alone: Array


class Tally(NamedTuple):
    """Possible and fulfilled preferences, queries x groups; `there` marks the groups that exist.

    They are counted among all preferences, among those with at least one document retrieved
    (implied), and among those with both (retrieved).
    """

    there: Array
    possible: dict[str, Array]
    fulfilled: dict[str, Array]


class Side(Protocol):
    """Lists with judgments whose preferences can be counted."""

    xp: Any
    there: Array
    divided: Array
    averaged: bool

    def sizes(self) -> Sizes:
        """Count the documents."""

    def counts(self, limit: Limit | None) -> Counts:
        """Count the preferences."""


def tally(side: Side, rule: str) -> Tally:
    """Count preferences; `rule` says which non-relevant documents count: all, R, trec_eval."""
    if rule == "all":
        counts = side.counts(None)
        return _tally(side, counts, counts)
    if side.averaged:
        hint = "choose another tie order, or nonrelevant=all"
        raise UsageError(f"nonrelevant={rule} has no closed form for ties=expected", hint)
    xp, sizes, literal = side.xp, side.sizes(), rule == "trec_eval"
    alone = ~side.divided if literal else xp.zeros_like(side.divided)
    near = xp.where(side.divided, sizes.relevant, sizes.relevant_found)
    whole = side.counts(Limit(sizes.relevant, alone))
    found = side.counts(Limit(near if literal else sizes.relevant_found, alone))
    whole, found = _filled(xp, sizes, whole, found, literal)
    if literal:
        whole, found = _repeated(xp, sizes, whole, found, alone)
    return _tally(side, whole, found)


def _tally(side: Side, whole: Counts, found: Counts) -> Tally:
    implied, fulfilled = whole.both + whole.won + whole.lost, whole.kept + whole.won
    possible = {"all": implied + whole.neither, "implied": implied, "retrieved": found.both}
    kept = {"all": fulfilled, "implied": fulfilled, "retrieved": found.kept}
    return Tally(side.there, possible, kept)


def _filled(
    xp: Any, sizes: Sizes, whole: Counts, found: Counts, literal: bool
) -> tuple[Counts, Counts]:
    """Add imaginary non-relevant documents up to R, which no list retrieves.

    Among the documents found, trec_eval expects every relevant one to be preferred to them.
    """
    relevant, near = sizes.relevant, sizes.relevant_found
    lacking = xp.maximum(relevant - sizes.other, 0.0)
    won, neither = whole.won + near * lacking, whole.neither + (relevant - near) * lacking
    lacking = xp.maximum(near - sizes.other_found, 0.0)
    kept, both = found.kept + near * lacking, found.both + (relevant if literal else near) * lacking
    return whole._replace(won=won, neither=neither), found._replace(kept=kept, both=both)


def _repeated(
    xp: Any, sizes: Sizes, whole: Counts, found: Counts, alone: Array
) -> tuple[Counts, Counts]:
    """Add what trec_eval also counts when it leaves out non-relevant documents.

    It treats each document of the lowest level as preferred to each of those that count, itself
    included.
    """
    size, seen = sizes.lowest, sizes.lowest_found
    more = alone & (sizes.other > sizes.relevant)
    held = xp.where(more, xp.minimum(sizes.relevant, size), 0.0)
    near = xp.minimum(held, seen)
    whole = Counts(
        whole.kept + near * (near - 1.0) / 2.0,
        whole.both + seen * near,
        whole.won + seen * (held - near),
        whole.lost + (size - seen) * near,
        whole.neither + (size - seen) * (held - near),
    )
    more = alone & (sizes.other_found > sizes.relevant_found)
    near = xp.where(more, xp.minimum(sizes.relevant_found, seen), 0.0)
    kept, both = found.kept + near * (near - 1.0) / 2.0, found.both + seen * near
    return whole, found._replace(kept=kept, both=both)


@dataclass(frozen=True)
class Ordered:
    """The documents of a group in rank order, then those not found, higher levels first.

    `place` is the place of each document, infinite if it was not found; equal places are tied.
    ``wanted[i, j]`` is how far document i is preferred to document j.
    """

    place: Floats
    level: Floats
    wanted: Any
    divided: bool

    @property
    def found(self) -> int:
        """How many documents were found."""
        return int(np.count_nonzero(np.isfinite(self.place)))

    def sizes(self) -> list[int]:
        """Count the documents, all and found, as in `Sizes`."""
        kinds = self.level > 0, self.level <= 0, self.level == self.level.min(initial=np.inf)
        return [int(np.count_nonzero(k)) for kind in kinds for k in (kind, kind[: self.found])]

    def counts(self, most: float, alone: bool) -> list[float]:
        """Count the preferences, as in `Counts`."""
        wanted, n = self._limited(most, alone), self.found
        both, place = wanted[:n, :n], self.place[:n]
        kept = _total(np.triu(both))
        if np.any(place[1:] == place[:-1]):  # half of what is tied is below the other half
            tied = np.where(place[:, None] == place, both, False)
            kept += _total(tied) / 2 - _total(np.triu(tied))
        parts = both, wanted[:n, n:], wanted[n:, :n], wanted[n:, n:]
        return [kept, *map(_total, parts)]

    def _limited(self, most: float, alone: bool) -> Any:
        if np.isinf(most):
            return self.wanted
        low = self.level <= (self.level.min(initial=np.inf) if alone else 0.0)
        counts = ~low | (np.cumsum(low) <= most)
        return self.wanted & counts[:, None] & counts


class PreferenceGroups:
    """The lists of some queries with judgments in groups, or in pairs pooled over groups."""

    xp = QUICK

    def __init__(self, placements: Placements, queries: Ints, in_pairs: bool = False) -> None:
        qrels, protocol = placements.qrels, placements.protocol
        self.averaged = protocol.ties == "expected" and placements.tied
        place = np.full(len(qrels), np.inf)
        place[placements.judgment] = placements.first if self.averaged else placements.rank
        gone = qrels.grades < 0 if protocol.negative == "drop" else np.zeros(len(qrels), dtype=bool)
        groups = [(qrels.preferred or ())[query] for query in queries.tolist()]
        if in_pairs:
            groups = [_in_pairs(some) for some in groups]
        self.rows = [[_ordered(group, place, gone) for group in some] for some in groups]
        self.shape = len(queries), max(1, *map(len, self.rows))
        self.there, self.divided = self._cells(2, lambda one, at: (True, one.divided)) > 0

    def sizes(self) -> Sizes:
        """Count the documents."""
        return Sizes(*self._cells(len(Sizes._fields), lambda one, at: one.sizes()))

    def counts(self, limit: Limit | None) -> Counts:
        """Count the preferences."""
        most = np.full(self.shape, np.inf) if limit is None else limit.most
        alone = np.zeros(self.shape, dtype=bool) if limit is None else limit.alone
        count = len(Counts._fields)
        return Counts(*self._cells(count, lambda one, at: one.counts(most[at], alone[at])))

    def _cells(self, size: int, numbers: Callable[[Ordered, Any], Sequence[float]]) -> Any:
        """Lay out some numbers of each group, numbers x queries x groups; 0 where there is none."""
        cells = np.zeros((size, *self.shape))
        for i, row in enumerate(self.rows):
            for j, one in enumerate(row):
                cells[:, i, j] = numbers(one, (i, j))
        return cells


def _ordered(group: Group, place: Floats, gone: Bools) -> Ordered:
    order = np.lexsort((-group.level, place[group.pairs]))
    order = order[~gone[group.pairs[order]]]
    wanted = group.wanted[np.ix_(order, order)]
    return Ordered(place[group.pairs[order]], group.level[order], wanted, group.divided)


def _in_pairs(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Pool groups: for each pair of documents, the share of groups that prefer each one."""
    pairs, counts = np.unique([pair for one in groups for pair in one.pairs], return_counts=True)
    if np.all(counts < 2):  # no two groups compare the same documents
        return groups
    votes = np.zeros((len(pairs), len(pairs)))
    for group in groups:
        at = np.searchsorted(pairs, group.pairs)
        votes[np.ix_(at, at)] += group.wanted
    share: Any = np.divide(votes, votes + votes.T, out=np.zeros_like(votes), where=votes > 0)
    return (Group("", pairs, np.zeros(len(pairs)), share, divided=False),)


def _total(array: Any) -> float:
    return float(np.count_nonzero(array) if array.dtype == bool else array.sum())


class GradeLevels:
    """Lists whose grades are levels: a higher grade is preferred to a lower one."""

    def __init__(self, lists: PaddedLists) -> None:
        self.lists, self.xp, self.averaged = lists, lists.xp, lists.averaged
        some = self.xp.where(lists.judged, lists.pool, np.inf)
        self.least = self.xp.min(some, axis=1)[:, None]
        self.there = self.xp.ones_like(self.least, dtype=self.xp.bool)
        self.divided = ~self.there

    def sizes(self) -> Sizes:
        """Count the documents."""
        lists, sizes = self.lists, []
        for above, bound in ((True, 0.0), (False, 0.0), (False, self.least)):
            for some, grade in ((lists.judged, lists.pool), (lists.found, lists.grade)):
                kind = grade > bound if above else grade <= bound
                sizes.append(lists.count(some & kind)[:, None])
        return Sizes(*sizes)

    def counts(self, limit: Limit | None) -> Counts:
        """Count the preferences, from the highest level down."""
        lists, xp = self.lists, self.xp
        found, bound, room = self._limited(limit)
        none = xp.zeros_like(self.least)
        kept, both, won, lost, neither, inside, outside = (none for _ in range(7))
        above = xp.zeros_like(lists.grade)
        for level in lists.levels(lists.judged, lists.pool):
            here = found & (lists.grade == level)
            near, far = lists.count(here)[:, None], self._not_found(level)
            fits = xp.where(level <= bound, xp.minimum(far, room), far)
            far, room = fits, xp.where(level <= bound, room - fits, room)
            kept = kept + lists.total(xp.where(here, above, 0.0))[:, None]
            both, won = both + inside * near, won + inside * far
            lost, neither = lost + outside * near, neither + outside * far
            inside, outside, above = inside + near, outside + far, above + self._above(here)
        return Counts(kept, both, won, lost, neither)

    def _limited(self, limit: Limit | None) -> tuple[Array, Array, Array]:
        """Return the documents found that count, the level limits apply to, and the room left."""
        lists, xp = self.lists, self.xp
        if limit is None:
            return lists.found, xp.full_like(self.least, -np.inf), xp.zeros_like(self.least)
        bound = xp.where(limit.alone, self.least, 0.0)
        low = lists.found & (lists.grade <= bound)
        nth = xp.cumulative_sum(lists.number(low), axis=1)
        room = xp.maximum(limit.most - lists.count(low)[:, None], 0.0)
        return lists.found & (~low | (nth <= limit.most)), bound, room

    def _not_found(self, level: Array) -> Array:
        lists = self.lists
        judged = lists.count(lists.judged & (lists.pool == level))
        return (judged - lists.count(lists.found & (lists.grade == level)))[:, None]

    def _above(self, here: Array) -> Array:
        """Count the documents of a level above each place; those tied with it count half."""
        lists, xp = self.lists, self.xp
        own = lists.number(here)
        upto = xp.cumulative_sum(own, axis=1)
        if not self.averaged:
            return upto - own
        before = xp.take_along_axis(upto - own, lists.start, axis=1)
        return (before + xp.take_along_axis(upto, lists.end, axis=1)) / 2.0
