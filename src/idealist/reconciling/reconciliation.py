"""The result of a reconciliation, in words, tables and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from idealist.conventions import DEFAULT
from idealist.notation import many, text
from idealist.reconciling.classes import Answer
from idealist.reconciling.deciding import LOOKED_AT, Question
from idealist.reconciling.target import Target
from idealist.report.draw import Grid, markdown, plain

#: How many classes, names and queries are shown to people.
SHOWN = 10


@dataclass(frozen=True)
class Reconciliation:
    """Which conventions print a number: classes of them, simplest first, named ones in front.

    `tried` is the number of conventions looked at, `different` how many different vectors of values
    they made; `nearest` is the one that comes nearest where there is no answer, and `misfits` are
    the queries whose known value no convention prints. `facts` say what cannot matter here.
    """

    measure: str
    target: Target
    answers: tuple[Answer, ...]
    nearest: Answer | None
    question: Question | None
    misfits: tuple[str, ...]
    facts: tuple[str, ...]
    tried: int
    different: int

    def __bool__(self) -> bool:
        return bool(self.answers)

    def __str__(self) -> str:
        table = [plain(self.grid(SHOWN))] if self.answers else []
        return "\n".join([f"{self.head}{':' if self else '.'}", *table, *self.words])

    def markdown(self) -> str:
        """Write it for an issue or a README."""
        table = [markdown(self.grid(SHOWN))] if self.answers else []
        return "\n\n".join([f"{self.head}{':' if self else '.'}", *table, " ".join(self.words)])

    @property
    def head(self) -> str:
        """Say what was asked, and whether there is an answer."""
        known = [] if self.target.value is None else [f"{self.measure} {self.target.text}"]
        if self.target.per_query:
            known.append(many(len(self.target.per_query), "value of a query", "values of queries"))
        what = " with ".join(known)
        return f"{what} is what these print" if self else f"{what}: no convention prints that"

    def grid(self, most: int | None = None) -> Grid:
        """Tabulate the classes."""
        rows = [
            [str(i), f"{one.printed:.6f}", _described(one)]
            for i, one in enumerate(self.answers[:most], 1)
        ]
        return Grid(["class", self.measure, "convention"], rows, words=3)

    @property
    def words(self) -> list[str]:
        """Say what there is beside, what would decide, and what was tried."""
        lines = []
        if len(self.answers) > 1:
            lines = [many(len(self.answers) - 1, "rival class", "rival classes") + self._hidden]
            lines.append(self._deciding)
        elif self.answers:
            lines.append("No rival: no other convention prints that.")
        elif self.nearest is not None:
            lines.append(f"The nearest is {self.nearest.printed:.6f}: {_described(self.nearest)}.")
        if self.misfits:
            lines.append(f"Queries whose value no convention prints: {_few(self.misfits)}.")
        lines.append(f"Tried {self.tried:,} conventions, which make {self.different:,} different")
        lines[-1] += " vectors of values here."
        if self.facts:
            absent = ", no ".join(self.facts)
            lines.append(f"There are no {absent}: rules about these cannot matter.")
        return lines

    @property
    def _hidden(self) -> str:
        more = len(self.answers) - SHOWN
        return f", {more} of them not shown." if more > 0 else "."

    @property
    def _deciding(self) -> str:
        """Say which further number would decide."""
        if self.question is None:
            return "No further number was found that tells them apart."
        groups = list(self.question.prints.items())
        shown = [f"{number} under {_classes(some)}" for number, some in groups[:5]]
        more = f"; {len(groups) - 5} other numbers under the others" if len(groups) > 5 else ""
        decides = "would decide"
        if self.question.largest > 1:
            decides = f"would leave at most {self.question.largest} classes"
        among = f" of the first {LOOKED_AT}" if len(self.answers) > LOOKED_AT else ""
        return f"{self.question.asked} {decides}{among}: {'; '.join(shown)}{more}."

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "measure": self.measure,
            "value": self.target.value,
            "digits": self.target.digits,
            "answers": [_data(one) for one in self.answers],
            "rivals": max(len(self.answers) - 1, 0),
            "nearest": None if self.nearest is None else _data(self.nearest),
            "decides": None
            if self.question is None
            else {
                "number": self.question.asked,
                "prints": {n: [i + 1 for i in some] for n, some in self.question.prints.items()},
            },
            "misfits": list(self.misfits),
            "facts": list(self.facts),
            "tried": self.tried,
            "different": self.different,
        }


def _data(one: Answer) -> dict[str, Any]:
    return {
        "conventions": list(one.names),
        "changes": _said(one),
        "roundings": [text(value) for value in one.roundings],
        "prints": one.printed,
        "value": one.value,
        "per_query": one.values,
    }


def _said(one: Answer) -> dict[str, str]:
    pairs = one.changes.items()
    return {name: "none" if value is None else text(value) for name, value in pairs}


def _described(one: Answer) -> str:
    """Name a class, or say in what its simplest member differs from the default."""
    changes = ", ".join(f"{name}={value}" for name, value in _said(one).items())
    rules = f"{DEFAULT} with {changes}" if changes else DEFAULT
    if not one.names:
        return rules
    return f"{_few(one.names)} ({rules})" if changes else _few(one.names)


def _classes(some: Sequence[int]) -> str:
    """Name classes as the table does."""
    word = "class" if len(some) == 1 else "classes"
    return f"{word} {_few([str(i + 1) for i in some])}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
