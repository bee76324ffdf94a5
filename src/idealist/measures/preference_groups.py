"""Preferences in groups: each group's preferences as a matrix, in the order of a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.lists import QUICK
from idealist.measures.preference_counts import Counts, Limit, Sizes
from idealist.placements import Placements
from idealist.tables.columns import Bools, Floats, Ints
from idealist.tables.preferences import Group


@dataclass(frozen=True)
class Ordered:
    """The documents of a group, best first, those not found behind all others, higher levels first.

    `place` is where each stands, infinite where it was not found; equal places are tied.
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
        """Count the documents, all and those found, as `Sizes` has them."""
        kinds = self.level > 0, self.level <= 0, self.level == self.level.min(initial=np.inf)
        return [int(np.count_nonzero(k)) for kind in kinds for k in (kind, kind[: self.found])]

    def counts(self, most: float, alone: bool) -> list[float]:
        """Count the preferences, as `Counts` has them."""
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


class Grouped:
    """Lists of some queries whose judgments are in groups; or in pairs, which groups share."""

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
        self.there = self._array(bool, [[True] * len(row) for row in self.rows])
        self.divided = self._array(bool, [[one.divided for one in row] for row in self.rows])

    def sizes(self) -> Sizes:
        """Count the documents."""
        found = [[one.sizes() for one in row] for row in self.rows]
        return Sizes(*self._columns(found, len(Sizes._fields)))

    def counts(self, limit: Limit | None) -> Counts:
        """Count the preferences."""
        most = np.full(self.shape, np.inf) if limit is None else limit.most
        alone = np.zeros(self.shape, dtype=bool) if limit is None else limit.alone
        found = [
            [one.counts(most[i, j], alone[i, j]) for j, one in enumerate(row)]
            for i, row in enumerate(self.rows)
        ]
        return Counts(*self._columns(found, len(Counts._fields)))

    def _columns(self, found: list[list[list[Any]]], size: int) -> list[Any]:
        return [
            self._array(np.float64, [[cells[k] for cells in row] for row in found])
            for k in range(size)
        ]

    def _array(self, dtype: type, rows: Sequence[Sequence[Any]]) -> Any:
        array: Any = np.zeros(self.shape, dtype=dtype)
        for i, row in enumerate(rows):
            array[i, : len(row)] = row
        return array


def _ordered(group: Group, place: Floats, gone: Bools) -> Ordered:
    order = np.lexsort((-group.level, place[group.pairs]))
    order = order[~gone[group.pairs[order]]]
    wanted = group.wanted[np.ix_(order, order)]
    return Ordered(place[group.pairs[order]], group.level[order], wanted, group.divided)


def _in_pairs(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Join groups: of those that compare two documents, the share that prefers the one."""
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
