"""R-precision, at R and at multiples of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idealist.lists import Array, Lists
from idealist.measures.sets import Counted
from idealist.notation import choice, number, parameter


@dataclass(frozen=True, kw_only=True, repr=False)
class Rprec(Counted):
    """R-precision: precision among the first R documents, R being the number of relevant ones.

    Formula: relevant in the first c / c, with c = ⌊times · R + 0.9⌋, which is R by default

    ``times`` gives trec_eval's Rprec_mult; the 0.9 is its rule of rounding.

    >>> Rprec()([1, 0, 1], judged=[1]), Rprec(denominator="R_list")([1, 0, 1], judged=[1])
    (0.6666666666666666, 0.5)
    >>> Rprec(times=0.5)([1, 0, 1], judged=[1])
    0.5

    Reference: Buckley and Voorhees 2005, in TREC: Experiment and Evaluation, chapter 3
    """

    denominator: str = parameter(
        "R", choice("R", "R_list"), "what R counts: the relevant documents judged, or retrieved"
    )
    times: float = parameter(1, number(0, 1000), "how many times R documents are looked at")

    takes_cutoff: ClassVar[bool] = False

    @property
    def list_only(self) -> bool:
        """Whether R counts relevant documents of the list alone."""
        return self.denominator == "R_list"

    def formula(self, lists: Lists) -> Array:
        """Divide the relevant documents above the cutoff by it."""
        relevant, cutoff = self.reach(lists)
        share = lists.ratio(self.found(lists, cutoff), lists.number(cutoff[:, 0]), 0.0)
        return self.defined(lists, share, relevant if self.list_only else None)

    def reach(self, lists: Lists) -> tuple[Array, Array]:
        """Give R and the rank, in a column, down to which documents are looked at."""
        relevant = (self.listed_relevant if self.list_only else self.all_relevant)(lists)
        cutoff = lists.xp.floor(float(self.times) * relevant + 0.9)
        return relevant, lists.xp.astype(cutoff, lists.xp.int64)[:, None]
