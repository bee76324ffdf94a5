"""What stands beside the tables of a comparison: details, settings, doubts and signatures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from idealist.comparing.compare_options import CORRECTIONS, TESTS
from idealist.comparing.comparison_doubts import doubts_of_comparison
from idealist.comparing.pairing import name_of_test
from idealist.comparing.standing import SHOWN, best_first, standing, unjudged, written_out
from idealist.comparing.tables import MOST, runs_grid
from idealist.comparing.words import power, signed
from idealist.conventions import CONVENTIONS
from idealist.evaluating.summary import number, p_words, shared_lines
from idealist.notation import many
from idealist.report.draw import SUPERSCRIPTS

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison
    from idealist.comparing.pair import Pair


def conclusion(comparison: Comparison) -> list[str]:
    """Say what it comes to: the verdict of two runs, or where many stand."""
    primary = comparison[comparison.primary]
    return [primary[0].verdict] if len(primary) == 1 else standing(comparison)


def behind(comparison: Comparison, details: bool = False) -> list[str]:
    """Say what is behind the conclusion: each verdict, with `details` or what was asked for."""
    primary = comparison[comparison.primary]
    slices = tuple(one for one in comparison.slices if one.measure == comparison.primary)
    lines = _of_two(primary[0], details) if len(primary) == 1 else _of_many(primary, details)
    if details or len(slices) <= SHOWN:
        lines += [pair.verdict for pair in slices]
        every = comparison.pairs if len(primary) == 1 else ()  # of many it is said where they stand
        lines += _undecided([p for p in (*every, *comparison.slices) if p not in primary + slices])
    return lines


def _of_two(pair: Pair, details: bool) -> list[str]:
    curious = _statistics(pair) if details else ()
    return [] if pair.unmeasured else [*_queries(pair), *curious, *_holes(pair), *_asked(pair)]


def _of_many(pairs: Sequence[Pair], details: bool) -> list[str]:
    """Write each verdict, best first; where all pairs are many, only with what was asked for."""
    lines = []
    for pair in best_first(pairs):
        more = _of_two(pair, True) if details else list(_asked(pair))
        if more or written_out(pairs):
            lines += [pair.verdict, *(f"  {line}" for line in more)]
    return [*lines, *([] if details else unjudged(pairs))]


def _undecided(pairs: Sequence[Pair]) -> list[str]:
    """Say of pairs without a written verdict that are not significant what could be shown."""
    some = [pair for pair in pairs if not math.isnan(pair.detectable)]
    return [f"{_name(pair)}: not significant; {power(pair)}." for pair in some]


def _name(pair: Pair) -> str:
    part = f"{pair.slice}, " if pair.slice else ""
    return f"{part}{pair.measure}, {pair.run} - {pair.baseline}"


def _queries(pair: Pair) -> Iterator[str]:
    """Name the queries behind a difference."""
    for word, queries in (("Gained", pair.gained), ("Lost", pair.lost)):
        if queries:
            listed = ", ".join(f"{_query(query)} {signed(apart)}" for query, apart in queries)
            yield f"{word} most: {listed}."
    if not math.isnan(pair.without_top3) and pair.difference:
        yield _without_top3(pair)


def _query(name: str) -> str:
    """Name a query, so that a number is not taken for a value."""
    return f"query {name}" if name.isdecimal() else name


def _statistics(pair: Pair) -> Iterator[str]:
    """Give the statistics for the curious."""
    if sizes := "; ".join(_sizes(pair)):
        yield f"Size: {sizes}."
    if not math.isnan(pair.p_better):
        yield _probabilities(pair)
    if math.isfinite(pair.trisk) and pair.sense:
        yield f"With losses counted twice: {pair.urisk:+.4f} (URisk), TRisk {pair.trisk:+.2f}."


def _asked(pair: Pair) -> Iterator[str]:
    """Give what was asked for."""
    if not math.isnan(pair.ci_bootstrap[0]):
        low, high = pair.ci_bootstrap
        yield f"BCa bootstrap interval: {low:+.4f} to {high:+.4f}."
    if pair.options.margin is not None and not math.isnan(pair.p_equivalence):
        margin, both = f"{pair.options.margin:g}", (pair.p_equivalence, pair.p_non_inferiority)
        equal, not_worse = map(p_words, both)
        yield f"Equal within {margin}: {equal} (TOST); not worse by {margin}: {not_worse}."
    for found in (pair.fragility, pair.multiverse):
        if found is not None:
            yield from str(found).splitlines()


def _holes(pair: Pair) -> list[str]:
    return [] if pair.holes is None else str(pair.holes).splitlines()


def _sizes(pair: Pair) -> Iterator[str]:
    """Give the sizes that a table has no room for."""
    low, high = pair.relative_ci
    if not math.isnan(pair.relative):
        level = pair.options.confidence
        ends = (
            f" ({level} CI {100 * low:+.1f} to {100 * high:+.1f} %)" if not math.isnan(low) else ""
        )
        yield f"relative {100 * pair.relative:+.1f} %{ends}"
    if math.isfinite(pair.d_z):
        yield f"d_z {number(pair.d_z, 2)}, Hedges' g {number(pair.hedges_g, 2)}"


def _without_top3(pair: Pair) -> str:
    holds = "the sign holds" if pair.sign_holds else "the sign does not hold"
    p = pair.p_without_top3
    tested = "" if math.isnan(p) else f", {p_words(p)} by t"
    names = ", ".join(map(_query, pair.top3))
    rest = f"{signed(pair.without_top3)}; {holds}{tested}"
    return f"Without the three that carry it most ({names}): {rest}."


def _probabilities(pair: Pair) -> str:
    better, worse = ("better", "worse") if pair.sense else ("higher", "lower")
    by = f" by more than {pair.rope:g}" if pair.rope else ""
    equal = f", P(within {pair.rope:g}) {pair.p_equal:.4f}" if pair.rope else ""
    numbers = f"P({better}{by}) {pair.p_better:.4f}{equal}, P({worse}) {pair.p_worse:.4f}"
    return f"{numbers}, which restates t."


def heading(comparison: Comparison) -> list[str]:
    """Say what was compared, and how."""
    options, pair, labels = comparison.options, comparison.pairs[0], comparison.measures
    others = ", the others are descriptive" if len(labels) > 1 else ""
    about = f"{comparison.primary} is the primary measure{others}"
    weighted = ", weighted" if pair.weights is not None else ""
    convention = comparison.evaluations[0].convention
    count = many(pair.n, "query", "queries")
    lines = [f"{count}{weighted}, convention {convention}; {about}"]
    correction = CORRECTIONS[options.correction]
    if options.correction == "tukey":
        correction = f"randomised Tukey HSD({pair.draws})"
    how = f"{name_of_test(pair.n)}, seed {options.seed}; {correction}"
    level = f"{options.confidence} t-intervals"
    lines.append(f"alpha {options.alpha:g}, two-sided; {how}; {level}")
    if any(sign in SUPERSCRIPTS for row in runs_grid(comparison).rows for sign in "".join(row)):
        lines.append("a letter behind a value: significantly better than the system of that letter")
    if options.all_pairs and len(comparison.evaluations) > 2:
        fits = "differences: by how much the row's run is better; * is significant"
        every = "the differences of all pairs are in -f tsv and -f json"
        lines.append(fits if len(comparison.evaluations) <= MOST else every)
    if weighted and {"wilcoxon", "sign"} & set(options.tests):
        lines.append("Wilcoxon's test and the sign test take no weights")
    return lines + [TESTS[name] for name in options.tests]


def notes(comparison: Comparison) -> list[str]:
    """Give the settings, what is doubtful, and the signatures."""
    doubts = doubts_of_comparison(comparison)
    return [*heading(comparison), *comparison.remarks, *doubts, *signatures(comparison)]


def signatures(comparison: Comparison) -> list[str]:
    """Write the signatures, short, with the statistics behind them."""
    known = CONVENTIONS.get(comparison.evaluations[0].convention)
    signatures = comparison.signatures.values()
    return shared_lines(one.short(known) if known else str(one) for one in signatures)
