"""Measures of a judged sample, where strata of the pool were judged at different rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from idealist.errors import Defect, UsageError
from idealist.lists import Lists, lists_of
from idealist.measures.base import NO_RELEVANT, Measure
from idealist.measures.discounts import Discount
from idealist.measures.gains import GAIN, gain_of
from idealist.measures.inferred import EPSILON
from idealist.measures.relevance import Threshold
from idealist.measures.samples import Sample, above, found, ratio, sums
from idealist.notation import Written, parameter
from idealist.placements import Placements
from idealist.tables import Qrels
from idealist.tables.columns import Bools, Floats


@dataclass(frozen=True, kw_only=True, repr=False)
class Estimated(Measure):
    """Base of measures that estimate what they would be if all of the pool had been judged."""

    needs: ClassVar[str] = "strata"

    def __call__(
        self, grades: Sequence[float | None], judged: Sequence[float] = (), **columns: Any
    ) -> float:
        """Refuse: grades alone do not say what they are a sample of."""
        raise UsageError(f"{self.name} needs the strata of the judgments", "use evaluate()")


@dataclass(frozen=True, kw_only=True, repr=False)
class EstimatedAP(Estimated, Threshold):
    """Base of estimates of AP: (1/R) Σ w P over the relevant documents found, R = Σ w over all."""

    no_relevant: Written = parameter(
        "0", NO_RELEVANT, "the value of a query without relevant documents"
    )

    def sample(self, qrels: Qrels) -> Sample:
        """Tell what the judgments are a sample of."""
        return Sample.of(qrels)

    def relevant_above(self, lists: Lists, sample: Sample, hits: Bools) -> Floats:
        """Estimate how many relevant documents stand above each one."""
        raise Defect(f"{self.name} does not say what stands above a document")

    def computed(self, placements: Placements) -> Floats:
        """Weigh the precision expected at each relevant document found."""
        self._check_ties(placements)
        qrels = placements.qrels
        sample = self.sample(qrels)
        weight = np.where(self.relevant(qrels.grades), sample.weight, 0.0)
        relevant = sums(sample.query, weight, len(qrels.queries))
        values = np.zeros(len(relevant))
        for queries, lists in placements.lists:
            weights = np.where(lists.within(self.cutoff), found(lists, weight), 0.0)
            precision = 1.0 + self.relevant_above(lists, sample, weights > 0)
            values[queries] = lists.total(weights * precision / lists.rank)
        return ratio(values, relevant)


@dataclass(frozen=True, kw_only=True, repr=False)
class xinfAP(EstimatedAP):
    """Extended inferred AP: AP estimated from strata of the pool, judged at different rates.

    Formula: (1/R) Σ_{relevant r found} w_r (1/r)(1 + Σ_s n_s (rel_s + ε) / (judged_s + 3ε)), with
    w the documents of a stratum over those judged, R = Σ w over all relevant documents, and n_s,
    judged_s and rel_s the documents of stratum s above r; ε = 0.00001

    The judgments hold every document of the pool, with the name of its stratum in the column
    `stratum` and a negative grade if it was not drawn. NIST's sample_eval calls this infAP; it has
    3ε where trec_eval's infAP has 2ε.

    >>> import idealist as il
    >>> rows = [("q", "a", "top", 1), ("q", "b", "top", 0), ("q", "c", "deep", -1),
    ...         ("q", "d", "deep", 1)]
    >>> names = ("query", "document", "stratum", "grade")
    >>> judged = [dict(zip(names, row)) for row in rows]
    >>> round(il.evaluate(judged, {"q": ["a", "c", "b", "d"]}, "xinfAP")["xinfAP"], 4)
    0.7222

    Reference: Yilmaz et al. 2008, doi:10.1145/1390334.1390437, as NIST's sample_eval.pl has it
    """

    monotone: ClassVar[bool] = False  # a relevant document may gain by standing below a pooled one

    def relevant_above(self, lists: Lists, sample: Sample, hits: Bools) -> Floats:
        """Take the relevant among the judged documents above for those of their stratum."""
        stratum, drawn = found(lists, sample.stratum), found(lists, sample.drawn)
        expected = np.zeros(lists.rank.shape)
        for one in range(int(stratum.max()) + 1):
            mine = lists.found & (stratum == one)
            relevant, judged = above(mine & hits), above(mine & drawn)
            expected += above(mine) * (relevant + EPSILON) / (judged + 3 * EPSILON)
        return expected


@dataclass(frozen=True, kw_only=True, repr=False)
class statAP(EstimatedAP):
    """Statistical AP: AP estimated from documents that were drawn with known probabilities.

    Formula: (1/R) Σ_{relevant r found} (1/π_r) (1/r)(1 + Σ_{relevant above r} 1/π), with π the
    probability that a document was drawn, and R = Σ 1/π over all relevant documents

    The judgments give π in a column `inclusion`, as TREC's prels do, or strata as for xinfAP, where
    π is the share of a stratum that was judged. An estimate may exceed 1.

    >>> import idealist as il
    >>> rows = [("q", "a", 1, 1.0), ("q", "b", 0, 0.5), ("q", "c", 1, 0.5)]
    >>> names = ("query", "document", "grade", "inclusion")
    >>> judged = [dict(zip(names, row)) for row in rows]
    >>> round(il.evaluate(judged, {"q": ["a", "x", "b", "c"]}, "statAP")["statAP"], 4)
    0.6667

    Reference: Pavlu and Aslam 2007, A Practical Sampling Strategy for Efficient Retrieval
    Evaluation, technical report, Northeastern University, as statAP_MQ_eval_v3.pl has it
    """

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range of an estimate."""
        return 0.0, np.inf

    def sample(self, qrels: Qrels) -> Sample:
        """Take probabilities where there are any, or else strata."""
        return (Sample.by_chance if "inclusion" in qrels.numbers else Sample.of)(qrels)

    def worth(self, placements: Placements) -> Floats:
        """Give relevant documents their weight."""
        weight = self.sample(placements.qrels).weight[placements.judgment]
        return np.where(self.filled().relevant(placements.grade), weight, 0.0)

    def relevant_above(self, lists: Lists, sample: Sample, hits: Bools) -> Floats:
        """Sum the weights of the relevant documents above."""
        weights: Floats = above(np.where(hits, found(lists, sample.weight), 0.0))
        return weights


