"""Cumulative gain: CG, DCG, nDCG and IDCG, in every form published or shipped."""

from __future__ import annotations

import math

import numpy as np

from idealist.errors import UsageError
from idealist.measures.base import NO_RELEVANT
from idealist.measures.gains import DISCOUNT, GAIN, Discount, Gaining, gain_of, named_grades
from idealist.notation import Kind, Written, call, choice, parameter, text, to_number
from idealist.ranking.padded_lists import Array, PaddedLists

_REL = Kind("none or a grade", lambda value: "none" if value == "none" else text(to_number(value)))


class CG(Gaining):
    """Cumulative gain: the total gain of the retrieved documents, whatever their ranks.

    Formula: Σ_{r≤k} gain(grade_r)

    >>> (CG @ 5)([1, 3, 0, 2, 2])
    8.0

    Reference: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418
    """

    gain: Written = parameter("linear", GAIN, "the gain of each grade")
    rel: Written = parameter("none", _REL, "documents below this grade gain nothing")
    negative: str = parameter(
        "zero", choice("zero", "keep"), "negative grades gain nothing (zero) or subtract (keep)"
    )

    averages_ties = True
    limits = 0.0, math.inf

    def gains(self, lists: PaddedLists, grade: Array, there: Array) -> Array:
        """Return the gain of each grade, 0 where there is no document."""
        xp = lists.xp
        threshold = 1.0 if self.rel == "none" else float(self.rel)
        gains = gain_of(self.gain, lists, grade, threshold)
        counted = there if self.rel == "none" else there & (grade >= threshold)
        if self.negative == "zero":
            counted = counted & (grade >= 0)
        return xp.where(counted, gains, 0.0)

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Return the range, without a lower bound if negative gains are kept."""
        low, high = self.limits
        return (-math.inf if self.negative == "keep" and lowest < 0 else low), high

    def formula(self, lists: PaddedLists) -> Array:
        """Sum the gains."""
        return Discount("none").sum(lists, self.gains(lists, lists.grade, lists.found), self.cutoff)


class DCG(CG):
    """Discounted cumulative gain: gains count less the further down the list they come.

    Formula: Σ_{r≤k} gain(grade_r) / discount(r)

    With ``negative=keep`` this is signed DCG: documents with negative grades subtract.

    >>> round((DCG @ 5)([1, 3, 0, 2, 2]), 3)
    4.528

    Reference: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418
    """

    discount: Written = parameter("log2", DISCOUNT, "how a rank discounts the gain")

    def formula(self, lists: PaddedLists) -> Array:
        """Sum the discounted gains."""
        near = lists.upto(self.cutoff)
        what = ("gains", self.gain, self.rel, self.negative)
        gains = near.once(what, lambda: self.gains(near, near.grade, near.found))
        return Discount(self.discount).sum(near, gains, self.cutoff)


class nDCG(DCG):
    """Normalised discounted cumulative gain: DCG divided by the DCG of the ideal list.

    Formula: DCG@k / IDCG@k, where IDCG is the DCG of the best possible list

    The ideal list is built from all judged documents, from the retrieved ones, or from k perfect
    ones; it is cut at k, at min(k, retrieved), or not at all. With ``negative=keep`` it leaves out
    documents that subtract, unless ``ideal_negative=keep`` includes them, as list-wise tools do.

    >>> round((nDCG @ 5)([1, 3, 0, 2, 2]), 4)
    0.7954

    Reference: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418; Burges et al. 2005 for the
    gain 2^g - 1, doi:10.1145/1102351.1102363
    """

    ideal: str = parameter(
        "judged", choice("judged", "retrieved", "perfect"), "what the ideal list is built from"
    )
    ideal_cut: str = parameter("k", choice("k", "min(k,n)", "none"), "where the ideal list is cut")
    ideal_negative: str = parameter(
        "omit", choice("omit", "keep"), "whether the ideal list includes documents that subtract"
    )
    no_relevant: Written = parameter("0", NO_RELEVANT, "the value if the ideal list has no gain")

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Return the range: [0, 1], unless negative gains are kept."""
        low, _ = super().bounds(lowest)
        return low, math.inf if low < 0 and self.ideal_negative == "keep" else 1.0

    @property
    def list_only(self) -> bool:
        """Whether the ideal list is built from the retrieved documents."""
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
        """Return the ideal DCGs, which queries have no gain, and whether all can be divisors."""
        ideal = self.ideal_dcg(lists)
        nothing = ~(self._judged_gains(lists, 1)[:, 0] > 0)
        return ideal, nothing, not lists.possibly(nothing | (ideal <= 0))

    def ideal_dcg(self, lists: PaddedLists) -> Array:
        """Compute the DCG of the ideal list."""
        if self.ideal == "perfect":
            return self._perfect_dcg(lists)
        xp = lists.xp
        cut = self.cutoff is not None and self.ideal_cut != "none"
        reach = self.cutoff + 1 if cut else None  # type: ignore[operator]  # one more, as in upto
        pooled = self.ideal == "judged"
        gains = (self._judged_gains if pooled else self._listed_gains)(lists, reach)
        if self.ideal_negative == "omit":
            gains = xp.where(gains > 0, gains, 0.0)
        rank = self._ideal_ranks(lists, gains)
        discounted = Discount(self.discount).apply(lists, gains, rank, self._deepest(lists))
        return lists.total(xp.where(self._in_ideal(lists, rank), discounted, 0.0))

    def _judged_gains(self, lists: PaddedLists, count: int | None) -> Array:
        """Return the gains of all judged documents, highest first; `count` of them are needed."""
        if call(self.gain)[0] != "table":  # the higher the grade, the higher the gain
            return self.gains(lists, *lists.best(count))
        return self._sorted_gains(lists, lists.pool, lists.judged, count)

    def _listed_gains(self, lists: PaddedLists, count: int | None) -> Array:
        return self._sorted_gains(lists, lists.grade, lists.found, count)

    def _sorted_gains(
        self, lists: PaddedLists, grade: Array, there: Array, count: int | None
    ) -> Array:
        xp, gains = lists.xp, self.gains(lists, grade, there)
        gains = lists.highest(xp.where(there, gains, -math.inf), count)
        return xp.where(gains > -math.inf, gains, 0.0)

    def _ideal_ranks(self, lists: PaddedLists, gains: Array) -> Array:
        """Rank the sorted gains; documents that subtract come after the unjudged ones."""
        rank = lists.constant(np.arange(1, gains.shape[1] + 1))[None, :]
        if self.ideal == "judged" or self.ideal_negative == "omit":
            return rank
        unjudged = lists.number(lists.retrieved) - lists.count(lists.found)
        unjudged = lists.xp.astype(unjudged, lists.xp.int64)
        return lists.xp.where(gains < 0, rank + unjudged[:, None], rank)

    def _deepest(self, lists: PaddedLists) -> int:
        return max(lists.longest, int(lists.pool.shape[1]))

    def _in_ideal(self, lists: PaddedLists, rank: Array) -> Array:
        inside = rank >= 1
        if self.ideal_cut != "none" and self.cutoff is not None:
            inside = inside & (rank <= self.cutoff)
        if self.ideal_cut == "min(k,n)":
            inside = inside & (rank <= lists.retrieved[:, None])
        return inside

    def _perfect_dcg(self, lists: PaddedLists) -> Array:
        if self.cutoff is None:
            hint = "add one, as in nDCG(ideal=perfect)@10"
            raise UsageError("ideal=perfect needs a cutoff", hint)
        best = lists.constant([[lists.maximum, *named_grades(self.gain, lists.maximum)]])
        gain = lists.xp.max(self.gains(lists, best, best > -math.inf))
        judged = lists.xp.max(self.gains(lists, lists.pool, lists.judged), axis=1)
        weights = Discount(self.discount).weights(self.cutoff)[1 : self.cutoff + 1]
        return lists.xp.maximum(judged, gain) * float(sum(weights.tolist()))


