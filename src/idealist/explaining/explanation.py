"""An explanation: one query's value taken apart, rank by rank and loss by loss."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.conventions.signature import Signature
from idealist.explaining.ladder import CAUSES
from idealist.notation import many, tidy
from idealist.notation import text as written
from idealist.rendering import document as doc
from idealist.rendering.document import COUNT, TEXT, Block, Column, Document, Items, Table, Text
from idealist.rendering.plain_data import finite, records_table
from idealist.rendering.result import Result
from idealist.rendering.terminal import WIDTH
from idealist.rendering.wording import NAMED, clipped, few, number

#: A grade, which an unjudged document lacks; the score of a system, with the digits that matter.
GRADE = doc.Format(lambda cell: "unjudged" if cell is None else written(tidy(cell)))
SCORE = doc.Format(lambda cell: "" if cell is None else f"{cell:.5g}")
#: A loss is shown if it is not 0 in four digits.
SHOWN = 5e-5


@dataclass(frozen=True)
class JudgedDocument:
    """A judged document: its grade, its rank where it was retrieved, and its text if given."""

    document: str
    grade: float
    rank: int | None = None
    text: str = ""

    def __str__(self) -> str:
        rank = "" if self.rank is None else f" (rank {self.rank})"
        return f"{self.document} {written(tidy(self.grade))}{rank}"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        rank = {} if self.rank is None else {"rank": self.rank}
        return {"document": self.document, "grade": tidy(self.grade), **rank, **_text(self.text)}


@dataclass(frozen=True)
class Row:
    """The document at a rank, and the one that the ideal list has there.

    `grade` is None where the document is unjudged, `terms` are the measure's own, `adds` is what
    the document adds to the value and `so_far` the value down to here.
    """

    rank: int
    document: str | None
    score: float | None
    grade: float | None
    terms: Mapping[str, float]
    adds: float | None
    so_far: float | None
    ideal: JudgedDocument | None
    text: str = ""

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "rank": self.rank, "document": self.document, "score": finite(self.score),
            "grade": None if self.grade is None else tidy(self.grade),
            "judged": self.grade is not None, **self.terms,
            "contribution": finite(self.adds), "so_far": finite(self.so_far),
            "ideal": self.ideal and self.ideal.data(), **_text(self.text),
        }  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """Why a query has its value. ``print(explanation)`` shows its ranks and its losses.

    `losses` says by cause what separates the `value` from the `ideal` one; `below` has good
    documents below the last row, `missing` those that were not retrieved, and `rest` is what all
    documents below the last row add.
    """

    run: str
    query: str
    measure: str
    convention: str
    signature: Signature
    value: float
    ideal: float
    losses: Mapping[str, float]
    rows: Sequence[Row]
    words: str
    notes: Sequence[str]
    retrieved: int
    rest: float | None
    below: Sequence[JudgedDocument]
    missing: Sequence[JudgedDocument]
    text: str = ""

    @property
    def loss(self) -> float:
        """All that is lost."""
        return math.fsum(self.losses.values())

    @property
    def summary(self) -> str:
        """What the value is, what it could be, and what most is lost to."""
        has = f"query {self.query} has {self.measure} {number(self.value)}"
        if math.isnan(self.value):
            return f"query {self.query} of {self.run} has no value of {self.measure}"
        if abs(self.loss) < SHOWN:
            return f"{has} in {self.run}, as much as the ideal list: nothing is lost"
        more = f"of a possible {number(self.ideal)} in {self.run}"
        if self.ideal < self.value:  # lower is better
            more = f"in {self.run}, where the ideal list has {number(self.ideal)}"
        return f"{has} {more}; {most_lost(self.losses)}"

    def report(self) -> Document:
        """Describe the value: rank by rank, in words, and by what is lost."""
        named = (Text(f"{self.query}: {self.text}"),) if self.text else ()
        blocks: tuple[Block, ...] = (
            Text(self.summary, strong=True), *named, self._ranks(), Items(tuple(self._lines())),
            loss_table(self.measure, self.losses), Items(tuple(self._texts())),
        )  # fmt: skip
        signed = doc.Signatures((self.signature.by(self.convention),))
        return Document(blocks, (signed,), f"{self.run}, query {self.query}")

    def _ranks(self) -> Table:
        names = list(dict.fromkeys(name for row in self.rows for name in row.terms))
        whole = {n for n in names if all(row.terms.get(n, 0.0) % 1 == 0 for row in self.rows)}
        adds = [Column("adds")] if self.rest is not None else []
        columns = (
            Column("rank", COUNT), Column("document", TEXT, shortens=True), Column("grade", GRADE),
            Column("score", SCORE), *(Column(n, COUNT if n in whole else doc.VALUE) for n in names),
            *adds, Column("so far"), Column("ideal list", TEXT, shortens=True),
            Column("grade", GRADE),
        )  # fmt: skip
        rows = [
            (
                row.rank, row.document, "" if row.document is None else row.grade, row.score,
                *(row.terms.get(name) for name in names), *([row.adds] if adds else []), row.so_far,
                *(("", "") if row.ideal is None else (row.ideal.document, row.ideal.grade)),
            )
            for row in self.rows
        ]  # fmt: skip
        return Table(columns, tuple(rows))

    def _lines(self) -> Iterator[str]:
        yield from (self.words, *self.notes)
        last = len(self.rows)
        if (deeper := self.retrieved - last) > 0 and self.rest:
            yield f"the {deeper} documents below rank {last} add {number(self.rest)}"
        if self.below:
            yield f"below rank {last}: {few(list(map(str, self.below)))}"
        if self.missing:
            yield f"not retrieved: {few(list(map(str, self.missing)))}"

    def _texts(self) -> Iterator[str]:
        texts = {row.document: row.text for row in self.rows if row.document}
        texts |= {one.document: one.text for one in self.missing[:NAMED]}
        return (clipped(f"{name}: {text}", WIDTH) for name, text in texts.items() if text)

    def table(self) -> Table:
        """Return the ranks with all that is known of them."""
        return records_table([row.data() for row in self.rows])

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; what is not defined is None."""
        return {
            "run": self.run, "query": self.query, **_text(self.text), "measure": self.measure,
            "convention": self.convention, "signature": self.signature.by(self.convention),
            "value": finite(self.value), "ideal": finite(self.ideal), "loss": finite(self.loss),
            "losses": finite(self.losses), "retrieved": self.retrieved,
            "rows": [row.data() for row in self.rows],
            "rest": finite(self.rest), "below": [one.data() for one in self.below],
            "missing": [one.data() for one in self.missing],
            "words": self.words, "notes": list(self.notes),
        }  # fmt: skip


