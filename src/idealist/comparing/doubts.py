"""Doubts about a comparison: what is legal, but should keep one from believing it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from idealist.comparing.difference import ROUNDING
from idealist.comparing.words import p_words
from idealist.doubts.case import few
from idealist.evaluation import Doubt
from idealist.notation import many

if TYPE_CHECKING:
    from idealist.comparing.pair import Pair

#: What each doubt means.
CODES: dict[str, str] = {
    "carried-by-few": "a significant difference loses its sign without three of the queries",
    "constant-difference": "all queries differ by the same, so nothing varies that could be tested",
    "few-queries": "so few queries that hardly anything can be shown",
    "judged-unequal": "more of one run's first documents are judged than of the other's",
    "not-a-mean": "the measure's own aggregate is no mean, and means are compared",
    "tests-disagree": "the t-test and the randomisation test disagree about significance",
    "undefined": "queries were left out, because a run has no value for them",
}
#: With fewer queries, a comparison is doubted, and a slice not tested.
ENOUGH = 10


def doubts_of(pair: Pair) -> tuple[Doubt, ...]:
    """Look for everything that is doubtful."""
    return tuple(doubt for check in CHECKS for doubt in check(pair))


def _few_queries(pair: Pair) -> Iterator[Doubt]:
    if 0 < pair.n < ENOUGH:
        least = f"no sign flips give a p-value below {2 / 2**pair.n:.4f}"
        yield Doubt("few-queries", f"{many(pair.n, 'query', 'queries')}: {least}", pair.n)


def _undefined(pair: Pair) -> Iterator[Doubt]:
    if count := len(pair.undefined):
        left = many(count, "query was", "queries were")
        message = f"{left} left out ({few(pair.undefined)}): a run has no value there"
        yield Doubt("undefined", message, count, pair.undefined)


def _tests_disagree(pair: Pair) -> Iterator[Doubt]:
    alpha, p = pair.options.alpha, (pair.p_t, pair.p_randomisation)
    if min(p) < alpha <= max(p):
        t, flips = map(p_words, p)
        message = f"the t-test ({t}) and the randomisation test ({flips}) disagree"
        yield Doubt("tests-disagree", message, 1)


def _constant(pair: Pair) -> Iterator[Doubt]:
    if pair.n > 1 and pair.difference and np.ptp(pair.differences) <= ROUNDING:
        message = f"all queries differ by {pair.difference:+.4f}, and nothing varies"
        yield Doubt("constant-difference", message, pair.n)


def _carried_by_few(pair: Pair) -> Iterator[Doubt]:
    if pair.significant and pair.n > ENOUGH and not pair.sign_holds:
        favour = pair.gained if pair.better else pair.lost
        names = tuple(query for query, _ in favour)
        rest = f"without {few(names)} the difference is {pair.without_top3:+.4f}"
        yield Doubt("carried-by-few", rest, len(names), names)


def _judged_unequal(pair: Pair) -> Iterator[Doubt]:
    if pair.holes is not None and pair.holes.unequal:
        base, new = (f"{share:.1%}" for share in pair.holes.judged)
        reach = "retrieved" if pair.holes.depth is None else f"in the first {pair.holes.depth}"
        message = f"of the documents {reach}, {new} of {pair.run}'s are judged, and {base} of"
        yield Doubt("judged-unequal", f"{message} {pair.baseline}'s", sum(pair.holes.unjudged))


def _not_a_mean(pair: Pair) -> Iterator[Doubt]:
    if pair.aggregate != "mean" and not pair.aggregate.startswith("weighted("):
        message = f"{pair.measure} is a {pair.aggregate}, but means over queries are compared"
        yield Doubt("not-a-mean", message, 1)


CHECKS: tuple[Callable[[Pair], Iterator[Doubt]], ...] = (
    _few_queries, _undefined, _tests_disagree, _constant, _carried_by_few, _judged_unequal,
    _not_a_mean,
)  # fmt: skip
