"""Compatibility: the overlap of a list with the ideal one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from idealist.lists import Array, Lists
from idealist.measures.base import NO_RELEVANT, Measure
from idealist.measures.stopping import GOING_ON
from idealist.notation import Written, flag, parameter


@dataclass(frozen=True, kw_only=True, repr=False)
class Compat(Measure):
    """Compatibility: the rank-biased overlap of the list with the ideal list it is closest to.

    Formula: Σ_{d≤D} p^(d-1) |list_d ∩ ideal_d| / d, over the same of the ideal list with itself;
    list_d and ideal_d are the first d documents, D the length of the longer list

    The ideal list has the documents with a grade above 0, highest grade first, and those of one
    grade in the order of the list, those not retrieved last. With ``normalize=false`` the sum is
    divided by Σ_{d≤D} p^(d-1) instead. ir_measures orders documents of one grade by score, and
    takes 0 for the score of those not retrieved, which puts them above negative scores.

    >>> round(Compat()([0, 2, 1], judged=[3]), 4)
    0.3774

    Reference: Clarke et al. 2021, doi:10.1145/3451161
    """

    p: float = parameter(0.95, GOING_ON, "the probability to go on to the next rank")
    normalize: bool = parameter(True, flag(), "divide by the overlap of the ideal list with itself")
    no_relevant: Written = parameter(
        "0", NO_RELEVANT, "the value of a query without relevant documents"
    )

    takes_cutoff: ClassVar[bool] = False

    def formula(self, lists: Lists) -> Array:
        """Give a document the weight of all depths at which both lists hold it."""
        xp = lists.xp
        hits = lists.found & (lists.grade > 0)
        relevant = xp.sum(xp.astype(lists.judged & (lists.pool > 0), xp.int64), axis=1)
        longest = xp.where(lists.retrieved > relevant, lists.retrieved, relevant)
        ideal = self._ideal_ranks(lists, hits)
        since = xp.where(hits, xp.where(lists.rank > ideal, lists.rank, ideal), 1)
        weights = np.array([0.0, *(self.p**d for d in range(int(xp.max(longest))))])
        upto = np.cumsum(weights / np.maximum(np.arange(len(weights)), 1))  # depths from 1 to d
        whole = lists.gather(upto, longest)
        added = whole[:, None] - lists.gather(upto, since - 1)
        best = lists.gather(np.cumsum(weights), longest)
        if self.normalize:
            below = lists.gather(np.cumsum(upto), xp.where(relevant > 0, relevant - 1, 0))
            best = lists.number(relevant) * whole - below
        overlap = lists.ratio(lists.total(xp.where(hits, added, 0.0)), best)
        return xp.where(relevant > 0, overlap, math.nan)

    def _ideal_ranks(self, lists: Lists, hits: Array) -> Array:
        """Rank each document found in the ideal list: after the higher grades, in its own order."""
        xp = lists.xp
        ranks = xp.ones_like(lists.rank)
        for level in lists.levels(hits, lists.grade):
            own = hits & (lists.grade == level)
            higher = xp.sum(xp.astype(lists.judged & (lists.pool > level), xp.int64), axis=1)
            order = xp.cumulative_sum(xp.astype(own, xp.int64), axis=1)
            ranks = xp.where(own, higher[:, None] + order, ranks)
        return ranks
