"""Constant prefixes and suffixes that one side's ids have and the other's lack, from the data."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from idealist.auditing.thresholds import AFFIX_SHARES, AFFIX_VOTES, FEW_PAIRS, LONGEST_AFFIX
from idealist.auditing.transformations import Step, prefix, suffix

#: The ids that do not meet, of one query: those found, and those wanted.
Group = tuple[Collection[str], Collection[str]]


def affixes(groups: Sequence[Group], few: bool) -> Iterator[tuple[Step, str]]:
    """Guess what one side's ids have too much, each with the side: ``found`` or ``wanted``.

    `few` lets one pair of ids do for a guess.
    """
    votes = 1 if few else AFFIX_VOTES
    for side, own in (("found", groups), ("wanted", [(right, left) for left, right in groups])):
        turned = [(_reversed(left), _reversed(right)) for left, right in own]
        yield from ((prefix(text), side) for text in _guesses(own, votes))
        yield from ((suffix(text[::-1]), side) for text in _guesses(turned, votes))


def _reversed(names: Collection[str]) -> list[str]:
    return [name[::-1] for name in names]


def _guesses(groups: Sequence[Group], votes: int) -> list[str]:
    """Guess at what stands in front; up to three digits may be anything."""
    counts: Counter[str] = Counter()
    for left, right in groups:
        counts.update(_fronts(left, right))
    voted = [text for text, count in counts.most_common(2) if count >= votes]
    found = dict.fromkeys([*voted, *_frequent(groups)])
    return [text for text in found if re.search(r"\D", text) or len(text) > 3]


def _fronts(left: Collection[str], right: Collection[str]) -> Iterator[str]:
    """Give what stands before an id of the other side, or, among few, before one within."""
    if len(left) * len(right) <= FEW_PAIRS:
        places = ((name, name.find(other)) for name in left for other in right)
        yield from (name[:at] for name, at in places if _divides(name, at))
        return
    wanted = set(right)
    shortest = min(map(len, wanted))
    for name in left:
        cuts = range(1, len(name) - shortest + 1)
        yield from (name[:at] for at in cuts if name[at:] in wanted and _divides(name, at))


def _divides(name: str, at: int) -> bool:
    """Whether an id can be cut there: numbers are not cut, 12 is not 1 and 2."""
    inside = 0 < at <= LONGEST_AFFIX
    return inside and not (name[at - 1].isdigit() and name[at].isdigit())


def _frequent(groups: Sequence[Group]) -> Iterator[str]:
    """Give the longest beginnings that most ids of one side share, or many, and few others."""
    left = [name for own, _ in groups for name in own]
    right = [name for _, own in groups for name in own]
    for share in AFFIX_SHARES if min(len(left), len(right)) > 1 else ():
        text = _longest(left, share).rstrip(string.digits)
        if text and sum(name.startswith(text) for name in right) < share / 2 * len(right):
            yield text


def _longest(names: Sequence[str], share: float) -> str:
    found = ""
    for length in range(1, LONGEST_AFFIX + 1):
        text, count = Counter(name[:length] for name in names).most_common(1)[0]
        if count < share * len(names) or len(text) < length:
            break
        found = text
    return found
