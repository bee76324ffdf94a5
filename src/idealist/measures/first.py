"""Measures of the first relevant document: RR, and what RR and Success share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from idealist.lists import Array, Lists
from idealist.measures.base import Binary
from idealist.measures.discounts import Discount


def first_hit(lists: Lists, hits: Array, cutoff: int | None, discount: Discount) -> Array:
    """Give the weight of the first hit's rank, 0 where there is none up to the cutoff."""
    xp = lists.xp
    place = xp.argmax(xp.astype(hits, xp.int64), axis=1, keepdims=True)
    there = xp.any(hits & lists.within(cutoff if not lists.averaged else None), axis=1)
    if lists.averaged:
        values = _expected_first(lists, hits, place, cutoff, discount)
    else:
        rank = xp.take_along_axis(lists.rank, place, axis=1)
        values = discount.apply(lists, xp.ones_like(lists.number(rank)), rank, lists.depth)[:, 0]
    return xp.where(there, values, xp.zeros_like(values))


def _expected_first(
    lists: Lists, hits: Array, place: Array, cutoff: int | None, discount: Discount
) -> Array:
    """Average over the orders of the tie that holds the first hit.

    With n documents in the tie, r of them hits, and a ranks above it, the first hit is the i-th of
    the tie with probability C(n-i, r-1) / C(n, r) (McSherry and Najork 2008).
    """
    xp = lists.xp

    def pick(array: Array) -> Array:
        return xp.take_along_axis(array, place, axis=1)

    first, size = pick(lists.first), lists.number(pick(lists.last) - pick(lists.first) + 1)
    start, end = pick(lists.start), pick(lists.end)
    columns = lists.constant(np.arange(lists.rank.shape[1]))[None, :]
    r = lists.count(hits & (columns >= start) & (columns <= end))[:, None]
    weights = np.where(np.arange(lists.depth + 1) <= (cutoff or lists.depth), 1.0, 0.0)
    weights = weights * discount.weights(lists.depth)[: lists.depth + 1]
    value, none_yet = xp.zeros_like(size), xp.ones_like(size)
    for i in range(int(xp.max(size - r)) + 1):
        left = size - float(i)  # documents of the tie not yet placed
        chance = xp.where(
            left >= r,
            none_yet * r / xp.where(left > 0, left, xp.ones_like(left)),
            xp.zeros_like(left),
        )
        rank = xp.where(first + i <= lists.depth, first + i, xp.zeros_like(first))
        value = value + chance * lists.gather(weights, rank)
        none_yet = none_yet - chance
    return value[:, 0]


@dataclass(frozen=True, kw_only=True, repr=False)
class RR(Binary):
    """Reciprocal rank: how soon the first relevant document comes; its mean is MRR.

    Formula: 1 / rank of the first relevant document, 0 where there is none in the first k

    >>> (RR @ 10)([0, 0, 1])
    0.3333333333333333

    Reference: Kantor and Voorhees 2000, doi:10.1023/A:1009902609570
    """

    averages_ties: ClassVar[bool] = True

    def formula(self, lists: Lists) -> Array:
        """Look for the first relevant document."""
        discount = Discount("position")
        return self.defined(lists, first_hit(lists, self.hits(lists), self.cutoff, discount))
