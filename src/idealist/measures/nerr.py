"""Measures like ERR: nERR, over the ideal list's, and PFound, where readers lose patience."""

from __future__ import annotations

from dataclasses import dataclass

from idealist.lists import Array, Lists
from idealist.measures.discounts import Discount, geometric
from idealist.measures.stopping import ERR
from idealist.notation import choice, number, parameter


@dataclass(frozen=True, kw_only=True, repr=False)
class nERR(ERR):
    """Normalised expected reciprocal rank: ERR over that of the ideal list.

    Formula: ERR@k / ERR*@k, where ERR* is the ERR of all judged documents, highest grade first

    The ERR of an ideal list depends on the grades there are; its nERR is 1.

    >>> round(nERR(max_grade=2)([0, 2, 1]), 4)
    0.5067

    Reference: Sakai and Song 2011, doi:10.1145/2009916.2010055
    """

    def formula(self, lists: Lists) -> Array:
        """Divide ERR by the ERR of the ideal list."""
        ideal = lists.once(self, lambda: self._ideal(lists), pooled=True)
        return lists.ratio(super().formula(lists), ideal)

    def _ideal(self, lists: Lists) -> Array:
        xp = lists.xp
        rank = xp.cumulative_sum(xp.ones_like(lists.judged, dtype=xp.int64), axis=1)
        seen = lists.judged if self.cutoff is None else lists.judged & (rank <= self.cutoff)
        stop = xp.where(seen, self.stops(lists, lists.pool), 0.0)
        return self.expected(lists, stop, rank, rank.shape[1])


@dataclass(frozen=True, kw_only=True, repr=False)
class PFound(ERR):
    """The probability that a reader, who goes down the list and loses patience, finds an answer.

    Formula: Σ_{r≤k} decay^(r-1) p_r Π_{j<r} (1 - p_j), with p the probability that a document
    answers

    By default a grade is that probability, between 0 and 1, as CatBoost has it; with
    ``probability=exp2`` it is that of ERR, from which PFound differs in what a rank is worth.

    >>> PFound(decay=0.5)([0.5, 0, 1])
    0.625

    Reference: Gulin et al. 2009, Yandex at ROMIP'2009: Optimization of Ranking Algorithms by
    Machine Learning Methods, as CatBoost has it
    """

    probability: str = parameter(
        "identity", choice("exp2", "identity"), "how a grade becomes the probability to stop"
    )
    decay: float = parameter(0.85, number(0, 1), "the probability to go on to the next document")

    @property
    def discount(self) -> Discount:
        """What the rank of the document is worth."""
        return geometric(self.decay)
