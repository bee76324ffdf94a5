"""Users who may stop at every document: ERR, RBP and their relatives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Self

import numpy as np

from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.measures.base import NO_RELEVANT, Measure
from idealist.measures.gains import GAIN, Discount, check_power, counted, gain_of, geometric
from idealist.notation import ABOVE_0, BELOW_1, Value, Written, choice, number, parameter, whole
from idealist.ranking.padded_lists import Array, PaddedLists, padded
from idealist.ranking.placements import Placements

GOING_ON = number(0, BELOW_1, "a number from 0 to below 1")
MAX_GRADE = number(
    ABOVE_0,
    math.inf,
    "observed (the highest of the scale or else of the judgments), or a grade",
    "observed",
)


class ERR(Measure):
    """Expected reciprocal rank: of the document at which a satisfied user stops.

    Formula: Σ_{r≤k} (1/r) p_r Π_{j<r} (1 - p_j), with p = (2^g - 1) / 2^max_grade

    gdeval fixes max_grade=4. The default here is the highest grade of the declared scale or,
    without one, of the judgments.

    >>> ERR(max_grade=1)([0, 1])
    0.25

    Reference: Chapelle et al. 2009, doi:10.1145/1645953.1646033
    """

    max_grade: Written = parameter("observed", MAX_GRADE, "the grade of a perfect document")
    probability: str = parameter(
        "exp2", choice("exp2", "identity"), "how a grade becomes the probability of stopping"
    )
    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without relevant documents")

    def stops(self, lists: PaddedLists, grade: Array) -> Array:
        """Return the probability of stopping at a document of each grade."""
        xp = lists.xp
        grade = xp.where(grade > 0, grade, 0.0)
        highest = lists.maximum if self.max_grade == "observed" else float(self.max_grade)
        limit = 1.0 if self.probability == "identity" else highest
        pool = xp.where(lists.judged, lists.pool, 0.0)
        if lists.surely(pool > max(limit, 0.0)):
            hint = "set max_grade, or use grades in [0, 1] with probability=identity"
            top = f"grade {float(xp.max(pool)):g}"
            raise UsageError(f"{self.name}: {top} is above the maximum of {limit:g}", hint)
        if self.probability == "identity":
            return grade
        check_power(lists, lists.constant([highest]))
        return (xp.pow(xp.full_like(grade, 2.0), grade) - 1.0) / 2.0**highest

    @property
    def discount(self) -> Discount:
        """What the rank of the document is worth."""
        return Discount("position")

    def expected(self, lists: PaddedLists, stop: Array, rank: Array, depth: int) -> Array:
        """Sum the worth of the ranks, weighted by the probability of stopping there."""
        going = lists.xp.cumulative_prod(1.0 - stop, axis=1, include_initial=True)[:, :-1]
        return lists.total(self.discount.apply(lists, stop * going, rank, depth))

    def formula(self, lists: PaddedLists) -> Array:
        """Sum the reciprocal ranks, weighted by the probability of stopping there."""
        xp = lists.xp
        near = lists.upto(self.cutoff)
        stop = xp.where(near.within(self.cutoff), self.stops(lists, near.grade), 0.0)
        value = self.expected(near, stop, near.rank, near.depth)
        nothing = ~xp.any(lists.judged & (lists.pool > 0), axis=1)
        return xp.where(nothing, math.nan, value)


class RBP(Measure):
    """Rank-biased precision: a user continues to the next document with probability p.

    Formula: (1 - p) Σ_{r≤k} gain(grade_r) p^(r-1)

    Gains are in [0, 1]. As in trec_eval, ``scale=query`` divides them by the highest gain judged
    for the query if that is above 1. ``gain=binary`` counts documents of grade `rel` and above, as
    in ir_measures; it is the default if only `rel` is set. ``gain=scaled(0,3)`` divides grades by
    3. `normalise_depth=N` counts the first N ranks only and divides by their total weight, as
    cwl_eval does with N = 1000.

    >>> RBP(p=0.5)([1, 0, 1])
    0.625

    Reference: Moffat and Zobel 2008, doi:10.1145/1416950.1416952
    """

    p: float = parameter(0.9, GOING_ON, "the probability of continuing to the next document")
    gain: Written = parameter("linear", GAIN, "the gain of each grade")
    rel: float = parameter(1, number(), "the lowest relevant grade")
    scale: str = parameter(
        "query", choice("none", "query"), "whether to divide gains by the query's highest"
    )
    normalise_depth: Written = parameter(
        "none",
        whole(1, "none or a number of ranks", "none"),
        "the ranks that count, whose weights sum to 1",
    )
    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without relevant documents")

    averages_ties = True

    def filled(self, convention: Mapping[str, Value] | None = None) -> Self:
        """Set the parameters left open; if only `rel` is set, gains are binary."""
        given = {**(convention or {}), **self.written()}
        counts = "rel" in given and "gain" not in given
        return super().filled({**given, "gain": "binary"} if counts else convention)

    def worth(self, placements: Placements) -> Floats:
        """Return the gain of each ranked document."""
        filled, grade = self.filled(), placements.grade
        gains: Floats = gain_of(filled.gain, padded([]), grade, filled.rel)
        return np.where(grade >= 0, gains, 0.0)

    def formula(self, lists: PaddedLists) -> Array:
        """Sum the gains, weighted by the probability that they are seen."""
        xp = lists.xp
        gains = self.gains(lists)
        value = (1.0 - self.p) * geometric(self.p).sum(lists, gains, self.last) / self.share
        threshold = self.rel if self.gain == "binary" else math.nextafter(0, 1)
        nothing = ~xp.any(lists.judged & (lists.pool >= threshold), axis=1)
        return xp.where(nothing, math.nan, value)

    @property
    def share(self) -> float:
        """The total weight of the ranks that count, by which the sum is divided."""
        return 1.0 if self.normalise_depth == "none" else 1.0 - self.p**self.normalise_depth

    @property
    def last(self) -> int | None:
        """The last rank that counts: the cutoff, or `normalise_depth` if that is less."""
        if self.normalise_depth == "none":
            return self.cutoff
        depth = int(self.normalise_depth)
        return min(depth, self.cutoff or depth)

    def gains(self, lists: PaddedLists) -> Array:
        """Return the gain of each document found, in [0, 1]."""
        xp = lists.xp
        gains = gain_of(self.gain, lists, lists.grade, self.rel)
        gains = xp.where(lists.found & (lists.grade >= 0), gains, 0.0)
        if self.scale == "query":
            gains = gains / self._highest(lists)
        if lists.surely(gains > 1):
            hint = "use scale=query, gain=binary, or gain=scaled(0,HIGHEST)"
            raise UsageError(f"RBP: a gain of {float(xp.max(gains)):g} is above 1", hint)
        return gains

    def _highest(self, lists: PaddedLists) -> Array:
        """Return the highest gain judged for each query, at least 1."""
        gains = gain_of(self.gain, lists, lists.pool, self.rel)
        gains = lists.xp.where(lists.judged & (lists.pool >= 0), gains, 1.0)
        return lists.xp.max(lists.xp.maximum(gains, 1.0), axis=1, keepdims=True)


class RBPResidual(Measure):
    """RBP residual: how much unjudged documents and ranks below the list could add to RBP.

    Formula: p^n + (1 - p) Σ_{r≤n, r unjudged} p^(r-1), where n is the number of documents viewed

    If all documents of a list are judged, the formula gives p^n, but trec_eval prints 0.

    >>> RBPResidual(p=0.5)([1, None])
    0.5

    Reference: Moffat and Zobel 2008, doi:10.1145/1416950.1416952
    """

    p: float = parameter(0.9, GOING_ON, "the probability of continuing to the next document")
    negative: str = parameter(
        "unjudged", choice("judged", "unjudged"), "whether a negative grade counts as judged"
    )
    all_judged: str = parameter(
        "0", choice("tail", "0"), "the value of a fully judged list: p^n (tail), or 0"
    )

    direction = -1
    judges = False
    averages_ties = True

    def worth(self, placements: Placements) -> Floats:
        """Return 1 for each judged document."""
        known = self.filled().negative == "judged"
        return np.where(known | (placements.grade >= 0), 1.0, 0.0)

    def formula(self, lists: PaddedLists) -> Array:
        """Subtract the weight of the judged documents from 1."""
        known = lists.found & ((lists.grade >= 0) | (self.negative == "judged"))
        weight = geometric(self.p).sum(lists, lists.number(known), self.cutoff)
        residual = 1.0 - (1.0 - self.p) * weight
        if self.all_judged == "tail":
            return residual
        if lists.averaged and self.cutoff is not None:
            hint = "choose another tie order, or all_judged=tail"
            raise UsageError("RBPResidual(all_judged=0) has no closed form for ties=expected", hint)
        judged = counted(lists, known, self.cutoff)
        return lists.xp.where(judged < lists.lengths(self.cutoff), residual, 0.0)


class nERR(ERR):
    """Normalised expected reciprocal rank: ERR divided by the ERR of the ideal list.

    Formula: ERR@k / ERR*@k, where ERR* is the ERR of all judged documents, highest grade first

    ERR itself reaches less than 1 even for an ideal list, depending on its grades; nERR is then 1.

    >>> round(nERR(max_grade=2)([0, 2, 1]), 4)
    0.5067

    Reference: Sakai and Song 2011, doi:10.1145/2009916.2010055
    """

    def formula(self, lists: PaddedLists) -> Array:
        """Divide ERR by the ERR of the ideal list."""
        ideal = lists.once(self, lambda: self._ideal(lists), pooled=True)
        return lists.ratio(super().formula(lists), ideal)

    def _ideal(self, lists: PaddedLists) -> Array:
        grade, judged = lists.best(self.cutoff)
        rank = lists.constant(np.arange(1, grade.shape[1] + 1))[None, :]
        stop = lists.xp.where(judged, self.stops(lists, grade), 0.0)
        return self.expected(lists, stop, rank, grade.shape[1])


class PFound(ERR):
    """PFound: the probability that a user who may lose patience finds an answer.

    Formula: Σ_{r≤k} decay^(r-1) p_r Π_{j<r} (1 - p_j), where p is the probability that a document
    answers

    By default the grade is this probability, between 0 and 1, as in CatBoost. With
    ``probability=exp2`` it is that of ERR, and PFound differs from ERR only in the discount.

    >>> PFound(decay=0.5)([0.5, 0, 1])
    0.625

    Reference: Gulin et al. 2009, Yandex at ROMIP'2009: Optimization of Ranking Algorithms by
    Machine Learning Methods, as implemented in CatBoost
    """

    probability: str = parameter(
        "identity", choice("exp2", "identity"), "how a grade becomes the probability of stopping"
    )
    decay: float = parameter(0.85, number(0, 1), "the probability of continuing")

    @property
    def discount(self) -> Discount:
        """What the rank of the document is worth."""
        return geometric(self.decay)
