"""NTCIR's measures of graded relevance, which blend precision with gain: Q and its relatives."""

from __future__ import annotations

import math
from typing import NamedTuple

from idealist.errors import Defect
from idealist.measures.base import NO_RELEVANT
from idealist.measures.gains import GAIN, Gaining
from idealist.notation import Written, choice, number, parameter
from idealist.ranking.padded_lists import Array, PaddedLists


class Walk(NamedTuple):
    """What a user has seen at each document found, one row per list.

    `hits` marks documents with a gain, `gain` is that gain, `count` the number of such documents so
    far, and `blend` the blended ratio. `ideal` holds the gains of all judged documents, largest
    first.
    """

    hits: Array
    gain: Array
    count: Array
    blend: Array
    ideal: Array


class Blended(Gaining):
    """Base of measures that sum the blended ratio over the documents at which users may stop."""

    beta: float = parameter(1, number(0, 1e6), "how much gain counts relative to precision")
    gain: Written = parameter("linear", GAIN, "the gain of each grade; relevant means above 0")
    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without relevant documents")

    takes_cutoff = False

    def walk(self, lists: PaddedLists) -> Walk:
        """Compute the blended ratio (C + β cg) / (r + β cg*) at each document."""
        xp = lists.xp
        gain = self.gains(lists, lists.grade, lists.found)
        hits = gain > 0
        count = xp.cumulative_sum(lists.number(hits), axis=1)
        ideal = lists.highest(self.gains(lists, lists.pool, lists.judged))
        place = xp.where(lists.rank < ideal.shape[1], lists.rank, ideal.shape[1]) - 1
        best = xp.take_along_axis(xp.cumulative_sum(ideal, axis=1), place, axis=1)
        beta = float(self.beta)
        found = count + beta * xp.cumulative_sum(gain, axis=1)
        return Walk(hits, gain, count, found / (lists.number(lists.rank) + beta * best), ideal)

    def stops(self, lists: PaddedLists, walk: Walk) -> Array:
        """Return the probability that a user stops at each document."""
        raise Defect(f"{self.name} has no stopping points")

    def formula(self, lists: PaddedLists) -> Array:
        """Sum the ratios, weighted by the probability of stopping there."""
        xp, walk = lists.xp, self.walk(lists)
        stops = xp.where(walk.hits, self.stops(lists, walk), 0.0)
        nothing = ~xp.any(walk.ideal > 0, axis=1)
        return xp.where(nothing, math.nan, lists.total(stops * walk.blend))


class Q(Blended):
    """Q-measure: the mean blended ratio at the relevant documents; a graded AP.

    Formula: (1/min(k,R)) Σ_{r≤k, r relevant} (C(r) + β cg(r)) / (r + β cg*(r)), where C(r) counts
    the relevant documents and cg(r) sums the gains of the first r, and cg* is cg for the ideal list

    A document is relevant if its gain is above 0. With β = 0 this is AP. NTCIR uses the gains 1, 2,
    3 (``gain=linear``) or 2^g - 1 (``gain=exp2``).

    >>> round(Q()([0, 2, 1], judged=[3]), 4), round((Q @ 2)([0, 2, 1], judged=[3]), 4)
    (0.328, 0.2143)

    Reference: Sakai and Song 2011, doi:10.1145/2009916.2010055, as implemented in NTCIREVAL
    """

    takes_cutoff = True

    def stops(self, lists: PaddedLists, walk: Walk) -> Array:
        """Stop at each relevant document with equal probability; at most k of them count."""
        relevant = lists.count(walk.ideal > 0)[:, None]
        if self.cutoff is not None:
            relevant = lists.xp.where(relevant < self.cutoff, relevant, float(self.cutoff))
        return lists.ratio(lists.number(lists.within(self.cutoff)), relevant, 0.0)


