"""The number to reconcile, or the values of queries, and whether a value prints as it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.errors import Faults, IdealistError, UsageError
from idealist.formats.source import Source
from idealist.measures import Measure, parse

#: No number is known to more digits than this: tools add in other orders than we do.
FINEST = 12
#: No number is as large as this: its digits would be beyond what a float holds.
LARGEST = 10**15


@dataclass(frozen=True)
class Target:
    """A number known to some digits, and the values of queries, if these are known too.

    >>> Target.of("0.4310").digits
    4
    """

    value: float | None
    digits: int
    per_query: Mapping[str, float] = field(default_factory=dict)
    query_digits: int = FINEST

    @classmethod
    def of(
        cls, value: Any, digits: int | None = None, per_query: Mapping[str, Any] | None = None
    ) -> Target:
        """Read a number and the values of queries; their texts say how many digits are known."""
        if value is None and not per_query:
            hint = "give the value, the values of queries, or both"
            raise UsageError("there is no number to reconcile", hint)
        if digits is not None and not 0 <= digits <= FINEST:
            hint = "give the digits printed"
            raise UsageError(f"digits={digits} is not from 0 to {FINEST}", hint)
        known = {query: _number(one) for query, one in (per_query or {}).items()}
        number = [] if value is None else [_number(value)]
        one, many = _digits(number, digits), _digits(list(known.values()), digits)
        return cls(
            value=round(float(number[0]), one) if number else None,
            digits=one,
            per_query={query: round(float(value), many) for query, value in known.items()},
            query_digits=many,
        )

    @property
    def text(self) -> str:
        """The number as it is known."""
        return "-" if self.value is None else self.shown(self.value)

    def shown(self, value: float) -> str:
        """Write a value as this number is written."""
        return "nan" if math.isnan(value) else f"{value:.{self.digits}f}"

    def prints(self, values: Any) -> Any:
        """Whether values print this number, halves rounded either way."""
        if self.value is None:
            return np.ones(np.shape(values), dtype=bool)
        if math.isnan(self.value):
            return np.isnan(values)
        return np.abs(values - self.value) <= _reach(self.digits, self.value)

    def fits(self, values: Floats, known: Floats) -> Bools:
        """Whether values of queries print the known ones, in an array of any x queries."""
        reach = _reach(self.query_digits, 1.0)
        same: Bools = np.abs(values - known) <= reach
        return same | (np.isnan(values) & np.isnan(known))


def _reach(digits: int, size: float) -> float:
    return 0.5 * 10.0**-digits * (1 + 1e-9) + 10.0**-FINEST * max(1.0, abs(size))


def _number(value: Any) -> Decimal:
    with suppress(InvalidOperation):
        number = Decimal(str(value).strip())
        if number.is_qnan() or (number.is_finite() and abs(number) < LARGEST):
            return number
    hint = "give a number such as 0.4312"
    raise UsageError(f"{str(value)[:60]!r} is not a number that can be reconciled", hint)


def _digits(numbers: list[Decimal], digits: int | None) -> int:
    """Return how many digits are known after the point, by the number that has most."""
    if digits is not None:
        return digits
    exponents = [one.as_tuple().exponent for one in numbers]
    return min(max((0, *(-e for e in exponents if isinstance(e, int)))), FINEST)


#: What stands for a query in the line of the aggregate.
ALL = "all"


def read_values(path: str, measure: Measure) -> dict[str, str]:
    """Read the text of each query's value, and of all together, from a file.

    Lines are ``query<TAB>value`` with or without a header, or ``measure query value`` as trec_eval
    prints them with ``-q``, of which those of the measure count.
    """
    source = Source.of(path)
    lines = source.text(source.data()).decode().splitlines()
    rows, faults = [], Faults(source.name)
    for i, line in enumerate(lines, 1):
        row = [cell.strip() for cell in line.split("\t" if "\t" in line else None)]
        if len(row) in (2, 3) and any(row):
            rows.append((i, row))
        elif any(row):
            hint = "lines are query<TAB>value, or measure, query and value"
            faults.add("columns", f"{len(row)} columns in {' '.join(row)[:60]!r}", hint, i)
    faults.check()
    if rows and not _is_number(rows[0][1][-1]):
        rows = rows[1:]  # a header
    found: dict[str, str] = {}
    for i, (query, value) in _of_measure(rows, measure, source.name):
        if not _is_number(value):
            faults.add("bad-column", f"{value!r} is not a value", "give a number", i)
        elif found.setdefault(query, value) != value:
            faults.add("contradiction", f"query {query!r} has two values", "keep one of them", i)
    faults.check()
    if not found:
        faults.fail("empty", "there are no values", "give at least one query and its value")
    return found


def _of_measure(
    rows: Iterable[tuple[int, list[str]]], measure: Measure, name: str
) -> list[tuple[int, tuple[str, str]]]:
    """Keep the lines of a measure, if lines name their measure."""
    kept, others = [], {}
    for i, row in rows:
        if len(row) == 2 or _same(row[0], measure):
            kept.append((i, (row[-2], row[-1])))
        else:
            others[row[0]] = i
    if not kept and others:
        known = ", ".join(list(others)[:10])
        raise UsageError(f"{name} has no values of {measure}", f"it has those of {known}")
    return kept


def _same(name: str, measure: Measure) -> bool:
    """Whether a tool's name means a measure, whatever its parameters."""
    try:
        other = parse(name)
    except IdealistError:
        return False
    return (other.name, other.cutoff) == (measure.name, measure.cutoff)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
