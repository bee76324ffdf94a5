"""Whether lists hold what was judged for their own queries, for other queries, or for none.

A list and the judgments of a query belong together if they share documents that few other lists
and few other queries have. The sum over all pairs of a list and its own query is compared with that
of random pairs, whose mean and variance are known (Hoeffding 1951, doi:10.1214/aoms/1177729545).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from idealist.data import Qrels
from idealist.data.columns import Floats, Ints

#: Queries that are looked at, in the order of their ids. Suggested.
WINDOW = 300
#: Standard deviations up to which lists fit their queries no better than chance. The lists of all
#: but two of 109 runs of TREC-COVID fit by 11 and more, those two hold the same documents for every
#: query; documents drawn at random fit by less than 3.
BY_CHANCE = 3.0
#: Lists that hold the same documents for every query fit none better than others. Suggested.
SPREAD = 1.1
#: Standard deviations by which lists must fit other queries, and how many times as well as their
#: own, to be said to belong to these. The lists of no such run do. Suggested.
ELSEWHERE, TIMES_OWN = 5.0, 1.6
#: How many times as well, if each list goes where it fits best, those must fit that are moved. In a
#: weak run they fit other queries on the same topic up to 2.8 times as well. Suggested.
FREE_TIMES_OWN = 3.0
#: How well lists that are all shifted alike must fit, against lists that each go where they fit
#: best: one rule for all needs less evidence. Suggested.
ONE_STEP = 0.9
#: Standard deviations by which more lists must fit better than worse, else a few decide. Suggested.
MOST_LISTS = 2.5


def in_order(queries: Sequence[str]) -> list[str]:
    """Sort ids with the numbers in them as numbers, however long.

    >>> in_order(["q10", "q9", "q1"])
    ['q1', 'q9', 'q10']
    """
    return sorted(queries, key=_parts)


def _parts(query: str) -> list[tuple[int, str]]:
    """Split an id, its numbers with their lengths: the longer is the larger.

    >>> _parts("q007")
    [(0, 'q'), (1, '7'), (0, '')]
    """
    words = re.split(r"(\d+)", query)
    words[1::2] = [number.lstrip("0") for number in words[1::2]]
    return [(len(word) if i % 2 else 0, word) for i, word in enumerate(words)]


class Elsewhere(NamedTuple):
    """The query that each list belongs to, by its place, and how many lists fit that `better`.

    `step` is the number of places that all lists belong further on, or further up if it is below 0;
    it is 0 if there is no such number.
    """

    places: Ints
    step: int
    better: int


@dataclass(frozen=True)
class Alignment:
    """How well the list of each query fits the judgments of each query.

    `odd` and `even` hold this for the documents at odd and at even ranks: rows are lists, columns
    judgments, in the order of `queries`. `spread` is how many times as many judged documents all
    lists hold as one does: 1 where all hold the same.
    """

    queries: Sequence[str]
    odd: Floats
    even: Floats
    spread: float

    @cached_property
    def whole(self) -> Floats:
        """The fit by all documents."""
        return self.odd + self.even

    @property
    def own(self) -> float:
        """How much better lists fit their own queries than random ones, in standard deviations."""
        return deviations(self.whole, np.arange(len(self.queries)))

    @cached_property
    def elsewhere(self) -> Elsewhere | None:
        """Where the lists belong, if they fit other queries far better than their own.

        Either all lists are shifted by the same number of places, or each list goes to the query
        that it fits best. The latter is tried on documents other than those it was found with.
        """
        least = max(ELSEWHERE, TIMES_OWN * self.own)
        if deviations(self.whole, _centred(self.whole).argmax(axis=1)) < least:
            return None  # no pairs fit better than these
        step, shifted = self._best_shift
        places = np.roll(np.arange(len(self.queries)), -step)
        by_halves = best_pairs(self.odd), best_pairs(self.even)
        tested = self._by_halves(*by_halves)
        if max(shifted, tested) < least:
            return None
        if self._by_halves(places, places) >= ONE_STEP * tested:
            return self._moved(places, step)
        return self._moved(best_pairs(self.whole), 0) if self._leave(*by_halves) else None

    def _by_halves(self, by_odd: Ints, by_even: Ints) -> float:
        """Say how well pairs fit by the documents other than those they were found with."""
        return (deviations(self.even, by_odd) + deviations(self.odd, by_even)) / 2**0.5

    def _leave(self, by_odd: Ints, by_even: Ints) -> bool:
        """Whether the lists that are moved fit their own queries far worse, tried likewise."""
        there = own = 0.0
        for fit, pairs in ((self.even, by_odd), (self.odd, by_even)):
            moved = np.flatnonzero(pairs != np.arange(len(pairs)))
            there += float(_scaled(fit)[moved, pairs[moved]].sum())
            own += float(_scaled(fit)[moved, moved].sum())
        return there >= FREE_TIMES_OWN * own

    def _moved(self, places: Ints, step: int) -> Elsewhere | None:
        """Put each list elsewhere, unless only few of them fit better there."""
        there, own = self.whole[np.arange(len(places)), places], self.whole.diagonal()
        better, worse = int(np.count_nonzero(there > own)), int(np.count_nonzero(there < own))
        most = better - worse >= MOST_LISTS * (better + worse) ** 0.5
        return Elsewhere(places, step, better) if most else None

    @cached_property
    def _best_shift(self) -> tuple[int, float]:
        """The number of places by which all lists are best shifted, and how well they fit then."""
        n, places, scaled = len(self.queries), np.arange(len(self.queries)), _scaled(self.whole)
        fits = {
            step - n if step > n / 2 else step: float(scaled[places, np.roll(places, -step)].sum())
            for step in range(1, n)
        }
        step = max(fits, key=fits.__getitem__, default=0)
        return step, fits.get(step, 0.0)


def align(qrels: Qrels, lists: Mapping[str, Sequence[str]], queries: Sequence[str]) -> Alignment:
    """Compare every list, best document first, with the judgments of every query.

    A document counts by its rank as in DCG, more if it is relevant, and less the more lists and
    judgments it is in.

    >>> from idealist.formats import read_qrels
    >>> qrels = read_qrels({"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 0}})
    >>> align(qrels, {"1": ["b"], "2": ["c"]}, ["1", "2", "3"]).whole.tolist()
    [[0.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    judged: dict[str, list[tuple[int, float]]] = {}
    worth: list[float] = (1.0 + (qrels.grades > 0)).tolist()
    for column, query in enumerate(queries):
        for document, place in qrels.lookup.get(query, {}).items():
            judged.setdefault(document, []).append((column, worth[place]))
    often = Counter(document for own in lists.values() for document in own if document in judged)
    discount = np.log2(np.arange(2, 2 + max(map(len, lists.values()), default=0))).tolist()
    halves = np.zeros((2, len(queries), len(queries)))
    for row, query in enumerate(queries):
        for i, document in enumerate(lists.get(query, ())):
            if document in judged:
                shared = often[document] * len(judged[document]) * discount[i]
                for column, own in judged[document]:
                    halves[i % 2, row, column] += own / shared
    found = np.count_nonzero((halves[0] + halves[1]).any(axis=1))
    return Alignment(queries, halves[0], halves[1], len(often) * found / max(1, often.total()))


def _centred(fit: Floats) -> Floats:
    centred: Floats = fit - fit.mean(axis=0) - fit.mean(axis=1)[:, None] + fit.mean()
    return centred


def _scaled(fit: Floats) -> Floats:
    """Centre a fit, and divide it by the standard deviation of the sum over random pairs."""
    centred = _centred(fit)
    variance = float((centred**2).sum()) / max(1, len(fit) - 1)
    return centred / variance**0.5 if variance else centred


def deviations(fit: Floats, pairs: Ints) -> float:
    """Say how much better some pairs of rows and columns fit than random ones do.

    >>> deviations(np.eye(5), np.arange(5)), deviations(np.eye(5), np.array([1, 2, 3, 4, 0]))
    (4.0, -1.0)
    """
    return float(_scaled(fit)[np.arange(len(pairs)), pairs].sum())


def best_pairs(fit: Floats) -> Ints:
    """Find the column for each row that makes all pairs fit best together."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    pairs: Ints = linear_sum_assignment(_centred(fit), maximize=True)[1]
    return pairs
