"""Measures of novelty and diversity: covering a subtopic again is worth less each time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

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

#: Gains as close as this are equal: sums of the same terms, added in another order.
EQUAL = 1 - 1e-12
#: How many queries are taken at a time, to bound the memory.
BLOCK = 256


def ideal_sums(
    groups: Groups, relevant: Bools, alpha: float, weights: Floats, queries: int
) -> Floats:
    """Give the sum of each query's ideal list, whose ranks have these weights.

    `relevant` says which of the judgments by group are.
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
    """Fill the ranks of each list; `covers` is subtopics x queries x documents."""
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
    "what is divided by: the sum of k documents that cover every subtopic, the same but for k = 1, "
    "or nothing"
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Novelty(PerGroup):
    """Base of sums over subtopics and ranks; the formula is the sum of one subtopic."""

    alpha: float = parameter(
        0.5, number(0, 1), "how much less a subtopic is worth each time it was covered before"
    )

    needs: ClassVar[str] = "subtopics"

    @property
    def weighs(self) -> Discount:
        """What a rank takes away."""
        return Discount("log2")

    def formula(self, lists: PaddedLists) -> Array:
        """Sum the discounted gains of one subtopic."""
        near = self.near(lists)
        hits = self.hits(near)
        before = self.so_far(near) - near.number(hits)
        gains = near.xp.pow(near.xp.full_like(before, 1.0 - self.alpha), before)
        return self.weighs.sum(near, near.xp.where(hits, gains, 0.0), self.cutoff)

    def weights(self, depth: int) -> Floats:
        """Give the weight of each rank, beginning with the first."""
        return self.weighs.weights(depth)[1 : depth + 1]


@dataclass(frozen=True, kw_only=True, repr=False)
class Perfect(Novelty):
    """Base of those that compare with documents that cover every subtopic, judged or not."""

    denominator: str = parameter("perfect", _DENOMINATOR, _DIVIDED_BY)

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range: up to 1 where the sum is divided."""
        return 0.0, 1.0 if self._divides else math.inf

    @property
    def _divides(self) -> bool:
        first = self.denominator == "perfect(k>1)" and self.cutoff == 1
        return self.denominator != "none" and not first

    def combined(self, total: Floats, number: Floats, placements: Placements) -> Floats:
        """Divide by the sum of as many subtopics in perfect documents."""
        if not self._divides:
            return np.where(number > 0, total, np.nan)
        if self.cutoff is None:
            hint = f"write {self.name}@20, or another cutoff, or {self.name}(denominator=none)"
            raise UsageError(f"{self.name} compares with k perfect documents: it needs a k", hint)
        gains = (1.0 - self.alpha) ** np.arange(self.cutoff)
        perfect = float(sum((gains * self.weights(self.cutoff)).tolist()))
        return total / (number * perfect)


@dataclass(frozen=True, kw_only=True, repr=False)
class Normalised(Novelty):
    """Base of those that are divided by the value of an ideal list of judged documents."""

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range: the greedy list may lack 1/e of the best one, and no more."""
        return 0.0, 1 / (1 - 1 / math.e)

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


@dataclass(frozen=True, kw_only=True, repr=False)
class alpha_DCG(Perfect):
    """Discounted cumulative gain by subtopic: what was covered before is worth less.

    Formula: Σ_{r≤k} Σ_s covers(r, s) (1 - α)^(times s was covered above r) / log2(r + 1), divided
    by that of k documents which cover every subtopic

    Only subtopics with a relevant document count. A document covers those it is relevant for.
    ndeval, and so TREC, divides by nothing at cutoff 1 (``denominator=perfect(k>1)``); the paper
    never does (``none``).

    >>> round((alpha_DCG @ 2)([{"a": 1}, {"a": 1, "b": 1}]), 4)
    0.7398

    Reference: Clarke et al. 2008, doi:10.1145/1390334.1390446
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class alpha_nDCG(Normalised):
    """Normalised discounted cumulative gain by subtopic: alpha_DCG over that of an ideal list.

    Formula: α-DCG@k / α-DCG@k of the ideal list

    The best list is NP-hard to find. The ideal list holds at each rank the document that gains most
    there and, of those, the last id; a run can be better than it, so values can exceed 1.

    >>> round((alpha_nDCG @ 2)([{"a": 1}, {"a": 1, "b": 1}]), 4)
    0.8406

    Reference: Clarke et al. 2008, doi:10.1145/1390334.1390446
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Reciprocal(Novelty):
    """Base of those that divide a gain by its rank."""

    @property
    def weighs(self) -> Discount:
        """What a rank takes away."""
        return Discount("position")


