"""Pairs of documents in the right order: Accuracy, OPA, bpref, and Compat with the ideal list."""

from __future__ import annotations

import math

import numpy as np

from idealist.errors import UsageError
from idealist.measures.base import NO_RELEVANT, Measure
from idealist.measures.relevance import Binary, Threshold
from idealist.measures.stopping import GOING_ON
from idealist.notation import Written, choice, flag, parameter
from idealist.ranking.padded_lists import Array, PaddedLists


def above(lists: PaddedLists, mask: Array) -> Array:
    """Count the marked documents above each one; on average with ``ties=expected``."""
    xp, own = lists.xp, lists.number(mask)
    before = xp.cumulative_sum(own, axis=1) - own
    if not lists.averaged:
        return before
    first = xp.take_along_axis(before, lists.start, axis=1)
    last = xp.take_along_axis(before + own, lists.end, axis=1)
    return (first + last) / 2.0


def unjudged_above(lists: PaddedLists) -> Array:
    """Count the unjudged documents above each one; on average with ``ties=expected``."""
    if not lists.averaged:
        return lists.number(lists.rank) - 1.0 - above(lists, lists.found)
    ranks = lists.number(lists.first - 1) + lists.number(lists.last)
    return ranks / 2.0 - above(lists, lists.found)


class Accuracy(Threshold):
    """Pairwise accuracy, or AUC: how often a relevant document ranks above a non-relevant one.

    Formula: 1 - Σ_{relevant r≤k} o_r / (h (n - h)), where o_r counts the non-relevant documents
    above r, and h the relevant ones among the n = min(k, retrieved)

    Only retrieved documents are compared; unjudged ones count as non-relevant. With
    ``ties=expected``, where a tied pair counts one half, this is the area under the ROC curve of
    each list. If all or none of the n documents are relevant, there is no pair to compare and the
    value is undefined: ir_measures skips such queries or fails, torchmetrics and CatBoost return 0,
    the default here.

    >>> Accuracy()([1, 0, 1, 0]), (Accuracy @ 3)([0, 1, None])
    (0.75, 0.5)

    Reference: ir_measures 0.4.3, Accuracy; Hanley and McNeil 1982 for the area,
    doi:10.1148/radiology.143.1.7063747
    """

    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without a pair to compare")

    averages_ties = True
    lacking = "pair of documents to compare"
    monotone = False  # a cutoff decides which documents are compared

    def formula(self, lists: PaddedLists) -> Array:
        """Count the pairs in the wrong order."""
        if self.cutoff is not None and lists.averaged:
            hint = "choose another tie order, or leave out the cutoff"
            raise UsageError("Accuracy@k has no closed form for ties=expected", hint)
        hits = lists.within(self.cutoff) & self.relevant(lists.grade)
        others = above(lists, lists.found & ~hits) + unjudged_above(lists)
        found = lists.count(hits)
        pairs = found * (lists.lengths(self.cutoff) - found)
        return 1.0 - lists.ratio(lists.total(lists.xp.where(hits, others, 0.0)), pairs)


class OPA(Measure):
    """Ordered pair accuracy: how often the document with the higher grade ranks above the other.

    Formula: pairs of retrieved documents with different grades in the right order / all such pairs

    Unjudged documents are ignored. TF-Ranking and Rax count a tied pair as wrong (``ties=worst``);
    CatBoost's QueryAUC:type=Ranking counts it one half (``ties=expected``).

    >>> OPA()([1, 3, 0, 2])
    0.5

    Reference: Rax 0.4.0, opa_metric
    """

    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without a pair to compare")

    takes_cutoff = False
    averages_ties = True
    lacking = "pair of documents to compare"

    def formula(self, lists: PaddedLists) -> Array:
        """Count, grade by grade, the pairs with a lower grade: all, and the misordered ones."""
        xp = lists.xp
        wrong = pairs = xp.zeros_like(lists.number(lists.retrieved))
        for level in lists.levels(lists.found, lists.grade):
            own = lists.found & (lists.grade == level)
            lower = lists.found & (lists.grade < level)
            wrong = wrong + lists.total(xp.where(own, above(lists, lower), 0.0))
            pairs = pairs + lists.count(own) * lists.count(lower)
        return 1.0 - lists.ratio(wrong, pairs)


