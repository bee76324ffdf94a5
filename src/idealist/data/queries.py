"""Facts about the queries: their texts, the slices they belong to, and what they weigh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from idealist.data.columns import to_float, to_id
from idealist.errors import Faults, UsageError
from idealist.notation import digest, to_number


@dataclass(frozen=True)
class Queries:
    """Queries by id, with their text and any other columns.

    >>> queries = Queries({"q1": "python list to tuple"}, {"type": {"q1": "how-to"}})
    >>> queries.text["q1"], queries.column("type")
    ('python list to tuple', {'q1': 'how-to'})
    """

    text: Mapping[str, str]
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    name: str = "queries"

    def __contains__(self, query: object) -> bool:
        return query in self.text

    def __iter__(self) -> Iterator[str]:
        return iter(self.text)

    def __len__(self) -> int:
        return len(self.text)

    def column(self, name: str) -> dict[str, Any]:
        """Return one column as a mapping from query to value."""
        return dict(self.columns[name])


#: The slice of queries that belong to no other.
NONE = "(none)"


def slice_names(slices: Mapping[Any, Any], queries: Sequence[str]) -> list[str]:
    """Name the slice of each query; an empty cell, None or NaN is no slice.

    >>> slice_names({"q1": "long", "q2": None}, ["q1", "q2", "q3"])
    ['long', '(none)', '(none)']
    """
    hint = "give {query: slice}"
    if not isinstance(slices, Mapping):
        raise UsageError(f"slices cannot be {slices!r:.60}", hint)
    try:
        names = {to_id(query): _name(value) for query, value in slices.items()}
    except (TypeError, ValueError) as error:
        raise UsageError(f"slices: {error.args[0]!r:.60} is not a query id", hint) from None
    found = [names.get(query, NONE) for query in queries]
    if found and not set(found) - {NONE}:
        some = ", ".join(list(names)[:3]) or "nothing"
        raise UsageError(f"no query is in a slice; slices name {some}", hint)
    return found


def _name(value: Any) -> str:
    missing = value is None or (isinstance(value, (float, np.floating)) and np.isnan(value))
    return NONE if missing or str(value) == "" else str(value)


#: The least and the greatest weight allowed: their squares and sums are finite and not 0.
LIGHTEST, HEAVIEST = 1e-15, 1e15


@dataclass(frozen=True)
class Weights:
    """The weight of each query; one of weight 0 is left out.

    >>> weights = Weights.read({"q1": 1200, "q2": 3})
    >>> weights.hash, weights.of(["q2", "q1"])
    ('e22c83a83e', [3.0, 1200.0])
    """

    values: Mapping[str, float]
    name: str = "weights"

    @classmethod
    def read(cls, given: Any) -> Weights:
        """Check weights: {query: weight}, or queries with a column ``weight``.

        Queries without that column work as well if all their texts are numbers, as in a file of
        ``id<TAB>weight`` lines or in {"q1": 3}.
        """
        if isinstance(given, Weights):
            return given
        if isinstance(given, Queries):
            return cls(_checked(_column(given), given.name), given.name)
        if not isinstance(given, Mapping):
            hint = "give {query: weight}, or read a file: weights=il.read_queries('FILE')"
            raise UsageError(f"weights cannot be {given!r:.60}", hint)
        return cls(_checked(given, "weights"))

    @cached_property
    def hash(self) -> str:
        """Ten hexadecimal digits that depend only on the weights, not on their order."""
        return digest(self.values)

    def of(self, queries: Iterable[str]) -> list[float]:
        """Return the weights of some queries, each of which must have one."""
        found = [(query, self.values.get(query)) for query in queries]
        faults = Faults(self.name)
        for query in [query for query, weight in found if weight is None]:
            hint = "give every judged query a weight; 0 leaves a query out"
            faults.add("missing-weight", f"query {query!r} has no weight", hint)
        faults.check()
        return [weight for _, weight in found if weight is not None]


def _column(queries: Queries) -> Mapping[str, Any]:
    if "weight" in queries.columns:
        return queries.column("weight")
    with suppress(ValueError):
        return {query: to_float(text) for query, text in queries.text.items()}
    hint = 'add a column weight, or give JSON {"q1": {"text": "…", "weight": 3}} or {"q1": 3}'
    Faults(queries.name).fail("missing-column", "the queries have no column 'weight'", hint)


def _checked(given: Mapping[Any, Any], name: str) -> dict[str, float]:
    faults = Faults(name)
    checked: dict[str, float] = {}
    for query, written in given.items():
        try:
            weight = _weight(written)
            if checked.setdefault(to_id(query), weight) != weight:
                message = f"query {query!r} has two weights, one of them {weight:g}"
                faults.add("duplicate-key", message, "keep one of them")
        except (TypeError, ValueError):
            hint = f"a weight is from {LIGHTEST:g} to {HEAVIEST:g}, or 0 to leave the query out"
            faults.add("bad-weight", f"query {query!r}: the weight is {written!r:.60}", hint)
    if not given:
        faults.add("empty", "there are no weights", "give {query: weight}")
    faults.check()
    return checked


def _weight(given: Any) -> float:
    weight = float(to_number(given))
    if weight and not LIGHTEST <= weight <= HEAVIEST:
        raise ValueError(given)
    return abs(weight)  # -0.0 is 0
