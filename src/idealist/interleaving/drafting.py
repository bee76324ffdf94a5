"""Team-draft and balanced lists: two rankings and the falls of a coin in, one list out.

Whatever is random is a coin that is handed in. A service throws it once; thrown in every way there
is, it shows every list with its probability, which is how lists are made and proved unbiased.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

#: How a coin falls: True is for the second run.
Coin = Callable[[], bool]
#: What a click is worth to each side: below 0 to the first run, above 0 to the second.
CREDITS = -1.0, 1.0


class Drafted(NamedTuple):
    """A list, what a click on each document is worth, and the probability of the list."""

    documents: tuple[str, ...]
    credits: tuple[float, ...]
    probability: float = 1.0


Draft = Callable[[Coin], Drafted]


def team_draft(a: Sequence[str], b: Sequence[str], depth: int, coin: Coin) -> Drafted:
    """Let two captains pick in turn, and throw a coin each round for who picks first.

    A captain picks the best document of its run that the list does not have yet. A click counts for
    the run that picked the document. The draft ends at the length of the shorter run: below, where
    one captain could be left without a pick, documents have no team, nor have they any where both
    runs rank alike. So clicks at random favour neither run, however many there are.

    >>> team_draft(["x", "y"], ["x", "z"], 3, coin=lambda: True)
    Drafted(documents=('x', 'y', 'z'), credits=(1.0, -1.0, 0.0), probability=1.0)

    Reference: Radlinski, Kurup and Joachims 2008, doi:10.1145/1458082.1458092
    """
    picks = 0 if list(a) == list(b) else min(depth, len(a), len(b))
    shown: dict[str, float] = {}
    while len(shown) < picks:
        first = int(coin())
        for side in (first, 1 - first)[: picks - len(shown)]:
            top = next(document for document in (a, b)[side] if document not in shown)
            shown[top] = CREDITS[side]
    documents = tuple(dict.fromkeys((*shown, *a, *b)))[:depth]
    return Drafted(documents, tuple(shown.get(document, 0.0) for document in documents))


def balanced(a: Sequence[str], b: Sequence[str], depth: int, coin: Coin) -> Drafted:
    """Take the next document of each run in turn, and throw one coin for whose comes first.

    A document that is there already is passed over. Clicks have no credit of their own: which run
    they prefer follows from all of a list (`preferred_by_depth`).

    >>> balanced(["x", "y", "z"], ["y", "x", "w"], 4, coin=lambda: False).documents
    ('x', 'y', 'z', 'w')

    Reference: Joachims 2003, Evaluating Retrieval Performance Using Clickthrough Data
    """
    first, second = (b, a) if coin() else (a, b)
    turns = (document for pair in zip_longest(first, second) for document in pair)
    documents = tuple(dict.fromkeys(one for one in turns if one is not None))[:depth]
    return Drafted(documents, (0.0,) * len(documents))


def every(draft: Draft, most: int) -> list[Drafted] | None:
    """Make every list that a coin can lead to, with its probability; None if there are too many.

    >>> [one.documents for one in every(lambda coin: balanced(["x"], ["y"], 2, coin), 9)]
    [('x', 'y'), ('y', 'x')]
    """
    found: dict[Drafted, float] = {}
    waiting: list[list[bool]] = [[]]
    while waiting:
        falls = waiting.pop()
        known = len(falls)
        made = draft(_scripted(falls))
        found[made] = found.get(made, 0.0) + 0.5 ** len(falls)
        waiting += [[*falls[:i], True] for i in range(known, len(falls))]
        if len(found) + len(waiting) > most:
            return None
    return [one._replace(probability=chance) for one, chance in found.items()]


def _scripted(falls: list[bool]) -> Coin:
    """Make a coin that falls as told, then always to the first side, which it adds to `falls`."""
    told = iter(tuple(falls))

    def coin() -> bool:
        fall = next(told, None)
        if fall is None:
            falls.append(False)
        return bool(fall)

    return coin


def preferred_by_depth(
    ranks: Sequence[tuple[int | None, int | None]], clicked: Sequence[int]
) -> int:
    """Say which run the clicks on a balanced list prefer: -1 the first, 1 the second, 0 neither.

    Formula: with k the better rank of the lowest clicked document, the run with more clicked
    documents among its first k

    `ranks` holds the rank of each document of the list in either run; `clicked` are places in the
    list, from 0 on.

    >>> preferred_by_depth([(1, 2), (2, 1), (3, None)], [1]), preferred_by_depth([(1, 2)], [])
    (1, 0)

    Reference: Chapelle, Joachims, Radlinski and Yue 2012, doi:10.1145/2094072.2094078, section 2.2
    """
    if not clicked:
        return 0
    k = min(rank for rank in ranks[max(clicked)] if rank is not None)
    first, second = (
        sum(1 for place in clicked if (rank := ranks[place][side]) is not None and rank <= k)
        for side in (0, 1)
    )
    return (second > first) - (second < first)
