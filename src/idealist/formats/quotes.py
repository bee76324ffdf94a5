"""Quotes: where a text stands in a document, found again after either was edited.

A quote is looked for as it is; then without regard to case, blanks, the kind of quotation marks and
dashes, and Unicode's ways of writing one character; then with the fewest edits.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

#: The share of a quote's characters that may be inserted, deleted or replaced. Suggested.
MOST_EDITS = 0.2
#: Signs that are read alike.
_ALIKE = str.maketrans({
    **dict.fromkeys("‘’‚‛′`´", "'"), **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"), "…": "...",
})  # fmt: skip
#: What is combined with the character before it, conjoining Jamo included.
_JOINED = r"[\u0300-\u036f\u1160-\u11ff\u1ab0-\u1aff\u20d0-\u20ff]"
#: Blanks, plain text, and characters with what is combined with them.
_CLUSTERS = re.compile(rf"\s+|[!-~]+(?!{_JOINED})|[^\s]{_JOINED}*", re.DOTALL)


class Found(NamedTuple):
    """Where a quote stands: how it was found, with how many edits, and how often it is there."""

    start: int
    end: int
    how: Literal["exact", "normalised", "fuzzy"]
    edits: int = 0
    times: int = 1


class SearchedText:
    """A document in which quotes are looked for.

    >>> text = SearchedText("He said:  “Lists can be sorted.”")
    >>> text.find("Lists can be")
    Found(start=11, end=23, how='exact', edits=0, times=1)
    >>> text.find('he said: "lists')
    Found(start=0, end=16, how='normalised', edits=0, times=1)
    >>> text.find("List can be sorted!")
    Found(start=11, end=30, how='fuzzy', edits=2, times=1)
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._known: dict[tuple[str, int | None], Found | None] = {}

    @cached_property
    def _plain(self) -> tuple[str, list[int], list[int]]:
        return normalised(self.text)

    def find(self, quote: str, near: int | None = None) -> Found | None:
        """Find a quote, the occurrence that starts nearest to a place, or else the first."""
        if (quote, near) not in self._known:
            self._known[quote, near] = self._find(quote, near)
        return self._known[quote, near]

    def _find(self, quote: str, near: int | None) -> Found | None:
        if quote.strip() and (places := list(_places(self.text, quote))):
            start = _nearest(places, near)
            return Found(start, start + len(quote), "exact", 0, len(places))
        text, starts, ends = self._plain
        words = normalised(quote)[0].strip()
        if not words:
            return None
        if places := list(_places(text, words)):
            start = _nearest(places, None if near is None else bisect_left(starts, near))
            return Found(starts[start], ends[start + len(words) - 1], "normalised", 0, len(places))
        edits, end = closest(words, text)
        if edits > int(MOST_EDITS * len(words)):
            return None
        head = text[max(0, end - len(words) - edits) : end][::-1]
        start = end - closest(words[::-1], head, anchored=True)[1]
        return Found(starts[start], ends[end - 1], "fuzzy", edits)


def _places(text: str, quote: str) -> Iterator[int]:
    """Find all places, those that overlap included."""
    place = text.find(quote)
    while place >= 0:
        yield place
        place = text.find(quote, place + 1)


def _nearest(places: list[int], near: int | None) -> int:
    return places[0] if near is None else min(places, key=lambda place: abs(place - near))


def normalised(text: str) -> tuple[str, list[int], list[int]]:
    """Write a text plainly, with the start and end of each character's source.

    >>> normalised("Ｌist  ﬁle")
    ('list file', [0, 1, 2, 3, 4, 6, 6, 7, 8], [1, 2, 3, 4, 6, 7, 7, 8, 9])
    """
    parts, starts, ends = [], list[int](), list[int]()
    for found in _CLUSTERS.finditer(text):
        start, end = found.span()
        if found[0].isascii() and not found[0].isspace():
            plain = found[0].translate(_ALIKE).lower()
            starts += range(start, end)
            ends += range(start + 1, end + 1)
        else:
            plain = _plain(found[0])
            starts += [start] * len(plain)
            ends += [end] * len(plain)
        parts.append(plain)
    return "".join(parts), starts, ends


@lru_cache(maxsize=4096)
def _plain(cluster: str) -> str:
    """Write blanks as one, signs as their plain form, and nothing for what is not seen."""
    if cluster.isspace():
        return " "
    plain = unicodedata.normalize("NFKC", cluster.translate(_ALIKE)).casefold().translate(_ALIKE)
    return "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")


def closest(words: str, text: str, *, anchored: bool = False) -> tuple[int, int]:
    """Return the fewest edits that make words a part of the text, and where that part first ends.

    An `anchored` part begins where the text does. A column of the table of edit distances is two
    whole numbers, whose bits say where the distance rises and falls (Myers 1999,
    doi:10.1145/316542.316550; Hyyrö 2003).

    >>> closest("sorted", "a list is srted in place"), closest("sorted", "unsorted", anchored=True)
    ((1, 15), (2, 8))
    """
    full, top, bits = (1 << len(words)) - 1, 1 << (len(words) - 1), dict[str, int]()
    for i, sign in enumerate(words):
        bits[sign] = bits.get(sign, 0) | 1 << i
    rise, fall, edits = full, 0, len(words)
    best, end = edits, 0
    for place, sign in enumerate(text, 1):
        same = bits.get(sign, 0)
        vertical = same | fall
        horizontal = (((same & rise) + rise) ^ rise) | same
        up, down = fall | full & ~(horizontal | rise), rise & horizontal
        edits += bool(up & top) - bool(down & top)
        up, down = (up << 1 | anchored) & full, (down << 1) & full
        rise, fall = down | full & ~(vertical | up), up & vertical
        if edits < best:
            best, end = edits, place
    return best, end
