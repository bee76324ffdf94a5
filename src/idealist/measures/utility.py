"""Linear utility of a retrieved set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from idealist.lists import Array, Lists
from idealist.measures.relevance import Threshold
from idealist.notation import number, parameter


@dataclass(frozen=True, kw_only=True, repr=False)
class Utility(Threshold):
    """Linear utility: what each document of the contingency table is worth, added up.

    Formula: a · h + b · (n - h) + c · (R - h) + d · (N - n - R + h), h relevant among n retrieved

    N, the size of the collection, matters only with d.

    >>> Utility()([1, 0, 1]), Utility(a=3, b=-2)([1, 0, 1])
    (1.0, 4.0)

    Reference: Hull 1998, The TREC-7 filtering track; trec_eval 10.0, utility
    """

    a: float = parameter(1, number(), "the worth of a relevant document that was retrieved")
    b: float = parameter(-1, number(), "the worth of another document that was retrieved")
    c: float = parameter(0, number(), "the worth of a relevant document that was not")
    d: float = parameter(0, number(), "the worth of another document that was not")
    documents: float = parameter(0, number(0), "the number of documents in the collection")

    takes_cutoff: ClassVar[bool] = False
    averages_ties: ClassVar[bool] = True

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range: unbounded."""
        return -math.inf, math.inf

    def formula(self, lists: Lists) -> Array:
        """Weigh the four counts."""
        found, relevant = self.listed_relevant(lists), self.all_relevant(lists)
        retrieved = lists.number(lists.retrieved)
        elsewhere = float(self.documents) + found - retrieved - relevant
        return (
            float(self.a) * found
            + float(self.b) * (retrieved - found)
            + float(self.c) * (relevant - found)
            + float(self.d) * elsewhere
        )
