"""Buckley's measures between AP and nDCG: binG and G."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from idealist.lists import Array, Lists
from idealist.measures.base import NO_RELEVANT
from idealist.measures.cumulative import CG
from idealist.measures.relevance import Binary
from idealist.notation import Written, parameter


@dataclass(frozen=True, kw_only=True, repr=False)
class binG(Binary):
    """Binary G: each relevant document counts less the more others stand above it.

    Formula: (1/R) Σ_{relevant found} 1 / log2(2 + documents above that are not relevant)

    >>> binG()([1, 0, 0, 1])
    0.75

    Reference: trec_eval 10.0, binG
    """

    takes_cutoff: ClassVar[bool] = False

    def formula(self, lists: Lists) -> Array:
        """Discount each hit by what stands above it in vain."""
        xp, hits = lists.xp, self.hits(lists)
        vain = lists.number(lists.rank) - self.so_far(lists)
        discounted = 1.0 / xp.log2(2.0 + xp.where(hits, vain, 0.0))
        return self.of_relevant(lists, lists.total(xp.where(hits, discounted, 0.0)))


@dataclass(frozen=True, kw_only=True, repr=False)
class Pooled(CG):
    """Base of measures that hold a list against the best one, rank by rank."""

    def ideal_gains(self, lists: Lists) -> Array:
        """Give the gains above 0 of all judged documents, highest first."""
        gains = self.gains(lists, lists.pool, lists.judged)
        return -lists.xp.sort(lists.xp.where(gains > 0, -gains, 0.0), axis=1)

    def upto_rank(self, lists: Lists, values: Array) -> Array:
        """Sum values of the ideal list's ranks up to the rank of each document found."""
        xp = lists.xp
        last = xp.minimum(lists.rank, values.shape[1]) - 1
        return xp.take_along_axis(xp.cumulative_sum(values, axis=1), last, axis=1)


@dataclass(frozen=True, kw_only=True, repr=False)
class G(Pooled):
    """Normalised gain: a gain counts less the more gain the ideal list has had by its rank.

    Formula: Σ_r gain_r / log2(2 + Σ_{j≤r} max(ideal_j, 1) - Σ_{j≤r} gain_j) / Σ_j ideal_j

    With gains of 0 and 1 it is binG.

    >>> G()([1, 0, 0, 1])
    0.75

    Reference: trec_eval 10.0, G
    """

    no_relevant: Written = parameter("0", NO_RELEVANT, "the value of a query without an ideal list")

    takes_cutoff: ClassVar[bool] = False
    averages_ties: ClassVar[bool] = False

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range: [0, 1], unless negative gains are kept."""
        return (-math.inf if self.negative == "keep" and lowest < 0 else 0.0), 1.0

    def formula(self, lists: Lists) -> Array:
        """Discount each gain by the ideal list's lead."""
        xp = lists.xp
        gains = self.gains(lists, lists.grade, lists.found)
        ideal = self.ideal_gains(lists)
        beyond = xp.maximum(lists.rank, ideal.shape[1]) - ideal.shape[1]
        cost = self.upto_rank(lists, xp.maximum(ideal, 1.0)) + lists.number(beyond)
        lead = xp.where(lists.found, cost - xp.cumulative_sum(gains, axis=1), 0.0)
        return lists.ratio(lists.total(gains / xp.log2(2.0 + lead)), lists.total(ideal))
