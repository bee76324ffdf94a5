"""Measures of pairs of documents: how often the better one stands above the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idealist.errors import UsageError
from idealist.lists import Array, Lists
from idealist.measures.base import NO_RELEVANT, Measure
from idealist.measures.relevance import Threshold
from idealist.notation import Written, parameter


def above(lists: Lists, mask: Array) -> Array:
    """Count those of some documents that stand above each one; with `expected` ties, on average."""
    xp, own = lists.xp, lists.number(mask)
    before = xp.cumulative_sum(own, axis=1) - own
    if not lists.averaged:
        return before
    first = xp.take_along_axis(before, lists.start, axis=1)
    last = xp.take_along_axis(before + own, lists.end, axis=1)
    return (first + last) / 2.0


def unjudged_above(lists: Lists) -> Array:
    """Count the unjudged documents above each one; with `expected` ties, on average."""
    if not lists.averaged:
        return lists.number(lists.rank) - 1.0 - above(lists, lists.found)
    ranks = lists.number(lists.first - 1) + lists.number(lists.last)
    return ranks / 2.0 - above(lists, lists.found)


@dataclass(frozen=True, kw_only=True, repr=False)
class Accuracy(Threshold):
    """Accuracy of pairs, also AUC: how often a relevant document stands above another one.

    Formula: 1 - Σ_{relevant r≤k} o_r / (h (n - h)), with o_r documents above r that are not
    relevant, and h relevant documents among the n = min(k, retrieved)

    Only retrieved documents are compared; unjudged ones are not relevant. This is the area under
    the ROC curve of each list, where a tied pair counts one half: ``ties=expected``. Without a pair
    to compare, since all or none of the n documents are relevant, there is no value: ir_measures
    leaves such queries out or fails, torchmetrics and CatBoost give 0, which is the default here.

    >>> Accuracy()([1, 0, 1, 0]), (Accuracy @ 3)([0, 1, None])
    (0.75, 0.5)

    Reference: ir_measures 0.4.3, Accuracy; Hanley and McNeil 1982 for the area,
    doi:10.1148/radiology.143.1.7063747
    """

    no_relevant: Written = parameter("0", NO_RELEVANT, "the value where there is no pair")

    averages_ties: ClassVar[bool] = True
    lacking: ClassVar[str] = "pair of documents to compare"
    monotone: ClassVar[bool] = False  # a cutoff decides which documents are compared

    def formula(self, lists: Lists) -> Array:
        """Count the pairs in the wrong order."""
        if self.cutoff is not None and lists.averaged:
            hint = "choose another order of ties, or leave out the cutoff"
            raise UsageError("Accuracy@k has no closed form for ties=expected", hint)
        hits = lists.within(self.cutoff) & self.relevant(lists.grade)
        others = above(lists, lists.found & ~hits) + unjudged_above(lists)
        found = lists.count(hits)
        pairs = found * (lists.lengths(self.cutoff) - found)
        return 1.0 - lists.ratio(lists.total(lists.xp.where(hits, others, 0.0)), pairs)


@dataclass(frozen=True, kw_only=True, repr=False)
class OPA(Measure):
    """Ordered pair accuracy: how often the document with the higher grade stands above the other.

    Formula: pairs of retrieved documents with different grades in the right order / all such pairs

    Unjudged documents take no part. TF-Ranking and Rax count a tied pair as wrong, which is
    ``ties=worst``; CatBoost, in QueryAUC:type=Ranking, as one half, which is ``ties=expected``.

    >>> OPA()([1, 3, 0, 2])
    0.5

    Reference: Rax 0.4.0, opa_metric
    """

    no_relevant: Written = parameter("0", NO_RELEVANT, "the value where there is no pair")

    takes_cutoff: ClassVar[bool] = False
    averages_ties: ClassVar[bool] = True
    lacking: ClassVar[str] = "pair of documents to compare"

    def formula(self, lists: Lists) -> Array:
        """Count, grade by grade, documents with a lower one: all in the list, and those above."""
        xp = lists.xp
        wrong = pairs = xp.zeros_like(lists.number(lists.retrieved))
        for level in lists.levels(lists.found, lists.grade):
            own = lists.found & (lists.grade == level)
            lower = lists.found & (lists.grade < level)
            wrong = wrong + lists.total(xp.where(own, above(lists, lower), 0.0))
            pairs = pairs + lists.count(own) * lists.count(lower)
        return 1.0 - lists.ratio(wrong, pairs)
