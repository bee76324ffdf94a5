"""Doubts about a comparison, and the lines that say them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from idealist.evaluating.doubt_case import few
from idealist.evaluating.doubts import CODES as RUN_CODES
from idealist.evaluating.summary import doubt_lines, p_words
from idealist.notation import many
from idealist.report.doubt import Doubt
from idealist.significance.power_analysis import ENOUGH

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison
    from idealist.comparing.pair import Pair


#: What each doubt means.
CODES: dict[str, str] = {
    "carried-by-few": "a significant difference is not significant without three of the queries",
    "constant-difference": "all queries differ by the same, so nothing varies that could be tested",
    "few-draws": "so few random draws that small p-values are coarse",
    "few-queries": "so few queries that hardly anything can be shown",
    "judged-unequal": "more of one run's first documents are judged than of the other's",
    "not-a-mean": "the measure's own aggregate is no mean, and means are compared",
    "tests-disagree": "the t-test and the randomisation test disagree about significance",
    "undefined": "queries were left out, because a run has no value for them",
}
#: The least p-value that random draws can give should be below this share of alpha.
COARSE = 0.1


def doubts_of(pair: Pair) -> tuple[Doubt, ...]:
    """Look for everything that is doubtful."""
    return tuple(doubt for check in CHECKS for doubt in check(pair))


def _few_queries(pair: Pair) -> Iterator[Doubt]:
    if 0 < pair.n < ENOUGH:
        least = f"no sign flips give a p-value below {2 / 2**pair.n:.4f}"
        yield Doubt("few-queries", f"{many(pair.n, 'query', 'queries')}: {least}", pair.n)


def _few_draws(pair: Pair) -> Iterator[Doubt]:
    options = pair.options
    times = options.pairs if options.correction in ("holm", "bh") else 1
    least = times / (pair.draws + 1)
    if pair.draws and pair.n and pair.tested and least > COARSE * options.alpha:
        counted = f"{pair.draws} random draws, as many as so many values allow"
        yield Doubt("few-draws", f"{counted}: no p-value below {least:.2g}", pair.draws)


def _undefined(pair: Pair) -> Iterator[Doubt]:
    if count := len(pair.undefined):
        left = many(count, "query was", "queries were")
        message = f"{left} left out ({few(pair.undefined)}): a run has no value there"
        yield Doubt("undefined", message, count, pair.undefined)


def _tests_disagree(pair: Pair) -> Iterator[Doubt]:
    alpha, t, flips = pair.options.alpha, pair.p_t, pair.p_randomisation
    if t < alpha <= flips or flips < alpha <= t:  # neither where one is NaN
        both = f"the t-test ({p_words(t)}) and the randomisation test ({p_words(flips)})"
        yield Doubt("tests-disagree", f"{both} disagree", 1)


def _constant(pair: Pair) -> Iterator[Doubt]:
    if pair.statistics.constant:
        apart = f"all queries differ by {pair.difference:+.4f}"
        message = f"{apart}: nothing varies, and t says nothing"
        yield Doubt("constant-difference", message, pair.n)


def _carried_by_few(pair: Pair) -> Iterator[Doubt]:
    many_others = pair.n >= 2 * ENOUGH  # of fewer queries, three are too large a part
    if pair.significant and many_others and pair.p_without_top3 >= pair.options.alpha:
        rest = f"without the queries {few(pair.top3)} the difference is {pair.without_top3:+.4f}"
        message = f"{rest}, and not significant ({p_words(pair.p_without_top3)}, t-test)"
        yield Doubt("carried-by-few", message, len(pair.top3), pair.top3)


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
    _few_queries, _few_draws, _undefined, _tests_disagree, _constant, _carried_by_few,
    _judged_unequal, _not_a_mean,
)  # fmt: skip


#: Sayings by code: who it is about, how many, and the words.
Said = dict[str, dict[str, tuple[int, str]]]


def doubts_of_comparison(comparison: Comparison) -> list[str]:
    """Write what is doubtful about pairs, slices that were tested, and runs."""
    evaluations = comparison.evaluations
    if len(evaluations) == 2:
        return [*_each(comparison), *doubt_lines(evaluations)]
    shared = [
        doubt for doubt in evaluations[0].doubts if all(doubt in one.doubts for one in evaluations)
    ]
    found: Said = {}
    for one in evaluations:
        for doubt in one.doubts:
            if doubt not in shared:
                found.setdefault(doubt.code, {}).setdefault(
                    one.run, (doubt.count, f"{one.run}: {doubt.message}")
                )
    lines = [f"doubt: {doubt.message}" for doubt in shared]
    return [*_gathered(_pairs(comparison), CODES), *lines, *_gathered(found, RUN_CODES, True)]


def _pairs(comparison: Comparison) -> Said:
    found: Said = {}
    for pair in (*comparison.pairs, *comparison.slices):
        name = f"{pair.run} - {pair.baseline}" if comparison.options.all_pairs else pair.run
        where = f"{name} ({pair.slice})" if pair.slice else name
        for doubt in pair.doubts if pair.tested else ():
            message = f"{pair.measure}, {pair.run} - {pair.baseline}: {doubt.message}"
            found.setdefault(doubt.code, {}).setdefault(where, (doubt.count, message))
    return found


def _gathered(found: Said, words: dict[str, str], counted: bool = False) -> list[str]:
    """Write one line a kind; what is said of one only is said in full."""
    lines = []
    for code, about in found.items():
        if len(about) == 1:
            lines += [f"doubt: {message}" for _, message in about.values()]
            continue
        rows = sorted(about.items(), key=lambda row: -row[1][0] if counted else 0)
        names = [f"{name} {count}" if counted else name for name, (count, _) in rows]
        lines.append(f"doubt: {words[code]}: {few(tuple(names))}")
    return lines


def _each(comparison: Comparison) -> list[str]:
    """Write every doubt about two runs; what holds by several measures is said once."""
    found: dict[str, str] = {}
    for pair in (*comparison.pairs, *comparison.slices):
        part = f"{pair.slice}, " if pair.slice else ""
        for doubt in pair.doubts if pair.tested else ():
            said = f"{pair.run} - {pair.baseline}: {doubt.message}"
            found.setdefault(part + said, f"doubt: {part}{pair.measure}, {said}")
    return list(found.values())
