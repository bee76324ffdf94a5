"""Pairs on which judges disagree, the largest disagreement first: what there is to adjudicate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from idealist.formats.stored_judgments import KINDS
from idealist.judging.pair_views import said
from idealist.judging.store import Store
from idealist.judging.store_records import Judgment
from idealist.notation import many, tidy
from idealist.rendering.document import TEXT, Column, Document, Format, Table, Text
from idealist.rendering.result import Result
from idealist.rendering.wording import visible

#: How a distance between grades is written.
DISTANCE = Format(lambda cell: str(tidy(cell)))


@dataclass(frozen=True)
class Dispute:
    """A pair, and the grades that judges of one kind gave it."""

    query: str
    document: str
    opinions: tuple[Judgment, ...]

    @property
    def grades(self) -> list[float]:
        """The grades, the lowest first."""
        return sorted(one.grade for one in self.opinions if one.grade is not None)

    @property
    def distance(self) -> float:
        """How far the grades are apart."""
        return self.grades[-1] - self.grades[0]


@dataclass(frozen=True, repr=False)
class Disputes(Result):
    """Pairs that wait for an adjudication; `several` counts the pairs that several judged."""

    waiting: tuple[Dispute, ...]
    several: int
    adjudicated: int

    @classmethod
    def of(cls, store: Store) -> Disputes:
        """Find the pairs whose judges disagree, of those judgments that would count."""
        pairs: dict[tuple[str, str], list[Judgment]] = defaultdict(list)
        for judgment in store.current():
            if judgment.grade is not None or judgment.adjudicates:
                pairs[judgment.query, judgment.document].append(judgment)
        decided = {pair for pair, own in pairs.items() if any(one.adjudicates for one in own)}
        counting = {pair: _first_kind(own) for pair, own in pairs.items() if pair not in decided}
        several = {pair: own for pair, own in counting.items() if len(own) > 1}
        found = [Dispute(*pair, own) for pair, own in several.items()]
        waiting = [one for one in found if one.distance]
        waiting.sort(key=lambda one: (-one.distance, -len(one.opinions), one.query, one.document))
        return cls(tuple(waiting), len(several) + len(decided), len(decided))

    @property
    def summary(self) -> str:
        """How many pairs wait, in one sentence."""
        done = f"; {self.adjudicated} adjudicated" if self.adjudicated else ""
        if not self.several:
            return "no pair has several judgments of the kind that counts"
        of = f"of {many(self.several, 'pair', 'pairs')} that several judged"
        if not self.waiting:
            return f"judges disagree on none {of}{done}"
        return f"judges disagree on {len(self.waiting)} {of}{done}"

    def report(self) -> Document:
        """List the pairs, with what each judge said."""
        rows = [
            (visible(one.query), visible(one.document), one.distance, _said(one))
            for one in self.waiting
        ]
        columns = (
            Column("query", TEXT, shortens=True), Column("document", TEXT, shortens=True),
            Column("apart", DISTANCE),
            Column("who said what", TEXT),
        )  # fmt: skip
        answer = f"{self.summary[0].upper()}{self.summary[1:]}."
        return Document((Text(answer, strong=True), Table(columns, tuple(rows))))

    def data(self) -> Any:
        """Return the pairs as plain data."""
        pairs = [
            {
                "query": one.query, "document": one.document, "distance": one.distance,
                "opinions": [
                    {"judge": own.judge, "grade": own.grade, "note": own.note}
                    for own in one.opinions
                ],
            }
            for one in self.waiting
        ]  # fmt: skip
        return {"several": self.several, "adjudicated": self.adjudicated, "disputes": pairs}


def _said(dispute: Dispute) -> str:
    return ", ".join(map(said, dispute.opinions))


def _first_kind(judgments: Iterable[Judgment]) -> tuple[Judgment, ...]:
    """Keep the judgments of the kind that is believed first: only these are merged."""
    known = list(judgments)
    first = min(known, key=lambda one: KINDS.index(one.kind)).kind
    return tuple(one for one in known if one.kind == first)
