"""A report: everything found about some runs, as one page, a short text, or data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from idealist.errors import UsageError
from idealist.rendering import document as doc
from idealist.rendering.document import Block, Document, Table, Text
from idealist.rendering.result import Result
from idealist.reporting import verdict_sentences
from idealist.reporting.computing import Findings
from idealist.reporting.provenance import Provenance
from idealist.reporting.query_lists import QueryLists
from idealist.reporting.query_rows import QueryRows
from idealist.reporting.real_section import slice_tables

#: How many queries the short form names, and how many things to do.
NAMED, DONE = 10, 3


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """All that is known of some runs: ``save("report.html")`` writes one page that needs no other.

    Printed, or as Markdown, it is short: the verdict, the values, the queries that changed most,
    what to do first, and the commands. `lists` are the queries with two lists side by side;
    `remark` says of how many of the documents in them the text is not known.
    """

    title: str
    findings: Findings
    rows: QueryRows
    lists: tuple[QueryLists, ...]
    notes: tuple[Block, ...]
    provenance: Provenance
    remark: str = ""

    @property
    def summary(self) -> str:
        """The verdict, in two sentences."""
        return " ".join(verdict_sentences.sentences(self.findings))

    def report(self) -> Document:
        """Describe it in short, for a terminal or a pull request."""
        findings = self.findings
        found = findings.comparison or findings.evaluations
        mend = verdict_sentences.to_mend(findings)
        blocks: list[Block] = [Text(mend, strong=True)] if mend else []
        blocks += [Text(self.summary, strong=True)]
        blocks += [*self.notes, *findings.evaluations.report().tables]
        blocks += [Text(f"{findings.evaluations.heading}.")]
        blocks += slice_tables(findings.comparison) if findings.comparison else []
        blocks += [doc.Heading(self._named), self.rows.table(self.rows.rows[:NAMED])]
        blocks += self._todo()
        blocks += [doc.Heading("Can it be trusted?"), Text(findings.audit.summary)]
        commands = tuple(map(doc.Command, self.provenance.commands))
        doubts = doc.Details("What is doubtful", (doc.Doubts(found.doubts),))
        again = doc.Details("Commands that make every number again", commands)
        signed = [block for block in found.report().notes if isinstance(block, doc.Signatures)]
        return Document((*blocks, doubts, again), tuple(signed), self.title)

    def _todo(self) -> list[Block]:
        """Say what to do first."""
        found = self.findings.diagnosis
        if isinstance(found, UsageError) or not found.todo:
            return []
        lines = tuple(line for one in found.todo[:DONE] for line in one.lines())
        return [doc.Heading(f"What to do first about {found.run}"), doc.Items(lines)]

    @property
    def _named(self) -> str:
        if self.rows.compared:
            base, main = self.findings.baseline, self.findings.main
            return f"The queries that changed most, from {base} to {main}"
        return f"The queries with the worst {self.rows.label}"

    def table(self) -> Table:
        """Return every query with its values."""
        return self.rows.table()

    def data(self) -> dict[str, Any]:
        """Return what the verbs give with ``-f json``, and what only the report has."""
        findings, diagnosis = self.findings, self.findings.diagnosis
        return {
            "eval": findings.evaluations.data(),
            "compare": findings.comparison and findings.comparison.data(),
            "audit": findings.audit.data(),
            "diagnose": None if isinstance(diagnosis, UsageError) else diagnosis.data(),
            "report": {
                "title": self.title,
                "verdict": list(verdict_sentences.sentences(findings)),
                "measure": findings.label,
                "baseline": findings.baseline or None,
                "run": findings.main,
                "diagnosed": findings.diagnosed or None,
                "bounds": findings.bounds and findings.bounds.aggregate_data(),
                "queries": self.rows.data(),
                "lists": [one.data() for one in self.lists],
                **self.provenance.data(),
            },
        }

    def render(self, form: str, *, details: bool = False, columns: int | None = None) -> str:
        """Write it as a page (html), or in short."""
        if form != "html":
            return super().render(form, details=details, columns=columns)
        from idealist.reporting.report_page import page

        return page(self)