@dataclass(frozen=True, kw_only=True, repr=False)
class ERR_IA(Reciprocal, Perfect):
    """Expected reciprocal rank by subtopic: of where readers, each after one subtopic, stop.

    Formula: Σ_{r≤k} Σ_s covers(r, s) (1 - α)^(times s was covered above r) / r, divided by that of
    k documents which cover every subtopic

    This is ndeval's: grades count as relevant or not, each relevant document stops a reader with
    probability α, and all subtopics are equally likely. It divides by nothing at cutoff 1
    (``denominator=perfect(k>1)``).

    >>> (ERR_IA @ 2)([{"a": 1}, {"a": 1, "b": 1}])
    0.7

    Reference: Chapelle et al. 2009, doi:10.1145/1645953.1646033; Clarke et al. 2011 for the form
    here, doi:10.1145/1935826.1935847
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class nERR_IA(Reciprocal, Normalised):
    """Normalised expected reciprocal rank by subtopic: ERR_IA over that of an ideal list.

    Formula: ERR-IA@k / ERR-IA@k of the ideal list

    The ideal list is that of alpha_nDCG, and values can exceed 1 as there.

    >>> round((nERR_IA @ 2)([{"a": 1}, {"a": 1, "b": 1}]), 4)
    0.7778

    Reference: Chapelle et al. 2009, doi:10.1145/1645953.1646033; Clarke et al. 2011 for the form
    here, doi:10.1145/1935826.1935847
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class OverSubtopics(PerGroup):
    """Base of means over the subtopics that have a relevant document."""

    needs: ClassVar[str] = "subtopics"


@dataclass(frozen=True, kw_only=True, repr=False)
class AP_IA(OverSubtopics, AP):
    """Intent-aware average precision: the mean over subtopics; its mean is MAP-IA.

    Formula: (1/M) Σ_s AP(list, judgments of subtopic s), over the M subtopics with a relevant
    document

    All subtopics weigh the same. Called with a list, each document is a dict of its grades by
    subtopic.

    >>> AP_IA()([{"a": 1, "b": 0}, {"a": 1, "b": 1}])
    0.75

    Reference: Agrawal et al. 2009, doi:10.1145/1498759.1498766
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class P_IA(OverSubtopics, P):
    """Intent-aware precision: the mean over subtopics of precision among the first k.

    Formula: (1/M) Σ_s P@k(list, judgments of subtopic s), over the M subtopics with a relevant
    document

    All subtopics weigh the same. Called with a list, each document is a dict of its grades by
    subtopic.

    >>> (P_IA @ 2)([{"a": 1, "b": 0}, {"a": 1, "b": 1}])
    0.75

    Reference: Agrawal et al. 2009, doi:10.1145/1498759.1498766
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class StRecall(OverSubtopics, Success):
    """Subtopic recall: the share of the subtopics that are covered by the first k documents.

    Formula: subtopics with a relevant document in the first k / subtopics with a relevant document

    Called with a list, each document is a dict of its grades by subtopic.

    >>> (StRecall @ 1)([{"a": 1, "b": 0}, {"a": 1, "b": 1}])
    0.5

    Reference: Zhai et al. 2003, doi:10.1145/860435.860440
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Patient(Novelty):
    """Base of those whose reader goes on to the next document with probability beta."""

    beta: float = parameter(0.5, number(0, 1), "the probability to go on")

    takes_cutoff: ClassVar[bool] = False

    @property
    def weighs(self) -> Discount:
        """What a rank takes away."""
        return geometric(float(self.beta))


@dataclass(frozen=True, kw_only=True, repr=False)
class NRBP(Patient):
    """Novelty- and rank-biased precision: rank-biased precision by subtopic.

    Formula: (1 - (1 - α) β) / M · Σ_r β^(r-1) Σ_s covers(r, s) (1 - α)^(times s was covered above
    r), over the M subtopics with a relevant document

    The factor makes an endless list of documents that cover every subtopic worth 1.

    >>> NRBP()([{"a": 1}, {"a": 1, "b": 1}])
    0.65625

    Reference: Clarke et al. 2009, doi:10.1007/978-3-642-04417-5_17
    """

    def combined(self, total: Floats, number: Floats, placements: Placements) -> Floats:
        """Divide by the sum of as many subtopics in endless perfect documents."""
        return total * (1.0 - (1.0 - self.alpha) * self.beta) / number


@dataclass(frozen=True, kw_only=True, repr=False)
class nNRBP(Patient, Normalised):
    """Normalised novelty- and rank-biased precision: NRBP over that of an ideal list.

    Formula: NRBP / NRBP of the ideal list

    The ideal list is that of alpha_nDCG, and values can exceed 1 as there.

    >>> round(nNRBP()([{"a": 1}, {"a": 1, "b": 1}]), 4)
    0.7778

    Reference: Clarke et al. 2009, doi:10.1007/978-3-642-04417-5_17
    """
