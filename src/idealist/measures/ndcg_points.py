"""nDCG averaged over points of the list: at relevant documents, and where the ideal gain falls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from idealist.lists import Array, Lists
from idealist.measures.base import NO_RELEVANT
from idealist.measures.discounts import DISCOUNT, Discount
from idealist.measures.gain_ratio import Pooled
from idealist.notation import Written, parameter


@dataclass(frozen=True, kw_only=True, repr=False)
class nDCGRel(Pooled):
    """nDCG averaged at the relevant documents, trec_eval's ndcg_rel.

    Formula: (1/R) (Σ_{found, gain > 0} nDCG@rank + (R - found) DCG / IDCG), R documents with a gain

    A document that was not retrieved counts with the nDCG of the whole list.

    >>> round(nDCGRel()([0, 1], judged=[1]), 4)
    0.3869

    Reference: trec_eval 10.0, ndcg_rel
    """

    discount: Written = parameter("log2", DISCOUNT, "what a rank takes away")
    no_relevant: Written = parameter("0", NO_RELEVANT, "the value of a query without an ideal list")

    takes_cutoff: ClassVar[bool] = False
    averages_ties: ClassVar[bool] = False

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range: [0, 1], unless negative gains are kept."""
        return (-math.inf if self.negative == "keep" and lowest < 0 else 0.0), 1.0

    def ranks(self, lists: Lists, ideal: Array) -> Array:
        """Give the ranks of the ideal list."""
        return lists.constant(np.arange(1, ideal.shape[1] + 1))[None, :]

    def discounted(self, lists: Lists) -> tuple[Array, Array]:
        """Discount the gains of the list, and of the ideal list."""
        ideal, discount = self.ideal_gains(lists), Discount(self.discount)
        ranks = self.ranks(lists, ideal)
        gains = self.gains(lists, lists.grade, lists.found)
        return (
            discount.apply(lists, gains, lists.rank, lists.depth),
            discount.apply(lists, ideal, ranks, ideal.shape[1]),
        )

    def formula(self, lists: Lists) -> Array:
        """Average nDCG over the documents with a gain."""
        xp = lists.xp
        gains, ideal = self.discounted(lists)
        whole = lists.total(ideal)
        there = self.gains(lists, lists.grade, lists.found) > 0
        running = xp.cumulative_sum(gains, axis=1)
        found = lists.total(
            xp.where(there, lists.ratio(running, self.upto_rank(lists, ideal), 0.0), 0.0)
        )
        relevant = lists.count(self.ideal_gains(lists) > 0)
        missed = lists.ratio((relevant - lists.count(there)) * running[:, -1], whole, 0.0)
        return lists.ratio(found + missed, relevant)


@dataclass(frozen=True, kw_only=True, repr=False)
class RnDCG(nDCGRel):
    """nDCG averaged where the gain of the ideal list falls, trec_eval's Rndcg.

    Formula: mean of nDCG@b over the ranks b at which the ideal list ends a level of gains above 0,
    and of nDCG where more than one document follows the last of them

    With 5 documents of grade 3, 3 of grade 2 and 10 of grade 1 it is the mean of nDCG@5, nDCG@8,
    nDCG@18 and the nDCG of the whole list.

    >>> round(RnDCG()([0, 1, 0, 0], judged=[2]), 4)
    0.1599

    Reference: trec_eval 10.0, Rndcg
    """

    def formula(self, lists: Lists) -> Array:
        """Average nDCG over the ends of levels."""
        xp = lists.xp
        gains, ideal = self.discounted(lists)
        level = self.ideal_gains(lists)
        below = xp.concat([level[:, 1:], xp.zeros_like(level[:, :1])], axis=1)
        ends = (level > 0) & (level != below)
        whole = lists.ratio(lists.total(gains), lists.total(ideal), 0.0)
        goes_on = lists.number(lists.number(lists.retrieved) > lists.count(level > 0) + 1.0)
        total = xp.zeros_like(whole)
        ranks = self.ranks(lists, level)
        nth = xp.cumulative_sum(lists.number(ends), axis=1)
        for n in range(1, int(xp.max(nth)) + 1):
            end = xp.max(xp.where(ends & (nth == float(n)), ranks, 0), axis=1, keepdims=True)
            dcg = lists.total(xp.where(lists.rank <= end, gains, 0.0))
            best = lists.total(xp.where(ranks <= end, ideal, 0.0))
            total = total + lists.ratio(dcg, best, 0.0)
        levels = lists.count(ends)
        mean = lists.ratio(total + goes_on * whole, levels + goes_on)
        return xp.where(levels > 0, mean, math.nan)
