"""Judgments row by row, before they are a table: scale, subtopics, contradictions."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from idealist.data.columns import Floats, Ints, freeze
from idealist.errors import Faults, UsageError
from idealist.notation import tidy, to_number

#: What judgments may be, and what that says. A document without one is not relevant, unless judges
#: saw a pool: then nobody knows.
GOLD = {
    "complete": "every document was judged",
    "pooled": "judges saw a pool of documents",
    "positives": "only relevant documents are listed",
}
#: How one grade is made of those of several judges.
MERGES = ("mean", "median", "majority", "max", "min", "latest")
#: Columns of text that decide numbers.
DECISIVE = ("iteration", "stratum")
#: Whole numbers up to here, and sums of many of them, are exact.
LARGEST = 1e9


@dataclass(frozen=True)
class Scale:
    """The grades a judge could give, each with a label if there are labels.

    >>> Scale.of({0: "off topic", 1: "related", 2: "answers"}).maximum
    2
    """

    grades: tuple[float, ...]
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, scale: Scale | float | Mapping[Any, str] | Iterable[float]) -> Scale:
        """Read a scale from its maximum, its grades, {grade: label} or {label: grade}."""
        if isinstance(scale, Scale):
            return scale
        try:
            if isinstance(scale, Mapping):
                labels = any(isinstance(value, str) for value in scale.values())
                pairs = scale.items() if labels else ((g, word) for word, g in scale.items())
                named = {to_number(grade): str(label) for grade, label in pairs}
                made = cls(tuple(sorted(named)), tuple(named[grade] for grade in sorted(named)))
            elif isinstance(scale, Iterable) and not isinstance(scale, str):
                made = cls(tuple(sorted(map(to_number, scale))))
            else:
                made = cls(tuple(range(operator.index(cast("int", to_number(scale))) + 1)))
        except (TypeError, ValueError):
            made = cls(())
        if not made.grades:
            hint = "give the highest grade, a list of grades, or {grade: label}"
            raise UsageError(f"{scale!r} is not a scale", hint)
        return made

    @property
    def maximum(self) -> float:
        """The highest grade."""
        return self.grades[-1]

    @property
    def pairs(self) -> list[tuple[float, str]]:
        """The grades with their labels, which are empty where there are none."""
        labels = self.labels or ("",) * len(self.grades)
        return list(zip(self.grades, labels, strict=True))


@dataclass(frozen=True, eq=False)
class PairRows:
    """Rows that refer to judged pairs of query and document by their index."""

    pair: Ints

    def only(self, pairs: Ints) -> Self:
        """Keep the rows of some pairs, which are then numbered in the order given."""
        place = np.argsort(pairs)
        found = self.at(np.flatnonzero(np.isin(self.pair, pairs)))
        pair = place[np.searchsorted(pairs, found.pair, sorter=place)]
        order = np.argsort(pair, kind="stable")
        return replace(found.at(order), pair=freeze(pair[order]))

    def at(self, kept: Ints) -> Self:
        """Keep some rows."""
        columns = ((field.name, getattr(self, field.name)) for field in fields(self))
        taken: dict[str, Any] = {
            name: tuple(cells[i] for i in kept) if isinstance(cells, tuple) else freeze(cells[kept])
            for name, cells in columns
        }
        return replace(self, **taken)


@dataclass(frozen=True, eq=False)
class Subtopics(PairRows):
    """Judgments by subtopic."""

    subtopic: tuple[str, ...]
    grade: Floats

    @property
    def truncated(self) -> Subtopics:
        """The same rows with the fractions of grades cut off."""
        whole = np.trunc(self.grade)
        return self if np.array_equal(whole, self.grade) else replace(self, grade=freeze(whole))

    @property
    def nonzero(self) -> Subtopics:
        """The rows whose grade is not 0."""
        return self.at(np.flatnonzero(self.grade))


@dataclass(frozen=True, eq=False)
class JudgeRows(PairRows):
    """What each judge said of the pairs that several judged."""

    judge: tuple[str, ...]
    grade: Floats


def subtopics_in(
    query: Sequence[str], document: Sequence[str], iteration: Sequence[str]
) -> Sequence[str] | None:
    """Take TREC's second column for subtopics if a document appears with two values of it.

    >>> subtopics_in(["q", "q"], ["d", "d"], ["1", "2"])
    ['1', '2']
    >>> subtopics_in(["q", "q"], ["d", "e"], ["1", "2"])
    """
    if len(set(iteration)) < 2:  # as in most files
        return None
    seen: dict[tuple[str, str], str] = {}
    rows = zip(query, document, iteration, strict=True)
    divided = any(seen.setdefault((q, d), value) != value for q, d, value in rows)
    return iteration if divided else None


@dataclass(frozen=True)
class Judgments:
    """Judgments as they came, before they are a table."""

    query: Sequence[str]
    document: Sequence[str]
    grade: Sequence[float]
    subtopic: Sequence[str]
    lines: Sequence[int] | None

    value: ClassVar[str] = "grade"
    hint: ClassVar[str] = (
        "keep one judgment per query and document, or merge them: idealist eval --merge median"
    )

    def pair(self, i: int) -> tuple[str, str]:
        """Return the query and the document of a row."""
        return self.query[i], self.document[i]

    def words(self, i: int) -> str:
        """Name the query and the document of a row."""
        return f"query {self.query[i]!r}, document {self.document[i]!r}"

    def line(self, i: int) -> int | None:
        """Return the line of a row, if it came from a file."""
        return self.lines[i] if self.lines is not None else None

    def unique(self, faults: Faults) -> list[int]:
        """Order the rows by key, without repeats; note contradictions."""
        keys = list(zip(self.query, self.document, self.subtopic, strict=True))
        ordered = sorted(range(len(keys)), key=keys.__getitem__)
        if len(set(keys)) == len(keys):
            return ordered
        kept: list[int] = []
        for i in ordered:
            if not kept or keys[i] != keys[kept[-1]]:
                kept.append(i)
            elif self.grade[i] != self.grade[kept[-1]]:
                self.note_contradiction(i, kept[-1], faults, self.hint)
        return kept

    def note_contradiction(self, i: int, before: int, faults: Faults, hint: str) -> None:
        """Note that a row contradicts one before it."""
        new, old = tidy(self.grade[i]), tidy(self.grade[before])
        where = f" (line {self.line(before)})" if self.line(before) else ""
        message = f"{self.words(i)}: {self.value} {new} contradicts {old}{where}"
        faults.add("contradiction", message, hint, self.line(i))

    def pairs(self, kept: list[int]) -> list[int]:
        """Return the first row of each pair of query and document, in the order of their keys."""
        return [i for n, i in enumerate(kept) if not n or self.pair(i) != self.pair(kept[n - 1])]

    def check_columns(self, columns: Mapping[str, Sequence[Any]], faults: Faults) -> None:
        """Note numbers and strata that differ between the rows of one query and document."""
        for name, cells in columns.items():
            if name != "stratum" and {*map(type, cells)} == {str}:
                continue
            first: dict[tuple[str, str], int] = {}
            for i, cell in enumerate(cells):
                before = cells[first.setdefault(self.pair(i), i)]
                matters = name == "stratum" or not isinstance(cell, str)
                if matters and str(cell) != str(before):  # NaN is like NaN
                    message = f"{self.words(i)}: {name} {_shown(cell)} contradicts {_shown(before)}"
                    faults.add("contradiction", message, "keep one of them", self.line(i))

    def by_subtopic(self, kept: list[int], pairs: list[int]) -> tuple[Floats, Subtopics]:
        """Return the highest grade of each pair, and the rows by subtopic."""
        position = {self.pair(i): n for n, i in enumerate(pairs)}
        pair = np.array([position[self.pair(i)] for i in kept], dtype=np.int64)
        grade = np.array([self.grade[i] for i in kept], dtype=np.float64)
        highest = np.full(len(pairs), -np.inf)
        np.maximum.at(highest, pair, grade)
        subtopic = tuple(self.subtopic[i] for i in kept)
        return highest, Subtopics(freeze(pair), subtopic, freeze(grade))


def check_grades(rows: Judgments, kept: list[int], scale: Scale | None, faults: Faults) -> None:
    """Note grades too large to add up exactly, and grades that are not on the declared scale."""
    small = max(map(abs, rows.grade), default=0) <= LARGEST
    if small and (scale is None or {*rows.grade} <= {*scale.grades}):
        return
    for i in kept:
        pair, grade = rows.words(i), tidy(rows.grade[i])
        if abs(grade) > LARGEST:
            hint = f"a grade is a number from -{LARGEST:g} to {LARGEST:g}"
            faults.add("bad-grade", f"{pair}: grade {grade:g} is too large", hint, rows.line(i))
        elif scale is not None and grade not in scale.grades:
            hint = "declared grades: " + ", ".join(str(tidy(known)) for known in scale.grades)
            message = f"{pair}: grade {grade} is not on the declared scale"
            faults.add("off-scale", message, hint, rows.line(i))


def _shown(cell: str | float) -> str:
    return repr(cell) if isinstance(cell, str) else f"{cell:g}"
