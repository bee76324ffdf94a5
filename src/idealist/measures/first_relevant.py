"""The first relevant document: at which rank it comes (RR), and if at all (Success)."""

from __future__ import annotations

import numpy as np

from idealist.measures.gains import Discount
from idealist.measures.relevance import Binary
from idealist.ranking.padded_lists import Array, PaddedLists

#: The ranks of a tie that are looked at together.
PAGE = 256


def first_hit(lists: PaddedLists, hits: Array, cutoff: int | None, discount: Discount) -> Array:
    """Return the weight of the first hit's rank, 0 if no hit is above the cutoff."""
    xp = lists.xp
    if lists.averaged:
        return _expected_first(lists, hits, cutoff, discount)
    nowhere = lists.depth + 1
    rank = xp.min(xp.where(hits, lists.rank, nowhere), axis=1)
    there = rank <= min(cutoff or lists.depth, lists.depth)
    return discount.apply(lists, lists.number(there), rank, nowhere)


def _expected_first(
    lists: PaddedLists, hits: Array, cutoff: int | None, discount: Discount
) -> Array:
    """Average over the orders of the tie that holds the first hit.

    In a tie of n documents, r of them hits, the first i documents hold no hit with probability
    S_i = Π_{j<i} (n-j-r) / (n-j) (McSherry and Najork 2008). The weight w of the first hit's rank
    is on average w_a + Σ_{i≥1} S_i (w_{a+i} - w_{a+i-1}), where the tie starts at rank a.
    """
    xp = lists.xp
    columns = lists.constant(np.arange(lists.rank.shape[1]))[None, :]
    place = xp.min(xp.where(hits, columns, lists.rank.shape[1] - 1), axis=1)[:, None]

    def pick(array: Array) -> Array:
        return xp.take_along_axis(array, place, axis=1)

    first, size = pick(lists.first), lists.number(pick(lists.last) - pick(lists.first) + 1)
    start, end = pick(lists.start), pick(lists.end)
    r = lists.count(hits & (columns >= start) & (columns <= end))[:, None]
    depth = min(cutoff or lists.depth, lists.depth)
    most = depth if lists.unseen else min(depth, int(xp.max(size - r)) + 1)
    weights = np.zeros(lists.depth + most + 2)
    weights[: depth + 1] = discount.weights(lists.depth)[: depth + 1]
    steps, value, none_yet = np.diff(weights), lists.gather(weights, first), xp.ones_like(size)
    for page in range(0, most, PAGE):
        before = lists.constant(np.arange(page, min(page + PAGE, most)))[None, :]
        left = xp.maximum(size - lists.number(before), xp.maximum(r, 1.0))  # not yet placed
        none = xp.cumulative_prod(1.0 - r / left, axis=1) * none_yet
        value = value + lists.total(none * lists.gather(steps, first + before))[:, None]
        none_yet = none[:, -1:]
    return xp.where(xp.any(hits, axis=1), value[:, 0], 0.0)


class FirstRelevant(Binary):
    """Base of measures that look no further than the first relevant document."""

    averages_ties = True
    #: What the rank of that document is worth.
    discount = Discount("none")

    def formula(self, lists: PaddedLists) -> Array:
        """Weigh the rank of the first relevant document."""
        near = self.near(lists)
        return self.defined(lists, first_hit(near, self.hits(near), self.cutoff, self.discount))


class RR(FirstRelevant):
    """Reciprocal rank: one over the rank of the first relevant document; its mean is MRR.

    Formula: 1 / rank of the first relevant document, or 0 if there is none in the first k

    >>> (RR @ 10)([0, 0, 1])
    0.3333333333333333

    Reference: Kantor and Voorhees 2000, doi:10.1023/A:1009902609570
    """

    discount = Discount("position")


class Success(FirstRelevant):
    """Success: whether any of the first k documents is relevant; also called hit rate.

    Formula: 1 if there is a relevant document in the first k, otherwise 0

    >>> (Success @ 2)([0, 1]), (Success @ 1)([0, 1])
    (1.0, 0.0)

    Reference: Buckley and Voorhees 2005, in TREC: Experiment and Evaluation, chapter 3
    """