class IDCG(nDCG):
    """Ideal DCG: the DCG of the ideal list, the divisor of nDCG (trec_eval's ideal_dcg).

    Formula: Σ_{r≤k} gain(ideal grade_r) / discount(r)

    >>> round(IDCG()([0], judged=[2, 1]), 4)
    2.6309

    Reference: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418
    """

    direction = 0
    judges = False

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Return the range, that of DCG."""
        return CG.bounds(self, lowest)

    def formula(self, lists: PaddedLists) -> Array:
        """Compute the DCG of the ideal list."""
        return self.ideal_dcg(lists)


class nDCGMinMax(DCG):
    """Signed nDCG: DCG rescaled so that the worst possible list is 0 and the best is 1.

    Formula: (DCG@k - worst) / (best - worst), where best is the DCG of the judged documents with
    positive gain, largest first, and worst the DCG of those that subtract, most harmful first

    Negative grades, such as for spam or harm, subtract. Without them this is nDCG. A list of
    unjudged documents only is above 0, because it could be worse.

    >>> round(nDCGMinMax()([-1, 1]), 4), nDCGMinMax()([None], judged=[1, -1])
    (0.3155, 0.5)

    Reference: Gienapp et al. 2020, doi:10.1145/3340531.3412123
    """

    negative: str = parameter(
        "keep", choice("zero", "keep"), "negative grades gain nothing (zero) or subtract (keep)"
    )
    no_relevant: Written = parameter(
        "0", NO_RELEVANT, "the value if no document gains or subtracts"
    )

    lacking = "document with a gain, positive or negative"

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Return the range."""
        return 0.0, 1.0

    def formula(self, lists: PaddedLists) -> Array:
        """Rescale DCG between the worst and the best list."""
        gains = self.gains(lists, lists.pool, lists.judged)
        best, harm = self._dcg_of_best(lists, gains), self._dcg_of_best(lists, -gains)
        return lists.ratio(super().formula(lists) + harm, best + harm)

    def _dcg_of_best(self, lists: PaddedLists, gains: Array) -> Array:
        """Compute the DCG of the positive gains, largest first."""
        xp = lists.xp
        gains = lists.highest(xp.where(gains > 0, gains, 0.0))
        rank = lists.constant(np.arange(1, gains.shape[1] + 1))[None, :]
        if self.cutoff is not None:
            gains = xp.where(rank <= self.cutoff, gains, 0.0)
        return lists.total(Discount(self.discount).apply(lists, gains, rank, rank.shape[1]))
