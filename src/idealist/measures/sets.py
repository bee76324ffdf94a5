"""The first k documents as a set: precision, recall, F, R-precision, fall-out and utility."""

from __future__ import annotations

import math
from typing import Any

from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.measures.base import NO_RELEVANT
from idealist.measures.gains import counted
from idealist.measures.relevance import Binary, Threshold
from idealist.notation import Kind, Value, Written, call, choice, number, parameter
from idealist.ranking.padded_lists import Array, PaddedLists
from idealist.ranking.placements import Placements


class Counted(Binary):
    """Base of measures that count the relevant documents in the first k."""

    averages_ties = True

    def found(self, lists: PaddedLists, cutoff: Array | int | None) -> Array:
        """Count the relevant documents above a cutoff."""
        near = self.near(lists)
        return counted(near, self.hits(near), cutoff)

    def precision(self, lists: PaddedLists, denominator: str) -> Array:
        """Compute the share of relevant documents in the first k."""
        hits = self.found(lists, self.cutoff)
        if denominator == "judged":
            return lists.ratio(hits, lists.count(lists.within(self.cutoff)), 0.0)
        if denominator == "k" and self.cutoff is not None:
            return hits / float(self.cutoff)
        return lists.ratio(hits, lists.lengths(self.cutoff), 0.0)


class P(Counted):
    """Precision: the share of the first k documents that are relevant.

    Formula: relevant in the first k / k

    Without a cutoff it is the precision of the whole list, divided by its length (trec_eval's
    set_P).

    >>> (P @ 5)([1, 0, 2]), P(denominator="min(k,n)")([1, 0, 2, 0])
    (0.4, 0.5)

    Reference: Kent et al. 1955, doi:10.1002/asi.5090060209
    """

    denominator: str = parameter(
        "k",
        choice("k", "min(k,n)", "judged"),
        "what to divide by: the cutoff, the length of the list if shorter, or the judged documents",
    )

    def formula(self, lists: PaddedLists) -> Array:
        """Divide the relevant documents found by the documents viewed."""
        if self.denominator == "judged" and lists.averaged:
            hint = "choose another tie order, or denominator=k"
            raise UsageError("P(denominator=judged) has no closed form for ties=expected", hint)
        return self.defined(lists, self.precision(lists, self.denominator))


class R(Counted):
    """Recall: the share of relevant documents that are among the first k.

    Formula: relevant in the first k / R

    ``denominator=min(k,R)`` is capped recall, trec_eval's relative_P: it is 1 if all k documents
    are relevant. ``min(n,R)`` is capped at the length of the list (set_relative_P).

    >>> (R @ 2)([1, 0, 2], judged=[1]), R(denominator="min(k,R)")([1, 0, 2], judged=[1])
    (0.3333333333333333, 0.6666666666666666)

    Reference: Kent et al. 1955, doi:10.1002/asi.5090060209; Thakur et al. 2021 for the cap,
    arXiv:2104.08663
    """

    denominator: str = parameter(
        "R",
        choice("R", "min(k,R)", "min(n,R)", "R_list"),
        "what to divide by: the relevant documents judged, that number capped at k or at the "
        "length of the list, or the relevant documents retrieved",
    )

    def formula(self, lists: PaddedLists) -> Array:
        """Divide the relevant documents found by those there are."""
        found = self.found(lists, self.cutoff)
        if self.list_only:
            whole = self.listed_relevant(lists)
            return self.defined(lists, lists.ratio(found, whole, 0.0), whole)
        if self.denominator == "min(k,R)" and self.cutoff is not None:
            capped = lists.xp.minimum(self.all_relevant(lists), float(self.cutoff))
            return lists.ratio(found, capped)
        if self.denominator == "min(n,R)":
            capped = lists.xp.minimum(self.all_relevant(lists), lists.lengths(self.cutoff))
            return self.defined(lists, lists.ratio(found, capped, 0.0))
        return self.of_relevant(lists, found)


def _check_beta(value: Any) -> Value:
    size = number(0, 1e6)
    if not str(value).startswith("sqrt("):
        return size.check(value)
    (square,) = call(str(value))[1]
    return f"sqrt({size.check(square)})"