class NCU(Blended):
    """Normalised cumulative utility: like Q, with users who prefer some stopping points.

    Formula: Σ_{r relevant} p(r) (C(r) + β cg(r)) / (r + β cg*(r)), where p(r) is the gain at r
    divided by that of all judged documents (graded), or γ^(C(r)-1) / Σ_{i<R} γ^i (rank-biased)

    C, cg and cg* are as for Q. With β = 0 these are NTCIREVAL's NCUguP and NCUrbP, with β = 1
    NCUguBR and NCUrbBR.

    >>> round(NCU()([0, 2, 1], judged=[3]), 4), round(NCU(readers="rank-biased")([0, 2, 1]), 4)
    (0.2354, 0.7137)

    Reference: Sakai and Robertson 2008, Modelling a User Population for Designing Information
    Retrieval Metrics, EVIA, as implemented in NTCIREVAL
    """

    readers: str = parameter(
        "graded", choice("graded", "rank-biased"), "how stopping points are distributed"
    )
    gamma: float = parameter(0.95, number(0, 1), "how likely a rank-biased user continues")

    monotone = False  # a user who stops deeper may have gained more

    def stops(self, lists: PaddedLists, walk: Walk) -> Array:
        """Distribute the stops over the relevant documents."""
        xp = lists.xp
        if self.readers == "graded":
            return lists.ratio(walk.gain, lists.total(walk.ideal)[:, None], 0.0)
        gamma = xp.full_like(walk.ideal, float(self.gamma))
        order = lists.number(lists.constant(range(gamma.shape[1])))[None, :]
        shares = xp.where(walk.ideal > 0, gamma**order, 0.0)
        before = xp.where(walk.hits, walk.count - 1.0, 0.0)
        own = xp.pow(xp.full_like(walk.gain, float(self.gamma)), before)
        return lists.ratio(own, lists.total(shares)[:, None], 0.0)


class OMeasure(Blended):
    """O-measure: the blended ratio at the first relevant document; a graded RR.

    Formula: (1 + β gain(r)) / (r + β cg*(r)) at the first relevant r, with cg* as for Q

    >>> round(OMeasure()([0, 1, 3]), 4)
    0.3333

    Reference: Sakai 2007, doi:10.2197/ipsjdc.3.643, as implemented in NTCIREVAL
    """

    def stops(self, lists: PaddedLists, walk: Walk) -> Array:
        """Stop at the first relevant document."""
        return lists.number(walk.count == 1.0)


class PMeasure(Blended):
    """P-measure: the blended ratio at the first of the best documents retrieved.

    Formula: (C(r) + β cg(r)) / (r + β cg*(r)) at r_p, the first rank with the largest gain of the
    list; C, cg and cg* as for Q

    >>> round(PMeasure()([0, 1, 3]), 4)
    0.8571

    Reference: Sakai 2007, doi:10.2197/ipsjdc.3.643, as implemented in NTCIREVAL
    """

    monotone = False  # a user who stops deeper may have gained more

    def above_best(self, lists: PaddedLists, walk: Walk) -> Array:
        """Mark the relevant documents down to the first of the best."""
        xp = lists.xp
        best = walk.hits & (walk.gain == xp.max(walk.gain, axis=1, keepdims=True))
        passed = xp.cumulative_sum(lists.number(best), axis=1) - lists.number(best)
        return walk.hits & (passed == 0.0)

    def stops(self, lists: PaddedLists, walk: Walk) -> Array:
        """Stop at the last of them."""
        above = self.above_best(lists, walk)
        return lists.number(above & (walk.count == lists.count(above)[:, None]))


class PPlus(PMeasure):
    """P+: the mean blended ratio at the relevant documents down to the first of the best.

    Formula: (1/C(r_p)) Σ_{r≤r_p, r relevant} (C(r) + β cg(r)) / (r + β cg*(r)), where r_p is the
    first rank with the largest gain of the list; C, cg and cg* as for Q

    >>> round(PPlus()([0, 1, 3]), 4)
    0.5952

    Reference: Sakai 2007, doi:10.2197/ipsjdc.3.643, as implemented in NTCIREVAL
    """

    def stops(self, lists: PaddedLists, walk: Walk) -> Array:
        """Stop at each of them with equal probability."""
        above = self.above_best(lists, walk)
        return lists.ratio(lists.number(above), lists.count(above)[:, None], 0.0)
