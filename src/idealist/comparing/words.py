"""The words of a comparison: a pair's verdict, and the numbers in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from idealist.comparing.compare_options import CORRECTIONS
from idealist.evaluating.summary import p_words
from idealist.notation import many

if TYPE_CHECKING:
    from idealist.comparing.pair import Pair


def signed(value: float) -> str:
    """Write a difference; what rounds to 0 has no minus.

    >>> signed(-0.12345), signed(-0.00001)
    ('-0.1235', '+0.0000')
    """
    return f"{round(value, 4) + 0.0:+.4f}"


def verdict(pair: Pair) -> str:
    """Say in one sentence what a pair comes to."""
    where = f"{pair.slice}: " if pair.slice else ""
    return f"{where}{_verdict(pair)}."


def _verdict(pair: Pair) -> str:
    if pair.unmeasured:
        found = f"Nothing that {' or '.join(pair.unmeasured)} retrieved is judged"
        return f"{found}, so nothing was measured: look at the ids with idealist audit"
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
    can = "; ".join(
        filter(None, (_weighed(pair, f"{signed(pair.difference)} ({shown})"), power(pair)))
    )
    return f"{start}{can}"


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
    usual = shown([pair]) if abs(pair.difference) < pair.detectable else ""
    if math.isnan(pair.needed):
        return usual
    count = f"{float(f'{pair.needed:.2g}'):,.0f}"
    least = f"to see {pair.options.margin or pair.rope:g} you need about {count} queries"
    return f"{usual}; {least}" if usual else least


def shown(pairs: Sequence[Pair]) -> str:
    """Say what so many queries can show of some pairs."""
    found = sorted(pair.detectable for pair in pairs)
    ends = " to ".join(dict.fromkeys(map(_about, (found[0], found[-1]))))
    corrected = " and this correction" if pairs[0].options.share > 1 else ""
    start = f"with {many(pairs[0].n, 'query', 'queries')}{corrected}"
    return f"{start} only differences of about {ends} or more would usually be found"


def _about(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _relative(pair: Pair) -> str:
    return "" if math.isnan(pair.relative) else f"{100 * pair.relative:+.1f} %"


def _interval(pair: Pair) -> str:
    low, high = pair.ci
    if math.isnan(low):
        return ""
    corrected = "" if pair.options.correction == "none" else "uncorrected "
    ends = " to ".join(signed(end).removeprefix("+") for end in (low, high))
    return f"{corrected}{pair.options.confidence} CI {ends}"


def _p(pair: Pair) -> str:
    """Write the p-value that decides, and the correction where there was one."""
    correction = pair.options.correction
    by = "" if correction == "none" else f" by {CORRECTIONS[correction]}"
    return p_words(pair.p_adjusted) + by + (", the least possible" if _least(pair) else "")


def _least(pair: Pair) -> bool:
    """Whether no random draws could give a smaller p-value, and it looks like a number."""
    together = pair.options.correction in ("tukey", "maxt")
    p = pair.p_adjusted if together else pair.p_randomisation
    return p * (pair.draws + 1) < 1.5 and pair.draws > 0 and pair.p_adjusted >= 0.0001