BETA = Kind("a number from 0 to 1e6, or sqrt(SQUARE)", _check_beta)


class F(Counted):
    """F-measure: the weighted harmonic mean of precision and recall in the first k.

    Formula: (1 + β²) P R / (β² P + R)

    trec_eval's set_F and ir_measures' SetF take β² instead: write ``beta=sqrt(0.5)``.

    >>> round((F @ 4)([1, 0, 1, 0], judged=[1]), 4)
    0.5714

    Reference: van Rijsbergen 1979, Information Retrieval, chapter 7
    """

    beta: Written = parameter(1, BETA, "how many times more recall counts than precision")
    denominator: str = parameter("k", choice("k", "min(k,n)"), "the denominator of precision")

    averages_ties = False

    def formula(self, lists: PaddedLists) -> Array:
        """Combine precision and recall."""
        precision = self.precision(lists, self.denominator)
        recall = self.of_relevant(lists, self.found(lists, self.cutoff))
        root = isinstance(self.beta, str)
        square = float(call(self.beta)[1][0]) if root else float(self.beta) ** 2
        mean = lists.ratio((1.0 + square) * precision * recall, square * precision + recall, 0.0)
        return self.defined(lists, mean)


class SetAP(Counted):
    """Average precision of a set: precision times recall (trec_eval's set_map).

    Formula: P · R, which is h² / (n R) with h relevant documents in a list of n

    >>> SetAP()([1, 0, 1], judged=[1, 1])
    0.3333333333333333

    Reference: trec_eval 10.0, set_map
    """

    denominator: str = parameter("k", choice("k", "min(k,n)"), "the denominator of precision")

    averages_ties = False

    def formula(self, lists: PaddedLists) -> Array:
        """Multiply precision and recall, with a single division as in trec_eval."""
        found, looked_at = self.found(lists, self.cutoff), lists.lengths(self.cutoff)
        if self.denominator == "k" and self.cutoff is not None:
            looked_at = lists.xp.full_like(looked_at, float(self.cutoff))
        whole = looked_at * self.all_relevant(lists)
        return self.defined(lists, lists.ratio(found * found, whole, 0.0))


class AllHit(Counted):
    """All hit: whether every relevant document is among the first k.

    Formula: 1 if all R relevant documents are in the first k, otherwise 0

    For questions that need every relevant document, such as multi-hop questions. It is 1 exactly if
    recall is 1.

    >>> (AllHit @ 3)([1, 0, 2]), (AllHit @ 2)([1, 0, 2]), AllHit()([1, 2], judged=[1])
    (1.0, 0.0, 0.0)

    Reference: Asai et al. 2020, arXiv:1911.10470, as paragraph exact match
    """

    def formula(self, lists: PaddedLists) -> Array:
        """Compare the relevant documents found with those there are."""
        relevant, hits = self.all_relevant(lists), self.hits(lists)
        if not lists.averaged or self.cutoff is None:
            return self.defined(lists, lists.number(self.found(lists, self.cutoff) == relevant))
        chance = self._chances(lists, hits, self.cutoff)
        chance = lists.xp.cumulative_prod(chance, axis=1)[:, -1]
        return self.defined(lists, chance * lists.number(lists.count(hits) == relevant))

    def _chances(self, lists: PaddedLists, hits: Array, cutoff: int) -> Array:
        """Return the chance that each hit is above the cutoff, given that those before it are.

        If m ranks of a tie of n documents are above the cutoff, all its r hits are there with the
        hypergeometric probability C(m, r) / C(n, r) = Π_{j<r} (m - j) / (n - j).
        """
        xp, own = lists.xp, lists.number(hits)
        before = xp.cumulative_sum(own, axis=1) - own
        earlier = before - xp.take_along_axis(before, lists.start, axis=1)
        room = lists.number(xp.minimum(lists.last, cutoff) - lists.first + 1) - earlier
        left = lists.number(lists.last - lists.first + 1) - earlier
        chance = lists.ratio(xp.where(room > 0, room, 0.0), left, 0.0)
        return xp.where(hits, chance, 1.0)


