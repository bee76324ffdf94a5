"""Average precision and its relatives, computed at ranks or at recall points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from idealist.errors import UsageError
from idealist.measures.relevance import Binary
from idealist.notation import Kind, Written, call, choice, flag, number, parameter, table, to_number
from idealist.ranking.padded_lists import Array, PaddedLists

DENOMINATORS = ("R", "R_list", "hits", "min(k,R)", "min(k,R_list)", "min(k,n,R_list)")


class AP(Binary):
    """Average precision: mean precision at the ranks of the relevant documents; its mean is MAP.

    Formula: (1/R) Σ_{r≤k, r relevant} (relevant in the first r) / r

    Tools divide by R (all judged relevant documents), by R_list (the retrieved ones), by hits
    (those in the first k), or by the smallest of some of these, the cutoff k and the list's length
    n.

    >>> AP()([1, 0, 1], judged=[1])
    0.5555555555555555
    >>> round(AP(denominator="hits")([1, 0, 1], judged=[1]), 4)
    0.8333

    Reference: Buckley and Voorhees 2005, in TREC: Experiment and Evaluation, chapter 3
    """

    denominator: str = parameter(
        "R", choice(*DENOMINATORS), "what the sum of precisions is divided by"
    )
    block_end: bool = parameter(
        False, flag(), "take the precision at the end of each tie, as scikit-learn does"
    )

    averages_ties = True

    def formula(self, lists: PaddedLists) -> Array:
        """Average the precisions at the relevant documents."""
        self._check_chance(lists)
        return self._divided(lists, *self.precisions(lists))

    def precisions(self, lists: PaddedLists) -> tuple[Array, Array]:
        """Return the precision at each relevant document (0 elsewhere) and which of them count."""
        near = self.near(lists)
        hits, rank = self.hits(near), near.rank
        counted = hits if self.cutoff is None else hits & (rank <= self.cutoff)
        if lists.averaged and not self.block_end:
            return self._expected(lists, hits), counted
        so_far = self.so_far(near)
        if self.block_end and lists.end is not None:
            so_far, rank = lists.xp.take_along_axis(so_far, lists.end, axis=1), lists.last
        return lists.xp.where(counted, so_far / lists.number(rank), 0.0), counted

    def _check_chance(self, lists: PaddedLists) -> None:
        divided_by_chance = self.denominator == "hits" or self.block_end
        if divided_by_chance and lists.averaged and self.cutoff is not None:
            hint = "choose another tie order, or leave out the cutoff"
            raise UsageError(f"{self} has no closed form for ties=expected", hint)

    def _divided(self, lists: PaddedLists, precisions: Array, counted: Array) -> Array:
        total = lists.total(precisions)
        if self.denominator == "R":
            return self.of_relevant(lists, total)
        mean = lists.ratio(total, self._denominator(lists, counted), 0.0)
        return self.defined(lists, mean, self.listed_relevant(lists) if self.list_only else None)

    def _denominator(self, lists: PaddedLists, counted: Array) -> Array:
        if self.denominator == "hits":
            return lists.count(counted)
        whole = (self.listed_relevant if self.list_only else self.all_relevant)(lists)
        if "k" in self.denominator and self.cutoff is not None:
            whole = lists.xp.minimum(whole, float(self.cutoff))
        return lists.xp.minimum(whole, lists.lengths(None)) if "n," in self.denominator else whole

    def _expected(self, lists: PaddedLists, hits: Array) -> Array:
        """Average each hit's precision over all orders of its tie (McSherry and Najork 2008).

        In a tie of n documents, r of them hits, on the ranks a+1 … b, with c hits above it, a hit
        adds (1/n) Σ_{i=1..n} (c + 1 + (i-1)(r-1)/(n-1)) / (a+i); the sum stops at the cutoff.
        """
        xp = lists.xp
        so_far, own = self.so_far(lists), lists.number(hits)
        through = xp.take_along_axis(so_far, lists.end, axis=1)
        above = xp.take_along_axis(so_far - own, lists.start, axis=1)
        others = through - above - 1.0
        size = lists.number(lists.last - lists.first + 1)
        limit = lists.last if self.cutoff is None else self.cutoff
        last, before = xp.minimum(lists.last, limit), xp.minimum(lists.first - 1, limit)
        harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, lists.depth + 1))))
        span = lists.gather(harmonic, last) - lists.gather(harmonic, before)
        steps = lists.number(last - before) - lists.number(lists.first) * span
        slope = others / xp.where(size > 1, size - 1.0, 1.0)
        mean = ((above + 1.0) * span + slope * steps) / size
        alone = (above + 1.0) / lists.number(lists.rank)
        alone = xp.where(lists.within(self.cutoff), alone, 0.0)
        mean = xp.where(lists.first == lists.last, alone, mean)
        return xp.where(hits, mean, 0.0)


class GMAP(AP):
    """Geometric mean average precision: AP per query, aggregated so that hard queries count.

    Formula: exp((1/q) Σ ln max(AP, 0.00001)) over q queries

    The value of a single query is its AP. trec_eval (gm_map) prints no value per query; pytrec_eval
    returns the logarithm.

    >>> GMAP()([1, 0, 1], judged=[1])
    0.5555555555555555

    Reference: Robertson 2006, doi:10.1145/1183614.1183630
    """

    aggregate = "geometric(1e-05)"


class yaap(Binary):
    """Yet another average precision: AP smoothed and put on a log-odds scale.

    Formula: ln((1 + S) / (1 + R - S)), where S is the sum of the precisions at the relevant
    documents

    >>> round(yaap()([1, 0, 1], judged=[1]), 4)
    0.1335

    Reference: Robertson 2012, doi:10.1007/978-3-642-28997-2_14
    """

    takes_cutoff = False
    limits = -math.inf, math.inf  # since R has no limit

    def formula(self, lists: PaddedLists) -> Array:
        """Put the sum of precisions on the logit scale."""
        xp, hits = lists.xp, self.hits(lists)
        precision = self.so_far(lists) / lists.number(lists.rank)
        total = lists.total(xp.where(hits, precision, 0.0))
        relevant = self.all_relevant(lists)
        return self.defined(lists, xp.log((1.0 + total) / (1.0 + relevant - total)))


class Interpolated(Binary):
    """Base of measures built on interpolated precision."""

    rounding: str = parameter(
        "nearest",
        choice("nearest", "up"),
        "how a share of R becomes a number of documents: nearest rounds it, up takes ⌊x + "
        "0.9⌋ as trec_eval did before 10.0",
    )

    takes_cutoff = False

    def at(self, lists: PaddedLists, recall: float) -> Array:
        """Return the best precision among the ranks that have reached a recall; 0 if none has.

        Like trec_eval, every list reaches a recall of 0.
        """
        so_far = self.so_far(lists)
        added = 0.5 if self.rounding == "nearest" else 0.9
        needed = lists.xp.floor(recall * self.all_relevant(lists) + added)[:, None]
        reached = self.hits(lists) & (so_far >= needed)
        precision = so_far / lists.number(lists.rank)
        return lists.xp.max(lists.xp.where(reached, precision, 0.0), axis=1)


class IPrec(Interpolated):
    """Interpolated precision: the best precision at this recall level or any higher one.

    Formula: max {j / rank of the j-th relevant document : j ≥ round(recall · R)}

    trec_eval up to version 9 rounds recall · R up from a tenth on: ``rounding=up``.

    >>> IPrec(recall=0.5)([1, 0, 1, 0], judged=[1, 1])
    0.6666666666666666

    Reference: Manning et al. 2008, Introduction to Information Retrieval, section 8.4
    """

    recall: float = parameter(0, number(0, 1), "the recall to reach")

    def formula(self, lists: PaddedLists) -> Array:
        """Find the best precision from this recall level on."""
        return self.defined(lists, self.at(lists, float(self.recall)))


def _check_points(value: Any) -> int | str:
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


POINTS = Kind("a number of evenly spaced recall levels, or table(P1,P2,…)", _check_points)


class IAP(Interpolated):
    """Interpolated average precision: the mean of IPrec over recall levels, eleven by default.

    Formula: (1/m) Σ_{i<m} IPrec(recall=i/(m-1)), m = 11

    >>> round(IAP()([1, 0, 1, 0], judged=[1, 1]), 4)
    0.5455

    Reference: Manning et al. 2008, Introduction to Information Retrieval, section 8.4
    """

    points: Written = parameter(11, POINTS, "the recall levels to average over")

    def recalls(self) -> list[float]:
        """Return the recall levels."""
        if isinstance(self.points, int):
            return [i / (self.points - 1) for i in range(self.points)]
        return list(map(float, call(self.points)[1]))

    def formula(self, lists: PaddedLists) -> Array:
        """Average the interpolated precisions, highest recall first, as trec_eval adds them."""
        points = self.recalls()
        deepest, *others = (self.at(lists, point) for point in reversed(points))
        total = deepest
        for one in others:
            total = total + one
        return self.defined(lists, total / float(len(points)))
