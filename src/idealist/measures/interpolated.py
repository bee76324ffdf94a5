"""Interpolated precision at points of recall, and its average over several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from idealist.lists import Array, Lists
from idealist.measures.relevance import Binary
from idealist.notation import (
    Kind,
    Value,
    Written,
    call,
    choice,
    number,
    parameter,
    table,
    to_number,
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Interpolated(Binary):
    """Base of measures made of the best precision that still reaches a recall."""

    rounding: str = parameter(
        "nearest", choice("nearest", "up"),
        "how a share of R becomes a number of documents: rounded, or ⌊x + 0.9⌋ as before "
        "trec_eval 10",
    )  # fmt: skip

    takes_cutoff: ClassVar[bool] = False

    def at(self, lists: Lists, recall: float) -> Array:
        """Give the highest precision at which the list has reached a recall; 0 where it never has.

        trec_eval takes a recall of 0 for reached by any list.
        """
        so_far = self.so_far(lists)
        added = 0.5 if self.rounding == "nearest" else 0.9
        needed = lists.xp.floor(recall * self.all_relevant(lists) + added)[:, None]
        reached = self.hits(lists) & (so_far >= needed)
        precision = so_far / lists.number(lists.rank)
        return lists.xp.max(lists.xp.where(reached, precision, 0.0), axis=1)


@dataclass(frozen=True, kw_only=True, repr=False)
class IPrec(Interpolated):
    """Interpolated precision: the best precision at this recall, or at any higher one.

    Formula: max {j / rank of the j-th relevant document : j ≥ round(recall · R)}

    Up to version 9, trec_eval rounds recall · R up from a tenth on, which is ``rounding=up``.

    >>> IPrec(recall=0.5)([1, 0, 1, 0], judged=[1, 1])
    0.6666666666666666

    Reference: Manning et al. 2008, Introduction to Information Retrieval, section 8.4
    """

    recall: float = parameter(0, number(0, 1), "the share of the relevant documents to be found")

    def formula(self, lists: Lists) -> Array:
        """Look for the best precision from this recall on."""
        return self.defined(lists, self.at(lists, float(self.recall)))


def _check_points(value: Any) -> Value:
    if not isinstance(value, (str, int)):
        value = table(value)
    name, arguments = call(str(value))
    if name != "table":
        if not isinstance(several := to_number(name), int) or not 2 <= several <= 1001:
            raise ValueError(value)
        return several
    points = sorted(map(to_number, arguments))
    if not points or not all(0 <= point <= 1 for point in points):
        raise ValueError(value)
    return table(points)


POINTS = Kind("a number of evenly spread points of recall, or table(P1,P2,…)", _check_points)


@dataclass(frozen=True, kw_only=True, repr=False)
class IAP(Interpolated):
    """Interpolated average precision: the mean of IPrec over points of recall, by default eleven.

    Formula: (1/m) Σ_{i<m} IPrec(recall=i/(m-1)), m = 11

    >>> round(IAP()([1, 0, 1, 0], judged=[1, 1]), 4)
    0.5455

    Reference: Manning et al. 2008, Introduction to Information Retrieval, section 8.4
    """

    points: Written = parameter(11, POINTS, "the points of recall")

    def recalls(self) -> list[float]:
        """Give the points of recall."""
        if isinstance(self.points, int):
            return [i / (self.points - 1) for i in range(self.points)]
        return list(map(float, call(self.points)[1]))

    def formula(self, lists: Lists) -> Array:
        """Average the interpolated precisions, the deepest first as trec_eval adds them."""
        points = self.recalls()
        deepest, *others = (self.at(lists, point) for point in reversed(points))
        total = deepest
        for one in others:
            total = total + one
        return self.defined(lists, total / float(len(points)))
