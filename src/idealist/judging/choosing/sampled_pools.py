"""Samples of a pool: strata by depth and agreement of the runs, with inclusion probabilities."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

from idealist.errors import UsageError
from idealist.judging.choosing.pool_case import Choice, PoolCase, fused
from idealist.judging.choosing.strategies import USUAL_DEPTH
from idealist.judging.store_records import Pooled
from idealist.rendering.wording import counted

#: How the documents of a query are divided. A quarter of its share is judged for certain; of what
#: remains, as many are drawn from each of up to four strata, each twice as large as the one before.
#: Suggested: on the runs of TREC-COVID's first round this made P@10 and P@100 surest.
CERTAIN_SHARE, MOST_STRATA, GROWTH = 0.25, 4, 2
#: A variance takes two documents of a stratum; three leave room for one that cannot be judged.
LEAST_DRAWN = 3
#: How much ranks far down still count when strata are made: less than in usual fusion.
STRATA_CONSTANT = 10
#: The stratum of what was judged before the sample was drawn.
JUDGED_BEFORE = "judged"


@dataclass(frozen=True)
class Stratum:
    """Documents of one query of which some are `drawn`, each with the same chance."""

    name: str
    documents: Sequence[str]
    drawn: int

    @property
    def inclusion(self) -> float:
        """The chance of each document to be drawn."""
        return self.drawn / len(self.documents)


def by_sampling(case: PoolCase, *, depth: int = USUAL_DEPTH) -> Choice:
    """Draw documents with known probabilities from all that the runs retrieve down to a depth."""
    if case.budget is None and case.per_query is None:
        raise UsageError("a sample needs a budget", "give --budget, or --per-query")
    orders = {
        query: case.unjudged(query, fused(case.cut(query, depth), STRATA_CONSTANT))
        for query in case.lists
    }
    given = case.shares({query: len(order) for query, order in orders.items()})
    _check_enough({query: len(order) for query, order in orders.items()}, given)
    pooled: list[Pooled] = []
    turn = count(1)
    for query, order in orders.items():
        known = case.known(query)
        pooled += [Pooled(query, document, None, JUDGED_BEFORE, 1.0) for document in known]
        pooled += sampled(query, strata(order, given[query]), case.seed, turn)
    size = sum(map(len, orders.values()))
    how = f"a stratified sample of {counted(size, 'pooled document', 'pooled documents')}"
    return Choice(tuple(pooled), how, {"depth": depth})


def _check_enough(sizes: dict[str, int], given: dict[str, int]) -> None:
    short = [query for query, size in sizes.items() if given[query] < min(size, 2)]
    if short:
        few = f"{len(short)} of {len(sizes)} queries"
        message = f"the budget allows fewer than two documents of {few}"
        hint = f"give a budget of at least {2 * len(sizes)}, or fewer queries"
        raise UsageError(message, hint)


def strata(order: Sequence[str], number: int) -> list[Stratum]:
    """Divide the documents of a query, best first, so that a number of them is drawn.

    >>> [(one.name, len(one.documents), one.drawn) for one in strata(range(100), 16)]
    [('1', 4, 4), ('2', 6, 3), ('3', 13, 3), ('4', 25, 3), ('5', 52, 3)]
    """
    if number >= len(order):
        return _strata(order, [0, len(order)], [len(order)])
    certain = int(number * CERTAIN_SHARE)
    parts = max(1, min(MOST_STRATA, (number - certain) // LEAST_DRAWN))
    whole, left = GROWTH**parts - 1, len(order) - certain
    bounds = [certain + left * (GROWTH**i - 1) // whole for i in range(parts + 1)]
    draws = even(number - certain, [end - start for start, end in pairwise(bounds)])
    return _strata(order, [0, *bounds], [certain, *draws])


def _strata(order: Sequence[str], bounds: Sequence[int], draws: Sequence[int]) -> list[Stratum]:
    return [
        Stratum(str(level), order[start:end], drawn)
        for level, ((start, end), drawn) in enumerate(zip(pairwise(bounds), draws, strict=True), 1)
        if start < end
    ]


def even(number: int, sizes: Sequence[int]) -> list[int]:
    """Divide a number into equal parts; what a small stratum has no room for goes to the next.

    >>> even(10, [2, 4, 90])
    [2, 4, 4]
    """
    draws, left = [], number
    for i, size in enumerate(sizes):
        draws.append(min(size, left // (len(sizes) - i)))
        left -= draws[-1]
    return draws


def sampled(
    query: str, parts: Iterable[Stratum], seed: int, turn: Iterator[int]
) -> Iterator[Pooled]:
    """Draw from each stratum of a query, and give the drawn documents places.

    The documents with the smallest keys are drawn, and are judged in the order of their keys, a
    like share of every stratum at a time. So whenever judging stops, what is judged of a stratum is
    a random sample of it.
    """
    turns: list[tuple[float, bytes, str]] = []
    rows: list[tuple[str, Stratum]] = []
    for part in parts:
        keyed = sorted((key(seed, query, document), document) for document in part.documents)
        rows += [(document, part) for _, document in keyed]
        drawn = enumerate(keyed[: part.drawn], 1)
        turns += [(i / (part.drawn + 1), *one) for i, one in drawn]
    places = {document: next(turn) for _, _, document in sorted(turns)}
    for document, part in rows:
        yield Pooled(query, document, places.get(document), part.name, part.inclusion)


def key(seed: int, query: str, document: str) -> bytes:
    """Return a random number that seed, query and document alone decide, on any machine.

    >>> key(0, "q1", "d1").hex()[:8]
    'b934da6b'
    """
    return hashlib.sha256(json.dumps([seed, query, document]).encode()).digest()
