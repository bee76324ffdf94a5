"""What a reconciliation found: the classes of conventions that print a number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.conventions import DEFAULT
from idealist.notation import many
from idealist.reconciling.chance import Chance
from idealist.reconciling.classes import LOOKED_AT, Answer, Question
from idealist.reconciling.target import Target
from idealist.rendering.document import (
    COUNT,
    TEXT,
    Block,
    Column,
    Details,
    Document,
    Format,
    Items,
    Table,
    Text,
)
from idealist.rendering.result import Result
from idealist.rendering.wording import few, number

#: How many classes are shown to people, and how many numbers that a further question could print.
SHOWN, NUMBERS = 10, 5
#: Fewer expected by chance are not told apart.
LEAST = 0.001
SIX_DIGITS = Format(lambda value: number(value, 6))


@dataclass(frozen=True, repr=False)
class Reconciliation(Result):
    """Which conventions print a number: classes of them, simplest first, named ones in front.

    `tried` is the number of conventions looked at, `different` how many different vectors of values
    they gave. `nearest` is the one that comes nearest if there is no answer, and `misfits` are the
    queries whose known value no convention prints. `facts` says what cannot matter here, `chance`
    how much of this would fit a number that has nothing to do with the run.
    """

    measure: str
    target: Target
    answers: tuple[Answer, ...]
    nearest: Answer | None
    question: Question | None
    misfits: tuple[str, ...]
    facts: tuple[str, ...]
    chance: Chance | None
    tried: int
    different: int

    def __bool__(self) -> bool:
        return bool(self.answers) and not (self.chance and self.chance.could_be)

    @property
    def summary(self) -> str:
        """Which conventions print the number, and how many other classes do."""
        if not self.answers:
            return f"no convention tried here prints {self._asked}"
        first, *rivals = self.answers
        named = f"the rules of {few(first.names)}"
        rules = named if first.names else f"no tool's own rules, but {_rules(first)}"
        if self.chance and not self:
            return f"{self._asked} fits {rules}; this could be chance: {_doubt(self.chance)}"
        return f"{self._asked} fits {rules}; {_also(rivals)}"

    @property
    def _asked(self) -> str:
        """What was asked: the number, the values of queries, or both."""
        known = [] if self.target.value is None else [f"{self.measure} {self.target.text}"]
        if self.target.per_query:
            count = many(len(self.target.per_query), "query", "queries")
            known.append(f"the values of {count}")
        return " with ".join(known)

    def report(self) -> Document:
        """Describe the classes, and what would decide between them."""
        blocks: list[Block] = [Text(self.summary, strong=True)]
        if self:
            blocks.append(self._classes(self.answers[:SHOWN]))
        blocks.append(Items(tuple(self._words())))
        if self.answers and (not self or len(self.answers) > SHOWN):
            blocks.append(Details("All classes", (self.table(),)))
        if self.facts:
            absent = f"there are no {', no '.join(self.facts)}: rules about these cannot matter"
            blocks.append(Details("What cannot matter", (Text(absent),)))
        tried = f"tried {self.tried:,} combinations of rules"
        gave = f"which give {self.different:,} different sets of values on this data"
        return Document(tuple(blocks), (Text(f"{tried}, {gave}"),))

    def table(self) -> Table:
        """Return all classes."""
        return self._classes(self.answers)

    def _classes(self, answers: Sequence[Answer]) -> Table:
        columns = (
            Column("class", COUNT), Column(self.measure, SIX_DIGITS), Column("convention", TEXT),
        )  # fmt: skip
        rows = [(i, one.printed, _described(one)) for i, one in enumerate(answers, 1)]
        return Table(columns, tuple(rows))

    def _words(self) -> Iterator[str]:
        """Say what is not shown, what would decide, what comes near, and what fits nothing."""
        if self and len(self.answers) > SHOWN:
            yield f"{len(self.answers) - SHOWN} more classes are not shown"
        if self.chance:
            yield _chances(self.chance, len(self.answers))
        if self.answers and not self:
            yield "values of queries would tell, and so may more digits or a number of another run"
        elif len(self.answers) > 1:
            yield self._deciding
        if not self.answers and self.nearest is not None:
            yield f"the nearest is {number(self.nearest.printed, 6)}: {_described(self.nearest)}"
        if self.misfits:
            yield f"queries whose value no convention prints: {few(self.misfits, SHOWN)}"

    @property
    def _deciding(self) -> str:
        """Say which further number would decide."""
        if self.question is None:
            return "no further number was found that tells them apart"
        groups = list(self.question.prints.items())
        shown = [f"{printed} under {_numbered(some)}" for printed, some in groups[:NUMBERS]]
        if len(groups) > NUMBERS:
            rest = many(len(groups) - NUMBERS, "other number", "other numbers")
            shown.append(f"{rest} under the others")
        decides = "would decide"
        if self.question.largest > 1:
            decides = f"would leave at most {self.question.largest} classes"
        among = f" of the first {LOOKED_AT}" if len(self.answers) > LOOKED_AT else ""
        return f"{self.question.asked} {decides}{among}: {'; '.join(shown)}"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "measure": self.measure,
            "value": self.target.value,
            "digits": self.target.digits,
            "answers": [one.data() for one in self.answers],
            "chance": self.chance and self.chance.data(),
            "rivals": max(len(self.answers) - 1, 0),
            "nearest": self.nearest and self.nearest.data(),
            "decides": self.question and self.question.data(),
            "misfits": list(self.misfits),
            "facts": list(self.facts),
            "tried": self.tried,
            "different": self.different,
        }


def _also(rivals: Sequence[Answer]) -> str:
    """Say how many other classes fit, apart from mixtures that no tool has."""
    tools = sum(bool(one.names) for one in rivals)
    counts = [
        (tools, "other class of tools", "other classes of tools"),
        (len(rivals) - tools, "mixture of rules that no tool has", "mixtures that no tool has"),
    ]
    words = " and ".join(many(*count) for count in counts if count[0])
    verb = "fits" if len(rivals) == 1 else "fit"
    return f"{words} {verb} too" if rivals else "no other convention tried fits"


def _chances(chance: Chance, fit: int) -> str:
    """Say how many classes fit, how many results are near, and how many would fit by chance."""
    near = f"that rules reach within {number(chance.within, 2)} of it"
    results = "the only result" if chance.results == 1 else f"the {chance.results:,} results"
    tools = f", and {_about(chance.plausible)} of those that as many tools share"
    would = f"about {_about(chance.expected)} would by chance{tools if chance.of_tools else ''}"
    return f"{many(fit, 'class fits', 'classes fit')}; of {results} {near}, {would}"


def _doubt(chance: Chance) -> str:
    """Say why an answer could be chance."""
    if chance.constant:
        return "under these rules all queries have the same value, as in other runs"
    alike = "rules that as many tools share" if chance.of_tools else "mixtures as simple"
    if chance.plausible >= 1:
        return f"about {_about(chance.plausible)} {alike} would fit any number near it"
    return f"{alike} fit about {100 * chance.plausible:.0f} % of the numbers near it"


def _about(expected: float) -> str:
    """Write how many are expected, with no more digits than matter."""
    if expected < LEAST:
        return f"under {LEAST}"
    return number(
        expected, 0 if expected >= 10 else 1 if expected >= 1 else 2 if expected >= 0.1 else 3
    )


def _rules(one: Answer) -> str:
    """Say in what the simplest convention of a class differs from the default."""
    changes = ", ".join(f"{name}={value}" for name, value in one.written.items())
    return f"{DEFAULT} with {changes}" if changes else DEFAULT


def _described(one: Answer) -> str:
    """Name the tools of a class, if any, and the rules of its simplest convention."""
    if not one.names:
        return _rules(one)
    return f"{few(one.names)} ({_rules(one)})" if one.changes else few(one.names)


def _numbered(some: Sequence[int]) -> str:
    """Name classes as the table does."""
    word = "class" if len(some) == 1 else "classes"
    return f"{word} {few([str(i + 1) for i in some], SHOWN)}"
