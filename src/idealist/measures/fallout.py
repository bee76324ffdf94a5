"""Fall-out, the recall of what is not relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idealist.lists import Array, Lists
from idealist.measures.base import NO_RELEVANT
from idealist.measures.discounts import Discount
from idealist.measures.relevance import Threshold
from idealist.notation import Written, choice, parameter
from idealist.placements import Placements
from idealist.tables.columns import Floats


@dataclass(frozen=True, kw_only=True, repr=False)
class FallOut(Threshold):
    """Fall-out: the share of the non-relevant documents that stand among the first k.

    Formula: non-relevant in the first k / N

    N counts the documents judged non-relevant. With ``denominator=N_list``, as torchmetrics has it,
    every document of the list that is not relevant counts, judged or not.

    >>> (FallOut @ 2)([1, 0, 0], judged=[0])
    0.3333333333333333

    Reference: Swets 1969, doi:10.1002/asi.4630200110
    """

    denominator: str = parameter(
        "N", choice("N", "N_list"), "what N counts: documents judged non-relevant, or retrieved"
    )
    no_relevant: Written = parameter(
        "0", NO_RELEVANT, "the value of a query without non-relevant documents"
    )

    direction: ClassVar[int] = -1
    averages_ties: ClassVar[bool] = True
    lacking: ClassVar[str] = "non-relevant document"

    @property
    def list_only(self) -> bool:
        """Whether N counts documents of the list alone."""
        return self.denominator == "N_list"

    def worth(self, placements: Placements) -> Floats:
        """Give 1 to relevant documents, or else -1 to those judged non-relevant."""
        relevant = super().worth(placements)
        return relevant if self.filled().list_only else relevant - 1.0

    def formula(self, lists: Lists) -> Array:
        """Divide the non-relevant documents in the first k by all there are."""
        hits = self.hits(lists)
        if self.list_only:
            found = Discount("none").sum(lists, lists.number(hits), self.cutoff)
            every = lists.number(lists.retrieved) - lists.count(hits)
            return lists.ratio(lists.lengths(self.cutoff) - found, every)
        others = lists.number(lists.found & ~hits)
        every = lists.count(lists.judged & ~self.relevant(lists.pool))
        return lists.ratio(Discount("none").sum(lists, others, self.cutoff), every)
