"""The six sections of a report, as blocks; most are what the results say of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from idealist.conventions.describe import describe
from idealist.errors import UsageError
from idealist.evaluating.doubt_case import is_filed, shell
from idealist.measures import MEASURES
from idealist.measures.instrument import Aggregate
from idealist.notation import many
from idealist.protocol import Protocol
from idealist.report import document as doc
from idealist.report.document import Block, Drawing, Table, Text
from idealist.report.result import Result
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
class Section:
    """A part of the page: its id, its title, a shorter one for the way there, and its blocks."""

    id: str
    title: str
    short: str
    blocks: tuple[Block, ...]


def sections(findings: Findings, provenance: Provenance, notes: tuple[Block, ...]) -> list[Section]:
    """Write the sections; the first is about what the others say in full."""
    of = "" if len(findings.runs) == 1 else f" by {findings.diagnosis.run}"
    real = "Is it real?" if findings.comparison else "How sure is it?"
    return [
        Section("verdict", "The verdict", "Verdict", (*_verdict(findings), *notes)),
        Section("real", real, real.rstrip("?"), tuple(_real(findings))),
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
        return
    blocks = comparison.report().blocks
    yield blocks[0]
    yield from drawn(comparison, "forest")
    yield from drawn(comparison, "scatter", run=findings.main, texts=findings.texts)
    yield from blocks[2:]  # after the means, which the verdict shows
    yield from drawn(comparison, "power", run=findings.main)
    yield from drawn(comparison, "agreement")
    yield Text("How few changed labels would reverse it takes a while to find, so it is not here:")
    yield doc.Command(_fragility(findings))


def _fragility(findings: Findings) -> str:
    files = [findings.evaluator.qrels.name]
    files += [one.run.source.name for one in findings.ranked.values()]
    if is_filed(*files):
        return shell(findings.alone, "compare", files, "--fragility")
    return "idealist.compare(qrels, runs, measures, fragility=True)"


def _queries(findings: Findings) -> Iterator[Block]:
    if len(findings.runs) > 1:
        yield from drawn(findings.evaluations, "heat", texts=findings.texts)


def _lost(findings: Findings) -> Iterator[Block]:
    document = findings.diagnosis.report()
    yield from drawn(findings.diagnosis, "losses")
    yield from document.blocks
    yield from (block for block in document.notes if not isinstance(block, doc.Signatures))


def _trust(findings: Findings) -> Iterator[Block]:
    yield from findings.audit.report().blocks
    yield from drawn(findings.audit, "coverage")
    found = findings.comparison or findings.evaluations
    if found.doubts:
        yield doc.Heading("What is doubtful about these numbers")
        yield doc.Doubts(found.doubts)


def _how(findings: Findings, provenance: Provenance) -> Iterator[Block]:
    yield from (block for block in _settings(findings))
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
    yield from (block for block in document.notes if not isinstance(block, doc.Doubts))
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
