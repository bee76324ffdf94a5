"""The words of a comparison: a pair's verdict, and the numbers in it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from idealist.comparing.options import CORRECTIONS
from idealist.notation import many

if TYPE_CHECKING:
    from idealist.comparing.pair import Pair

#: With fewer queries that differ, no randomisation of signs gives a p-value below 0.05.
DECIDING = 6


def p_words(p: float) -> str:
    """Write a p-value.

    >>> p_words(0.0303), p_words(0.00001), p_words(1.0)
    ('p=0.0303', 'p<0.0001', 'p=1.0000')
    """
    return "p<0.0001" if p < 0.0001 else f"p={p:.4f}"


def verdict(pair: Pair) -> str:
    """Say in one sentence what a pair comes to."""
    where = f"{pair.slice}: " if pair.slice else ""
    return f"{where}{_verdict(pair)}."


def _verdict(pair: Pair) -> str:
    if not pair.n or not pair.wins + pair.losses:
        return _alike(pair)
    if pair.n == 1:
        return f"{_apart(pair)}, but one query proves nothing"
    if not pair.tested:
        return f"{_apart(pair)}, but {pair.n} queries are too few to test"
    return _decided(pair) if pair.significant else _undecided(pair)


def _alike(pair: Pair) -> str:
    both = f"{pair.run} and {pair.baseline}"
    if not pair.n:
        return f"{pair.measure} has no value to compare {both} by"
    each = "every query" if pair.n > 1 else "the only query"
    return f"{both} have the same {pair.measure} for {each}"


def _apart(pair: Pair) -> str:
    word = "higher" if pair.difference > 0 else "lower"
    size = f"{abs(pair.difference):.4f}"
    return f"{pair.run} is {size} {word} than {pair.baseline} on {pair.measure}"


def _decided(pair: Pair) -> str:
    word = "higher" if pair.difference > 0 else "lower"
    if pair.sense:
        word = "better" if pair.better else "worse"
    shown = [_relative(pair), _interval(pair), _p(pair)]
    size = f"{abs(pair.difference):.4f} ({', '.join(filter(None, shown))})"
    small = ""
    if pair.p_equal > 1 - pair.options.alpha:
        small = f", but by less than {pair.rope:g}"
    return f"{pair.run} is {word} than {pair.baseline} on {pair.measure} by {size}{small}"


def _undecided(pair: Pair) -> str:
    start = f"{pair.measure} does not tell {pair.run} from {pair.baseline}"
    numbers = f"{pair.difference:+.4f} ({_interval(pair)}, {_p(pair)})"
    if pair.p_equivalence < pair.options.alpha:
        least = f"{pair.options.margin:g} ({p_words(pair.p_equivalence)})"
        return f"{start}, {numbers}: they are equal within {least}"
    if pair.p_non_inferiority < pair.options.alpha:
        least = f"{pair.options.margin:g} ({p_words(pair.p_non_inferiority)})"
        return f"{start}, {numbers}, but {pair.run} is not worse by {least}"
    if (differ := pair.wins + pair.losses) < DECIDING < pair.n:
        return f"{start}, {numbers}: they differ on {many(differ, 'query', 'queries')} of {pair.n}"
    return f"{start}: the difference is {numbers}{_able(pair)}"


def _able(pair: Pair) -> str:
    """Say what so many queries can show, and how many would show what matters."""
    if math.isnan(pair.detectable):
        return ""
    shows = f"; {pair.n} queries show {pair.detectable:.4f} in 4 of 5 cases"
    least = pair.options.margin or pair.rope
    return shows if math.isnan(pair.needed) else f"{shows}, and {least:g} needs {pair.needed:,}"


def _relative(pair: Pair) -> str:
    return "" if math.isnan(pair.relative) else f"{100 * pair.relative:+.1f} %"


def _interval(pair: Pair) -> str:
    low, high = pair.ci
    return f"{pair.options.confidence} CI {low:.4f} to {high:.4f}"


def _p(pair: Pair) -> str:
    """Write the p-value that decides, and the correction where there was one."""
    correction = pair.options.correction
    by = "" if correction == "none" else f" by {CORRECTIONS[correction]}"
    return p_words(pair.p_adjusted) + by