def top_cause(losses: Mapping[str, float]) -> str:
    """Find what most is lost to; nothing where nothing is lost."""
    most = max(losses, key=lambda cause: losses[cause])
    return most if losses[most] > 0 else ""


def most_lost(losses: Mapping[str, float]) -> str:
    """Say what most is lost to, or the largest part.

    >>> most_lost({"order": 0.25, "missing": 0.5})
    'most is lost to documents not retrieved (0.5000 of 0.7500)'
    """
    if not (cause := top_cause(losses)):
        return "nothing is lost"
    lost, every = losses[cause], math.fsum(losses.values())
    most = "most" if 2 * lost > every else "the largest part"
    return f"{most} is lost to {CAUSES[cause]} ({number(lost)} of {number(every)})"


def loss_table(measure: str, losses: Mapping[str, float]) -> Table:
    """Tabulate what is lost, by cause, and all of it."""
    rows = [(CAUSES[cause], lost) for cause, lost in losses.items() if abs(lost) > SHOWN]
    return Table.of(["lost to"], [measure], [*rows, ("all", math.fsum(losses.values()))])


def _text(words: str) -> dict[str, str]:
    return {"text": words} if words else {}


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
        return {
            "query": self.query, **_text(self.text), "value": self.value, "loss": self.loss,
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
            blocks += [doc.Heading(f"query {one.query}"), *one.report().blocks]
        of = f"{self.run}: {self.measure} {number(self.value)}"
        settings = f"{many(self.queries, 'query', 'queries')}, convention {self.convention}"
        signed = doc.Signatures((self.signature.by(self.convention),))
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
