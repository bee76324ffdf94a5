"""Doubts about a comparison: of each pair, and gathered over pairs and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from idealist.comparing.verdict_words import who
from idealist.notation import many
from idealist.rendering import doubt_words
from idealist.rendering.doubt import CODES, Doubt
from idealist.rendering.wording import few, p_words, signed
from idealist.significance.power_analysis import ENOUGH
from idealist.significance.resampling import spread_of_heavy

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison
    from idealist.comparing.pair import Pair


#: The least p-value that random draws can give should be below this share of alpha.
COARSE = 0.1
#: An assumption is doubted where the data would be this unlikely under it.
UNLIKELY = 0.05


def doubts_of(pair: Pair) -> tuple[Doubt, ...]:
    """Find everything that is doubtful about a pair."""
    return tuple(doubt for check in CHECKS for doubt in check(pair))


def _few_queries(pair: Pair) -> Iterator[Doubt]:
    if 0 < pair.n < ENOUGH:
        least = f"no p-value of the randomisation test can be below {2 / 2**pair.n:.4f}"
        yield Doubt("few-queries", f"{many(pair.n, 'query', 'queries')}: {least}", pair.n)


def _few_draws(pair: Pair) -> Iterator[Doubt]:
    least = 1 / (pair.draws + 1)
    if pair.draws and pair.n and pair.tested and least > COARSE * pair.options.alpha:
        counted = f"{pair.draws} random draws, all that so many values allow"
        message = f"{counted}: no p-value can be below {least:.2g}"
        yield Doubt("few-draws", message, pair.draws)


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
        message = f"all queries differ by {signed(pair.difference)}, so t says nothing"
        yield Doubt("constant-difference", message, pair.n)


def _carried_by_few(pair: Pair) -> Iterator[Doubt]:
    """Doubt what three queries carry, if they carry more than three do in normal samples."""
    many_others = pair.n >= 2 * ENOUGH  # of fewer queries, three are too large a part
    few_left = pair.significant and many_others and pair.p_without_top3 >= pair.options.alpha
    if few_left and pair.top3_share > pair.usual_top3_share:
        usual = f"three of {pair.n} seldom carry more than {100 * pair.usual_top3_share:.0f} %"
        start = (
            f"the queries {few(pair.top3)} carry {100 * pair.top3_share:.0f} % of the difference"
        )
        rest = f"without them it is {signed(pair.without_top3)}, and not significant"
        message = f"{start}, where {usual}; {rest} ({p_words(pair.p_without_top3)}, t-test)"
        yield Doubt("carried-by-few", message, len(pair.top3), pair.top3)


def _judged_unequal(pair: Pair) -> Iterator[Doubt]:
    if pair.unjudged is not None and pair.unjudged.unequal:
        base, new = (f"{100 * share:.1f} %" for share in pair.unjudged.judged)
        depth = pair.unjudged.depth
        reach = "retrieved" if depth is None else f"in the first {depth}"
        judged = f"{new} of {pair.run}'s are judged, and {base} of {pair.baseline}'s"
        message = f"of the documents {reach}, {judged}"
        yield Doubt("judged-unequal", message, sum(pair.unjudged.unjudged))


def heavy_vary_more(pair: Pair) -> Iterator[Doubt]:
    """Doubt the error of a weighted mean where heavy queries vary more than light ones."""
    if pair.weights is None or not pair.tested or pair.n < ENOUGH:
        return
    times, p = spread_of_heavy(pair.differences, pair.weights)
    if p < UNLIKELY:
        found = f"queries with more weight vary more ({times:.1f} times the variance, {p_words(p)})"
        yield Doubt("weights-and-spread", f"{found}: the interval may be too narrow", pair.n)


def _not_a_mean(pair: Pair) -> Iterator[Doubt]:
    if pair.aggregate != "mean" and not pair.aggregate.startswith("weighted("):
        message = f"{pair.measure} is a {pair.aggregate}, but means over queries are compared"
        yield Doubt("not-a-mean", message, 1)


CHECKS: tuple[Callable[[Pair], Iterator[Doubt]], ...] = (
    _few_queries, _few_draws, _undefined, _tests_disagree, _constant, _carried_by_few,
    _judged_unequal, heavy_vary_more, _not_a_mean,
)  # fmt: skip


def doubts_of_comparison(comparison: Comparison) -> tuple[Doubt, ...]:
    """Gather what is doubtful about pairs, slices that were tested, and runs."""
    tested = [pair for pair in (*comparison.pairs, *comparison.slices) if pair.tested]
    found: dict[tuple[str, str], Doubt] = {}
    for pair in tested:
        for doubt in pair.doubts:  # what holds by several measures is said once
            placed = _placed(pair, doubt)
            found.setdefault((placed.run, doubt.message), placed)
    runs = doubt_words.shared([(one.run, one.doubts) for one in comparison.evaluations])
    if len(comparison.evaluations) == 2:
        return *(replace(one, run="") for one in found.values()), *runs
    shared, own = ([one for one in runs if bool(one.run) is apart] for apart in (False, True))
    return *_gathered([*found.values()]), *shared, *_gathered(own, counted=True)


def _placed(pair: Pair, doubt: Doubt) -> Doubt:
    """Say which pair a doubt is about: shortly as its `run`, and in full in the message."""
    part = f"{pair.slice}, " if pair.slice else ""
    name = f"{part}{pair.measure}, {pair.run} - {pair.baseline}"
    return replace(doubt, run=who(pair), finding=f"{name}: {doubt.finding}")


def _gathered(found: Sequence[Doubt], counted: bool = False) -> list[Doubt]:
    """Make one doubt of each kind; what is said of one run or pair only is said in full.

    What is counted down to several depths is said of one: the first measure's comes first in every
    run that has any there, and the others of these runs are deeper.
    """
    kinds: dict[str, dict[str, Doubt]] = {}
    for one in found:
        kinds.setdefault(one.code, {}).setdefault(one.run, one)
    doubts = []
    for code, about in kinds.items():
        depth = min(one.depth for one in about.values())
        alike = [one for one in about.values() if one.depth == depth]
        own = sorted(alike, key=lambda one: -one.count if counted else 0)
        if len(own) == 1:
            doubts += own if counted else [replace(own[0], run="")]
        else:
            names = [f"{one.run} {one.count}" if counted else one.run for one in own]
            doubts.append(Doubt(code, f"{_kind(code, depth)}: {few(names)}", len(own), depth=depth))
    return doubts


def _kind(code: str, depth: int) -> str:
    """Say what a code means, with the depth in place of k.

    >>> _kind("unjudged", 10), _kind("unjudged", 1)
    ('documents in the first 10 are unjudged', 'documents at rank 1 are unjudged')
    """
    where = "at rank 1" if depth == 1 else f"in the first {depth}"
    return CODES[code].replace("in the first k", where) if depth else CODES[code]