class bpref(Binary):
    """Binary preference: how rarely judged non-relevant documents rank above relevant ones.

    Formula: (1/R) Σ_{relevant r retrieved} (1 - min(n_r, R) / min(N, R)), where n_r counts the N
    judged non-relevant documents that rank above r

    Unjudged documents are ignored. trec_eval treats negative grades as unjudged, ranx as
    non-relevant.

    >>> bpref()([1, 0, None, 1])
    0.5

    Reference: Buckley and Voorhees 2004, doi:10.1145/1008992.1009000, as implemented in trec_eval
    since 8.0
    """

    negative: str = parameter(
        "unjudged", choice("unjudged", "nonrelevant"), "how negative grades are treated"
    )
    denominator: str = parameter(
        "min(N,R)", choice("min(N,R)", "R"), "what the non-relevant above are divided by"
    )

    takes_cutoff = False

    def nonrelevant(self, grade: Array) -> Array:
        """Mark the grades that mean non-relevant."""
        bad = ~self.relevant(grade)
        return bad & (grade >= 0) if self.negative == "unjudged" else bad

    def formula(self, lists: PaddedLists) -> Array:
        """Average the share of correct preferences over the relevant documents."""
        return self.of_relevant(lists, lists.total(self.honoured(lists)[1]))

    def honoured(self, lists: PaddedLists) -> tuple[Array, Array]:
        """Count the non-relevant documents above each one; return what each relevant one adds."""
        xp = lists.xp
        hits = self.hits(lists)
        bad = lists.found & self.nonrelevant(lists.grade)
        above = xp.cumulative_sum(lists.number(bad), axis=1)
        relevant = self.all_relevant(lists)[:, None]
        all_bad = lists.count(lists.judged & self.nonrelevant(lists.pool))[:, None]
        most = xp.minimum(all_bad, relevant) if self.denominator == "min(N,R)" else relevant
        broken = lists.ratio(xp.minimum(above, relevant), most, 0.0)
        return above, xp.where(hits, 1.0 - broken, 0.0)


class GMbpref(bpref):
    """Geometric mean of bpref, so that hard queries count (trec_eval's gm_bpref).

    Formula: exp((1/q) Σ ln max(bpref, 0.00001)) over q queries

    >>> GMbpref()([1, 0, None, 1])
    0.5

    Reference: trec_eval 10.0, gm_bpref; Robertson 2006, doi:10.1145/1183614.1183630
    """

    aggregate = "geometric(1e-05)"


class Compat(Measure):
    """Compatibility: rank-biased overlap with the ideal list that is closest to the ranking.

    Formula: Σ_{d≤D} p^(d-1) |list_d ∩ ideal_d| / d, divided by the same sum for the ideal list with
    itself, where list_d and ideal_d are the first d documents and D is the length of the longer
    list

    The ideal list holds the documents with a grade above 0, highest grade first. Documents of equal
    grade keep the order of the ranking, those not retrieved last. ``normalize=false`` divides by
    Σ_{d≤D} p^(d-1) instead. ir_measures orders documents of equal grade by score and scores those
    not retrieved 0, above any negative score. Equal scores are ordered as the convention says,
    usually by document id descending; ir_measures and the published values of the TREC 2021 Deep
    Learning track order them ascending, which is ``ties=docid-asc``.

    >>> round(Compat()([0, 2, 1], judged=[3]), 4)
    0.3774

    Reference: Clarke et al. 2021, doi:10.1145/3451161
    """

    p: float = parameter(0.95, GOING_ON, "the probability of continuing to the next rank")
    normalize: bool = parameter(True, flag(), "divide by the overlap of the ideal list with itself")
    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without relevant documents")

    takes_cutoff = False

    def formula(self, lists: PaddedLists) -> Array:
        """Weigh each document by all depths at which both lists hold it."""
        xp = lists.xp
        hits = lists.found & (lists.grade > 0)
        relevant = xp.sum(xp.astype(lists.judged & (lists.pool > 0), xp.int64), axis=1)
        longest = xp.where(lists.retrieved > relevant, lists.retrieved, relevant)
        ideal = self._ideal_ranks(lists, hits)
        since = xp.where(hits, xp.where(lists.rank > ideal, lists.rank, ideal), 1)
        most = max(lists.longest, int(lists.pool.shape[1]))
        weights = np.array([0.0, *(self.p**d for d in range(most))])
        upto = np.cumsum(weights / np.maximum(np.arange(len(weights)), 1))  # depths from 1 to d
        whole = lists.gather(upto, longest)
        added = whole[:, None] - lists.gather(upto, since - 1)
        best = lists.gather(np.cumsum(weights), longest)
        if self.normalize:
            below = lists.gather(np.cumsum(upto), xp.where(relevant > 0, relevant - 1, 0))
            best = lists.number(relevant) * whole - below
        overlap = lists.ratio(lists.total(xp.where(hits, added, 0.0)), best)
        return xp.where(relevant > 0, overlap, math.nan)

    def _ideal_ranks(self, lists: PaddedLists, hits: Array) -> Array:
        """Rank each document found in the ideal list: below higher grades, in its own order."""
        xp = lists.xp
        ranks = xp.ones_like(lists.rank)
        for level in lists.levels(hits, lists.grade):
            own = hits & (lists.grade == level)
            higher = xp.sum(xp.astype(lists.judged & (lists.pool > level), xp.int64), axis=1)
            order = xp.cumulative_sum(xp.astype(own, xp.int64), axis=1)
            ranks = xp.where(own, higher[:, None] + order, ranks)
        return ranks
