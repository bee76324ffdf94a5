"""Worsened queries: those that lost most from one run to another, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from idealist.conventions.signature import Signature
from idealist.explaining.difference_explanation import NAME, DifferenceExplanation
from idealist.explaining.explanation import TEXT_WIDTH
from idealist.notation import many
from idealist.rendering import document as doc
from idealist.rendering.document import SIGNED, TEXT, Block, Column, Document, Items, Table, Text
from idealist.rendering.plain_data import finite, records_table
from idealist.rendering.result import Result
from idealist.rendering.wording import clipped, few, number, short

#: How many documents are named as the reason why a query lost.
REASONS = 2


def query_changes(
    baseline: str, run: str, rows: Iterable[tuple[str, str, float, float]], title: str = ""
) -> Table:
    """Tabulate queries, each with its text and its values in both runs."""
    known = list(rows)
    told = any(text for _, text, *_ in known)  # and not `without`: a run may have that name
    cells = [
        (query, *([clipped(text, TEXT_WIDTH)] if told else []), before, after, after - before)
        for query, text, before, after in known
    ]
    words = [Column("query", TEXT), *([Column("text", TEXT)] if told else [])]
    numbers = Column(short(baseline, NAME)), Column(short(run, NAME)), Column("difference", SIGNED)
    return Table((*words, *numbers), tuple(cells), title)


def _reason(explanation: DifferenceExplanation) -> str:
    return "; ".join(explanation.reasons(REASONS)) or explanation.words[-1]


@dataclass(frozen=True, eq=False, repr=False)
class WorsenedQueries(Result):
    """The queries that lost most from a baseline to a run, the worst first, and why.

    `before` and `after` are the values of the runs, `queries` how many have both values and `lost`
    how many of them lost: their value fell or, with a `sense` below 0, rose. With `full` both lists
    of each are shown.
    """

    measure: str
    convention: str
    signature: Signature
    baseline: str
    run: str
    before: float
    after: float
    queries: int
    lost: int
    explanations: tuple[DifferenceExplanation, ...]
    sense: int = 1
    full: bool = False

    @property
    def summary(self) -> str:
        """On how many queries the value went the wrong way, and on which of them most."""
        way = "rose" if self.sense < 0 else "fell"
        of = f"{self.lost or 'none'} of {many(self.queries, 'query', 'queries')}"
        said = f"{self.measure} {way} on {of} from {self.baseline} to {self.run}"
        said += ", which is worse" if self.lost and self.sense < 0 else ""
        named = few([one.query for one in self.explanations])
        return f"{said}; most of all on {named}" if named else said

    def report(self) -> Document:
        """Describe the queries, why each of them lost, and in full what is asked for."""
        blocks: list[Block] = [Text(self.summary, strong=True), self._queries()]
        blocks.append(Items(tuple(f"{one.query}: {_reason(one)}" for one in self.explanations)))
        for one in self.explanations if self.full else ():
            blocks += [doc.Heading(f"query {one.query}"), *one.report().blocks]
        values = f"{self.baseline} {number(self.before)}, {self.run} {number(self.after)}"
        signed_ = doc.Signatures((self.signature.by(self.convention),))
        return Document(tuple(blocks), (Text(f"{self.measure}: {values}"), signed_))

    def _queries(self) -> Table:
        return query_changes(
            self.baseline, self.run,
            [(one.query, one.text, one.before, one.after) for one in self.explanations],
        )  # fmt: skip

    def table(self) -> Table:
        """Return the queries with both values and the document that did most."""
        return records_table([self._row(one) for one in self.explanations])

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; what is not defined is None."""
        full = [one.data() for one in self.explanations] if self.full else []
        return {
            "measure": self.measure, "convention": self.convention,
            "signature": self.signature.by(self.convention), "baseline": self.baseline,
            "run": self.run, "before": finite(self.before), "after": finite(self.after),
            "queries": self.queries, "lost": self.lost,
            "worst": [self._row(one) for one in self.explanations],
            **({"explanations": full} if full else {}),
        }  # fmt: skip

    @staticmethod
    def _row(one: DifferenceExplanation) -> dict[str, Any]:
        return {
            "query": one.query, **({"text": one.text} if one.text else {}), "before": one.before,
            "after": one.after, "difference": one.difference, "reason": _reason(one),
        }  # fmt: skip