class Rprec(Counted):
    """R-precision: precision in the first R documents, where R counts the relevant ones.

    Formula: relevant in the first c / c, with c = ⌊times · R + 0.9⌋, which is R by default

    With ``times`` it is trec_eval's Rprec_mult; the 0.9 is its rounding rule.

    >>> Rprec()([1, 0, 1], judged=[1]), Rprec(denominator="R_list")([1, 0, 1], judged=[1])
    (0.6666666666666666, 0.5)
    >>> Rprec(times=0.5)([1, 0, 1], judged=[1])
    0.5

    Reference: Buckley and Voorhees 2005, in TREC: Experiment and Evaluation, chapter 3
    """

    denominator: str = parameter(
        "R", choice("R", "R_list"), "whether R counts relevant documents judged or retrieved"
    )
    times: float = parameter(1, number(0, 1000), "how many times R documents to look at")

    takes_cutoff = False

    def formula(self, lists: PaddedLists) -> Array:
        """Divide the relevant documents above the cutoff by the cutoff."""
        relevant, cutoff = self.reach(lists)
        share = lists.ratio(self.found(lists, cutoff), lists.number(cutoff[:, 0]), 0.0)
        return self.defined(lists, share, relevant if self.list_only else None)

    def reach(self, lists: PaddedLists) -> tuple[Array, Array]:
        """Return R, and as a column the last rank that counts."""
        relevant = (self.listed_relevant if self.list_only else self.all_relevant)(lists)
        cutoff = lists.xp.floor(float(self.times) * relevant + 0.9)
        return relevant, lists.xp.astype(cutoff, lists.xp.int64)[:, None]


class FallOut(Threshold):
    """Fall-out: the share of non-relevant documents that are among the first k.

    Formula: non-relevant in the first k / N

    N counts the documents judged non-relevant. With ``denominator=N_list``, as in torchmetrics,
    every retrieved document that is not relevant counts, judged or not.

    >>> (FallOut @ 2)([1, 0, 0], judged=[0])
    0.3333333333333333

    Reference: Swets 1969, doi:10.1002/asi.4630200110
    """

    denominator: str = parameter(
        "N", choice("N", "N_list"), "whether N counts non-relevant documents judged or retrieved"
    )
    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without non-relevant documents")

    direction = -1
    averages_ties = True
    lacking = "non-relevant document"

    def worth(self, placements: Placements) -> Floats:
        """Return 1 for relevant documents; unless N is N_list, -1 for judged non-relevant ones."""
        relevant = super().worth(placements)
        return relevant if self.filled().list_only else relevant - 1.0

    def formula(self, lists: PaddedLists) -> Array:
        """Divide the non-relevant documents in the first k by all of them."""
        hits = self.hits(lists)
        if self.list_only:
            found = counted(lists, hits, self.cutoff)
            every = lists.number(lists.retrieved) - lists.count(hits)
            return lists.ratio(lists.lengths(self.cutoff) - found, every)
        others = lists.found & ~hits
        every = lists.count(lists.judged & ~self.relevant(lists.pool))
        return lists.ratio(counted(lists, others, self.cutoff), every)


class Utility(Threshold):
    """Linear utility: a fixed worth for each cell of the contingency table, summed.

    Formula: a · h + b · (n - h) + c · (R - h) + d · (N - n - R + h), with h relevant documents
    among n retrieved

    N is the size of the collection, which matters only if d is not 0.

    >>> Utility()([1, 0, 1]), Utility(a=3, b=-2)([1, 0, 1])
    (1.0, 4.0)

    Reference: Hull 1998, The TREC-7 filtering track; trec_eval 10.0, utility
    """

    a: float = parameter(1, number(), "worth of a relevant document that was retrieved")
    b: float = parameter(-1, number(), "worth of a non-relevant document that was retrieved")
    c: float = parameter(0, number(), "worth of a relevant document that was not retrieved")
    d: float = parameter(0, number(), "worth of a non-relevant document that was not retrieved")
    documents: float = parameter(0, number(0), "number of documents in the collection")

    takes_cutoff = False
    averages_ties = True
    limits = -math.inf, math.inf

    def formula(self, lists: PaddedLists) -> Array:
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
