"""How many preferences a ranking fulfils, and which non-relevant documents count in it."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from idealist.errors import UsageError
from idealist.lists import Array


class Counts(NamedTuple):
    """Numbers of preferences, queries x groups.

    In `both` the two documents were retrieved, the preferred one above the other in `kept`. One was
    retrieved in `won`, the preferred one, and in `lost`, the other one; none in `neither`.
    """

    kept: Array
    both: Array
    won: Array
    lost: Array
    neither: Array


class Sizes(NamedTuple):
    """Numbers of documents, queries x groups, all and those found: relevant, other, lowest level.

    A document is relevant where its level is above 0.
    """

    relevant: Array
    relevant_found: Array
    other: Array
    other_found: Array
    lowest: Array
    lowest_found: Array


class Limit(NamedTuple):
    """How many non-relevant documents count, the first ones; where `alone`, the lowest level's."""

    most: Array
    alone: Array


class Tally(NamedTuple):
    """Possible and fulfilled preferences, queries x groups, where a group is `there`.

    They are counted among all preferences, among those of which at least one document was retrieved
    (implied), and among those of which both were (retrieved).
    """

    there: Array
    possible: dict[str, Array]
    fulfilled: dict[str, Array]


class Side(Protocol):
    """Lists with their judgments, whose preferences can be counted."""

    xp: Any
    there: Array
    divided: Array
    averaged: bool

    def sizes(self) -> Sizes:
        """Count the documents."""

    def counts(self, limit: Limit | None) -> Counts:
        """Count the preferences."""


def tally(side: Side, rule: str) -> Tally:
    """Count preferences; `rule` says which non-relevant documents count: all, R, or trec_eval."""
    if rule == "all":
        counts = side.counts(None)
        return _tally(side, counts, counts)
    if side.averaged:
        hint = "choose another order of ties, or nonrelevant=all"
        raise UsageError(f"nonrelevant={rule} has no closed form for ties=expected", hint)
    xp, sizes, literal = side.xp, side.sizes(), rule == "trec_eval"
    alone = ~side.divided if literal else xp.zeros_like(side.divided)
    near = xp.where(side.divided, sizes.relevant, sizes.relevant_found)
    whole = side.counts(Limit(sizes.relevant, alone))
    found = side.counts(Limit(near if literal else sizes.relevant_found, alone))
    whole, found = _filled(xp, sizes, whole, found, literal)
    if literal:
        whole, found = _repeated(xp, sizes, whole, found, alone)
    return _tally(side, whole, found)


def _tally(side: Side, whole: Counts, found: Counts) -> Tally:
    implied, fulfilled = whole.both + whole.won + whole.lost, whole.kept + whole.won
    possible = {"all": implied + whole.neither, "implied": implied, "retrieved": found.both}
    kept = {"all": fulfilled, "implied": fulfilled, "retrieved": found.kept}
    return Tally(side.there, possible, kept)


def _filled(
    xp: Any, sizes: Sizes, whole: Counts, found: Counts, literal: bool
) -> tuple[Counts, Counts]:
    """Add non-relevant documents up to R, below all: no list has them.

    Among the documents found, trec_eval expects every relevant one to be preferred to them.
    """
    relevant, near = sizes.relevant, sizes.relevant_found
    lacking = xp.maximum(relevant - sizes.other, 0.0)
    won, neither = whole.won + near * lacking, whole.neither + (relevant - near) * lacking
    lacking = xp.maximum(near - sizes.other_found, 0.0)
    kept, both = found.kept + near * lacking, found.both + (relevant if literal else near) * lacking
    return whole._replace(won=won, neither=neither), found._replace(kept=kept, both=both)


def _repeated(
    xp: Any, sizes: Sizes, whole: Counts, found: Counts, alone: Array
) -> tuple[Counts, Counts]:
    """Add what trec_eval counts besides where it leaves out non-relevant documents.

    It takes each document of the lowest level to be preferred to each of those that count, itself
    included.
    """
    size, seen = sizes.lowest, sizes.lowest_found
    more = alone & (sizes.other > sizes.relevant)
    held = xp.where(more, xp.minimum(sizes.relevant, size), 0.0)
    near = xp.minimum(held, seen)
    whole = Counts(
        whole.kept + near * (near - 1.0) / 2.0,
        whole.both + seen * near,
        whole.won + seen * (held - near),
        whole.lost + (size - seen) * near,
        whole.neither + (size - seen) * (held - near),
    )
    more = alone & (sizes.other_found > sizes.relevant_found)
    near = xp.where(more, xp.minimum(sizes.relevant_found, seen), 0.0)
    kept, both = found.kept + near * (near - 1.0) / 2.0, found.both + seen * near
    return whole, found._replace(kept=kept, both=both)
