"""Gains averaged over documents, or nDCG averaged over points of the list."""

from __future__ import annotations

import math

import numpy as np

from idealist.measures.base import NO_RELEVANT
from idealist.measures.cumulative import CG
from idealist.measures.gains import DISCOUNT, GAIN, Discount, Gaining
from idealist.measures.relevance import Binary
from idealist.notation import Written, parameter
from idealist.ranking.padded_lists import Array, PaddedLists


class binG(Binary):
    """Binary G: each relevant document counts less the more non-relevant ones rank above it.

    Formula: (1/R) Σ_{relevant retrieved} 1 / log2(2 + non-relevant documents above)

    >>> binG()([1, 0, 0, 1])
    0.75

    Reference: trec_eval 10.0, binG
    """

    takes_cutoff = False

    def formula(self, lists: PaddedLists) -> Array:
        """Discount each hit by the number of non-hits above it."""
        xp, hits = lists.xp, self.hits(lists)
        vain = lists.number(lists.rank) - self.so_far(lists)
        discounted = 1.0 / xp.log2(2.0 + xp.where(hits, vain, 0.0))
        return self.of_relevant(lists, lists.total(xp.where(hits, discounted, 0.0)))


class Pooled(CG):
    """Base of measures that compare a list with the ideal one, rank by rank."""

    takes_cutoff = False
    averages_ties = False
    limits = 0.0, 1.0

    def ideal_gains(self, lists: PaddedLists) -> Array:
        """Return the positive gains of all judged documents, largest first."""
        gains = self.gains(lists, lists.pool, lists.judged)
        return lists.highest(lists.xp.where(gains > 0, gains, 0.0))

    def upto_rank(self, lists: PaddedLists, values: Array) -> Array:
        """Sum values over the ideal list down to the rank of each document found."""
        xp = lists.xp
        last = xp.minimum(lists.rank, values.shape[1]) - 1
        return xp.take_along_axis(xp.cumulative_sum(values, axis=1), last, axis=1)


class G(Pooled):
    """Normalised gain: a gain counts less the further the list lags behind the ideal one.

    Formula: Σ_r gain_r / log2(2 + Σ_{j≤r} max(ideal_j, 1) - Σ_{j≤r} gain_j) / Σ_j ideal_j

    With gains of 0 and 1 it is binG.

    >>> G()([1, 0, 0, 1])
    0.75

    Reference: trec_eval 10.0, G
    """

    no_relevant: Written = parameter("0", NO_RELEVANT, "the value if the ideal list has no gain")

    def formula(self, lists: PaddedLists) -> Array:
        """Discount each gain by the lead of the ideal list."""
        xp = lists.xp
        gains = self.gains(lists, lists.grade, lists.found)
        ideal = self.ideal_gains(lists)
        beyond = xp.maximum(lists.rank, ideal.shape[1]) - ideal.shape[1]
        cost = self.upto_rank(lists, xp.maximum(ideal, 1.0)) + lists.number(beyond)
        lead = xp.where(lists.found, cost - xp.cumulative_sum(gains, axis=1), 0.0)
        return lists.ratio(lists.total(gains / xp.log2(2.0 + lead)), lists.total(ideal))


class nDCGRel(Pooled):
    """nDCG averaged over the relevant documents (trec_eval's ndcg_rel).

    Formula: (1/R) (Σ_{retrieved, gain > 0} nDCG@rank + (R - retrieved) DCG / IDCG), where R counts
    documents with a gain

    A relevant document that was not retrieved contributes the nDCG of the whole list.

    >>> round(nDCGRel()([0, 1], judged=[1]), 4)
    0.3869

    Reference: trec_eval 10.0, ndcg_rel
    """

    discount: Written = parameter("log2", DISCOUNT, "how a rank discounts the gain")
    no_relevant: Written = parameter("0", NO_RELEVANT, "the value if the ideal list has no gain")

    def ranks(self, lists: PaddedLists, ideal: Array) -> Array:
        """Return the ranks of the ideal list."""
        return lists.constant(np.arange(1, ideal.shape[1] + 1))[None, :]

    def discounted(self, lists: PaddedLists) -> tuple[Array, Array]:
        """Discount the gains of the list and of the ideal list."""
        ideal, discount = self.ideal_gains(lists), Discount(self.discount)
        ranks = self.ranks(lists, ideal)
        gains = self.gains(lists, lists.grade, lists.found)
        gains = discount.apply(lists, gains, lists.rank, lists.depth)
        return gains, discount.apply(lists, ideal, ranks, ideal.shape[1])

    def formula(self, lists: PaddedLists) -> Array:
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


class RnDCG(nDCGRel):
    """nDCG averaged over the ranks at which the ideal gain drops (trec_eval's Rndcg).

    Formula: mean of nDCG@b over the ranks b at which the ideal list ends a level of positive gain,
    plus the nDCG of the whole list if more than one document follows the last b

    With 5 documents of grade 3, 3 of grade 2 and 10 of grade 1 it is the mean of nDCG@5, nDCG@8,
    nDCG@18 and the nDCG of the whole list.

    >>> round(RnDCG()([0, 1, 0, 0], judged=[2]), 4)
    0.1599

    Reference: trec_eval 10.0, Rndcg
    """

    def formula(self, lists: PaddedLists) -> Array:
        """Average nDCG over the ends of the gain levels."""
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


class AverageGain(CG):
    """Average gain: the mean gain of the first k documents.

    Formula: (1/min(k,n)) Σ_{r≤k} gain(grade_r)

    CatBoost also calls it QueryAverage. Unjudged documents gain nothing, and count.

    >>> (AverageGain @ 2)([1, 3, 0])
    2.0

    Reference: CatBoost 1.2.10, AverageGain
    """

    def formula(self, lists: PaddedLists) -> Array:
        """Divide the sum of gains by the number of documents viewed."""
        return lists.ratio(super().formula(lists), lists.lengths(self.cutoff), 0.0)


class ARP(Gaining):
    """Average relevance position: the mean rank of the retrieved documents, weighted by gain.

    Formula: Σ_r gain(grade_r) r / Σ_r gain(grade_r)

    Relevant documents that were not retrieved do not count. A list without any gain is undefined
    and is skipped by default. TF-Ranking weights each list in its mean by the sum of its gains.

    >>> ARP()([0, 1, 3])
    2.75

    Reference: TF-Ranking 0.5.5, ARPMetric
    """

    gain: Written = parameter("linear", GAIN, "the gain of each grade")
    no_relevant: Written = parameter("skip", NO_RELEVANT, "the value without relevant documents")

    takes_cutoff = False
    direction = -1
    averages_ties = True
    limits = 0.0, math.inf  # of a mean rank; 0 for undefined values

    @property
    def list_only(self) -> bool:
        """Whether relevant documents that were not retrieved cannot change the value: always."""
        return True

    def formula(self, lists: PaddedLists) -> Array:
        """Average the ranks; with ``ties=expected`` a document has the mean rank of its tie."""
        gains = self.gains(lists, lists.grade, lists.found)
        rank = lists.number(lists.rank)
        if lists.averaged:
            rank = (lists.number(lists.first) + lists.number(lists.last)) / 2.0
        return lists.ratio(lists.total(gains * rank), lists.total(gains))
