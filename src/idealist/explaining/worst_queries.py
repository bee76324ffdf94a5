"""The queries that lose most, each with what it loses most to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.conventions.signature import Signature
from idealist.explaining.explanation import Explanation, loss_table, most_lost, top_cause
from idealist.explaining.ladder import CAUSES
from idealist.notation import many
from idealist.report.document import TEXT, Block, Column, Document, Heading, Signatures, Table, Text
from idealist.report.plain_data import finite, records_table
from idealist.report.result import Result
from idealist.report.wording import clipped, few, number

#: How much of a query's text a table shows.
TEXT_WIDTH = 30


@dataclass(frozen=True)
class LosingQuery:
    """A query, its value, and what it loses, by cause."""

    query: str
    value: float
    losses: Mapping[str, float]
    text: str = ""

    @property
    def loss(self) -> float:
        """All that it loses."""
        return math.fsum(self.losses.values())

    @property
    def cause(self) -> str:
        """What it loses most to; nothing where nothing is lost."""
        return top_cause(self.losses)

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        text = {"text": self.text} if self.text else {}
        return {
            "query": self.query, **text, "value": self.value, "loss": self.loss,
            "cause": self.cause, "losses": dict(self.losses),
        }  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Worst(Result):
    """The queries of a run that lose most; `losses` is what each cause takes from the mean."""

    run: str
    measure: str
    convention: str
    signature: Signature
    value: float
    queries: int
    losses: Mapping[str, float]
    rows: Sequence[LosingQuery]
    explanations: Sequence[Explanation] = ()

    @property
    def summary(self) -> str:
        """The queries that lose most, and what all of them lose most to."""
        losing = [one.query for one in self.rows if one.loss > 0]
        if not losing:
            return f"no query of {self.run} loses any {self.measure}"
        verb = "loses" if len(losing) == 1 else "lose"
        over = f"over {many(self.queries, 'query', 'queries')} of {self.run}"
        return f"{few(losing)} {verb} most {self.measure}; {over}, {most_lost(self.losses)}"

    def report(self) -> Document:
        """Describe the queries, what the mean loses, and in full each query that was explained."""
        blocks: list[Block] = [Text(self.summary, strong=True), self._queries(), self._means()]
        for one in self.explanations:
            blocks += [Heading(f"query {one.query}"), *one.report().blocks]
        of = f"{self.run}: {self.measure} {number(self.value)}"
        settings = f"{many(self.queries, 'query', 'queries')}, convention {self.convention}"
        signed = Signatures((self.signature.by(self.convention),))
        return Document(tuple(blocks), (Text(f"{of}, {settings}"), signed))

    def _queries(self) -> Table:
        told = any(one.text for one in self.rows)
        columns = (
            Column("query", TEXT), *([Column("text", TEXT)] if told else []),
            Column(self.measure), Column("lost"), Column("main cause", TEXT), Column("lost to it"),
        )  # fmt: skip
        rows = [
            (
                one.query, *([clipped(one.text, TEXT_WIDTH)] if told else []), one.value, one.loss,
                CAUSES.get(one.cause, "nothing"), one.losses.get(one.cause, 0.0),
            )
            for one in self.rows
        ]  # fmt: skip
        return Table(columns, tuple(rows))

    def _means(self) -> Table:
        weighted = dict(self.signature.settings)["aggregate"].startswith("weighted(")
        return loss_table(f"{self.measure}, {'weighted ' * weighted}mean", self.losses)

    def table(self) -> Table:
        """Return the queries with all that they lose, by cause."""
        return records_table([one.data() for one in self.rows])

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; what is not defined is None."""
        full = [one.data() for one in self.explanations]
        return {
            "run": self.run, "measure": self.measure, "convention": self.convention,
            "signature": self.signature.by(self.convention), "value": finite(self.value),
            "queries": self.queries,
            "losses": finite(self.losses), "worst": [one.data() for one in self.rows],
            **({"explanations": full} if full else {}),
        }  # fmt: skip
