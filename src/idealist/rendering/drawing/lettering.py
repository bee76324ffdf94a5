"""Lettering: how wide words are before they are drawn, and how they are made to fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from unicodedata import east_asian_width

from idealist.rendering.wording import seen, short

#: What no XML may hold: most control characters, lone surrogates, two that are no characters.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: Widths of characters as parts of their size, in DejaVu Sans, the widest of the usual fonts; of
#: all others, `_USUAL`. Bold ones are wider.
_WIDTHS = {
    **dict.fromkeys("ijlI.,:;'| ", 0.32),
    **dict.fromkeys("frt-()[]/\\!", 0.4),
    **dict.fromkeys("mwMW@%…—", 1.0),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&±+<>=~", 0.74),
}
_USUAL, _WIDE, BOLD = 0.62, 1.05, 1.1


def safe(text: str) -> str:
    """Escape a text for an element or an attribute; what hides, or XML cannot hold, is shown.

    >>> safe('<b a="1">\\x00')
    '&lt;b a=&quot;1&quot;&gt;[U+0000]'
    """
    return escape(_FORBIDDEN.sub("\ufffd", seen(text)))


def one_line(text: str) -> str:
    """Bring a text on one line, since pictures have no others, with nothing hidden in it."""
    return seen(" ".join(text.split()))


def width(text: str, size: float) -> float:
    """Estimate how wide a text is, a little generously.

    >>> width("nDCG@10", 12) > width("nDCG", 12) > 0
    True
    """
    return size * sum(map(_width, text))


def _width(character: str) -> float:
    wide = not character.isascii() and east_asian_width(character) in "WF"
    return _WIDE if wide else _WIDTHS.get(character, _USUAL)


def fitted(text: str, size: float, room: float) -> str:
    """Leave out the middle of a text until it has room.

    >>> fitted("a-long-name-of-a-run", 12, 80)
    'a-lon…a-run'
    """
    line = one_line(text)[:400]
    longest = len(line)
    while longest > 1 and width(short(line, longest), size) > room + 0.01:
        longest -= 1
    return short(line, longest)


def lines(text: str, size: float, room: float, most: int) -> Iterator[str]:
    """Break a text between words into at most so many lines; the last is made to fit.

    >>> list(lines("what each run loses", 12, 70, 2))
    ['what each', 'run loses']
    """
    words = one_line(text).split(" ")
    for _ in range(most - 1):
        taken = 1
        while taken < len(words) and width(" ".join(words[: taken + 1]), size) <= room:
            taken += 1
        yield fitted(" ".join(words[:taken]), size, room)
        words = words[taken:]
        if not words:
            return
    yield fitted(" ".join(words), size, room)
