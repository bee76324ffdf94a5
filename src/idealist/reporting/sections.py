"""The six sections of a report, as blocks; most are what the results say of themselves."""

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
    more_about,
    pairs_table,
    reasons,
    standing,
)
from idealist.comparing.verdict_words import interval
from idealist.conventions.describe import describe
from idealist.errors import UsageError
from idealist.evaluating.doubt_case import is_filed, shell
from idealist.measures import MEASURES
from idealist.measures.instrument import Aggregate
from idealist.notation import many
from idealist.protocol import Protocol
from idealist.report import document as doc
from idealist.report.document import SIGNED, Block, Drawing, Table, Text
from idealist.report.result import Result
from idealist.report.wording import few, number, p_value, percent, signed
from idealist.reporting.computing import Findings
from idealist.reporting.provenance import Provenance

#: What a signature holds beside the rules of a measure and of a protocol.
OTHER_AXES = {
    "measure": "what is measured",
    "cutoff": "how many ranks are looked at",
    "qrels": "the hash of the judgments",
    "merge": "how the grades of several judges become one",
    "rules": "the version of the rules of idealist itself",
}


@dataclass(frozen=True)
class Card:
    """A number that a reader takes away: its name, what it is, and more about it."""

    name: str
    value: str
    more: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page: its id, its title, a shorter one for the way there, and its blocks."""

    id: str
    title: str
    short: str
    blocks: tuple[Block, ...]
    cards: tuple[Card, ...] = ()


def about(findings: Findings) -> str:
    """Say what the report is about, in a line."""
    judged = findings.evaluator.qrels
    count = many(len(judged.queries), "query", "queries")
    others = [run for run in findings.runs if run != findings.baseline]
    runs = f"{few(others)} against {findings.baseline}" if findings.baseline else others[0]
    return f"{runs}, on {count} with {many(len(judged), 'judgment', 'judgments')}"


def sections(findings: Findings, provenance: Provenance, notes: tuple[Block, ...]) -> list[Section]:
    """Write the sections; the first is about what the others say in full."""
    of = f" by {findings.diagnosed}" if findings.diagnosed and findings.baseline else ""
    real = "Is it real?" if findings.comparison else "How sure is it?"
    return [
        Section("verdict", "The verdict", "Verdict", (*_verdict(findings), *notes)),
        Section("real", real, real.rstrip("?"), tuple(_real(findings)), tuple(_cards(findings))),
        Section("queries", "Which queries?", "Queries", tuple(_queries(findings))),
        Section("lost", f"Where points are lost{of}", "Lost points", tuple(_lost(findings))),
        Section("trust", "Can it be trusted?", "Trust", tuple(_trust(findings))),
        Section("how", "How it was measured", "Method", tuple(_how(findings, provenance))),
    ]


def drawn(result: Result, kind: str, **options: Any) -> Iterator[Block]:
    """Draw a figure of a result, where that can be done."""
    with suppress(UsageError):  # such as coverage where no document can be unjudged
        yield Drawing(result.figure(kind, **options))


def _verdict(findings: Findings) -> Iterator[Block]:
    """Show one large figure and the values."""
    found: Result = findings.comparison or findings.evaluations
    kind = {1: "spread", 2: "differences"}.get(len(findings.runs), "intervals")
    told = {} if kind == "intervals" else {"texts": findings.texts}
    yield from drawn(found, kind, **told)
    yield from findings.evaluations.report().tables
    yield Text(f"{findings.evaluations.heading}.")


def _real(findings: Findings) -> Iterator[Block]:
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
    yield from _behind(comparison)
    yield from drawn(comparison, "scatter", run=findings.main, texts=findings.texts)
    yield doc.Details("More about it", tuple(more_about(comparison)))
    yield from drawn(comparison, "power", run=findings.main)
    yield from drawn(comparison, "agreement")
    yield Text("How few changed labels would reverse it takes a while to find, so it is not here:")
    yield doc.Command(_fragility(findings))


def _tables(comparison: Comparison) -> Iterator[Block]:
    """Tabulate the differences, and those of slices; only by the first measure unfolded."""
    yield pairs_table(best_first(comparison[comparison.primary]))
    own = [one for one in comparison.slices if one.measure == comparison.primary]
    yield from [pairs_table(own)] if own else []
    every = (*comparison.pairs, *comparison.slices)
    others = [one for one in every if one.measure != comparison.primary]
    if others:
        tables = pairs_table([one for one in others if not one.slice])
        parts = [one for one in others if one.slice]
        folded = (tables, *([pairs_table(parts)] if parts else []))
        yield doc.Details("By the other measures", folded)


def _behind(comparison: Comparison) -> Iterator[Block]:
    """Say what is behind the answer; what other measures say of many runs is folded up."""
    lines = [line.replace("that --details gives", "given below") for line in reasons(comparison)]
    others = [standing(comparison[label]) for label in comparison.measures[1:]]
    starts = tuple(said[0] for said in others if said)
    aside = [line for line in lines if starts and line.startswith(starts)]
    yield doc.Items(tuple(line for line in lines if line not in aside))
    yield doc.Details("What the other measures say", (doc.Items(tuple(aside)),))


def _cards(findings: Findings) -> Iterator[Card]:
    """Give what decides between two runs."""
    if findings.comparison is None or len(findings.runs) > 2:
        return
    pair = findings.comparison.pair(findings.main)
    if not pair.tested:
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


def _queries(findings: Findings) -> Iterator[Block]:
    base, main = findings.baseline, findings.main
    best = ", the best of the others" if len(findings.runs) > 2 else ""
    first = f"Those that changed most from {base} to {main}{best} come first." if base else ""
    yield Text(first or f"Those with the worst {findings.label} come first.")
    if len(findings.runs) > 2:
        yield from drawn(findings.evaluations, "heat", texts=findings.texts)


def _lost(findings: Findings) -> Iterator[Block]:
    if isinstance(findings.diagnosis, UsageError):
        yield Text(f"That cannot be said: {findings.diagnosis.message}.")
        return
    document = findings.diagnosis.report()
    summary, *blocks = document.blocks
    figure = [] if findings.diagnosis.errors else [*drawn(findings.diagnosis, "losses")]
    yield from figure or [summary]
    yield from blocks
    yield from (block for block in document.notes if not isinstance(block, doc.Signatures))


def _trust(findings: Findings) -> Iterator[Block]:
    yield from findings.audit.report().blocks
    yield from drawn(findings.audit, "coverage")
    found = findings.comparison or findings.evaluations
    if found.doubts:
        yield doc.Heading("What is doubtful about these numbers")
        yield doc.Doubts(found.doubts)


def _how(findings: Findings, provenance: Provenance) -> Iterator[Block]:
    yield from _settings(findings)
    yield doc.Heading("Inputs")
    yield provenance.table()
    judged = findings.evaluator.qrels
    count = many(len(judged.queries), "query", "queries")
    yield Text(f"{len(judged):,} judgments of {count}; hash of their content {judged.hash}.")
    yield doc.Heading("Commands that make every number again")
    yield from map(doc.Command, provenance.commands)
    yield doc.Heading("Versions")
    yield Table.of(["what", "version"], [], list(provenance.versions))


def _settings(findings: Findings) -> Iterator[Block]:
    """Say by which rules: the signatures, and what they stand for."""
    signatures = findings.evaluator.signatures
    document = (findings.comparison or findings.evaluations).report()
    notes = [block.text for block in document.notes if isinstance(block, Text)]
    yield doc.Items(tuple(line for line in notes if not line.startswith("a letter")))
    yield from (block for block in document.notes if isinstance(block, doc.Signatures))
    fields = {label: one.fields for label, one in signatures.items()}
    first = next(iter(fields.values()))
    shared = {
        axis for axis in first if all(one.get(axis) == first[axis] for one in fields.values())
    }
    common = [(axis, first[axis], _means(axis)) for axis in first if axis in shared]
    columns = ["rule", "value", "what it decides"]
    yield doc.Details("The rules that all measures share", (Table.of(columns, [], common),))
    for label, own in fields.items():
        rows = [(axis, value, _means(axis)) for axis, value in own.items() if axis not in shared]
        said = (Text(_described(label)),) if _described(label) else ()
        signed = doc.Signatures((str(signatures[label]),))
        yield doc.Details(f"{label}: its rules", (*said, Table.of(columns, [], rows), signed))


def _means(axis: str) -> str:
    """Say what an axis decides."""
    measure, dot, name = axis.rpartition(".")
    if dot and measure in MEASURES:
        known = MEASURES[measure].parameters()
    else:
        known = {**Protocol.parameters(), **Aggregate.parameters()}
    return known[name].doc if name in known else OTHER_AXES.get(axis, "")


def _described(label: str) -> str:
    try:
        return describe(label).summary
    except UsageError:  # a user's own measure
        return ""
