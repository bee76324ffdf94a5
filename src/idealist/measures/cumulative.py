"""Cumulative gain: CG, DCG, nDCG and IDCG, in every form they are published and shipped in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.measures.base import NO_RELEVANT, Measure
from idealist.measures.gains import DISCOUNT, GAIN, Discount, gain_of, named_grades
from idealist.notation import Kind, Written, choice, parameter, text, to_number
from idealist.ranking.padded_lists import Array, PaddedLists, padded
from idealist.ranking.placements import Placements

_REL = Kind("none or a grade", lambda value: "none" if value == "none" else text(to_number(value)))


@dataclass(frozen=True, kw_only=True, repr=False)
class CG(Measure):
    """Cumulative gain: what the retrieved documents are worth together, wherever they stand.

    Formula: Σ_{r≤k} gain(grade_r)

    >>> (CG @ 5)([1, 3, 0, 2, 2])
    8.0

    Reference: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418
    """

    gain: Written = parameter("linear", GAIN, "what a grade is worth")
    rel: Written = parameter("none", _REL, "the grade below which a document is worth nothing")
    negative: str = parameter(
        "zero", choice("zero", "keep"), "a negative grade is worth nothing, or takes away"
    )

    averages_ties: ClassVar[bool] = True

    def gains(self, lists: PaddedLists, grade: Array, there: Array) -> Array:
        """Give the gain of each grade, 0 where there is none."""
        xp = lists.xp
        threshold = 1.0 if self.rel == "none" else float(self.rel)
        gains = gain_of(self.gain, lists, grade, threshold)
        counted = there if self.rel == "none" else there & (grade >= threshold)
        if self.negative == "zero":
            counted = counted & (grade >= 0)
        return xp.where(counted, gains, 0.0)

    def worth(self, placements: Placements) -> Floats:
        """Give each place its gain."""
        grade = placements.grade
        gains: Floats = self.filled().gains(padded([]), grade, grade > -math.inf)
        return gains

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range: unbounded above, and below where negative gains are kept."""
        return (-math.inf if self.negative == "keep" and lowest < 0 else 0.0), math.inf

    def formula(self, lists: PaddedLists) -> Array:
        """Sum the gains."""
        return Discount("none").sum(lists, self.gains(lists, lists.grade, lists.found), self.cutoff)


@dataclass(frozen=True, kw_only=True, repr=False)
class DCG(CG):
    """Discounted cumulative gain: gains count less the deeper they stand.

    Formula: Σ_{r≤k} gain(grade_r) / discount(r)

    With ``negative=keep`` this is the signed DCG: distractors take away.

    >>> round((DCG @ 5)([1, 3, 0, 2, 2]), 3)
    4.528

    Reference: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418
    """

    discount: Written = parameter("log2", DISCOUNT, "what a rank takes away")

    def formula(self, lists: PaddedLists) -> Array:
        """Sum the discounted gains."""
        near = lists.upto(self.cutoff)
        what = ("gains", self.gain, self.rel, self.negative)
        gains = near.once(what, lambda: self.gains(near, near.grade, near.found))
        return Discount(self.discount).sum(near, gains, self.cutoff)


