"""Novelty and diversity: covering a subtopic again is worth less every time."""

from __future__ import annotations

import math

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.errors import UsageError
from idealist.measures.average_precision import AP
from idealist.measures.first_relevant import Success
from idealist.measures.gains import Discount, geometric
from idealist.measures.groups import Groups, PerGroup, divided
from idealist.measures.sets import P
from idealist.notation import choice, number, parameter
from idealist.ranking.padded_lists import Array, PaddedLists
from idealist.ranking.placements import Placements

#: Gains this close are equal: the same terms added in another order.
EQUAL = 1 - 1e-12
#: Queries per block; bounds the memory.
BLOCK = 256


def ideal_sums(
    groups: Groups, relevant: Bools, alpha: float, weights: Floats, queries: int
) -> Floats:
    """Sum the gains of each query's greedy ideal list, whose ranks have these weights.

    `relevant` marks the judgments by subtopic that are relevant.
    """
    row = np.flatnonzero(relevant)
    group = np.searchsorted(groups.qrels.starts, row, side="right") - 1
    query = groups.query[group]
    subtopic = group - np.searchsorted(groups.query, query)
    _, first, document = np.unique(groups.pair[row], return_index=True, return_inverse=True)
    sizes = np.bincount(query[first], minlength=queries)
    document = np.cumsum(sizes)[query] - 1 - document  # the last id of each query first
    sums, by_size = np.zeros(queries), np.argsort(sizes, kind="stable")
    for start in range(0, queries, BLOCK):
        block = np.sort(by_size[start : start + BLOCK])
        here = np.isin(query, block)
        shape = subtopic[here].max(initial=-1) + 1, len(block), sizes[block].max()
        covers = np.zeros(shape)
        covers[subtopic[here], np.searchsorted(block, query[here]), document[here]] = 1.0
        sums[block] = _greedy(covers, alpha, weights[: shape[2]])
    return sums


def _greedy(covers: Floats, alpha: float, weights: Floats) -> Floats:
    """Fill the ranks of each ideal list; `covers` is subtopics x queries x documents."""
    lists = np.arange(covers.shape[1])
    worth, sums = np.ones(covers.shape[:2]), np.zeros(len(lists))
    for weight in weights.tolist():
        gain = np.zeros(covers.shape[1:])
        for covered, left in zip(covers, worth, strict=True):  # in order: padding adds nothing
            gain += covered * left[:, None]
        best = gain.max(axis=1)
        chosen = np.argmax(gain >= best[:, None] * EQUAL, axis=1)
        before, sums = sums, sums + best * weight
        if np.array_equal(before, sums):  # what follows gains less still
            break
        worth *= 1.0 - alpha * covers[:, lists, chosen]
        covers[:, lists, chosen] = 0.0
    return sums


_DENOMINATOR = choice("perfect", "perfect(k>1)", "none")
_DIVIDED_BY = (
    "what to divide by: the sum for k documents that cover every subtopic, the same except at "
    "k = 1, or nothing"
)


class Novelty(PerGroup):
    """Base of sums over subtopics and ranks; the formula is the sum for one subtopic."""

    alpha: float = parameter(
        0.5, number(0, 1), "how much less a subtopic is worth when covered again"
    )

    needs = "subtopics"

    @property
    def weighs(self) -> Discount:
        """The discount of ranks."""
        return Discount("log2")

    def formula(self, lists: PaddedLists) -> Array:
        """Sum the discounted gains of one subtopic."""
        near = self.near(lists)
        hits = self.hits(near)
        before = self.so_far(near) - near.number(hits)
        gains = near.xp.pow(near.xp.full_like(before, 1.0 - self.alpha), before)
        return self.weighs.sum(near, near.xp.where(hits, gains, 0.0), self.cutoff)

    def weights(self, depth: int) -> Floats:
        """Return the weight of each rank, starting with the first."""
        return self.weighs.weights(depth)[1 : depth + 1]


