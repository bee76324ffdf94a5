"""Binary preference, for judgments that are known to be incomplete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idealist.lists import Array, Lists
from idealist.measures.relevance import Binary
from idealist.notation import choice, parameter


@dataclass(frozen=True, kw_only=True, repr=False)
class bpref(Binary):
    """Binary preference: how seldom documents judged non-relevant stand above relevant ones.

    Formula: (1/R) Σ_{relevant r found} (1 - min(n_r, R) / min(N, R)), n_r non-relevant above r

    Unjudged documents do not count. Documents with negative grades are taken as unjudged by
    trec_eval and as non-relevant by ranx.

    >>> bpref()([1, 0, None, 1])
    0.5

    Reference: Buckley and Voorhees 2004, doi:10.1145/1008992.1009000, as trec_eval has it since 8.0
    """

    negative: str = parameter(
        "unjudged", choice("unjudged", "nonrelevant"), "what a document with a negative grade is"
    )
    denominator: str = parameter(
        "min(N,R)", choice("min(N,R)", "R"), "what the non-relevant above a document are divided by"
    )

    takes_cutoff: ClassVar[bool] = False

    def nonrelevant(self, grade: Array) -> Array:
        """Say which grades are judged non-relevant."""
        bad = ~self.relevant(grade)
        return bad & (grade >= 0) if self.negative == "unjudged" else bad

    def formula(self, lists: Lists) -> Array:
        """Average the preferences that the list honours."""
        return self.of_relevant(lists, lists.total(self.honoured(lists)[1]))

    def honoured(self, lists: Lists) -> tuple[Array, Array]:
        """Count the non-relevant above each document, and give what each relevant one adds."""
        xp = lists.xp
        hits = self.hits(lists)
        bad = lists.found & self.nonrelevant(lists.grade)
        above = xp.cumulative_sum(lists.number(bad), axis=1)
        relevant = self.all_relevant(lists)[:, None]
        all_bad = lists.count(lists.judged & self.nonrelevant(lists.pool))[:, None]
        most = xp.minimum(all_bad, relevant) if self.denominator == "min(N,R)" else relevant
        broken = lists.ratio(xp.minimum(above, relevant), most, 0.0)
        return above, xp.where(hits, 1.0 - broken, 0.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class GMbpref(bpref):
    """Binary preference whose geometric mean is taken, so that hard queries count (gm_bpref).

    Formula: exp((1/q) Σ ln max(bpref, 0.00001)) over q queries

    >>> GMbpref()([1, 0, None, 1])
    0.5

    Reference: trec_eval 10.0, gm_bpref; Robertson 2006, doi:10.1145/1183614.1183630
    """

    aggregate: ClassVar[str] = "geometric(1e-05)"
