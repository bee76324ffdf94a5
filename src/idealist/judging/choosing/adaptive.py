"""Strategies that learn from each judgment: move-to-front and MaxMean.

Each is a walk through the lists of one query. It asks for one document after the other, and what a
document turned out to be decides where it looks next. What is judged already is walked through
without asking, so that the walk can be begun anew after each judgment.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from heapq import heappop, heappush
from itertools import count

from idealist.judging.choosing.pool_case import Choice, Lists, PoolCase, ranks_of
from idealist.judging.choosing.strategies import USUAL_DEPTH
from idealist.judging.store_records import Pooled

#: A walk yields documents, and is sent whether each is relevant.
Walk = Generator[str, bool, None]


def move_to_front(lists: Lists) -> Walk:
    """Stay with a run while it is relevant; after a document that is not, it loses priority.

    Reference: Cormack, Palmer and Clarke 1998, doi:10.1145/290941.291009
    """
    rest = [iter(one) for one in lists]
    waiting = [(0, i) for i in range(len(lists))]  # how often each run has failed
    seen: set[str] = set()
    while waiting:
        lost, run = heappop(waiting)
        for document in rest[run]:
            if document in seen:
                continue
            seen.add(document)
            if not (yield document):
                heappush(waiting, (lost + 1, run))
                break


def max_mean(lists: Lists) -> Walk:
    """Take the next document of the run with the highest mean (1 + relevant)/(2 + judged).

    Both count the documents of the run that are judged, whichever run they were taken from.

    Reference: Losada, Parapar and Barreiro 2017, doi:10.1016/j.ipm.2017.04.005
    """
    relevant, judged, at = ([0] * len(lists) for _ in range(3))
    holders = ranks_of(lists)
    seen: set[str] = set()
    while True:
        for i, one in enumerate(lists):
            while at[i] < len(one) and one[at[i]] in seen:
                at[i] += 1
        left = [i for i, one in enumerate(lists) if at[i] < len(one)]
        if not left:
            return
        run = min(left, key=lambda i: (-(1 + relevant[i]) / (2 + judged[i]), at[i], i))
        document = lists[run][at[run]]
        seen.add(document)
        found = yield document
        for i, rank in enumerate(holders[document]):
            judged[i] += rank > 0
            relevant[i] += rank > 0 and found


#: The walks by the names of their strategies.
WALKS: dict[str, Callable[[Lists], Walk]] = {"mtf": move_to_front, "maxmean": max_mean}


def unasked(strategy: str, lists: Lists, grades: Mapping[str, float], rel: float) -> Iterator[str]:
    """Yield the unjudged documents in the order of a walk, as if none of them were relevant.

    Only the first is sure to be what the strategy wants next: its grade may turn the walk.

    >>> list(unasked("mtf", (("a", "b", "c"), ("x", "y")), {"a": 1}, rel=1))
    ['b', 'x', 'c', 'y']
    """
    walk = WALKS[strategy](lists)
    try:
        document = next(walk)
        while True:
            if document not in grades:
                yield document
            document = walk.send(grades.get(document, rel - 1) >= rel)
    except StopIteration:
        return


def revised(
    strategy: str, pooled: Iterable[Pooled], grades: Mapping[str, float], rel: float
) -> Iterator[str]:
    """Yield the unjudged documents of one query of a batch, in the order that suits the grades."""
    return unasked(strategy, _lists_of(pooled), grades, rel)


def _lists_of(pooled: Iterable[Pooled]) -> Lists:
    """Put the documents of one query back into the lists of the runs."""
    ranked = [(one.ranks, one.document) for one in pooled]
    runs = range(len(ranked[0][0]) if ranked else 0)
    return tuple(
        tuple(document for _, document in sorted((r[i], d) for r, d in ranked if r[i]))
        for i in runs
    )


def by_mtf(case: PoolCase, *, depth: int = USUAL_DEPTH) -> Choice:
    """Choose by move-to-front: stay with a run while its documents are relevant."""
    return _learning("mtf", "by move-to-front", case, depth)


def by_maxmean(case: PoolCase, *, depth: int = USUAL_DEPTH) -> Choice:
    """Choose by MaxMean: next of the run whose judged documents are relevant most often."""
    return _learning("maxmean", "by MaxMean", case, depth)


def _learning(strategy: str, words: str, case: PoolCase, depth: int) -> Choice:
    """Choose the first documents of each query's walk; the others stay in the batch for later."""
    lists = {query: case.cut(query, depth) for query in case.lists}
    orders = {
        query: list(unasked(strategy, lists[query], case.known(query), case.rel)) for query in lists
    }
    given = case.shares({query: len(order) for query, order in orders.items()})
    turn, pooled = count(1), []
    for query, order in orders.items():
        places = {document: next(turn) for document in order[: given[query]]}
        pooled += [
            Pooled(query, document, places.get(document), ranks=ranks)
            for document, ranks in ranks_of(lists[query]).items()
        ]
    how = f"{words}, which chooses anew after each judgment"
    return Choice(tuple(pooled), how, {"depth": depth})
