"""A verification: which numbers, best values and marks of a table hold, and what the others are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.evaluating.evaluations import Evaluations
from idealist.notation import many
from idealist.rendering.document import (
    TEXT,
    Block,
    Column,
    Details,
    Document,
    Doubts,
    Items,
    Signatures,
    Table,
    Text,
)
from idealist.rendering.result import Result
from idealist.rendering.wording import few, told
from idealist.verifying.best_values import ONLY_IN_BLOCK, BestValue
from idealist.verifying.checked_numbers import ENDINGS, CheckedNumber
from idealist.verifying.significance_marks import CheckedMark

#: How many numbers the sentence names that do not hold.
NAMED = 3


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Result):
    """What holds of a printed table, and what does not.

    `numbers` are those of runs that are there, `best` the values that are marked as best, or should
    be, `marks` the same for significance. `unread` says what could not be checked, and `readings`
    how marks were read.
    """

    numbers: tuple[CheckedNumber, ...]
    best: tuple[BestValue, ...]
    marks: tuple[CheckedMark, ...]
    unread: tuple[str, ...]
    readings: tuple[str, ...]
    evaluations: Evaluations

    def __bool__(self) -> bool:
        best, marks = all(one.holds for one in self.best), all(one.holds for one in self.marks)
        return not self.failing and best and marks

    @property
    def failing(self) -> tuple[CheckedNumber, ...]:
        """The numbers that do not hold."""
        return tuple(one for one in self.numbers if not one.holds)

    @property
    def summary(self) -> str:
        """How many numbers hold, and which do not; then best values and marks."""
        parts = [_held(self.numbers, "number", [_number_words(one) for one in self.failing])]
        marks: list[tuple[str, Sequence[BestValue | CheckedMark]]] = [
            ("mark of a best value", self.best), ("mark of significance", self.marks),
        ]  # fmt: skip
        for what, some in marks:
            wrong = [one for one in some if not one.holds]
            words = [f"{told(one.label)} {one.measure}, {one.said}" for one in wrong]
            parts += [_held(some, what, words)] if some else []
        return "; ".join(parts)

    def report(self) -> Document:
        """Describe what does not hold, then what is noteworthy, then all that was checked."""
        blocks: list[Block] = [Text(f"{self.summary}.", strong=True)]
        wrong = (
            ("Numbers that do not hold", _numbers(self.failing)),
            ("Best values that do not hold", _bests([one for one in self.best if not one.holds])),
            ("Marks that do not hold", _marks([one for one in self.marks if not one.holds])),
        )
        blocks += [_titled(table, title) for title, table in wrong if table.rows]
        if remarks := tuple(self._remarks()):
            blocks.append(Items(remarks))
        every = (_numbers(self.numbers), _bests(self.best), _marks(self.marks))
        blocks.append(Details("All that was checked", tuple(one for one in every if one.rows)))
        if doubts := tuple(one for one in self.evaluations.doubts if not one.comes_first):
            blocks.append(Details("What is doubtful about the values", (Doubts(doubts),)))
        return Document(tuple(blocks), self._notes())

    def _notes(self) -> tuple[Block, ...]:
        """Say by which rules the values were made, and what is doubtful about them."""
        counts = [len(one.queries) for one in self.evaluations.runs]
        heading = f"{many(max(counts), 'query', 'queries')}, convention {self._convention}"
        first = tuple(one for one in self.evaluations.doubts if one.comes_first)
        return Text(heading), Doubts(first), Signatures(self.evaluations.signatures)

    @property
    def _convention(self) -> str:
        return self.evaluations.runs[0].convention

    def table(self) -> Table:
        """Return all numbers, then best values and marks."""
        numbers = _numbers(self.numbers)
        marks: list[BestValue | CheckedMark] = [*self.best, *self.marks]
        others = [
            (one.label, one.measure, one.said, None, _yes(one.holds), one.why) for one in marks
        ]
        return Table(numbers.columns, (*numbers.rows, *others))

    def _remarks(self) -> Iterator[str]:
        """Say which rules print many of the others, how digits end, and what is not checked."""
        counts = Counter(one.convention for one in self.failing if one.convention)
        for name, count in counts.most_common(1):
            if count > 1:
                yield f"{count} of the numbers that do not hold are printed by --convention {name}"
        for ending, words in ENDINGS.items():
            some = [_place(one) for one in self.numbers if one.ending == ending]
            if some:
                verb = "holds" if len(some) == 1 else "hold"
                yield f"{many(len(some), 'number', 'numbers')} {verb} {words}: {few(some)}"
        halves = {one.ending for one in self.numbers} & {"half-up", "half-even"}
        if len(halves) == 1:
            way = "up" if "half-up" in halves else "to even digits"
            yield f"halves are rounded {way}"
        if percent := sum(one.scale > 1 for one in self.numbers):
            yield f"{many(percent, 'number is', 'numbers are')} taken to be in percent"
        if places := [f"{one.label} {one.measure}" for one in self.best if one.holds and one.why]:
            held = many(len(places), "mark of a best value holds", "marks of best values hold")
            yield f"{held} {ONLY_IN_BLOCK}: {few(places)}"
        yield from self.readings
        yield from self.unread

    def data(self) -> dict[str, Any]:
        """Return the contract of ``verify -f json``."""
        signatures = self.evaluations.runs[0].signatures
        return {
            "summary": self.summary,
            "holds": bool(self),
            "claims": [self._claim(one) for one in self.numbers],
            "best": [one.data() for one in self.best],
            "marks": [one.data() for one in self.marks],
            "readings": list(self.readings),
            "unread": list(self.unread),
            "convention": self._convention,
            "signatures": {label: str(one) for label, one in signatures.items()},
        }

    def _claim(self, one: CheckedNumber) -> dict[str, Any]:
        return one.data() | ({"convention": self._convention} if one.holds else {})


def _held(some: Sequence[Any], one: str, wrong: Sequence[str]) -> str:
    """Say how many of some things hold, and name a few that do not.

    >>> _held([1, 2, 3], "number", ["bm25 AP 0.3"])
    '2 of 3 numbers hold, 1 does not: bm25 AP 0.3'
    """
    noun, _, rest = one.partition(" ")
    several = f"{noun}s {rest}".rstrip()
    if not wrong:
        if len(some) < 3:
            return f"the only {one} holds" if len(some) == 1 else f"both {several} hold"
        return f"all {len(some)} {several} hold"
    held = len(some) - len(wrong)
    verb = "holds" if held == 1 else "hold"
    more = f" and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
    named = f"{', '.join(wrong[:NAMED])}{more}"
    if len(some) == 1:
        return f"the only {one} does not hold: {named}"
    not_held = f"{len(wrong)} {'does' if len(wrong) == 1 else 'do'} not"
    return f"{held} of {len(some)} {several} {verb}, {not_held}: {named}"


def _place(one: CheckedNumber) -> str:
    return f"{one.claim.label} {one.claim.header}"


def _number_words(one: CheckedNumber) -> str:
    return f"{told(one.claim.label)} {one.claim.header} {one.claim.number.text} is {one.shown}"


def _titled(table: Table, title: str) -> Table:
    return Table(table.columns, table.rows, title)


def _numbers(some: Sequence[CheckedNumber]) -> Table:
    """Tabulate numbers: as claimed, and as they are."""
    columns = [
        Column("run", TEXT, shortens=True), Column("measure", TEXT), Column("claimed", TEXT),
        Column("value", TEXT), Column("holds", TEXT), Column("what else it is", TEXT),
    ]  # fmt: skip
    rows = [
        (one.claim.label, str(one.claim.measure), one.claim.number.text, one.shown,
         _yes(one.holds), one.why)
        for one in some
    ]  # fmt: skip
    return Table(tuple(columns), tuple(rows))


def _bests(some: Sequence[BestValue]) -> Table:
    """Tabulate best values."""
    rows = [(one.label, one.measure, one.said, _yes(one.holds), one.why) for one in some]
    return Table.of(["run", "measure", "the table says", "holds", "why"], [], rows)


def _marks(some: Sequence[CheckedMark]) -> Table:
    """Tabulate marks of significance."""
    names = ["run", "measure", "baseline", "the table says", "holds", "why"]
    rows = [
        (one.label, one.measure, one.baseline, one.said, _yes(one.holds), one.why) for one in some
    ]
    return Table.of(names, [], rows)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
