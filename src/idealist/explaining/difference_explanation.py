"""A difference explained: why a query has another value in another run, document by document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

from idealist.conventions.signature import Signature
from idealist.explaining.explanation import GRADE, SHOWN
from idealist.notation import many, tidy
from idealist.notation import text as written
from idealist.rendering import document as doc
from idealist.rendering.document import COUNT, TEXT, Block, Column, Document, Items, Table, Text
from idealist.rendering.plain_data import finite, records_table
from idealist.rendering.result import Result
from idealist.rendering.terminal import WIDTH
from idealist.rendering.wording import clipped, few, number, short, signed, visible

#: How many documents a report names one by one, before it sums up the others.
LINES = 8
#: How much of a run's name heads a column.
NAME = 24
#: What a document adds; most add nothing, and the few that do should stand out.
ADDS = doc.Format(lambda cell: number(cell) if cell else "")


@dataclass(frozen=True)
class Change:
    """What became of a document: its ranks before and after, and what it adds to both values.

    `grade` is None where it is unjudged, a rank where it is not in the list, what it adds where the
    measure is no sum over documents.
    """

    document: str
    grade: float | None
    before: int | None
    after: int | None
    adds_before: float | None = None
    adds_after: float | None = None
    title: str = ""
    text: str = ""

    @property
    def effect(self) -> float | None:
        """What it did to the value: what it adds after, less what it added before."""
        if self.adds_before is None or self.adds_after is None:
            return None
        return self.adds_after - self.adds_before

    @property
    def move(self) -> str:
        """What it did: it rose, fell, stayed, entered or left."""
        if self.before is None or self.after is None:
            return "entered" if self.before is None else "left"
        if self.before == self.after:
            return "stayed"
        return "rose" if self.after < self.before else "fell"

    @property
    def arrow(self) -> str:
        """The same as a sign: an arrow and by how many ranks, or ``new``, ``gone``, ``=``.

        >>> [Change("d1", 1, *ranks).arrow for ranks in [(9, 2), (2, 9), (None, 1), (1, None)]]
        ['↑7', '↓7', 'new', 'gone']
        """
        if self.before is None or self.after is None or self.before == self.after:
            return {"entered": "new", "left": "gone", "stayed": "="}[self.move]
        apart = self.after - self.before
        return f"↑{-apart}" if apart < 0 else f"↓{apart}"

    @property
    def judgment(self) -> str:
        """The grade in words."""
        return "unjudged" if self.grade is None else f"grade {written(tidy(self.grade))}"

    def words(self, cutoff: int | None = None) -> str:
        """Say what it is, what it did, and what that did to the value.

        >>> Change("d7", 3.0, 1, 6, 0.5, 0.25).words(10)
        'd7 (grade 3) fell from 1 to 6: -0.2500'
        >>> Change("d9", 2.0, 3, 31).words(10)
        'd9 (grade 2) left the first 10: it fell from 3 to 31'
        """
        effect = "" if self.effect is None else f": {signed(self.effect)}"
        return (
            f"{visible(self.document)} ({self.judgment}) {self._moved(cutoff or math.inf)}{effect}"
        )

    def _moved(self, cutoff: float) -> str:
        before, after = self.before, self.after
        if after is None:
            return f"is no longer in the list (it was at {before})"
        if before is None:
            return f"entered at {after} (not in the list before)"
        moved = (
            f"{self.move} at {after}"
            if before == after
            else f"{self.move} from {before} to {after}"
        )
        if before <= cutoff < after:
            return f"left the first {cutoff}: it {moved}"
        return f"entered the first {cutoff}: it {moved}" if after <= cutoff < before else moved

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        told = {"title": self.title, "text": self.text}
        return {
            "document": self.document, "grade": None if self.grade is None else tidy(self.grade),
            "judged": self.grade is not None, "before": self.before, "after": self.after,
            "move": self.move, "adds_before": finite(self.adds_before),
            "adds_after": finite(self.adds_after), "effect": finite(self.effect),
            **{name: words for name, words in told.items() if words},
        }  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class DifferenceExplanation(Result):
    """Why a query changed. ``print(explanation)`` says it in words and shows both lists.

    `before` is the value of the baseline, `after` that of the run. `changes` has the documents of
    both lists down to `ranks`, and deeper ones that did something to the value; those that did most
    come first. Where the measure is `additive`, their effects add up to the `difference`. `sense`
    is 1 where higher is better, -1 where lower is, 0 where neither.
    """

    query: str
    measure: str
    convention: str
    signature: Signature
    baseline: str
    run: str
    before: float
    after: float
    additive: bool
    words: Sequence[str]
    changes: tuple[Change, ...]
    ranks: int
    cutoff: int | None = None
    sense: int = 1
    notes: Sequence[str] = ()
    text: str = ""

    @property
    def difference(self) -> float:
        """What separates the values: after - before."""
        return self.after - self.before

    @cached_property
    def old_list(self) -> tuple[Change, ...]:
        """The documents of the baseline's list, down to `ranks`."""
        return self._listed("before")

    @cached_property
    def new_list(self) -> tuple[Change, ...]:
        """The documents of the run's list, down to `ranks`."""
        return self._listed("after")

    def _listed(self, side: str) -> tuple[Change, ...]:
        at = {getattr(one, side): one for one in self.changes}
        return tuple(at[rank] for rank in range(1, self.ranks + 1) if rank in at)

    @property
    def headline(self) -> str:
        """What the value was, and what it is."""
        value = f"query {self.query}: {self.measure}"
        if math.isnan(self.difference):
            both = (self.baseline, self.before), (self.run, self.after)
            lacking = " or ".join(run for run, own in both if math.isnan(own))
            return f"{value} has no value in {lacking}, so there is no difference"
        if abs(self.difference) < SHOWN:
            return f"{value} is {number(self.after)} in both {self.baseline} and {self.run}"
        way = "fell" if self.difference < 0 else "rose"
        better = ", which is better" if self.sense * self.difference > 0 > self.sense else ""
        values = f"from {number(self.before)} in {self.baseline} to {number(self.after)}"
        return f"{value} {way} {values} in {self.run} ({signed(self.difference)}){better}"

    @property
    def summary(self) -> str:
        """What the value was and is, and which document did most to that."""
        return "; ".join([self.headline, *self.reasons(1)])

    def reasons(self, most: int = LINES) -> list[str]:
        """Say which documents moved the value the way it went, those first that did most.

        Where that is not known, these are the relevant ones that fell or left, if it got worse. An
        empty list is reason enough.
        """
        if self._reasons and not (self.old_list and self.new_list):
            return [f"the list of {self.baseline if self.new_list else self.run} is empty"]
        return [one.words(self.cutoff) for one in self._reasons[:most]]

    @property
    def _reasons(self) -> list[Change]:
        if not abs(self.difference) >= SHOWN:
            return []
        if self.additive:
            return [one for one in self._moved if (one.effect or 0.0) * self.difference > 0]
        moves = ("fell", "left") if self.is_worse else ("rose", "entered")
        return [one for one in self._moved if one.move in moves]

    @property
    def is_worse(self) -> bool:
        """Whether the new value is the worse one."""
        return self.difference * (self.sense or 1) < 0

    @property
    def _moved(self) -> list[Change]:
        """The documents that did something to the value; if it is no sum, good ones that moved."""
        if self.additive:
            return [one for one in self.changes if abs(one.effect or 0.0) >= SHOWN]
        return [one for one in self.changes if (one.grade or 0) > 0 and one.move != "stayed"]

    def report(self) -> Document:
        """Describe the change: in words, as two lists, and how the values are made."""
        named = (Text(f"{self.query}: {self.text}"),) if self.text else ()
        blocks: tuple[Block, ...] = (
            Text(self.headline, strong=True), *named, Items(tuple(self.lines())), self.lists(),
            Items((*self.words, *self.notes)), Items(tuple(self._texts())),
        )  # fmt: skip
        signed_ = doc.Signatures((self.signature.by(self.convention),))
        title = f"{self.baseline} and {self.run}, query {self.query}"
        return Document(blocks, (signed_,), title)

    def lines(self) -> Iterator[str]:
        """Say what each document did, those first that did most, and what is unjudged."""
        moved = self._moved
        yield from (one.words(self.cutoff) for one in moved[:LINES])
        rest = moved[LINES:]
        effects = [one.effect for one in self.changes if one.effect is not None]
        if rest and self.additive:
            others = math.fsum(effects) - math.fsum(one.effect or 0.0 for one in moved[:LINES])
            yield f"{many(len(rest), 'other document', 'other documents')}: {signed(others)}"
        elif rest:
            more = many(len(rest), "other document", "other documents")
            yield f"{more} of a grade above 0 moved"
        if self.additive and len(moved) > 1:
            yield f"together: {signed(math.fsum(effects))}"
        yield from self._ahead()
        old, new = (sum(one.grade is None for one in own) for own in (self.old_list, self.new_list))
        if old or new:
            yield f"unjudged in the first {self.ranks}: {old} before, {new} after"

    def _ahead(self) -> Iterator[str]:
        """Say what came in front of the document that lost most, and adds nothing itself."""
        if not self.is_worse or not self.additive or not self._reasons:
            return
        first = self._reasons[0]
        last = self.ranks if first.after is None else min(self.ranks, first.after - 1)
        ahead = [
            f"{one.document} ({one.judgment}) at {one.after}"
            for one in self.new_list[:last]
            if not one.adds_after and one.move in ("rose", "entered")
        ]
        where = f"in the first {self.ranks}" if first.after is None else f"above {first.document}"
        if ahead:
            yield f"now {where}, and adding nothing: {few(ahead)}"

    def lists(self) -> Table:
        """Tabulate both lists side by side; arrows say where a document went or came from."""
        columns = [Column("rank", COUNT)]
        for name, way in ((self.baseline, "went"), (self.run, "came")):
            columns += [Column(short(name, NAME), TEXT, shortens=True), Column("grade", GRADE)]
            columns += [Column("adds", ADDS)] * self.additive + [Column(way, TEXT)]
        pairs = zip_longest(self.old_list, self.new_list)
        rows = [
            (rank, *self._cells(old, "adds_before"), *self._cells(new, "adds_after"))
            for rank, (old, new) in enumerate(pairs, 1)
        ]
        return Table(tuple(columns), tuple(rows))

    def _cells(self, change: Change | None, adds: str) -> tuple[Any, ...]:
        if change is None:
            return ("",) * (4 if self.additive else 3)
        added = (getattr(change, adds),) if self.additive else ()
        return change.document, change.grade, *added, change.arrow

    def _texts(self) -> Iterator[str]:
        shown = dict.fromkeys((*self.new_list, *self.old_list))
        for one in shown:
            if words := one.title or one.text:
                yield clipped(f"{one.document}: {words}", WIDTH)

    def table(self) -> Table:
        """Return the documents with all that is known of them."""
        return records_table([one.data() for one in self.changes])

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; what is not defined is None."""
        return {
            "query": self.query, **({"text": self.text} if self.text else {}),
            "measure": self.measure, "convention": self.convention,
            "signature": self.signature.by(self.convention), "baseline": self.baseline,
            "run": self.run, "before": finite(self.before), "after": finite(self.after),
            "difference": finite(self.difference), "additive": self.additive, "ranks": self.ranks,
            "summary": self.summary, "words": list(self.words), "notes": list(self.notes),
            "changes": [one.data() for one in self.changes],
        }  # fmt: skip
