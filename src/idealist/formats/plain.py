"""Plain dicts, ``{query: {document: number}}``, read at once: the everyday shape needs no care."""

from __future__ import annotations

import math
from typing import Any

from idealist.formats.table import Table


def plain(data: Any) -> Table | None:
    """Read a dict of dicts of text and finite numbers; None where anything wants a closer look.

    >>> plain({"q1": {"d1": 2}})
    Table(query=['q1'], document=['d1'], value=[2.0], columns={}, empty=[], lines=None, without=0)
    >>> plain({"q1": ["d1"]})
    """
    if type(data) is not dict or not {str} >= set(map(type, data)) or "" in data:
        return None
    result = Table()
    for query, entries in data.items():
        if type(entries) is not dict or not entries or "" in entries:
            return None
        if {str} != set(map(type, entries)) or not {int, float} >= set(map(type, entries.values())):
            return None
        result.query.extend([query] * len(entries))
        result.document.extend(entries)
        result.value.extend(entries.values())
    ids = "".join(data) + "".join(result.document)
    try:
        result.value = list(map(float, result.value))
    except OverflowError:
        return None
    return result if ids.isascii() and all(map(math.isfinite, result.value)) else None
