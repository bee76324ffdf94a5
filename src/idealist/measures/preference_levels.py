"""Preferences in plain judgments: every grade is a level, and each query is one group."""

from __future__ import annotations

import numpy as np

from idealist.lists import Array, Lists
from idealist.measures.preference_counts import Counts, Limit, Sizes


class Levels:
    """Lists whose grades are levels: a higher grade is preferred to a lower one."""

    def __init__(self, lists: Lists) -> None:
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
        """Give the documents found that count, up to which level not all do, and how many more."""
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
        """Count the documents of a level above each place, a half for each one tied with it."""
        lists, xp = self.lists, self.xp
        own = lists.number(here)
        upto = xp.cumulative_sum(own, axis=1)
        if not self.averaged:
            return upto - own
        before = xp.take_along_axis(upto - own, lists.start, axis=1)
        return (before + xp.take_along_axis(upto, lists.end, axis=1)) / 2.0
