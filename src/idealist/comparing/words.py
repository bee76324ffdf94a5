"""The words of a comparison: a pair's verdict, and the numbers in it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from idealist.comparing.options import CORRECTIONS
from idealist.notation import many
from idealist.summary import p_words

if TYPE_CHECKING:
    from idealist.comparing.pair import Pair


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
    shown = ", ".join(filter(None, (_interval(pair), _p(pair))))
    return f"{start}{_weighed(pair, f'{pair.difference:+.4f} ({shown})')}; {power(pair)}"


def _weighed(pair: Pair, numbers: str) -> str:
    """Say what a difference that is not significant does show."""
    if pair.p_equivalence < pair.options.alpha:
        least = f"{pair.options.margin:g} ({p_words(pair.p_equivalence)})"
        return f", {numbers}: they are equal within {least}"
    if pair.p_non_inferiority < pair.options.alpha:
        least = f"{pair.options.margin:g} ({p_words(pair.p_non_inferiority)})"
        return f", {numbers}, but {pair.run} is not worse by {least}"
    differ = pair.wins + pair.losses
    if differ < pair.n and 2 / 2**differ >= pair.options.alpha:  # no signs give a smaller p
        return f", {numbers}: they differ on {many(differ, 'query', 'queries')} of {pair.n}"
    return f": the difference is {numbers}"


def power(pair: Pair) -> str:
    """Say what so many queries can show, and how many would show what matters."""
    if math.isnan(pair.detectable):
        return "nothing varies, so what more queries would show is not known"
    share = f" at alpha/{pair.options.share}" if pair.options.share > 1 else ""
    shows = f"{pair.n} queries show {pair.detectable:.4f} in 4 of 5 cases{share}"
    least = pair.options.margin or pair.rope
    return shows if math.isnan(pair.needed) else f"{shows}, and {least:g} needs {pair.needed:,}"


def _relative(pair: Pair) -> str:
    return "" if math.isnan(pair.relative) else f"{100 * pair.relative:+.1f} %"


def _interval(pair: Pair) -> str:
    low, high = pair.ci
    if math.isnan(low):
        return ""
    return f"{pair.options.confidence} CI {low:.4f} to {high:.4f}"


def _p(pair: Pair) -> str:
    """Write the p-value that decides, and the correction where there was one."""
    correction = pair.options.correction
    by = "" if correction == "none" else f" by {CORRECTIONS[correction]}"
    return p_words(pair.p_adjusted) + by
