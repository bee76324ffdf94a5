"""nDCG for judgments with negative grades, kept between 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idealist.lists import Array, Lists
from idealist.measures.base import NO_RELEVANT
from idealist.measures.cumulative import DCG
from idealist.measures.discounts import Discount
from idealist.notation import Written, choice, parameter


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

    def formula(self, lists: Lists) -> Array:
        """Place DCG between that of the worst list and that of the best."""
        gains = self.gains(lists, lists.pool, lists.judged)
        best, harm = self._dcg_of_best(lists, gains), self._dcg_of_best(lists, -gains)
        return lists.ratio(super().formula(lists) + harm, best + harm)

    def _dcg_of_best(self, lists: Lists, gains: Array) -> Array:
        """Compute the DCG of the gains above 0, greatest first."""
        xp = lists.xp
        gains = -xp.sort(-xp.where(gains > 0, gains, 0.0), axis=1)
        rank = xp.cumulative_sum(xp.ones_like(lists.judged, dtype=xp.int64), axis=1)
        if self.cutoff is not None:
            gains = xp.where(rank <= self.cutoff, gains, 0.0)
        return lists.total(Discount(self.discount).apply(lists, gains, rank, rank.shape[1]))
