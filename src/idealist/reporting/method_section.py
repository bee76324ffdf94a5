"""How it was measured: the rules in words and as signatures, inputs, commands, versions."""

from __future__ import annotations

from collections.abc import Iterator

from idealist.conventions.describe import describe
from idealist.errors import UsageError
from idealist.measures import MEASURES
from idealist.measures.instrument import Aggregate
from idealist.notation import many
from idealist.protocol import Protocol
from idealist.rendering import document as doc
from idealist.rendering.document import Block, Table, Text
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


def method_blocks(findings: Findings, provenance: Provenance) -> Iterator[Block]:
    """Say by which rules, from what, and by which commands the numbers were made."""
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
