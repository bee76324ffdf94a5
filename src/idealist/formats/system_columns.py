"""Tables that hold the lists of several systems, one below the other, which are no single run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from idealist.errors import Faults
from idealist.formats.column_names import folded

#: Names of a column that says which system found a document.
SYSTEMS = frozenset([
    "system", "model", "retriever", "engine", "run", "runid", "runname", "runtag", "systemid",
    "systemname", "modelname", "retrievername",
])  # fmt: skip


def refuse_several(columns: Mapping[str, Sequence[Any]], faults: Faults) -> None:
    """Refuse rows in which several systems found the same document for the same query."""
    name = next((one for one in columns if folded(one) in SYSTEMS), None)
    systems = [] if name is None else list(map(str, columns[name]))
    if len(found := dict.fromkeys(systems)) < 2:
        return
    seen: dict[tuple[Any, Any], str] = {}
    pairs = zip(columns["query"], columns["document"], strict=True)
    for pair, system in zip(pairs, systems, strict=True):
        if seen.setdefault(pair, system) != system:
            shown = ", ".join(list(found)[:5]) + (", …" if len(found) > 5 else "")
            message = f"this holds the lists of {len(found)} systems: {name} is {shown}"
            hint = f"write a file for each {name}, then compare these"
            faults.fail("bad-shape", message, hint)
