"""Preference measures as defined by trec_eval: the share of preferences a ranking fulfils.

A ranking fulfils a preference if it ranks the preferred document above the other one, or if it
retrieves only the preferred one.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from idealist.data.columns import Floats, Ints
from idealist.errors import Defect
from idealist.measures.base import NO_RELEVANT, Measure
from idealist.measures.judged import Count
from idealist.measures.preference_tallies import GradeLevels, PreferenceGroups, Tally, tally
from idealist.notation import Written, choice, parameter
from idealist.ranking.padded_lists import Array, PaddedLists
from idealist.ranking.placements import Placements


class Preferring(Measure):
    """Base of preference measures."""

    of: str = parameter(
        "all",
        choice("all", "implied", "retrieved"),
        "which preferences count: all, those with at least one document retrieved (implied), "
        "or with both (retrieved)",
    )

    takes_cutoff = False
    averages_ties = True
    monotone = False  # groups may want opposite orders
    lacking = "preference"
    #: Whether preferences are counted by pair of documents instead of by group.
    in_pairs = False

    @property
    def rule(self) -> str:
        """Which non-relevant documents count."""
        return str(getattr(self, "nonrelevant", "all"))

    def value(self, lists: PaddedLists, found: Tally) -> Array:
        """Compute the value of each query from the counted preferences."""
        raise Defect(f"{self.name} states no value")

    def formula(self, lists: PaddedLists) -> Array:
        """Treat each grade as a level and each query as one group."""
        found = lists.once(("preferences", self.rule), lambda: tally(GradeLevels(lists), self.rule))
        return self.value(lists, found)

    def computed(self, placements: Placements) -> Floats:
        """Apply the formula to every query, by group if the judgments have groups."""
        if placements.qrels.preferred is None:
            return super().computed(placements)
        values = np.zeros(len(placements.qrels.queries))
        for queries, lists in placements.lists:
            count = partial(self._by_group, placements, queries)
            found = lists.once(("preferences", self.rule, self.in_pairs), count)
            values[queries] = self.value(lists, found)
        return values

    def _by_group(self, placements: Placements, queries: Ints) -> Tally:
        return tally(PreferenceGroups(placements, queries, self.in_pairs), self.rule)


class Fulfilled(Preferring):
    """Base of shares of fulfilled preferences."""

    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without any preference")

    def defined(self, lists: PaddedLists, found: Tally, values: Array) -> Array:
        """Return the values, NaN for queries without any preference."""
        some = lists.total(found.possible["all"]) + lists.total(found.possible[self.of])
        return lists.xp.where(some > 0, values, np.nan)


class prefs_simp(Fulfilled):
    """The share of preferences fulfilled, with the preferences of all groups pooled.

    Formula: preferences fulfilled / all preferences

    In plain judgments, a document with a higher grade is preferred to one with a lower grade. If
    groups contradict each other, no ranking reaches 1. Here trec_eval breaks ties by ascending
    document id and keeps fractional grades.

    >>> prefs_simp()([2, 0, 1], judged=[1]), prefs_simp(of="retrieved")([2, 0, 1], judged=[1])
    (0.6, 0.6666666666666666)

    Reference: Carterette et al. 2008, doi:10.1007/978-3-540-78646-7_5, as implemented in trec_eval
    10.0
    """

    def value(self, lists: PaddedLists, found: Tally) -> Array:
        """Divide the fulfilled preferences by the possible ones."""
        fulfilled, possible = (lists.total(of[self.of]) for of in (found.fulfilled, found.possible))
        return self.defined(lists, found, lists.ratio(fulfilled, possible, 0.0))


class prefs_pair(prefs_simp):
    """The share of preferences fulfilled, averaged over pairs of documents.

    Formula: mean over pairs of documents of (groups whose preference is fulfilled / groups with a
    preference)

    It equals prefs_simp if no two groups compare the same two documents.

    >>> prefs_pair()([2, 0, 1], judged=[1])
    0.6

    Reference: trec_eval 10.0, prefs_pair
    """

    in_pairs = True


class prefs_avgjg(Fulfilled):
    """The share of preferences fulfilled, averaged over groups of judges.

    Formula: mean over groups of (preferences fulfilled / all preferences)

    A group without preferences, or without any that the list can decide, counts as 0.

    ``nonrelevant=R`` uses as many documents of level 0 as the group has of higher levels, R: the
    first ones in the list, padded with imaginary ones that no list retrieves. With ``of=retrieved``
    both counts refer to retrieved documents. ``nonrelevant=trec_eval`` reproduces trec_eval's
    prefs_avgjg_Rnonrel. In a group without subgroups and with more than R such documents, it treats
    all of them as preferred to the R that count, themselves included. With ``of=retrieved`` it
    counts all R relevant documents against the padding, and keeps R documents in groups with
    subgroups. A group without a value leaves the query undefined.

    >>> prefs_avgjg()([1, 0, 0]), prefs_avgjg(nonrelevant="R")([0, 1, 0, 0])
    (1.0, 0.0)
    >>> prefs_avgjg(nonrelevant="trec_eval")([1, 0, 0])
    0.3333333333333333

    Reference: trec_eval 10.0, prefs_avgjg and prefs_avgjg_Rnonrel
    """

    nonrelevant: str = parameter(
        "all",
        choice("all", "R", "trec_eval"),
        "which non-relevant documents of a group count: all, as many as are relevant (R), or "
        "R as trec_eval counts them",
    )

    def value(self, lists: PaddedLists, found: Tally) -> Array:
        """Average the shares of the groups."""
        nothing = np.nan if self.rule == "trec_eval" else 0.0
        share = lists.ratio(found.fulfilled[self.of], found.possible[self.of], nothing)
        total = lists.total(lists.xp.where(found.there, share, 0.0))
        return self.defined(lists, found, lists.ratio(total, lists.count(found.there)))


class prefs_num_prefs_poss(Count, Preferring):
    """Number of preferences.

    Formula: pairs of documents of which a group prefers one, summed over groups

    >>> prefs_num_prefs_poss()([2, 0, 1], judged=[1])
    5.0

    Reference: trec_eval 10.0, prefs_num_prefs_poss
    """

    def value(self, lists: PaddedLists, found: Tally) -> Array:
        """Sum the possible preferences."""
        return lists.total(found.possible[self.of])


class prefs_num_prefs_ful(Count, Preferring):
    """Number of preferences fulfilled.

    Formula: preferences whose preferred document ranks above the other one, or was retrieved
    without it

    >>> prefs_num_prefs_ful()([2, 0, 1], judged=[1])
    3.0

    Reference: trec_eval 10.0, prefs_num_prefs_ful
    """

    direction = 1

    def value(self, lists: PaddedLists, found: Tally) -> Array:
        """Sum the fulfilled preferences."""
        return lists.total(found.fulfilled[self.of])