class Perfect(Novelty):
    """Base of measures divided by the score of documents that cover every subtopic."""

    denominator: str = parameter("perfect", _DENOMINATOR, _DIVIDED_BY)

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Return the range: up to 1 if the sum is divided."""
        return 0.0, 1.0 if self._divides else math.inf

    @property
    def _divides(self) -> bool:
        first = self.denominator == "perfect(k>1)" and self.cutoff == 1
        return self.denominator != "none" and not first

    def combined(self, total: Floats, number: Floats, placements: Placements) -> Floats:
        """Divide by the sum that perfect documents would reach on as many subtopics."""
        if not self._divides:
            return np.where(number > 0, total, np.nan)
        if self.cutoff is None:
            hint = f"add one, as in {self.name}@20, or write {self.name}(denominator=none)"
            raise UsageError(f"{self.name} divides by k perfect documents and needs a cutoff", hint)
        gains = (1.0 - self.alpha) ** np.arange(self.cutoff)
        perfect = float(sum((gains * self.weights(self.cutoff)).tolist()))
        return total / (number * perfect)


class Normalised(Novelty):
    """Base of measures divided by the score of an ideal list of judged documents."""

    limits = 0.0, 1 / (1 - 1 / math.e)  # the greedy list reaches at least 1 - 1/e of the best one

    def combined(self, total: Floats, number: Floats, placements: Placements) -> Floats:
        """Divide by the sum of the ideal list."""
        groups, negative = divided(placements.qrels), placements.protocol.negative
        if (self, negative) not in groups.known:
            relevant = self.relevant(groups.qrels.grades)
            if negative == "drop":
                relevant &= groups.qrels.grades >= 0
            depth = self.cutoff or int(np.diff(placements.qrels.starts).max(initial=0))
            weights, queries = self.weights(depth), len(number)
            groups.known[self, negative] = ideal_sums(
                groups, relevant, self.alpha, weights, queries
            )
        return total / np.where(number > 0, groups.known[self, negative], np.nan)


class alpha_DCG(Perfect):
    """α-DCG: DCG over subtopics, in which covering a subtopic again is worth less.

    Formula: Σ_{r≤k} Σ_s covers(r, s) (1 - α)^(times s was covered above r) / log2(r + 1), divided
    by the same sum for k documents that cover every subtopic

    A document covers the subtopics it is relevant for; subtopics without a relevant document are
    left out. ndeval, and so TREC, does not divide at cutoff 1 (``denominator=perfect(k>1)``); the
    paper never divides (``none``).

    >>> round((alpha_DCG @ 2)([{"a": 1}, {"a": 1, "b": 1}]), 4)
    0.7398

    Reference: Clarke et al. 2008, doi:10.1145/1390334.1390446
    """


class alpha_nDCG(Normalised):
    """α-nDCG: α-DCG divided by the α-DCG of an ideal list.

    Formula: α-DCG@k / α-DCG@k of the ideal list

    Finding the best list is NP-hard. The ideal list is greedy: each rank takes the document that
    gains most there and, among equals, the last document id. A run can beat it, so values can
    exceed 1.

    >>> round((alpha_nDCG @ 2)([{"a": 1}, {"a": 1, "b": 1}]), 4)
    0.8406

    Reference: Clarke et al. 2008, doi:10.1145/1390334.1390446
    """


class Reciprocal(Novelty):
    """Base of measures that divide a gain by its rank."""

    @property
    def weighs(self) -> Discount:
        """The discount of ranks."""
        return Discount("position")


class ERR_IA(Reciprocal, Perfect):
    """Intent-aware ERR: expected reciprocal rank at which users, each after one subtopic, stop.

    Formula: Σ_{r≤k} Σ_s covers(r, s) (1 - α)^(times s was covered above r) / r, divided by the same
    sum for k documents that cover every subtopic

    This is ndeval's form: relevance is binary, every relevant document stops a user with
    probability α, and all subtopics are equally likely. ndeval does not divide at cutoff 1
    (``denominator=perfect(k>1)``).

    >>> (ERR_IA @ 2)([{"a": 1}, {"a": 1, "b": 1}])
    0.7

    Reference: Chapelle et al. 2009, doi:10.1145/1645953.1646033; Clarke et al. 2011 for the form
    here, doi:10.1145/1935826.1935847
    """


class nERR_IA(Reciprocal, Normalised):
    """Normalised intent-aware ERR: ERR-IA divided by the ERR-IA of an ideal list.

    Formula: ERR-IA@k / ERR-IA@k of the ideal list

    The ideal list is built as for alpha_nDCG, so values can exceed 1.

    >>> round((nERR_IA @ 2)([{"a": 1}, {"a": 1, "b": 1}]), 4)
    0.7778

    Reference: Chapelle et al. 2009, doi:10.1145/1645953.1646033; Clarke et al. 2011 for the form
    here, doi:10.1145/1935826.1935847
    """


class OverSubtopics(PerGroup):
    """Base of means over the subtopics that have a relevant document."""

    needs = "subtopics"


class AP_IA(OverSubtopics, AP):
    """Intent-aware average precision: AP for each subtopic, averaged; its mean is MAP-IA.

    Formula: (1/M) Σ_s AP(list, judgments of subtopic s), over the M subtopics with a relevant
    document

    All subtopics have the same weight. When called with a list, each document is a dict of grades
    by subtopic.

    >>> AP_IA()([{"a": 1, "b": 0}, {"a": 1, "b": 1}])
    0.75

    Reference: Agrawal et al. 2009, doi:10.1145/1498759.1498766
    """


class P_IA(OverSubtopics, P):
    """Intent-aware precision: precision in the first k for each subtopic, averaged.

    Formula: (1/M) Σ_s P@k(list, judgments of subtopic s), over the M subtopics with a relevant
    document

    All subtopics have the same weight. When called with a list, each document is a dict of grades
    by subtopic.

    >>> (P_IA @ 2)([{"a": 1, "b": 0}, {"a": 1, "b": 1}])
    0.75

    Reference: Agrawal et al. 2009, doi:10.1145/1498759.1498766
    """


class StRecall(OverSubtopics, Success):
    """Subtopic recall: the share of subtopics covered by the first k documents.

    Formula: subtopics with a relevant document in the first k / subtopics with a relevant document

    When called with a list, each document is a dict of grades by subtopic.

    >>> (StRecall @ 1)([{"a": 1, "b": 0}, {"a": 1, "b": 1}])
    0.5

    Reference: Zhai et al. 2003, doi:10.1145/860435.860440
    """


class Patient(Novelty):
    """Base of measures whose user continues to the next document with probability beta."""

    beta: float = parameter(0.5, number(0, 1), "the probability of continuing to the next document")

    takes_cutoff = False

    @property
    def weighs(self) -> Discount:
        """The discount of ranks."""
        return geometric(float(self.beta))


class NRBP(Patient):
    """Novelty- and rank-biased precision: RBP over subtopics, with repeated coverage discounted.

    Formula: (1 - (1 - α) β) / M · Σ_r β^(r-1) Σ_s covers(r, s) (1 - α)^(times s was covered above
    r), over the M subtopics with a relevant document

    The factor scales an endless list of documents that cover every subtopic to 1.

    >>> NRBP()([{"a": 1}, {"a": 1, "b": 1}])
    0.65625

    Reference: Clarke et al. 2009, doi:10.1007/978-3-642-04417-5_17
    """

    def combined(self, total: Floats, number: Floats, placements: Placements) -> Floats:
        """Divide by the sum that an endless list of perfect documents would reach."""
        return total * (1.0 - (1.0 - self.alpha) * self.beta) / number


class nNRBP(Patient, Normalised):
    """Normalised NRBP: NRBP divided by the NRBP of an ideal list.

    Formula: NRBP / NRBP of the ideal list

    The ideal list is built as for alpha_nDCG, so values can exceed 1.

    >>> round(nNRBP()([{"a": 1}, {"a": 1, "b": 1}]), 4)
    0.7778

    Reference: Clarke et al. 2009, doi:10.1007/978-3-642-04417-5_17
    """
