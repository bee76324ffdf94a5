"""Means over groups of judgments, as trec_eval has them for several judges of the same query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from idealist.measures.ap import AP
from idealist.measures.groups import Grouped, by_group
from idealist.measures.rprec import Rprec
from idealist.measures.sets import P
from idealist.placements import Placements


@dataclass(frozen=True, kw_only=True, repr=False)
class OverJudges(Grouped):
    """Base of measures averaged over groups that judged the query each for itself.

    Each sees a list of its own where protocols take out what it judged negative, or not at all.
    """

    needs: ClassVar[str] = "groups"
    counts_all: ClassVar[bool] = True

    def seen(self, placements: Placements) -> Placements:
        """Give the list that each group sees: its query's, less what it does not look at."""
        lists, protocol = by_group(placements), placements.protocol
        if protocol.negative == "drop":
            lists = lists.without_negative()
        return lists.condensed() if protocol.unjudged == "drop" else lists


@dataclass(frozen=True, kw_only=True, repr=False)
class AP_avgjg(OverJudges, AP):
    """Average precision for each group of judgments, averaged over the groups of the query.

    Formula: (1/G) Σ_{g≤G} AP(list, judgments of group g)

    A group is a value of TREC's second column, such as one of several judges of the same query
    (trec_eval ``-R qrels_jg``). A group without relevant documents counts as 0. Called with a list,
    each document is a dict of its grades by group.

    >>> AP_avgjg()([{"ann": 1, "bob": 0}, {"ann": 0, "bob": 1}])
    0.75

    Reference: Buckley and Voorhees 2005, in TREC: Experiment and Evaluation, chapter 3, for AP;
    trec_eval's map_avgjg for the mean
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class P_avgjg(OverJudges, P):
    """Precision for each group of judgments, averaged over the groups of the query.

    Formula: (1/G) Σ_{g≤G} P@k(list, judgments of group g)

    A group is a value of TREC's second column, such as one of several judges of the same query
    (trec_eval ``-R qrels_jg``). Called with a list, each document is a dict of its grades by group.

    >>> (P_avgjg @ 2)([{"ann": 1, "bob": 0}, {"ann": 1, "bob": 1}])
    0.75

    Reference: Kent et al. 1955, doi:10.1002/asi.5090060209, for P; trec_eval's P_avgjg for the mean
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Rprec_avgjg(OverJudges, Rprec):
    """R-precision for each group of judgments, averaged over the groups of the query.

    Formula: (1/G) Σ_{g≤G} Rprec(list, judgments of group g)

    A group is a value of TREC's second column, such as one of several judges of the same query
    (trec_eval ``-R qrels_jg``); ``times`` gives its Rprec_mult_avgjg. A group without relevant
    documents counts as 0. Called with a list, each document is a dict of its grades by group.

    >>> Rprec_avgjg()([{"ann": 1, "bob": 0}, {"ann": 1, "bob": 1}])
    0.5

    Reference: Buckley and Voorhees 2005, in TREC: Experiment and Evaluation, chapter 3, for
    R-precision; trec_eval's Rprec_mult_avgjg for the mean
    """
