"""Two documents shown in both orders: what the two answers say together, and what they cannot.

A model that names the document that stands first, whichever it is, prefers none. Such a pair is a
tie, and is counted: how often the order decides is how far the model's preferences can be trusted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from idealist.judging.llm.model_results import cost_data, open_words, spending
from idealist.judging.llm.probe_results import Spread, mean_of
from idealist.judging.llm.runner import Tally
from idealist.rendering.document import (
    COUNT,
    SHARE,
    TEXT,
    Block,
    Column,
    Details,
    Document,
    Items,
    Table,
    Text,
)
from idealist.rendering.result import Result
from idealist.rendering.wording import counted

if TYPE_CHECKING:
    from idealist.judging.llm.asked_pairs import AskedPair

#: What two answers say together, and in words.
WAYS = {
    "preferred": "prefers one of the two",
    "tie": "a tie in both orders",
    "order": "the order decides: the same place in both",
    "half": "a tie in one order only",
}


class Duel(NamedTuple):
    """Two documents of a query, in the order in which they are shown first."""

    query: str
    one: str
    other: str


def duels_of(pairs: Iterable[AskedPair], beside: int = 1) -> list[Duel]:
    """Pair each document with so many of those that follow it, for the same query.

    Beside one, n documents need n - 1 comparisons, and the preferences of a judge cannot go in a
    circle. Beside n - 1, every document meets every other one.

    >>> from idealist.judging.llm.asked_pairs import AskedPair
    >>> [duel[1:] for duel in duels_of([AskedPair("q", d) for d in "abc"])]
    [('a', 'b'), ('b', 'c')]
    """
    documents: dict[str, list[str]] = {}
    for pair in pairs:
        documents.setdefault(pair.query, []).append(pair.document)
    return [
        Duel(query, one, other)
        for query, some in documents.items()
        for n, one in enumerate(some)
        for other in some[n + 1 : n + 1 + beside]
    ]


@dataclass(frozen=True)
class Compared:
    """What a model said of two documents, in both orders; or why there is no answer.

    `said` is the answer when `one` stood first, `turned` when it stood second: first, second or
    tie.
    """

    duel: Duel
    said: str = ""
    turned: str = ""
    fault: str = ""
    asked: bool = True

    @property
    def way(self) -> str:
        """What the two answers say together, one of `WAYS`; empty where one is missing."""
        if not (self.said and self.turned):
            return ""
        if self.said != self.turned:
            return "half" if "tie" in (self.said, self.turned) else "preferred"
        return "tie" if self.said == "tie" else "order"

    @property
    def better(self) -> str:
        """The document that is preferred in both orders; empty where none is."""
        if self.way != "preferred":
            return ""
        return self.duel.one if self.said == "first" else self.duel.other

    @property
    def worse(self) -> str:
        """The other one."""
        better = self.better
        return better and (self.duel.other if better == self.duel.one else self.duel.one)


@dataclass(frozen=True, repr=False)
class ModelPreferences(Result):
    """What came of having a model compare documents two by two, in both orders.

    The rows are of all pairs, of those too that were compared `already`, as far as the answers are
    in the store.
    """

    judge: str
    rows: tuple[Compared, ...]
    already: int
    tally: Tally
    again: int = 0

    @property
    def ways(self) -> dict[str, int]:
        """How many comparisons ended in which of `WAYS`."""
        found = Counter(row.way for row in self.rows if row.way)
        return {way: found[way] for way in WAYS}

    @property
    def lost(self) -> int:
        """How many comparisons were asked for in vain."""
        return sum(bool(row.fault) for row in self.rows)

    @property
    def open(self) -> int:
        """How many comparisons are neither done nor failed, because it was stopped."""
        return len(self.rows) - self.lost - sum(self.ways.values())

    @property
    def unasked(self) -> int:
        """How many comparisons nothing was sent for."""
        return sum(not row.asked for row in self.rows)

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it."""
        return self.tally.interrupted

    @property
    def first(self) -> Spread:
        """The share of the first document among all answers that chose one; half without bias."""
        chosen = [
            (row.duel.query, float(answer == "first"))
            for row in self.rows
            if row.way
            for answer in (row.said, row.turned)
            if answer != "tie"
        ]
        return mean_of([share for _, share in chosen], [query for query, _ in chosen])

    @property
    def summary(self) -> str:
        """How many preferences there are, and how often only the order decided."""
        ways, total = self.ways, len(self.rows)
        if not total:
            many = counted(self.already, "pair", "pairs")
            return f"Nothing to ask: {self.judge} has compared all {many} before."
        done = sum(ways.values())
        said = "" if done == total else "INCOMPLETE: "
        said += "Nothing to ask: " if self.already == total else ""
        said += (
            f"{self.judge} compared {done:,} of {counted(total, 'pair', 'pairs')} in both orders"
        )
        if self.lost or self.open:
            left = open_words(self.open - self.unasked, self.unasked, self.tally)
            failed = f"; {self.lost:,} failed" if self.lost else ""
            said += f" ({f'{failed}{left}'.removeprefix('; ')})"
        said += f": {counted(ways['preferred'], 'preference', 'preferences')}"
        said += f", {counted(ways['tie'], 'tie', 'ties')}"
        turned = ways["order"] + ways["half"]
        return f"{said}, and {turned:,} where the answer depends on the order.{self._bias_words}"

    @property
    def _bias_words(self) -> str:
        value, low, high = self.first
        if math.isnan(value):  # nothing was chosen
            return ""
        interval = "" if math.isnan(low) else f" (95 % interval {low:.0%} to {high:.0%})"
        said = f" It chose the document that stood first in {value:.0%} of its choices{interval}"
        return f"{said}; half would be fair."

    def report(self) -> Document:
        """Show the counts, and every pair for those who want it."""
        done = max(1, sum(self.ways.values()))
        columns = (Column("answers", TEXT), Column("pairs", COUNT), Column("share", SHARE))
        rows = tuple((WAYS[way], n, n / done) for way, n in self.ways.items())
        blocks: list[Block] = [Text(self.summary, strong=True), Table(columns, rows)]
        facts = spending(self.tally.budget, self.again) if self.tally.budget.sent else []
        if self.already:
            facts.append(
                f"{counted(self.already, 'pair', 'pairs')} compared before, counted with the others"
            )
        blocks.append(Items(tuple(facts)))
        if self.rows:
            blocks.append(Details("Every pair", (self.table(),)))
        return Document(tuple(blocks))

    def table(self) -> Table:
        """Return every pair with what was said of it."""
        names = ("query", "first", "second", "answer", "answer when turned", "better", "fault")
        rows = ((*r.duel, r.said, r.turned, r.better, r.fault) for r in self.rows)
        return Table(tuple(Column(name, TEXT) for name in names), tuple(rows))

    def data(self) -> dict[str, Any]:
        """Return the counts and every pair."""
        first, budget = self.first, self.tally.budget
        return {
            "judge": self.judge, "pairs": len(self.rows), **self.ways, "failed": self.lost,
            "unanswered": self.open - self.unasked, "not_asked": self.unasked,
            "already_compared": self.already,
            "first_chosen": first._asdict(), "requests": budget.sent,
            "requests_again": self.again, "requests_estimated": budget.guessed,
            "tokens_in": budget.used.tokens_in, "tokens_out": budget.used.tokens_out,
            **cost_data(budget.cost, budget.price),
            "rows": [
                {"query": r.duel.query, "one": r.duel.one, "other": r.duel.other, "said": r.said,
                 "turned": r.turned, "way": r.way, "better": r.better, "fault": r.fault}
                for r in self.rows
            ],
        }  # fmt: skip