@dataclass(frozen=True, kw_only=True, repr=False)
class infNDCG(Estimated):
    """Inferred nDCG: nDCG estimated from strata of the pool, judged at different rates.

    Formula: Σ_s (n_s / judged_s) Σ_{r≤k in s, judged} gain(grade_r) / log2(r+1), over the DCG of
    the best list of the estimated number of documents of each grade; n_s and judged_s count the
    documents of stratum s in the first k

    The judgments are those of xinfAP. Of a grade there are Σ_s w_s (documents of it in s), rounded
    to the nearest whole number. An estimate may exceed 1. NIST's sample_eval looks at the first
    1000 documents, which is ``infNDCG@1000``.

    >>> import idealist as il
    >>> rows = [("q", "a", "top", 2), ("q", "b", "top", 0), ("q", "c", "deep", -1),
    ...         ("q", "d", "deep", 1)]
    >>> names = ("query", "document", "stratum", "grade")
    >>> judged = [dict(zip(names, row)) for row in rows]
    >>> round(il.evaluate(judged, {"q": ["a", "c", "b", "d"]}, "infNDCG")["infNDCG"], 4)
    0.9139

    Reference: Yilmaz et al. 2008, doi:10.1145/1390334.1390437, as NIST's sample_eval.pl has it
    """

    gain: Written = parameter("linear", GAIN, "what a grade is worth")
    no_relevant: Written = parameter(
        "0", NO_RELEVANT, "the value of a query without relevant documents"
    )

    monotone: ClassVar[bool] = False  # a cutoff decides how much the judged documents stand for

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range of an estimate."""
        return 0.0, np.inf

    def computed(self, placements: Placements) -> Floats:
        """Divide the DCG estimated for each list by that of the ideal one."""
        self._check_ties(placements)
        qrels = placements.qrels
        sample = Sample.of(qrels)
        gain = np.where(qrels.grades >= 0, gain_of(self.gain, lists_of([]), qrels.grades), 0.0)
        values = np.zeros(len(qrels.queries))
        for queries, lists in placements.lists:
            values[queries] = self._dcg(lists, sample, gain)
        return ratio(values, self._ideal(sample, gain, len(values)))

    def _dcg(self, lists: Lists, sample: Sample, gain: Floats) -> Floats:
        near, stratum = lists.within(self.cutoff), found(lists, sample.stratum)
        drawn = near & found(lists, sample.drawn)
        dcg = np.zeros(len(lists.retrieved))
        for one in range(int(stratum.max()) + 1):
            mine = near & (stratum == one)
            gains = np.where(mine & drawn, found(lists, gain), 0.0)
            summed = Discount("log2").sum(lists, gains)
            dcg += lists.ratio(lists.count(mine) * summed, lists.count(mine & drawn), 0.0)
        return dcg

    def _ideal(self, sample: Sample, gain: Floats, queries: int) -> Floats:
        """Rank the documents there are of each gain, as estimated, greatest first."""
        some = np.flatnonzero(gain > 0)
        keys = np.stack((sample.query[some], sample.stratum[some], -gain[some]), axis=1)
        keys, place, count = np.unique(keys, axis=0, return_index=True, return_counts=True)
        estimate = count * sample.size[some][place] / sample.judged[some][place]
        keys, owner = np.unique(keys[:, [0, 2]], axis=0, return_inverse=True)
        number = np.floor(sums(owner, estimate, len(keys)) + 0.5).astype(np.int64)
        last = np.cumsum(number)
        last -= (last - number)[np.searchsorted(keys[:, 0], keys[:, 0])]  # within its query
        summed = np.cumsum(Discount("log2").weights(int(last.max(initial=0))))
        limit = self.cutoff or len(summed)
        weight = summed[np.minimum(last, limit)] - summed[np.minimum(last - number, limit)]
        return sums(keys[:, 0].astype(np.int64), -keys[:, 1] * weight, queries)
