"""The words of a pair of runs: its verdict, what is behind it, and the statistics beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from idealist.comparing.compare_options import CORRECTIONS
from idealist.comparing.qualification import qualified
from idealist.notation import many
from idealist.rendering.document import Interval
from idealist.rendering.wording import number, p_words, percent, signed
from idealist.significance.means import FEWEST
from idealist.significance.power_analysis import ENOUGH

if TYPE_CHECKING:
    from idealist.comparing.pair import Pair


def who(pair: Pair) -> str:
    """Name a pair: by its run alone where all have one baseline."""
    name = f"{pair.run} - {pair.baseline}" if pair.options.all_pairs else pair.run
    return f"{name} ({pair.slice})" if pair.slice else name


def verdict(pair: Pair) -> str:
    """Say in one sentence what a pair comes to."""
    where = f"{pair.slice}: " if pair.slice else ""
    return f"{where}{_verdict(pair)}."


def _verdict(pair: Pair) -> str:
    if pair.unmeasured:
        found = f"Nothing that {' or '.join(pair.unmeasured)} retrieved is judged"
        return f"{found}, so nothing was measured: check the ids with idealist audit"
    if not pair.n or not pair.wins + pair.losses:
        return _alike(pair)
    if pair.n == 1:
        return f"{_apart(pair)}, but one query proves nothing"
    if not pair.tested:
        return f"{_apart(pair)}, but {pair.n} queries are too few to test"
    if pair.held_back:
        return _held_back(pair)
    return _decided(pair) if pair.significant else _undecided(pair)


def _alike(pair: Pair) -> str:
    both = f"{pair.run} and {pair.baseline}"
    if not pair.n:
        return f"{pair.measure} has no value to compare {both} by"
    each = "every query" if pair.n > 1 else "the only query"
    return f"{both} have the same {pair.measure} for {each}"


def _apart(pair: Pair) -> str:
    word = "higher" if pair.difference > 0 else "lower"
    size = number(abs(pair.difference))
    return f"{pair.run} is {size} {word} than {pair.baseline} on {pair.measure}"


def _decided(pair: Pair) -> str:
    word = "higher" if pair.difference > 0 else "lower"
    if pair.sense:
        word = "better" if pair.better else "worse"
    relative = "" if math.isnan(pair.relative) else percent(pair.relative)
    numbers = ", ".join(filter(None, (relative, _interval(pair), deciding_p(pair))))
    small = f", but by less than {pair.rope:g}" if pair.p_equal > 1 - pair.options.alpha else ""
    start = f"{pair.run} is {word} than {pair.baseline} on {pair.measure}"
    decided = f"{start} by {number(abs(pair.difference))} ({numbers}){small}"
    return ", ".join(filter(None, (decided, qualified(pair))))


def _held_back(pair: Pair) -> str:
    numbers = ", ".join(filter(None, (_interval(pair), f"{p_words(pair.p_randomisation)} alone")))
    return f"{_apart(pair)} ({numbers}), but {pair.primary} decides, and is not significant"


def _undecided(pair: Pair) -> str:
    start = f"No significant difference in {pair.measure} between {pair.baseline} and {pair.run}"
    numbers = ", ".join(filter(None, (_interval(pair), deciding_p(pair))))
    shown = f"{start}: {signed(pair.difference)} ({numbers})"
    return "; ".join(filter(None, (shown + _weighed(pair), power(pair))))


def _weighed(pair: Pair) -> str:
    """Say what a difference that is not significant does show."""
    margin = f"{pair.options.margin or 0:g}"
    if pair.p_equivalence < pair.options.alpha:
        return f", and they are equal within {margin} ({p_words(pair.p_equivalence)})"
    if pair.p_non_inferiority < pair.options.alpha:
        return f", but {pair.run} is not worse by {margin} ({p_words(pair.p_non_inferiority)})"
    differ = pair.wins + pair.losses
    if differ < pair.n and 2 / 2**differ >= pair.options.alpha:  # no signs give a smaller p
        return f", since they differ on only {many(differ, 'query', 'queries')} of {pair.n}"
    return ""


def power(pair: Pair) -> str:
    """Say what so many queries can show, and how many would show what matters."""
    if math.isnan(pair.detectable):
        return "nothing varies, so what more queries would show is not known"
    usual = showable([pair]) if abs(pair.difference) < pair.detectable else ""
    count = "" if math.isnan(pair.needed) else f"{float(f'{pair.needed:.2g}'):,.0f}"
    least = f"{pair.options.margin or pair.rope or 0:g}"
    more = f"a difference of {least} would take about {count} queries" if count else ""
    return "; ".join(filter(None, (usual, more)))


def showable(pairs: Sequence[Pair]) -> str:
    """Say what differences so many queries would find."""
    corrected = " and this correction" if pairs[0].level < pairs[0].options.alpha else ""
    start = f"with {many(pairs[0].n, 'query', 'queries')}{corrected}"
    found = sorted(pair.detectable for pair in pairs)
    if found[0] > pairs[0].widest:
        return f"{start} no possible difference would usually be found"
    ends = dict.fromkeys(map(_about, (found[0], min(found[-1], pairs[0].widest))))
    return f"{start} only differences of about {' to '.join(ends)} or more would usually be found"


def _about(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def interval(pair: Pair) -> Interval:
    """Return the interval of a difference as far as it is worth reading."""
    return Interval(*pair.ci) if pair.n >= FEWEST else Interval(math.nan, math.nan)


def _interval(pair: Pair) -> str:
    low, high = interval(pair)
    if pair.n < FEWEST:
        return f"{pair.n} queries are too few for an interval"
    if math.isnan(low):
        return ""
    ends = " to ".join(signed(end).removeprefix("+") for end in (low, high))
    return f"{pair.options.confidence} CI {ends}"


def deciding_p(pair: Pair) -> str:
    """Write the p-value that decides, the correction where there was one, and whether it is rough.

    With few queries, skewed differences that are not there are found more often than p says.
    """
    found, correction = p_words(pair.p_adjusted), pair.options.correction
    if pair.primary and pair.p_adjusted != pair.p_randomisation:  # it may be that of the primary
        found = f"adjusted {found}"
    elif correction != "none":
        found += f" by {CORRECTIONS[correction]}"
    rough = f", rough with {pair.n} queries" if pair.significant and pair.n < 2 * ENOUGH else ""
    least = ", the least possible" if _least(pair) else ""
    return f"{found}{rough}{least}"


def _least(pair: Pair) -> bool:
    """Whether no random draws could give a smaller p-value, and it looks like a number."""
    return pair.p_adjusted * (pair.draws + 1) < 1.5 and pair.draws > 0 and pair.p_adjusted >= 0.0001


def behind(pair: Pair) -> Iterator[str]:
    """Name the queries behind a difference, and say what unjudged documents could change."""
    for word, queries in (("Gained", pair.gained), ("Lost", pair.lost)):
        if queries:
            listed = ", ".join(f"{_query(query)} {signed(apart)}" for query, apart in queries)
            yield f"{word} most: {listed}."
    if not math.isnan(pair.without_top3) and pair.difference:
        holds = "the sign holds" if pair.sign_holds else "the sign does not hold"
        names = ", ".join(map(_query, pair.top3))
        rest = f"{signed(pair.without_top3)}; {holds}"
        yield f"Without the three that carry it most ({names}): {rest}."
    if pair.unjudged is not None:
        yield str(pair.unjudged)


def _query(name: str) -> str:
    """Name a query, so that a number is not taken for a value."""
    return f"query {name}" if name.isdecimal() else name


def asked_for(pair: Pair) -> Iterator[str]:
    """Write what is computed on request only."""
    if not math.isnan(pair.ci_bootstrap[0]):
        yield f"BCa bootstrap interval: {' to '.join(map(signed, pair.ci_bootstrap))}."
    if pair.options.margin is not None and not math.isnan(pair.p_equivalence):
        margin, both = f"{pair.options.margin:g}", (pair.p_equivalence, pair.p_non_inferiority)
        equal, not_worse = map(p_words, both)
        yield f"Equal within {margin}: {equal} (TOST); not worse by {margin}: {not_worse}."
    for found in (pair.fragility, pair.multiverse):
        if found is not None:
            yield from str(found).splitlines()


def statistics(pair: Pair) -> Iterator[str]:
    """Write the statistics that a table has no room for."""
    sizes = []
    if not math.isnan(pair.relative):
        sizes.append(f"relative {percent(pair.relative)}{_ends(pair, pair.relative_ci, percent)}")
    if math.isfinite(pair.d_z):
        size = f"d_z {number(pair.d_z, 2)}{_ends(pair, pair.d_z_ci, lambda end: number(end, 2))}"
        less = f", Hedges' g {number(pair.hedges_g, 2)}" if pair.n >= FEWEST else ""
        sizes.append(size + less)
    if sizes:
        yield f"Size: {'; '.join(sizes)}."
    if not math.isnan(pair.p_better):
        yield _probabilities(pair)
    if math.isfinite(pair.trisk) and pair.sense:
        risk = f"{signed(pair.urisk)} (URisk), TRisk {signed(pair.trisk, 2)}"
        yield f"With losses counted twice: {risk}."


def _ends(pair: Pair, ends: tuple[float, float], write: Callable[[float], str]) -> str:
    """Write an interval in brackets, where it is worth reading."""
    if pair.n < FEWEST or math.isnan(ends[0]):
        return ""
    return f" ({pair.options.confidence} CI {' to '.join(map(write, ends))})"


def _probabilities(pair: Pair) -> str:
    better, worse = ("better", "worse") if pair.sense else ("higher", "lower")
    by = f" by more than {pair.rope:g}" if pair.rope else ""
    equal = f", P(within {pair.rope:g}) {number(pair.p_equal)}" if pair.rope else ""
    numbers = f"P({better}{by}) {number(pair.p_better)}{equal}, P({worse}) {number(pair.p_worse)}"
    return f"{numbers}: by Student's t."
