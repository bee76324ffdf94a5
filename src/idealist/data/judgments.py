"""Judgments as they come, row by row, before they are a table: scale, subtopics, contradictions."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from idealist.data.columns import Floats, Ints, freeze
from idealist.errors import Faults, UsageError
from idealist.notation import tidy, to_number

#: Columns of text that decide numbers.
DECISIVE = ("iteration", "stratum")
#: Whole numbers up to here, and sums of many of them, are exact.
LARGEST = 1e9


@dataclass(frozen=True)
class Scale:
    """The grades a judge could give, with a label each where there are labels.

    >>> Scale.of({0: "off topic", 1: "related", 2: "answers"}).maximum
    2
    """

    grades: tuple[float, ...]
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, scale: Scale | float | Mapping[Any, str] | Iterable[float]) -> Scale:
        """Read a scale from its maximum, its grades, or grades with labels."""
        if isinstance(scale, Scale):
            return scale
        try:
            if isinstance(scale, Mapping):
                pairs = sorted((to_number(grade), str(label)) for grade, label in scale.items())
                made = cls(tuple(grade for grade, _ in pairs), tuple(label for _, label in pairs))
            elif isinstance(scale, Iterable) and not isinstance(scale, str):
                made = cls(tuple(sorted(map(to_number, scale))))
            else:
                made = cls(tuple(range(operator.index(cast("int", to_number(scale))) + 1)))
        except (TypeError, ValueError):
            made = cls(())
        if not made.grades:
            hint = "give the highest grade, the list of grades, or {grade: label}"
            raise UsageError(f"{scale!r} is not a scale", hint)
        return made

    @property
    def maximum(self) -> float:
        """The highest grade there is."""
        return self.grades[-1]


@dataclass(frozen=True)
class Subtopics:
    """Judgments by subtopic: rows that refer to a judged pair of query and document."""

    pair: Ints
    subtopic: tuple[str, ...]
    grade: Floats

    def only(self, pairs: Ints) -> Subtopics:
        """Keep the rows of some pairs, which are then numbered as they are given."""
        found = self._at(np.flatnonzero(np.isin(self.pair, pairs)))
        return replace(found, pair=freeze(np.searchsorted(pairs, found.pair)))

    @property
    def truncated(self) -> Subtopics:
        """The same rows with the fractions of grades cut off."""
        whole = np.trunc(self.grade)
        return self if np.array_equal(whole, self.grade) else replace(self, grade=freeze(whole))

    @property
    def nonzero(self) -> Subtopics:
        """The rows whose grade is not 0."""
        return self._at(np.flatnonzero(self.grade))

    def _at(self, kept: Ints) -> Subtopics:
        subtopic = tuple(self.subtopic[i] for i in kept)
        return Subtopics(freeze(self.pair[kept]), subtopic, freeze(self.grade[kept]))


def subtopics_in(
    query: Sequence[str], document: Sequence[str], iteration: Sequence[str]
) -> Sequence[str] | None:
    """Take TREC's second column for subtopics where a document stands there with two values.

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

    def pair(self, i: int) -> tuple[str, str]:
        """Give what was judged."""
        return self.query[i], self.document[i]

    def line(self, i: int) -> int | None:
        """Give the line of the file a row came from, where it came from one."""
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
                before, first = tidy(self.grade[kept[-1]]), self.line(kept[-1])
                where = f" (line {first})" if first else ""
                faults.add(
                    "contradiction",
                    f"query {self.query[i]!r}, document {self.document[i]!r}: "
                    f"grade {tidy(self.grade[i])} contradicts {before}{where}",
                    "keep one judgment per query and document",
                    self.line(i),
                )
        return kept

    def pairs(self, kept: list[int]) -> list[int]:
        """Give the first row of each pair of query and document, in the order of their keys."""
        return [i for n, i in enumerate(kept) if not n or self.pair(i) != self.pair(kept[n - 1])]

    def check_columns(self, columns: Mapping[str, Sequence[Any]], faults: Faults) -> None:
        """Note numbers and strata that differ between the rows of one query and document."""
        for name, cells in columns.items():
            first: dict[tuple[str, str], int] = {}
            for i, cell in enumerate(cells):
                before = cells[first.setdefault(self.pair(i), i)]
                matters = name == "stratum" or not isinstance(cell, str)
                if matters and str(cell) != str(before):  # NaN is like NaN
                    message = f"query {self.query[i]!r}, document {self.document[i]!r}: {name} "
                    message += f"{_shown(cell)} contradicts {_shown(before)}"
                    faults.add("contradiction", message, "keep one of them", self.line(i))

    def by_subtopic(
        self, kept: list[int], pairs: list[int], divided: bool
    ) -> tuple[Floats, Subtopics | None]:
        """Give each pair its highest grade, and the rows by subtopic where there are any."""
        if not divided:
            return np.array([self.grade[i] for i in pairs], dtype=np.float64), None
        position = {self.pair(i): n for n, i in enumerate(pairs)}
        pair = np.array([position[self.pair(i)] for i in kept], dtype=np.int64)
        grade = np.array([self.grade[i] for i in kept], dtype=np.float64)
        highest = np.full(len(pairs), -np.inf)
        np.maximum.at(highest, pair, grade)
        subtopic = tuple(self.subtopic[i] for i in kept)
        return highest, Subtopics(freeze(pair), subtopic, freeze(grade))


def check_grades(rows: Judgments, kept: list[int], scale: Scale | None, faults: Faults) -> None:
    """Note grades too large to add up exactly, and those that the declared scale does not have."""
    if scale is None and max(map(abs, rows.grade), default=0) <= LARGEST:
        return
    for i in kept:
        pair = f"query {rows.query[i]!r}, document {rows.document[i]!r}"
        grade = tidy(rows.grade[i])
        if abs(grade) > LARGEST:
            hint = f"grades reach from -{LARGEST:g} to {LARGEST:g}"
            faults.add("bad-grade", f"{pair}: grade {grade:g} is too large", hint, rows.line(i))
        elif scale is not None and grade not in scale.grades:
            hint = "declared grades: " + ", ".join(str(tidy(known)) for known in scale.grades)
            message = f"{pair}: grade {grade} is not on the declared scale"
            faults.add("off-scale", message, hint, rows.line(i))


def _shown(cell: str | float) -> str:
    return repr(cell) if isinstance(cell, str) else f"{cell:g}"
