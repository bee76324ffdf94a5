"""Averages over the documents of a list: AverageGain, and ARP, an average of ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from idealist.lists import Array, Lists, lists_of
from idealist.measures.base import NO_RELEVANT, Measure
from idealist.measures.cumulative import CG
from idealist.measures.gains import GAIN, gain_of
from idealist.notation import Written, parameter
from idealist.placements import Placements
from idealist.tables.columns import Floats


@dataclass(frozen=True, kw_only=True, repr=False)
class AverageGain(CG):
    """Average gain: what the first k documents are worth in the mean.

    Formula: (1/min(k,n)) Σ_{r≤k} gain(grade_r)

    CatBoost calls it also QueryAverage. Unjudged documents are worth nothing, and count.

    >>> (AverageGain @ 2)([1, 3, 0])
    2.0

    Reference: CatBoost 1.2.10, AverageGain
    """

    def formula(self, lists: Lists) -> Array:
        """Divide the sum of gains by the documents looked at."""
        return lists.ratio(super().formula(lists), lists.lengths(self.cutoff), 0.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class ARP(Measure):
    """Average relevance position: the mean rank of the retrieved documents, weighed by gain.

    Formula: Σ_r gain(grade_r) r / Σ_r gain(grade_r)

    Relevant documents that were not retrieved do not count. A list that holds none has no value
    and is left out by default. TF-Ranking weighs each list in its mean by the sum of its gains.

    >>> ARP()([0, 1, 3])
    2.75

    Reference: TF-Ranking 0.5.5, ARPMetric
    """

    gain: Written = parameter("linear", GAIN, "what a grade is worth")
    no_relevant: Written = parameter(
        "skip", NO_RELEVANT, "the value of a list without relevant documents"
    )

    takes_cutoff: ClassVar[bool] = False
    direction: ClassVar[int] = -1
    averages_ties: ClassVar[bool] = True

    @property
    def list_only(self) -> bool:
        """Whether it is blind to relevant documents that were not retrieved."""
        return True

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range of a rank, and of what stands for none."""
        return 0.0, math.inf

    def worth(self, placements: Placements) -> Floats:
        """Give each place its gain."""
        grade = placements.grade
        gains: Floats = gain_of(self.filled().gain, lists_of([]), grade)
        return np.where(grade >= 0, gains, 0.0)

    def formula(self, lists: Lists) -> Array:
        """Average the ranks; with `expected` ties, a document has the mean rank of its tie."""
        gains = gain_of(self.gain, lists, lists.grade)
        gains = lists.xp.where(lists.found & (lists.grade >= 0), gains, 0.0)
        rank = lists.number(lists.rank)
        if lists.averaged:
            rank = (lists.number(lists.first) + lists.number(lists.last)) / 2.0
        return lists.ratio(lists.total(gains * rank), lists.total(gains))
