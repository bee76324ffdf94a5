"""What stands beside the tables of a comparison: details, settings, doubts and signatures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from idealist.comparing.options import CORRECTIONS, TESTS
from idealist.comparing.pairing import name_of_test
from idealist.comparing.tables import runs_grid
from idealist.comparing.words import power
from idealist.conventions import CONVENTIONS
from idealist.draw import SUPERSCRIPTS
from idealist.notation import many
from idealist.summary import doubt_lines, number, p_words, shared_lines

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison
    from idealist.comparing.pair import Pair

#: How many verdicts, and doubts about pairs, are written out.
SHOWN = 10


def verdicts(comparison: Comparison) -> list[str]:
    """Write the verdicts by the primary measure with their details, and what else is undecided."""
    pairs = comparison[comparison.primary]
    slices = [pair for pair in comparison.slices if pair.measure == comparison.primary]
    indent = "" if len(pairs) == 1 else "  "
    lines = []
    for pair in pairs[:SHOWN]:
        lines += [pair.verdict, *(f"{indent}{line}" for line in details(pair))]
    lines += _counted(pairs)
    lines += [pair.verdict for pair in slices[:SHOWN]] + _counted(slices)
    written = (*pairs[:SHOWN], *slices[:SHOWN])
    every = (*comparison.pairs, *comparison.slices)
    return lines + _undecided([pair for pair in every if pair not in written])


def _counted(pairs: Sequence[Pair]) -> list[str]:
    """Count the pairs where they are too many to write out."""
    if len(pairs) <= SHOWN:
        return []
    count = sum(pair.significant for pair in pairs)
    rest = "the JSON and the TSV have what is known of the others"
    return [f"… {len(pairs)} pairs in all, {count} of them significant; {rest}."]


def _undecided(pairs: Sequence[Pair]) -> list[str]:
    """Say of pairs without a written verdict that are not significant what could be shown."""
    some = [pair for pair in pairs if not math.isnan(pair.detectable)]
    lines = [f"{_name(pair)}: not significant; {power(pair)}." for pair in some[:SHOWN]]
    more = len(some) - SHOWN
    rest = "what these could show is in the JSON and the TSV"
    return [*lines, f"… and {more} more are not significant; {rest}."] if more > 0 else lines


def _name(pair: Pair) -> str:
    part = f"{pair.slice}, " if pair.slice else ""
    return f"{part}{pair.measure}, {pair.run} - {pair.baseline}"


def details(pair: Pair) -> Iterator[str]:
    """Say what is behind a verdict."""
    if sizes := "; ".join(_sizes(pair)):
        yield f"Size: {sizes}."
    for word, queries in (("Gained", pair.gained), ("Lost", pair.lost)):
        if queries:
            listed = ", ".join(f"{query} {apart:+.4f}" for query, apart in queries)
            yield f"{word} most: {listed}."
    if not math.isnan(pair.without_top3) and pair.difference:
        yield _without_top3(pair)
    if not math.isnan(pair.p_better):
        yield _probabilities(pair)
    if math.isfinite(pair.trisk) and pair.sense:
        yield f"With losses counted twice: {pair.urisk:+.4f} (URisk), TRisk {pair.trisk:+.2f}."
    if not math.isnan(pair.ci_bootstrap[0]):
        low, high = pair.ci_bootstrap
        yield f"BCa bootstrap interval: {low:+.4f} to {high:+.4f}."
    if pair.options.margin is not None and not math.isnan(pair.p_equivalence):
        margin, both = f"{pair.options.margin:g}", (pair.p_equivalence, pair.p_non_inferiority)
        equal, not_worse = map(p_words, both)
        yield f"Equal within {margin}: {equal} (TOST); not worse by {margin}: {not_worse}."
    for found in (pair.holes, pair.fragility, pair.multiverse):
        if found is not None:
            yield from str(found).splitlines()


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
    names = ", ".join(pair.top3)
    rest = f"{pair.without_top3:+.4f}; {holds}{tested}"
    return f"Without the three that favour it most ({names}): {rest}."


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
    if weighted and {"wilcoxon", "sign"} & set(options.tests):
        lines.append("Wilcoxon's test and the sign test take no weights")
    return lines + [TESTS[name] for name in options.tests]


def notes(comparison: Comparison) -> list[str]:
    """Give the settings, what is doubtful, and the signatures."""
    evaluations = comparison.evaluations
    doubts = [*_doubts(comparison), *doubt_lines(evaluations)]
    return [*heading(comparison), *comparison.remarks, *doubts, *_signatures(comparison)]


def _signatures(comparison: Comparison) -> list[str]:
    """Write the signatures, short, with the statistics behind them."""
    known = CONVENTIONS.get(comparison.evaluations[0].convention)
    signatures = comparison.signatures.values()
    return shared_lines(one.short(known) if known else str(one) for one in signatures)


def _doubts(comparison: Comparison) -> list[str]:
    """Write what is doubtful about pairs; what holds by several measures is said once."""
    found: dict[str, str] = {}
    for pair in comparison.pairs:
        for doubt in pair.doubts:
            said = f"{pair.run} - {pair.baseline}: {doubt.message}"
            found.setdefault(said, f"doubt: {pair.measure}, {said}")
    more = len(found) - SHOWN
    rest = [f"doubt: … and {more} more about pairs, which are in the JSON"] if more > 0 else []
    return [*list(found.values())[:SHOWN], *rest]
