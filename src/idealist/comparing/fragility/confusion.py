"""How a second judge would label: the chance of each grade, by the grade that the first gave."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from idealist.data.columns import Floats
from idealist.errors import Faults, UsageError
from idealist.formats import delimited, json_text
from idealist.formats.source import Source
from idealist.notation import tidy

#: The agreement of judges where nobody says it. For the labels of TREC Deep Learning 2019 to 2021
#: and those of UMBRELA, kappa is .33 to .35 for four grades, .43 to .51 at grade 2, and quadratic
#: kappa .54 to .62. Reference: Upadhyay et al. 2024, doi:10.48550/arXiv.2406.06519
USUAL = 0.5
HINT = "give a kappa from 0 to 1, or {grade: {grade: share}}, or such a table as CSV or JSON"


class Confusion(NamedTuple):
    """A row per grade given, a column per grade of a second judge: shares that add up to 1."""

    given: Floats
    drawn: Floats
    shares: Floats
    name: str

    @classmethod
    def of(cls, agreement: Any, grades: Floats) -> Confusion:
        """Read an agreement: a kappa, a mapping of grades to shares or counts, or a file of them.

        Formula: P(j | i) = κ [i = j] + (1 - κ) π_j, where π_j is the share of grade j

        A label is kept with probability κ, and otherwise drawn anew from all labels. So grades are
        as frequent as before, and Cohen's kappa of the two judges is κ; so are its linear and
        quadratic forms, and that of grades cut anywhere in two.

        >>> Confusion.of(0.5, np.array([0.0, 0.0, 0.0, 1.0])).shares.tolist()
        [[0.875, 0.125], [0.375, 0.625]]
        >>> Confusion.of({0: {0: 9, 1: 1}, 1: {1: 4}}, np.array([0.0, 1.0])).shares.tolist()
        [[0.9, 0.1], [0.0, 1.0]]

        Reference: Cohen 1960, doi:10.1177/001316446002000104
        """
        kappa = _number(agreement)
        if kappa is None:
            return cls._table(_rows(agreement), grades)
        if not 0 <= kappa <= 1:
            raise UsageError(f"agreement cannot be {agreement!r}", HINT)
        levels, counts = np.unique(grades, return_counts=True)
        shares = kappa * np.eye(len(levels)) + (1 - kappa) * counts / counts.sum()
        return cls(levels, levels, shares, f"kappa {kappa:g}")

    @classmethod
    def _table(cls, rows: Mapping[float, Mapping[float, float]], grades: Floats) -> Confusion:
        given = np.unique(grades)
        if missing := [tidy(grade) for grade in given.tolist() if grade not in rows]:
            hint = "give a row for every grade that was given"
            raise UsageError(f"the agreement has no row for grade {missing[0]}", hint)
        drawn = sorted({grade for row in rows.values() for grade in row})
        counts = np.array([[rows[i].get(j, 0.0) for j in drawn] for i in given.tolist()])
        total = counts.sum(axis=1, keepdims=True)
        if not np.isfinite(counts).all() or (counts < 0).any() or not (total > 0).all():
            message = "a row of the agreement is not made of shares"
            raise UsageError(message, "give shares, or counts, of at least 0, and one above 0")
        return cls(given, np.array(drawn), counts / total, "the agreement given")

    def redrawn(self, grades: Floats, times: int, source: np.random.Generator) -> Floats:
        """Draw every label anew, so many times: a row each."""
        limits = np.cumsum(self.shares, axis=1)[np.searchsorted(self.given, grades)]
        limits[:, -1] = 1.0
        chance = source.random((times, len(grades)))
        drawn = np.zeros(chance.shape, dtype=np.int64)
        for limit in limits.T[:-1]:
            drawn += chance >= limit
        return self.drawn[drawn]


def _number(given: Any) -> float | None:
    """Return a number, also where it is written as text."""
    if isinstance(given, bool) or not isinstance(given, (Real, str)):
        return None
    try:
        return float(given)
    except ValueError:
        return None


def _rows(given: Any) -> dict[float, dict[float, float]]:
    """Return the table of an agreement, from a mapping or a file."""
    name = "agreement"
    if isinstance(given, (str, Path)):
        source = Source.of(given)
        name, given = source.name, _read(source)
    try:
        return {float(i): {float(j): float(x) for j, x in row.items()} for i, row in given.items()}
    except (AttributeError, TypeError, ValueError):
        raise UsageError(f"{name} is no table of grades by grades", HINT) from None


def _read(source: Source) -> Any:
    content = source.read()
    if content.lstrip()[:1] == b"{":
        return json_text.load(content, source.name)
    headers = delimited.headers(content).values()
    if not headers:
        raise UsageError(f"{source.name} is no table of grades by grades", HINT)
    widest = max(headers, key=lambda header: len(header.names))
    columns, _ = delimited.read(content, widest, Faults(source.name))
    first, *others = columns
    if len(set(columns[first])) < len(columns[first]):
        raise UsageError(f"{source.name} has two rows for one grade", HINT)
    return {
        grade: {to: columns[to][i] or 0 for to in others} for i, grade in enumerate(columns[first])
    }
