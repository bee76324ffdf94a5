"""Novelty and rank-biased precision: NRBP, and what it is over an ideal list's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idealist.measures.discounts import Discount, geometric
from idealist.measures.diversity import Normalised, Novelty
from idealist.notation import number, parameter
from idealist.placements import Placements
from idealist.tables.columns import Floats


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
