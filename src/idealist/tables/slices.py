"""Slices: the part of the queries that each one belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from idealist.errors import UsageError
from idealist.tables.columns import to_id

#: The slice of queries that belong to none.
NONE = "(none)"


def slice_names(slices: Mapping[Any, Any], queries: Sequence[str]) -> list[str]:
    """Name the slice of each query; an empty cell, None or NaN is no slice.

    >>> slice_names({"q1": "long", "q2": None}, ["q1", "q2", "q3"])
    ['long', '(none)', '(none)']
    """
    hint = "give the value of each query: {query: slice}"
    if not isinstance(slices, Mapping):
        raise UsageError(f"slices cannot be {slices!r:.60}", hint)
    try:
        names = {to_id(query): _name(value) for query, value in slices.items()}
    except (TypeError, ValueError) as error:
        raise UsageError(f"slices name {error.args[0]!r:.60}, which is no query", hint) from None
    found = [names.get(query, NONE) for query in queries]
    if found and not set(found) - {NONE}:
        some = ", ".join(list(names)[:3]) or "nothing"
        raise UsageError(f"none of the queries is in a slice; slices name {some}", hint)
    return found


def _name(value: Any) -> str:
    missing = value is None or (isinstance(value, (float, np.floating)) and np.isnan(value))
    return NONE if missing or str(value) == "" else str(value)
