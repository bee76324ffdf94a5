"""Measures of preferences, as trec_eval has them: shares of those that a ranking fulfils.

A ranking fulfils a preference where it has the preferred document above the other one, or has the
preferred document and not the other one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from idealist.data.columns import Floats, Ints
from idealist.errors import Defect
from idealist.measures.base import NO_RELEVANT, Measure
from idealist.measures.judged import Count
from idealist.measures.preference_tallies import GradeLevels, PreferenceGroups, Tally, tally
from idealist.notation import Written, choice, parameter
from idealist.ranking.padded_lists import Array, PaddedLists
from idealist.ranking.placements import Placements


@dataclass(frozen=True, kw_only=True, repr=False)
class Preferring(Measure):
    """Base of measures of preferences."""

    of: str = parameter(
        "all", choice("all", "implied", "retrieved"),
        "which preferences count: all, those with at least one document retrieved, or with both",
    )  # fmt: skip

    takes_cutoff: ClassVar[bool] = False
    averages_ties: ClassVar[bool] = True
    monotone: ClassVar[bool] = False  # groups may want opposite orders
    lacking: ClassVar[str] = "preference"
    #: Whether preferences are counted by pair of documents, and not by group.
    in_pairs: ClassVar[bool] = False

    @property
    def rule(self) -> str:
        """Which non-relevant documents count."""
        return "all"

    def value(self, lists: PaddedLists, found: Tally) -> Array:
        """Compute the value of each query from the preferences counted."""
        raise Defect(f"{self.name} states no value")

    def formula(self, lists: PaddedLists) -> Array:
        """Take each grade for a level, and each query for one group."""
        found = lists.once(("preferences", self.rule), lambda: tally(GradeLevels(lists), self.rule))
        return self.value(lists, found)

    def computed(self, placements: Placements) -> Floats:
        """Compute the formula for every query, from its groups where the judgments have some."""
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


@dataclass(frozen=True, kw_only=True, repr=False)
class Fulfilled(Preferring):
    """Base of shares of preferences fulfilled."""

    no_relevant: Written = parameter(
        "0", NO_RELEVANT, "the value of a query without any preference"
    )

    def defined(self, lists: PaddedLists, found: Tally, values: Array) -> Array:
        """Give the values, NaN where there is no preference, whatever the list shows of it."""
        some = lists.total(found.possible["all"]) + lists.total(found.possible[self.of])
        return lists.xp.where(some > 0, values, np.nan)


@dataclass(frozen=True, kw_only=True, repr=False)
class prefs_simp(Fulfilled):
    """The share of preferences fulfilled; those of all groups count alike.

    Formula: preferences fulfilled / preferences that there are

    In plain judgments a document of a higher grade is preferred to one of a lower grade. Where
    groups contradict each other, no ranking reaches 1. trec_eval orders ties by document id
    ascending here, and keeps fractions of grades.

    >>> prefs_simp()([2, 0, 1], judged=[1]), prefs_simp(of="retrieved")([2, 0, 1], judged=[1])
    (0.6, 0.6666666666666666)

    Reference: Carterette et al. 2008, doi:10.1007/978-3-540-78646-7_5, as trec_eval 10.0 has it
    """

    def value(self, lists: PaddedLists, found: Tally) -> Array:
        """Divide the preferences fulfilled by the possible ones."""
        fulfilled, possible = (lists.total(of[self.of]) for of in (found.fulfilled, found.possible))
        return self.defined(lists, found, lists.ratio(fulfilled, possible, 0.0))


@dataclass(frozen=True, kw_only=True, repr=False)
class prefs_pair(prefs_simp):
    """The share of preferences fulfilled, averaged over pairs of documents.

    Formula: mean over pairs of documents of (groups whose preference is fulfilled / groups with a
    preference)

    It is prefs_simp where no two groups compare the same two documents.

    >>> prefs_pair()([2, 0, 1], judged=[1])
    0.6

    Reference: trec_eval 10.0, prefs_pair
    """

    in_pairs: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, repr=False)
class prefs_avgjg(Fulfilled):
    """The share of preferences fulfilled, averaged over judgment groups.

    Formula: mean over groups of (preferences fulfilled / preferences that there are)

    A group that has no preference, or none of which the list shows enough, counts 0.

    ``nonrelevant=R`` takes as many documents of level 0 as the group has of higher levels, R: the
    first ones of the list, or further ones that no list has. With ``of=retrieved``, both are those
    retrieved. ``nonrelevant=trec_eval`` is prefs_avgjg_Rnonrel as trec_eval computes it. Where a
    group without subgroups has more than R, it takes all of these to be preferred to the R,
    themselves included. With ``of=retrieved``, it counts all R relevant documents against further
    ones, and takes R for the number that stays in a group with subgroups. A group without a value
    leaves the query without one.

    >>> prefs_avgjg()([1, 0, 0]), prefs_avgjg(nonrelevant="R")([0, 1, 0, 0])
    (1.0, 0.0)
    >>> prefs_avgjg(nonrelevant="trec_eval")([1, 0, 0])
    0.3333333333333333

    Reference: trec_eval 10.0, prefs_avgjg and prefs_avgjg_Rnonrel
    """

    nonrelevant: str = parameter(
        "all", choice("all", "R", "trec_eval"),
        "which non-relevant documents of a group count: all, as many as are relevant, or these "
        "as trec_eval counts them",
    )  # fmt: skip

    @property
    def rule(self) -> str:
        """Which non-relevant documents count."""
        return self.nonrelevant

    def value(self, lists: PaddedLists, found: Tally) -> Array:
        """Average the shares of the groups."""
        nothing = np.nan if self.rule == "trec_eval" else 0.0
        share = lists.ratio(found.fulfilled[self.of], found.possible[self.of], nothing)
        total = lists.total(lists.xp.where(found.there, share, 0.0))
        return self.defined(lists, found, lists.ratio(total, lists.count(found.there)))


@dataclass(frozen=True, kw_only=True, repr=False)
class prefs_num_prefs_poss(Count, Preferring):
    """The number of preferences that there are.

    Formula: pairs of documents of which a group prefers one, summed over groups

    >>> prefs_num_prefs_poss()([2, 0, 1], judged=[1])
    5.0

    Reference: trec_eval 10.0, prefs_num_prefs_poss
    """

    def value(self, lists: PaddedLists, found: Tally) -> Array:
        """Sum the possible preferences."""
        return lists.total(found.possible[self.of])


@dataclass(frozen=True, kw_only=True, repr=False)
class prefs_num_prefs_ful(Count, Preferring):
    """The number of preferences fulfilled.

    Formula: preferences whose preferred document stands above the other one, or without it

    >>> prefs_num_prefs_ful()([2, 0, 1], judged=[1])
    3.0

    Reference: trec_eval 10.0, prefs_num_prefs_ful
    """

    direction: ClassVar[int] = 1

    def value(self, lists: PaddedLists, found: Tally) -> Array:
        """Sum the preferences fulfilled."""
        return lists.total(found.fulfilled[self.of])
