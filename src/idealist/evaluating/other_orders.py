"""Other orders of the same lists: what the measures would be, and whether that could be chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from idealist.errors import IdealistError
from idealist.evaluating.doubt_case import DoubtCase
from idealist.measures.instrument import measured
from idealist.ranking.placements import Placements
from idealist.rendering.doubt import Doubt

#: Queries without which one order is not called better than another. Suggested.
LEAST_QUERIES = 5
#: Standard errors that a difference must be away from 0 for lists to be called upside down, and how
#: many times as high the value must be. None of 102 runs of TREC-COVID whose scores and ranks agree
#: comes near: the highest are 1.4 errors.
TURNED_ERRORS, TURNED_TIMES = 3.0, 2.0


class Gain(NamedTuple):
    """What a measure is, what it would be in another order, and by how many standard errors better.

    The errors are 0 where there are too few queries to tell.
    """

    label: str
    now: float
    then: float
    errors: float

    @property
    def is_far(self) -> bool:
        """Whether the other order is so much better that the given one must be a mistake."""
        return self.errors >= TURNED_ERRORS and self.then >= TURNED_TIMES * self.now


def gain_of(case: DoubtCase, reorder: Callable[[Placements], Placements]) -> Gain | None:
    """Compare another order with the given one, by the first measure that rates a ranking."""
    rating = case.labels(lambda one: one.measure.judges and one.measure.direction)
    with suppress(IdealistError):  # an order that cannot be ranked by, or measured
        for label in rating[:1]:
            now = case.measured[label]
            then = measured(case.instruments[label], reorder(case.placed[label]))
            both = now.counted & then.counted & case.first.in_run
            better = case.instruments[label].measure.direction * (then.values - now.values)[both]
            return Gain(label, now.aggregate, then.aggregate, _errors(better))
    return None


def _errors(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Divide the mean difference by its standard error."""
    n, moved = len(differences), float(np.mean(differences)) if len(differences) else 0.0
    if n < LEAST_QUERIES or not moved:
        return 0.0
    error = float(np.std(differences, ddof=1)) / n**0.5
    return moved / error if error else float(np.copysign(np.inf, moved))


def upside_down(case: DoubtCase) -> Iterator[Doubt]:
    """Look for lists that are far better from the bottom up: lower scores seem to be better."""
    if len(case.qrels.queries) < LEAST_QUERIES:
        return
    gain = gain_of(case, Placements.turned)
    if gain and gain.is_far:
        total = int(np.count_nonzero(case.first.in_run))
        turned = {label: one.turned() for label, one in case.placed.items()}
        found = Doubt(
            "upside-down",
            "the lists are far better from the bottom up, as if lower scores were better",
            total, price=case.priced(turned), supposing="turned round", total=total,
        )  # fmt: skip
        yield found if _by_scores(case) else replace(
            found, finding="the lists are far better from the bottom up, as if the last were best",
            remedy="turn the lists round, so that the best document comes first",
        )  # fmt: skip


def _by_scores(case: DoubtCase) -> bool:
    """Whether the lists are ordered by scores, and not by ranks or as they are given."""
    return case.first.protocol.order == "score" and not np.isnan(case.first.score).all()
