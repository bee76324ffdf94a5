"""Measures of novelty: to cover a subtopic once more is worth less each time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from idealist.errors import UsageError
from idealist.lists import Array, Lists
from idealist.measures.discounts import Discount
from idealist.measures.diversity_ideal import ideal_sums
from idealist.measures.groups import Grouped, divided
from idealist.notation import choice, number, parameter
from idealist.placements import Placements
from idealist.tables.columns import Floats

_DENOMINATOR = choice("perfect", "perfect(k>1)", "none")
_DIVIDED_BY = (
    "what is divided by: the sum of k documents that cover every subtopic, the same but for k = 1, "
    "or nothing"
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Novelty(Grouped):
    """Base of sums over subtopics and ranks; the formula is the sum of one subtopic."""

    alpha: float = parameter(
        0.5, number(0, 1), "how much less a subtopic is worth each time it was covered before"
    )

    needs: ClassVar[str] = "subtopics"

    @property
    def weighs(self) -> Discount:
        """What a rank takes away."""
        return Discount("log2")

    def formula(self, lists: Lists) -> Array:
        """Sum the discounted gains of one subtopic."""
        near = self.near(lists)
        hits = self.hits(near)
        before = self.so_far(near) - near.number(hits)
        gains = near.xp.pow(near.xp.full_like(before, 1.0 - self.alpha), before)
        return self.weighs.sum(near, near.xp.where(hits, gains, 0.0), self.cutoff)

    def weights(self, depth: int) -> Floats:
        """Give the weight of each rank, beginning with the first."""
        return self.weighs.weights(depth)[1 : depth + 1]


@dataclass(frozen=True, kw_only=True, repr=False)
class Perfect(Novelty):
    """Base of those that compare with documents that cover every subtopic, judged or not."""

    denominator: str = parameter("perfect", _DENOMINATOR, _DIVIDED_BY)

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range: up to 1 where the sum is divided."""
        return 0.0, 1.0 if self._divides else math.inf

    @property
    def _divides(self) -> bool:
        first = self.denominator == "perfect(k>1)" and self.cutoff == 1
        return self.denominator != "none" and not first

    def combined(self, total: Floats, number: Floats, placements: Placements) -> Floats:
        """Divide by the sum of as many subtopics in perfect documents."""
        if not self._divides:
            return np.where(number > 0, total, np.nan)
        if self.cutoff is None:
            hint = f"write {self.name}@20, or another cutoff, or {self.name}(denominator=none)"
            raise UsageError(f"{self.name} compares with k perfect documents: it needs a k", hint)
        gains = (1.0 - self.alpha) ** np.arange(self.cutoff)
        perfect = float(sum((gains * self.weights(self.cutoff)).tolist()))
        return total / (number * perfect)


@dataclass(frozen=True, kw_only=True, repr=False)
class Normalised(Novelty):
    """Base of those that are divided by the value of an ideal list of judged documents."""

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range: the greedy list may lack 1/e of the best one, and no more."""
        return 0.0, 1 / (1 - 1 / math.e)

    def combined(self, total: Floats, number: Floats, placements: Placements) -> Floats:
        """Divide by the sum of the ideal list."""
        groups, negative = divided(placements.qrels), placements.protocol.negative
        if (self, negative) not in groups.known:
            relevant = self.relevant(groups.qrels.grades)
            if negative == "drop":
                relevant &= groups.qrels.grades >= 0
            depth = self.cutoff or int(np.diff(placements.qrels.starts).max(initial=0))
            weights, queries = self.weights(depth), len(number)
            groups.known[self, negative] = ideal_sums(
                groups, relevant, self.alpha, weights, queries
            )
        return total / np.where(number > 0, groups.known[self, negative], np.nan)


@dataclass(frozen=True, kw_only=True, repr=False)
class alpha_DCG(Perfect):
    """Discounted cumulative gain by subtopic: what was covered before is worth less.

    Formula: Σ_{r≤k} Σ_s covers(r, s) (1 - α)^(times s was covered above r) / log2(r + 1), divided
    by that of k documents which cover every subtopic

    Only subtopics with a relevant document count. A document covers those it is relevant for.
    ndeval, and so TREC, divides by nothing at cutoff 1 (``denominator=perfect(k>1)``); the paper
    never does (``none``).

    >>> round((alpha_DCG @ 2)([{"a": 1}, {"a": 1, "b": 1}]), 4)
    0.7398

    Reference: Clarke et al. 2008, doi:10.1145/1390334.1390446
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class alpha_nDCG(Normalised):
    """Normalised discounted cumulative gain by subtopic: alpha_DCG over that of an ideal list.

    Formula: α-DCG@k / α-DCG@k of the ideal list

    The best list is NP-hard to find. The ideal list holds at each rank the document that gains most
    there and, of those, the last id; a run can be better than it, so values can exceed 1.

    >>> round((alpha_nDCG @ 2)([{"a": 1}, {"a": 1, "b": 1}]), 4)
    0.8406

    Reference: Clarke et al. 2008, doi:10.1145/1390334.1390446
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Reciprocal(Novelty):
    """Base of those that divide a gain by its rank."""

    @property
    def weighs(self) -> Discount:
        """What a rank takes away."""
        return Discount("position")


@dataclass(frozen=True, kw_only=True, repr=False)
class ERR_IA(Reciprocal, Perfect):
    """Expected reciprocal rank by subtopic: of where readers, each after one subtopic, stop.

    Formula: Σ_{r≤k} Σ_s covers(r, s) (1 - α)^(times s was covered above r) / r, divided by that of
    k documents which cover every subtopic

    This is ndeval's: grades count as relevant or not, each relevant document stops a reader with
    probability α, and all subtopics are equally likely. It divides by nothing at cutoff 1
    (``denominator=perfect(k>1)``).

    >>> (ERR_IA @ 2)([{"a": 1}, {"a": 1, "b": 1}])
    0.7

    Reference: Chapelle et al. 2009, doi:10.1145/1645953.1646033; Clarke et al. 2011 for the form
    here, doi:10.1145/1935826.1935847
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class nERR_IA(Reciprocal, Normalised):
    """Normalised expected reciprocal rank by subtopic: ERR_IA over that of an ideal list.

    Formula: ERR-IA@k / ERR-IA@k of the ideal list

    The ideal list is that of alpha_nDCG, and values can exceed 1 as there.

    >>> round((nERR_IA @ 2)([{"a": 1}, {"a": 1, "b": 1}]), 4)
    0.7778

    Reference: Chapelle et al. 2009, doi:10.1145/1645953.1646033; Clarke et al. 2011 for the form
    here, doi:10.1145/1935826.1935847
    """
