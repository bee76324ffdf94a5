"""Coverage and counts: how much of a list was judged, and how many documents there are."""

from __future__ import annotations

import math

import numpy as np

from idealist.data.columns import Floats
from idealist.measures.base import Measure
from idealist.measures.gains import counted
from idealist.measures.relevance import Threshold
from idealist.notation import choice, parameter
from idealist.ranking.padded_lists import Array, PaddedLists
from idealist.ranking.placements import Placements


class Judged(Measure):
    """Judged: the share of the first k documents that were judged.

    Formula: judged in the first k / min(k, n)

    >>> (Judged @ 4)([1, None, 0, None])
    0.5

    Reference: ir_measures 0.4.3, Judged
    """

    denominator: str = parameter(
        "min(k,n)", choice("k", "min(k,n)"), "the cutoff, or the length of a shorter list"
    )
    negative: str = parameter(
        "judged", choice("judged", "unjudged"), "whether a negative grade counts as judged"
    )

    averages_ties = True
    judges = False

    def worth(self, placements: Placements) -> Floats:
        """Return 1 for each judged document."""
        known = self.filled().negative == "judged"
        return np.where(known | (placements.grade >= 0), 1.0, 0.0)

    def share(self, lists: PaddedLists, count: Array) -> Array:
        """Divide a count by the number of documents viewed; 0 for an empty list."""
        if self.denominator == "k" and self.cutoff is not None:
            return count / float(self.cutoff)
        return lists.ratio(count, lists.lengths(self.cutoff), 0.0)

    def judged(self, lists: PaddedLists) -> Array:
        """Count the judged documents in the first k."""
        near = lists.upto(self.cutoff)
        known = near.found & (near.grade >= 0) if self.negative == "unjudged" else near.found
        return counted(near, known, self.cutoff)

    def formula(self, lists: PaddedLists) -> Array:
        """Divide the number of judged documents by the number viewed."""
        return self.share(lists, self.judged(lists))


class Unjudged(Judged):
    """Unjudged: the share of the first k documents that were not judged (trec_eval's unj).

    Formula: unjudged in the first k / k

    >>> (Unjudged @ 4)([1, None, 0])
    0.25

    Reference: trec_eval 10.0, unj
    """

    denominator: str = parameter(
        "k", choice("k", "min(k,n)"), "the cutoff, or the length of a shorter list"
    )
    negative: str = parameter(
        "unjudged", choice("judged", "unjudged"), "whether a negative grade counts as judged"
    )

    direction = -1

    def formula(self, lists: PaddedLists) -> Array:
        """Divide the number of unjudged documents by the number viewed."""
        return self.share(lists, lists.lengths(self.cutoff) - self.judged(lists))


class Count(Measure):
    """Base of counts, which are summed over queries."""

    direction = 0
    judges = False
    averages_ties = True
    aggregate = "sum"
    limits = 0.0, math.inf


class NumRet(Count):
    """Number of documents retrieved.

    Formula: n, or min(k, n) with a cutoff

    >>> NumRet()([1, 0, None])
    3.0

    Reference: trec_eval 10.0, num_ret
    """

    def formula(self, lists: PaddedLists) -> Array:
        """Count the documents of each list."""
        return lists.lengths(self.cutoff)


class NumRel(Count, Threshold):
    """Number of documents judged relevant.

    Formula: R

    >>> NumRel()([1, 0], judged=[1])
    2.0

    Reference: trec_eval 10.0, num_rel
    """

    takes_cutoff = False

    def formula(self, lists: PaddedLists) -> Array:
        """Count the relevant judgments."""
        return self.all_relevant(lists)


class NumRelRet(Count, Threshold):
    """Number of relevant documents retrieved.

    Formula: relevant in the list, or in its first k

    >>> (NumRelRet @ 2)([1, 0, 1])
    1.0

    Reference: trec_eval 10.0, num_rel_ret
    """

    direction = 1

    def formula(self, lists: PaddedLists) -> Array:
        """Count the relevant documents in the list."""
        near = lists.upto(self.cutoff)
        return counted(near, self.hits(near), self.cutoff)


class NumNonRelRet(Count, Threshold):
    """Number of retrieved documents that were judged non-relevant.

    Formula: documents in the list, or in its first k, whose grade is at least 0 and below `rel`

    >>> NumNonRelRet()([1, 0, None, -1])
    1.0

    Reference: trec_eval 10.0, num_nonrel_judged_ret
    """

    direction = -1

    def worth(self, placements: Placements) -> Floats:
        """Return -1 for each document judged non-relevant."""
        grade = placements.grade
        return np.where(self.filled().relevant(grade) | (grade < 0), 0.0, -1.0)

    def formula(self, lists: PaddedLists) -> Array:
        """Count the documents judged non-relevant."""
        near = lists.upto(self.cutoff)
        bad = near.found & ~self.relevant(near.grade) & (near.grade >= 0)
        return counted(near, bad, self.cutoff)


class NumQ(Count):
    """Number of queries that count.

    Formula: 1 for every query, summed

    >>> NumQ()([1])
    1.0

    Reference: trec_eval 10.0, num_q
    """

    takes_cutoff = False

    def formula(self, lists: PaddedLists) -> Array:
        """Count each query once."""
        return lists.xp.ones_like(lists.number(lists.retrieved))
