"""What binary measures share: which documents are relevant, and how many there are."""

from __future__ import annotations

import math

import numpy as np

from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.measures.base import NO_RELEVANT, Measure
from idealist.notation import Written, choice, flag, number, parameter
from idealist.ranking.padded_lists import Array, PaddedLists
from idealist.ranking.placements import Placements


class Threshold(Measure):
    """Base of measures that ask whether a document is relevant."""

    rel: float = parameter(1, number(), "the lowest relevant grade")
    rel_op: str = parameter(">=", choice(">=", ">"), "whether that grade itself is relevant")

    def relevant(self, grade: Array) -> Array:
        """Mark the relevant grades."""
        return grade > self.rel if self.rel_op == ">" else grade >= self.rel

    def worth(self, placements: Placements) -> Floats:
        """Return 1 for each relevant document."""
        relevant: Floats = self.filled().relevant(placements.grade).astype(np.float64)
        return relevant

    def hits(self, lists: PaddedLists) -> Array:
        """Mark the relevant documents among those found."""
        what = ("hits", self.rel, self.rel_op)
        return lists.once(what, lambda: lists.found & self.relevant(lists.grade))

    def listed_relevant(self, lists: PaddedLists) -> Array:
        """Count the relevant documents retrieved, R_list."""
        return lists.count(lists.found & self.relevant(lists.grade))

    def all_relevant(self, lists: PaddedLists) -> Array:
        """Count the judged relevant documents, R."""

        def count() -> Array:
            return lists.count(lists.judged & self.relevant(lists.pool))

        return lists.once(("relevant", self.rel, self.rel_op), count, pooled=True)

    def of_relevant(self, lists: PaddedLists, part: Array) -> Array:
        """Divide by R; NaN if nothing is relevant."""

        def divisor() -> Array:
            relevant = self.all_relevant(lists)
            return lists.xp.where(relevant > 0, relevant, math.nan)

        return part / lists.once(("divisor", self.rel, self.rel_op), divisor, pooled=True)


class Binary(Threshold):
    """Base of quality measures with binary relevance."""

    positive_score: bool = parameter(False, flag(), "count only documents with a score above 0")
    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without relevant documents")

    def hits(self, lists: PaddedLists) -> Array:
        """Mark the relevant documents among those found."""
        hits = super().hits(lists)
        if not self.positive_score:
            return hits
        if lists.surely(lists.found & lists.xp.isnan(lists.score)):
            hint = "use a run with scores, or leave out positive_score"
            raise UsageError("positive_score needs scores, but the run only has an order", hint)
        return hits & (lists.score > 0)

    def so_far(self, lists: PaddedLists) -> Array:
        """Count the relevant documents down to each one."""

        def count() -> Array:
            return lists.xp.cumulative_sum(lists.number(self.hits(lists)), axis=1)

        return lists.once(("so far", self.rel, self.rel_op, self.positive_score), count)

    def near(self, lists: PaddedLists) -> PaddedLists:
        """Cut the lists at the cutoff, unless every document's score is needed."""
        return lists if self.positive_score else lists.upto(self.cutoff)

    def defined(self, lists: PaddedLists, values: Array, whole: Array | None = None) -> Array:
        """Return the values, NaN for queries without relevant documents.

        `whole` is the divisor of a measure that sees the retrieved list only: a list without
        relevant documents is then undefined too, but an empty list is still worth 0.
        """
        relevant = self.all_relevant(lists)
        if whole is not None:
            nothing = (relevant == 0) | ((whole <= 0) & (lists.retrieved > 0))
            return lists.xp.where(nothing, math.nan, values)
        what = ("some relevant", self.rel, self.rel_op)
        gaps = lists.once(what, lambda: lists.possibly(relevant == 0), pooled=True)
        return lists.xp.where(relevant == 0, math.nan, values) if gaps else values
