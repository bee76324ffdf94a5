"""Inferred AP: average precision where only a sample of the pool was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idealist.lists import Array, Lists
from idealist.measures.relevance import Binary

#: What keeps a share of no documents from being 0/0, in trec_eval and in NIST's sample_eval.
EPSILON = 0.00001


@dataclass(frozen=True, kw_only=True, repr=False)
class infAP(Binary):
    """Inferred average precision: AP estimated from a random sample of the pool.

    Formula: (1/R) Σ_{relevant r found} (1/r)(1 + p_r (rel_r + ε) / (rel_r + non_r + 2ε)), with p_r
    pooled documents above r, rel_r and non_r of them judged relevant and not, ε = 0.00001

    A document is judged, or in the pool but not judged (any negative grade, -1 by custom), or not
    in the pool (no judgment at all). What was pooled but not judged is taken to be relevant as
    often as what was judged; what was not pooled is taken for non-relevant. R counts the judged
    relevant documents. Where all of the pool was judged it is AP, but for ε.

    >>> round(infAP()([1, -1, 0, None, 1]), 4)
    0.75

    Reference: Yilmaz and Aslam 2006, doi:10.1145/1183614.1183633, as trec_eval has it
    """

    takes_cutoff: ClassVar[bool] = False
    monotone: ClassVar[bool] = False  # a relevant document may gain by standing below a pooled one

    def formula(self, lists: Lists) -> Array:
        """Average the precisions expected at the relevant documents."""
        xp = lists.xp
        hits = self.hits(lists)
        other = lists.found & ~self.relevant(lists.grade) & (lists.grade >= 0)
        relevant = self.so_far(lists) - lists.number(hits)  # above each document, as all here
        judged = relevant + xp.cumulative_sum(lists.number(other), axis=1)
        found = lists.number(lists.found)
        pooled = xp.cumulative_sum(found, axis=1) - found
        rank = lists.number(lists.rank)
        above = xp.where(rank > 1, rank - 1.0, 1.0)
        share = (relevant + EPSILON) / (judged + 2 * EPSILON)
        expected = 1.0 / rank + (above / rank) * (pooled / above) * share
        precision = xp.where(rank > 1, expected, 1.0)
        return self.of_relevant(lists, lists.total(xp.where(hits, precision, 0.0)))
