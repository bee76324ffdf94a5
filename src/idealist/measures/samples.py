"""Estimates from a judged sample of the pool: infAP, xinfAP, statAP and infNDCG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.data import Qrels
from idealist.data.columns import Bools, Floats, Ints, sums_by
from idealist.errors import Defect, Faults, UsageError
from idealist.measures.base import NO_RELEVANT, Measure, by_query
from idealist.measures.gains import GAIN, Discount, gain_of
from idealist.measures.relevance import Binary, Threshold
from idealist.notation import Written, parameter
from idealist.ranking.padded_lists import Array, PaddedLists, padded
from idealist.ranking.placements import Placements


@dataclass(frozen=True, eq=False)
class Sample:
    """What the judgments are a sample of.

    For each judgment: the index of its `query`, the index of its `stratum` within the query,
    whether it was `drawn`, and the `size` of its stratum and the number of documents `judged`
    there. A judged document stands for `size` / `judged` documents, its `weight`.
    """

    query: Ints
    stratum: Ints
    drawn: Bools
    size: Floats
    judged: Floats

    @classmethod
    def of(cls, qrels: Qrels) -> Sample:
        """Count the documents of each stratum, all and drawn."""
        query, drawn = _queries(qrels), qrels.grades >= 0
        keys = list(zip(query.tolist(), _strata(qrels), strict=True))
        index = {key: i for i, key in enumerate(sorted(set(keys)))}
        every = np.array([index[key] for key in keys], dtype=np.int64)
        size, judged = (sums_by(every, some, len(index))[every] for some in (every >= 0, drawn))
        first = np.searchsorted([owner for owner, _ in index], query)
        return cls(query, every - first, drawn, size, judged)

    @classmethod
    def by_chance(cls, qrels: Qrels) -> Sample:
        """Read the probability that each document was drawn from the column `inclusion`."""
        query, drawn, chance = _queries(qrels), qrels.grades >= 0, qrels.numbers["inclusion"]
        faults = Faults(qrels.name)
        for i in np.flatnonzero(drawn & ~((chance > 0) & (chance <= 1))).tolist():
            pair = f"query {qrels.queries[query[i]]!r}, document {qrels.documents[i]!r}"
            hint = "a judged document was drawn with a probability above 0 and at most 1"
            faults.add("bad-column", f"{pair}: inclusion is {chance[i]:g}", hint)
        faults.check()
        return cls(query, np.zeros_like(query), drawn, np.ones(len(query)), chance)

    @property
    def weight(self) -> Floats:
        """How many documents each one stands for; 0 if it was not drawn."""
        return ratio(self.size, np.where(self.drawn, self.judged, 0.0), 0.0)


def ratio(part: Floats, whole: Floats, otherwise: float = np.nan) -> Floats:
    """Divide where the divisor is above 0."""
    share: Floats = np.divide(part, whole, out=np.full(len(part), otherwise), where=whole > 0)
    return share


def _queries(qrels: Qrels) -> Ints:
    return np.repeat(np.arange(len(qrels.queries)), np.diff(qrels.starts))


def _strata(qrels: Qrels) -> Sequence[str]:
    if "stratum" not in qrels.columns:
        hint = "read TREC's files of judged samples with il.read_strata or il.read_prels"
        raise UsageError("the judgments have no column 'stratum'", hint)
    names: Sequence[str] = qrels.columns["stratum"]
    if "" in names:
        document = qrels.documents[names.index("")]
        message = f"document {document!r} is in no stratum"
        Faults(qrels.name).fail("bad-column", message, "name the stratum of each document")
    return names


def found(lists: PaddedLists, values: Any) -> Any:
    """Look up a value per judgment for the documents found; 0 elsewhere."""
    nowhere = np.where(lists.found, lists.judgments[lists.place], -1)
    return np.append(values, np.zeros(1, values.dtype))[nowhere]


def above(mask: Any) -> Any:
    """Sum the values above each document."""
    mask = mask.astype(np.float64)
    return np.cumsum(mask, axis=1) - mask


#: Keeps a share of no documents from being 0/0, as in trec_eval and NIST's sample_eval.
EPSILON = 0.00001


class infAP(Binary):
    """Inferred average precision: AP estimated from a random sample of the pool.

    Formula: (1/R) Σ_{relevant r retrieved} (1/r)(1 + p_r (rel_r + ε) / (rel_r + non_r + 2ε)), where
    p_r counts the pooled documents above r, rel_r and non_r those judged relevant and non-relevant,
    and ε = 0.00001

    A document is judged, pooled but not judged (a negative grade, usually -1), or not pooled (no
    judgment at all). Pooled but unjudged documents are assumed to be relevant as often as judged
    ones; documents outside the pool are assumed to be non-relevant. R counts the judged relevant
    documents. If the whole pool was judged this is AP, except for ε.

    >>> round(infAP()([1, -1, 0, None, 1]), 4)
    0.75

    Reference: Yilmaz and Aslam 2006, doi:10.1145/1183614.1183633, as implemented in trec_eval
    """

    takes_cutoff = False
    monotone = False  # a relevant document may gain by ranking below a pooled one

    def formula(self, lists: PaddedLists) -> Array:
        """Average the expected precisions at the relevant documents."""
        xp = lists.xp
        hits = self.hits(lists)
        other = lists.found & ~self.relevant(lists.grade) & (lists.grade >= 0)
        relevant = self.so_far(lists) - lists.number(hits)  # above each document, as all here
        judged = relevant + xp.cumulative_sum(lists.number(other), axis=1)
        found = lists.number(lists.found)
        pooled = xp.cumulative_sum(found, axis=1) - found
        rank = lists.number(lists.rank)
        above = xp.where(rank > 1, rank - 1.0, 1.0)
        share = (relevant + EPSILON) / (judged + 2 * EPSILON)
        expected = 1.0 / rank + (above / rank) * (pooled / above) * share
        precision = xp.where(rank > 1, expected, 1.0)
        return self.of_relevant(lists, lists.total(xp.where(hits, precision, 0.0)))


class Estimated(Measure):
    """Base of estimates of the value that a fully judged pool would give."""

    needs = "strata"

    def __call__(
        self, grades: Sequence[float | None], judged: Sequence[float] = (), **columns: Any
    ) -> float:
        """Refuse: grades alone do not say what they are a sample of."""
        raise UsageError(f"{self.name} needs the strata of the judgments", "use evaluate()")


class EstimatedAP(Estimated, Threshold):
    """Base of estimates of AP: (1/R) Σ w P over relevant documents found, R = Σ w over all."""

    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without relevant documents")

    def sample(self, qrels: Qrels) -> Sample:
        """Return what the judgments are a sample of."""
        return Sample.of(qrels)

    def relevant_above(self, lists: PaddedLists, sample: Sample, hits: Bools) -> Floats:
        """Estimate the number of relevant documents above each one."""
        raise Defect(f"{self.name} does not estimate what ranks above a document")

    def computed(self, placements: Placements) -> Floats:
        """Weigh the expected precision at each relevant document found."""
        self.check_ties(placements.protocol.ties)
        qrels = placements.qrels
        sample = self.sample(qrels)
        weight = np.where(self.relevant(qrels.grades), sample.weight, 0.0)
        relevant = sums_by(sample.query, weight, len(qrels.queries))
        values = np.zeros(len(relevant))
        for queries, lists in placements.lists:
            weights = np.where(lists.within(self.cutoff), found(lists, weight), 0.0)
            precision = 1.0 + self.relevant_above(lists, sample, weights > 0)
            values[queries] = lists.total(weights * precision / lists.rank)
        return ratio(values, relevant)


class xinfAP(EstimatedAP):
    """Extended inferred AP: AP estimated from pool strata that were judged at different rates.

    Formula: (1/R) Σ_{relevant r retrieved} w_r (1/r)(1 + Σ_s n_s (rel_s + ε) / (judged_s + 3ε)),
    where w is the size of a stratum divided by the number judged in it, R = Σ w over all relevant
    documents, n_s, judged_s and rel_s count the documents of stratum s above r, and ε = 0.00001

    The judgments list every document of the pool, with the name of its stratum in the column
    `stratum` and a negative grade if it was not drawn. NIST's sample_eval calls this infAP, with 3ε
    where trec_eval's infAP has 2ε.

    >>> import idealist as il
    >>> rows = [("q", "a", "top", 1), ("q", "b", "top", 0), ("q", "c", "deep", -1),
    ...         ("q", "d", "deep", 1)]
    >>> names = ("query", "document", "stratum", "grade")
    >>> judged = [dict(zip(names, row)) for row in rows]
    >>> round(il.evaluate(judged, {"q": ["a", "c", "b", "d"]}, "xinfAP")["xinfAP"], 4)
    0.7222

    Reference: Yilmaz et al. 2008, doi:10.1145/1390334.1390437, as implemented in NIST's
    sample_eval.pl
    """

    monotone = False  # a relevant document may gain by ranking below a pooled one

    def relevant_above(self, lists: PaddedLists, sample: Sample, hits: Bools) -> Floats:
        """Extrapolate from the judged documents above to all documents of their stratum."""
        stratum, drawn = found(lists, sample.stratum), found(lists, sample.drawn)
        expected = np.zeros(lists.rank.shape)
        for one in range(int(stratum.max()) + 1):
            mine = lists.found & (stratum == one)
            relevant, judged = above(mine & hits), above(mine & drawn)
            expected += above(mine) * (relevant + EPSILON) / (judged + 3 * EPSILON)
        return expected


class statAP(EstimatedAP):
    """Statistical AP: AP estimated from documents drawn with known probabilities.

    Formula: (1/R) Σ_{relevant r retrieved} (1/π_r) (1/r)(1 + Σ_{relevant above r} 1/π), where π is
    the probability that a document was drawn, and R = Σ 1/π over all relevant documents

    π comes from a judgment column `inclusion`, as in TREC's prels, or from strata as for xinfAP,
    where π is the share of a stratum that was judged. Estimates can exceed 1.

    >>> import idealist as il
    >>> rows = [("q", "a", 1, 1.0), ("q", "b", 0, 0.5), ("q", "c", 1, 0.5)]
    >>> names = ("query", "document", "grade", "inclusion")
    >>> judged = [dict(zip(names, row)) for row in rows]
    >>> round(il.evaluate(judged, {"q": ["a", "x", "b", "c"]}, "statAP")["statAP"], 4)
    0.6667

    Reference: Pavlu and Aslam 2007, A Practical Sampling Strategy for Efficient Retrieval
    Evaluation, technical report, Northeastern University, as implemented in statAP_MQ_eval_v3.pl
    """

    limits = 0.0, np.inf

    def sample(self, qrels: Qrels) -> Sample:
        """Use inclusion probabilities if there are any, otherwise strata."""
        return (Sample.by_chance if "inclusion" in qrels.numbers else Sample.of)(qrels)

    def worth(self, placements: Placements) -> Floats:
        """Return the weight of each relevant document."""
        weight = self.sample(placements.qrels).weight[placements.judgment]
        return np.where(self.filled().relevant(placements.grade), weight, 0.0)

    def relevant_above(self, lists: PaddedLists, sample: Sample, hits: Bools) -> Floats:
        """Sum the weights of the relevant documents above."""
        weights: Floats = above(np.where(hits, found(lists, sample.weight), 0.0))
        return weights


class infNDCG(Estimated):
    """Inferred nDCG: nDCG estimated from pool strata that were judged at different rates.

    Formula: Σ_s (n_s / judged_s) Σ_{r≤k in s, judged} gain(grade_r) / log2(r+1), divided by the DCG
    of the best list of the estimated number of documents of each grade, where n_s and judged_s
    count the documents of stratum s in the first k

    The judgments are those of xinfAP. The number of documents of a grade is estimated as Σ_s w_s
    (documents of that grade in s), rounded to a whole number. Estimates can exceed 1. NIST's
    sample_eval uses the first 1000 documents: ``infNDCG@1000``.

    >>> import idealist as il
    >>> rows = [("q", "a", "top", 2), ("q", "b", "top", 0), ("q", "c", "deep", -1),
    ...         ("q", "d", "deep", 1)]
    >>> names = ("query", "document", "stratum", "grade")
    >>> judged = [dict(zip(names, row)) for row in rows]
    >>> round(il.evaluate(judged, {"q": ["a", "c", "b", "d"]}, "infNDCG")["infNDCG"], 4)
    0.9139

    Reference: Yilmaz et al. 2008, doi:10.1145/1390334.1390437, as implemented in NIST's
    sample_eval.pl
    """

    gain: Written = parameter("linear", GAIN, "the gain of each grade")
    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without relevant documents")

    monotone = False  # a cutoff decides how many documents the judged ones stand for
    limits = 0.0, np.inf

    def computed(self, placements: Placements) -> Floats:
        """Divide the estimated DCG of each list by that of the ideal one."""
        self.check_ties(placements.protocol.ties)
        qrels = placements.qrels
        sample = Sample.of(qrels)
        gain = np.where(qrels.grades >= 0, gain_of(self.gain, padded([]), qrels.grades), 0.0)
        values = by_query(placements, lambda lists: self._dcg(lists, sample, gain))
        return ratio(values, self._ideal(sample, gain, len(values)))

    def _dcg(self, lists: PaddedLists, sample: Sample, gain: Floats) -> Floats:
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
        """Rank the estimated documents of each gain, largest first."""
        some = np.flatnonzero(gain > 0)
        keys = np.stack((sample.query[some], sample.stratum[some], -gain[some]), axis=1)
        keys, place, count = np.unique(keys, axis=0, return_index=True, return_counts=True)
        estimate = count * sample.size[some][place] / sample.judged[some][place]
        keys, owner = np.unique(keys[:, [0, 2]], axis=0, return_inverse=True)
        number = np.floor(sums_by(owner, estimate, len(keys)) + 0.5).astype(np.int64)
        last = np.cumsum(number)
        last -= (last - number)[np.searchsorted(keys[:, 0], keys[:, 0])]  # within its query
        summed = np.cumsum(Discount("log2").weights(int(last.max(initial=0))))
        limit = self.cutoff or len(summed)
        weight = summed[np.minimum(last, limit)] - summed[np.minimum(last - number, limit)]
        return sums_by(keys[:, 0].astype(np.int64), -keys[:, 1] * weight, queries)
