"""Which way marks point: whether a sentence says better, worse or different of each."""

from __future__ import annotations

import re

_WAYS = re.compile(
    r"\b(?:(?P<worse>worse|lower|smaller|decrease|degrad|drop|loss)"
    r"|(?P<better>better|higher|greater|improve|increase|outperform|gain))",
    re.IGNORECASE,
)
#: What says how small a p-value is, and of no value that it is small.
_LEVEL = re.compile(r"\b(?:lower|smaller|less)\s+than\s+(?=[.,]?\d)", re.IGNORECASE)
_OVER = re.compile(r"\bover\b", re.IGNORECASE)
_DIFFERS = re.compile(r"\bdiffer", re.IGNORECASE)
_EITHER = re.compile(r"\bor\b", re.IGNORECASE)
#: What says that the value with a letter is better, not the row of the letter.
_BETTER = re.compile(
    r"improvements?\b|gains?\b|increases?\b|outperform|(?:better|higher|greater)\b.*\bthan\b",
    re.IGNORECASE | re.DOTALL,
)
_OF_ROWS = re.compile(
    r"\b(?:that|which)\s+(?:are\s+)?(?:\w+ly\s+)*(?:better|higher|greater|outperform|improve)",
    re.IGNORECASE,
)


def _ways(text: str) -> list[int]:
    """List the directions that a text names, in order, one said twice in a row once."""
    found: list[int] = []
    for match in _WAYS.finditer(_LEVEL.sub(" ", text)):
        way = -1 if match["worse"] else 1
        found += [way] if found[-1:] != [way] else []
    return found


def way_of(text: str) -> int:
    """Say what a sentence claims of one mark: better (1), worse (-1), or different (0).

    >>> way_of("significant improvements"), way_of("significance over bm25"), way_of("it differs")
    (1, 1, 0)
    >>> way_of("an increase or decrease"), way_of("differs, with p lower than 0.05")
    (0, 0)
    """
    ways = set(_ways(text))
    if ways:
        return ways.pop() if len(ways) == 1 else 0
    return 1 if _OVER.search(text) and not _DIFFERS.search(text) else 0


def way_of_several(text: str, place: int, several: int) -> int | None:
    """Say what a sentence claims of one of several marks; nothing where that is not clear.

    >>> [way_of_several("better and worse results, respectively", i, 2) for i in (0, 1)]
    [1, -1]
    >>> way_of_several("an increase or a decrease", 0, 2)
    """
    ways = _ways(text)
    if len(ways) < 2:
        return way_of(text)
    return ways[place] if len(ways) == several and not _EITHER.search(text) else None


def way_of_letters(text: str) -> int | None:
    """Say what sentences claim of letters; nothing where it may be of the value or of the row.

    >>> way_of_letters("improvements over the row"), way_of_letters("differences from the row")
    (1, 0)
    >>> way_of_letters("rows that are significantly better")
    """
    ways = set(_ways(text))
    if len(ways) != 1:
        return 0 if ways else way_of(text)
    is_better = ways == {1} and _BETTER.search(text) and not _OF_ROWS.search(text)
    return 1 if is_better else None
