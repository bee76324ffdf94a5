"""The six sections of a report, as blocks; most are what the results say of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from idealist.errors import UsageError
from idealist.notation import many
from idealist.rendering import document as doc
from idealist.rendering.document import Block, Text
from idealist.rendering.result import Result
from idealist.rendering.wording import few
from idealist.reporting.computing import Findings
from idealist.reporting.method_section import method_blocks
from idealist.reporting.provenance import Provenance
from idealist.reporting.real_section import Card, cards, drawn, real_blocks


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
    judgments = "1 judgment" if len(judged) == 1 else f"{len(judged):,} judgments"
    return f"{runs}, on {count} with {judgments}"


def sections(findings: Findings, provenance: Provenance, notes: tuple[Block, ...]) -> list[Section]:
    """Write the sections; the first is about what the others say in full."""
    of = f" by {findings.diagnosed}" if findings.diagnosed and findings.baseline else ""
    real = "Is it real?" if findings.comparison else "How sure is it?"
    return [
        Section("verdict", "The verdict", "Verdict", (*_verdict(findings), *notes)),
        Section(
            "real", real, real.rstrip("?"), tuple(real_blocks(findings)), tuple(cards(findings))
        ),
        Section("queries", "Which queries?", "Queries", tuple(_queries(findings))),
        Section("lost", f"Where points are lost{of}", "Lost points", tuple(_lost(findings))),
        Section("trust", "Can it be trusted?", "Trust", tuple(_trust(findings))),
        Section("how", "How it was measured", "Method", tuple(method_blocks(findings, provenance))),
    ]


def _verdict(findings: Findings) -> Iterator[Block]:
    """Show one large figure and the values."""
    found: Result = findings.comparison or findings.evaluations
    kind = {1: "spread", 2: "differences"}.get(len(findings.runs), "intervals")
    told = {} if kind == "intervals" else {"texts": findings.texts}
    yield from drawn(found, kind, **told)
    yield from findings.evaluations.report().tables
    yield Text(f"{findings.evaluations.heading}.")


def _queries(findings: Findings) -> Iterator[Block]:
    base, main = findings.baseline, findings.main
    best = ", the best of the others" if len(findings.runs) > 2 else ""
    first = (
        f"Those that changed most from {base} to {main}{best}{',' if best else ''} come first."
        if base
        else ""
    )
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
