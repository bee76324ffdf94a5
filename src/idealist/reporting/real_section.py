"""Is it real? What decides between runs, how sure that is, and what could change it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from idealist.comparing import Comparison
from idealist.comparing.comparison_report import (
    answers,
    best_first,
    latency_blocks,
    more_about,
    pairs_table,
    reasons,
    standing,
)
from idealist.comparing.verdict_words import interval
from idealist.errors import UsageError
from idealist.evaluating.doubt_case import is_filed, shell
from idealist.rendering import document as doc
from idealist.rendering.document import SIGNED, Block, Drawing, Text
from idealist.rendering.result import Result
from idealist.rendering.wording import number, p_value, percent, signed
from idealist.reporting.computing import Findings


@dataclass(frozen=True)
class Card:
    """A number that a reader takes away: its name, what it is, and more about it."""

    name: str
    value: str
    more: str = ""


def drawn(result: Result, kind: str, **options: Any) -> Iterator[Block]:
    """Draw a figure of a result, where that can be done."""
    with suppress(UsageError):  # such as coverage where no document can be unjudged
        yield Drawing(result.figure(kind, **options))


def real_blocks(findings: Findings) -> Iterator[Block]:
    """Say how sure the difference is, and what could change it."""
    comparison = findings.comparison
    if comparison is None:
        yield Text(
            "One run has nothing to be better than. The intervals say how far its means could lie "
            "from those over other queries of this kind; give a second run, and both are compared."
        )
        yield from [Text(f"{findings.bounds.summary}.")] if findings.bounds else []
        return
    if len(findings.runs) > 2:
        yield Text("\n".join(answers(comparison)), strong=True)
    if len(findings.runs) > 2 or comparison.slices:
        yield from drawn(comparison, "forest")
    yield from _tables(comparison)
    yield from latency_blocks(comparison)
    yield from _behind(comparison)
    yield from drawn(comparison, "scatter", run=findings.main, texts=findings.texts)
    yield doc.Details("More about it", tuple(more_about(comparison)))
    yield from drawn(comparison, "power", run=findings.main)
    yield from drawn(comparison, "agreement")
    main = comparison.pair(findings.main)
    if main.wins + main.losses:
        yield Text("How few changed labels would reverse it takes a while, so it is not here:")
        yield doc.Command(_fragility(findings))


def _tables(comparison: Comparison) -> Iterator[Block]:
    """Tabulate the differences, and those of slices; only by the first measure unfolded."""
    yield pairs_table(best_first(comparison[comparison.primary]))
    yield from slice_tables(comparison)
    every = (*comparison.pairs, *comparison.slices)
    others = [one for one in every if one.measure != comparison.primary]
    if others:
        tables = pairs_table([one for one in others if not one.slice])
        parts = [one for one in others if one.slice]
        folded = (tables, *([pairs_table(parts)] if parts else []))
        yield doc.Details("By the other measures", folded)


def slice_tables(comparison: Comparison) -> Iterator[Block]:
    """Tabulate the differences of slices by the first measure, where there are any."""
    own = [one for one in comparison.slices if one.measure == comparison.primary]
    yield from [pairs_table(own)] if own else []


def _behind(comparison: Comparison) -> Iterator[Block]:
    """Say what is behind the answer; what other measures say of many runs is folded up."""
    lines = [line.replace("that --details gives", "given below") for line in reasons(comparison)]
    others = [standing(comparison[label]) for label in comparison.measures[1:]]
    starts = tuple(said[0] for said in others if said)
    aside = [line for line in lines if starts and line.startswith(starts)]
    yield doc.Items(tuple(line for line in lines if line not in aside))
    yield doc.Details("What the other measures say", (doc.Items(tuple(aside)),))


def cards(findings: Findings) -> Iterator[Card]:
    """Give what decides between two runs."""
    if findings.comparison is None or len(findings.runs) > 2:
        return
    pair = findings.comparison.pair(findings.main)
    if not pair.tested or pair.n < 2 or not pair.wins + pair.losses:
        return
    share = "" if math.isnan(pair.relative) else percent(pair.relative)
    yield Card(f"Difference in {pair.measure}", signed(pair.difference), share)
    yield Card(f"{pair.options.confidence} interval", SIGNED(interval(pair)))
    yield Card("p-value", p_value(pair.p_adjusted), "randomisation test, two-sided")
    yield Card("Effect size", number(pair.d_z, 2), "d_z, in standard deviations")
    yield Card("Better, same, worse", f"{pair.wins}, {pair.ties}, {pair.losses}", "queries")
    if not math.isnan(pair.detectable) and pair.detectable <= pair.widest:
        yield Card("Found in 4 of 5 cases", number(pair.detectable), "differences from here on")
    if not math.isnan(pair.needed):
        least = f"to find a difference of {pair.options.margin or pair.rope or 0:g}"
        yield Card("Queries needed", f"{float(f'{pair.needed:.2g}'):,.0f}", least)


def _fragility(findings: Findings) -> str:
    files = [findings.evaluator.qrels.name]
    files += [one.run.source.name for one in findings.ranked.values()]
    if is_filed(*files):
        return shell(findings.alone, "compare", files, "--fragility")
    return "idealist.compare(qrels, runs, measures, fragility=True)"