@dataclass(frozen=True, kw_only=True, repr=False)
class nDCG(DCG):
    """Normalised discounted cumulative gain: DCG over that of the ideal list.

    Formula: DCG@k / IDCG@k, where IDCG is the DCG of the best possible list

    The ideal list is made of all judged documents, of the retrieved ones, or of k perfect ones; it
    is cut at k, at min(k, retrieved), or not. It leaves out what takes away (``negative=keep``)
    unless ``ideal_negative=keep`` says otherwise, as list-wise tools do.

    >>> round((nDCG @ 5)([1, 3, 0, 2, 2]), 4)
    0.7954

    Reference: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418; Burges et al. 2005 for the
    gain 2^g - 1, doi:10.1145/1102351.1102363
    """

    ideal: str = parameter(
        "judged", choice("judged", "retrieved", "perfect"), "the documents of the ideal list"
    )
    ideal_cut: str = parameter("k", choice("k", "min(k,n)", "none"), "where the ideal list is cut")
    ideal_negative: str = parameter(
        "omit", choice("omit", "keep"), "whether the ideal list holds documents that take away"
    )
    no_relevant: Written = parameter("0", NO_RELEVANT, "the value of a query without an ideal list")

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range: [0, 1], unless negative gains are kept."""
        if self.negative != "keep" or lowest >= 0:
            return 0.0, 1.0
        return -math.inf, math.inf if self.ideal_negative == "keep" else 1.0

    @property
    def list_only(self) -> bool:
        """Whether the ideal list is made of the retrieved documents."""
        return self.ideal == "retrieved"

    def formula(self, lists: PaddedLists) -> Array:
        """Divide DCG by the DCG of the ideal list."""
        dcg = super().formula(lists)
        if self.ideal == "retrieved" or self.ideal_cut == "min(k,n)":
            ideal, nothing, sound = self._ideals(lists)
        else:
            ideal, nothing, sound = lists.once(self, lambda: self._ideals(lists), pooled=True)
        if sound:
            return dcg / ideal
        nothing = nothing | ((ideal <= 0) & (lists.retrieved > 0))  # an empty list is worth 0
        return lists.xp.where(nothing, math.nan, lists.ratio(dcg, ideal, 0.0))

    def _ideals(self, lists: PaddedLists) -> tuple[Array, Array, bool]:
        """Give ideal DCGs, where nothing is worth anything, and whether all can be divided by."""
        xp, ideal = lists.xp, self.ideal_dcg(lists)
        nothing = ~xp.any(self.gains(lists, lists.pool, lists.judged) > 0, axis=1)
        return ideal, nothing, not bool(xp.any(nothing | (ideal <= 0)))

    def ideal_dcg(self, lists: PaddedLists) -> Array:
        """Compute the DCG of the ideal list."""
        if self.ideal == "perfect":
            return self._perfect_dcg(lists)
        xp = lists.xp
        pooled = self.ideal == "judged"
        grade, there = (lists.pool, lists.judged) if pooled else (lists.grade, lists.found)
        gains = self.gains(lists, grade, there)
        if self.ideal_negative == "omit":
            gains = xp.where(gains > 0, gains, 0.0)
        gains = -xp.sort(xp.where(there, -gains, math.inf), axis=1)  # highest first
        gains = xp.where(gains > -math.inf, gains, 0.0)
        rank = self._ideal_ranks(lists, gains, there)
        discounted = Discount(self.discount).apply(lists, gains, rank, self._deepest(lists))
        return lists.total(xp.where(self._in_ideal(lists, rank), discounted, 0.0))

    def _ideal_ranks(self, lists: PaddedLists, gains: Array, there: Array) -> Array:
        """Rank the sorted gains; those that take away come after the unjudged documents."""
        xp = lists.xp
        rank = lists.constant(range(1, gains.shape[1] + 1)) + xp.zeros_like(there, dtype=xp.int64)
        if self.ideal == "judged" or self.ideal_negative == "omit":
            return rank
        unjudged = lists.retrieved - xp.sum(xp.astype(there, xp.int64), axis=1)
        return xp.where(gains < 0, rank + unjudged[:, None], rank)

    def _deepest(self, lists: PaddedLists) -> int:
        return max(int(lists.xp.max(lists.retrieved)), int(lists.pool.shape[1]))

    def _in_ideal(self, lists: PaddedLists, rank: Array) -> Array:
        inside = rank >= 1
        if self.ideal_cut != "none" and self.cutoff is not None:
            inside = inside & (rank <= self.cutoff)
        if self.ideal_cut == "min(k,n)":
            inside = inside & (rank <= lists.retrieved[:, None])
        return inside

    def _perfect_dcg(self, lists: PaddedLists) -> Array:
        if self.cutoff is None:
            hint = "write nDCG(ideal=perfect)@10, or another cutoff"
            raise UsageError("an ideal list of perfect documents needs a cutoff", hint)
        best = lists.constant([[lists.maximum, *named_grades(self.gain, lists.maximum)]])
        gain = lists.xp.max(self.gains(lists, best, best > -math.inf))
        judged = lists.xp.max(self.gains(lists, lists.pool, lists.judged), axis=1)
        weights = Discount(self.discount).weights(self.cutoff)[1 : self.cutoff + 1]
        return lists.xp.maximum(judged, gain) * float(sum(weights.tolist()))


@dataclass(frozen=True, kw_only=True, repr=False)
class IDCG(nDCG):
    """The DCG of the ideal list, which nDCG divides by (trec_eval's ideal_dcg).

    Formula: Σ_{r≤k} gain(ideal grade_r) / discount(r)

    >>> round(IDCG()([0], judged=[2, 1]), 4)
    2.6309

    Reference: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418
    """

    direction: ClassVar[int] = 0
    judges: ClassVar[bool] = False

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range, as that of DCG."""
        return CG.bounds(self, lowest)

    def formula(self, lists: PaddedLists) -> Array:
        """Compute the DCG of the ideal list."""
        return self.ideal_dcg(lists)


@dataclass(frozen=True, kw_only=True, repr=False)
class nDCGMinMax(DCG):
    """Signed nDCG: DCG on a scale from the worst possible list, 0, to the best, 1.

    Formula: (DCG@k - worst) / (best - worst), best being the DCG of the documents judged to be
    worth something, greatest gain first, and worst that of those that take away, most first

    Negative grades, as for spam or harm, take away. Without them this is nDCG. A list of nothing
    but unjudged documents is not 0: it could be worse.

    >>> round(nDCGMinMax()([-1, 1]), 4), nDCGMinMax()([None], judged=[1, -1])
    (0.3155, 0.5)

    Reference: Gienapp et al. 2020, doi:10.1145/3340531.3412123
    """

    negative: str = parameter(
        "keep", choice("zero", "keep"), "a negative grade is worth nothing, or takes away"
    )
    no_relevant: Written = parameter(
        "0", NO_RELEVANT, "the value of a query where no document is worth anything or takes away"
    )

    lacking: ClassVar[str] = "document that is worth anything or takes away"

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range."""
        return 0.0, 1.0

    def formula(self, lists: PaddedLists) -> Array:
        """Place DCG between that of the worst list and that of the best."""
        gains = self.gains(lists, lists.pool, lists.judged)
        best, harm = self._dcg_of_best(lists, gains), self._dcg_of_best(lists, -gains)
        return lists.ratio(super().formula(lists) + harm, best + harm)

    def _dcg_of_best(self, lists: PaddedLists, gains: Array) -> Array:
        """Compute the DCG of the gains above 0, greatest first."""
        xp = lists.xp
        gains = -xp.sort(-xp.where(gains > 0, gains, 0.0), axis=1)
        rank = xp.cumulative_sum(xp.ones_like(lists.judged, dtype=xp.int64), axis=1)
        if self.cutoff is not None:
            gains = xp.where(rank <= self.cutoff, gains, 0.0)
        return lists.total(Discount(self.discount).apply(lists, gains, rank, rank.shape[1]))
