"""Records that hold both sides of a query: what was retrieved and what should have been.

{"query": …, "retrieved": […], "ground_truth": […]}
{"query": …, "retrieved": […], "scores": […], "tokens": […], "ground_truth": {…}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from idealist.errors import Faults
from idealist.formats.names import ours
from idealist.formats.table import checked_id, shown

#: What logs call each side.
RETRIEVED = ("retrieved", "retrieved_ids", "results")
GROUND_TRUTH = ("ground_truth", "gold", "relevant", "expected")
#: Lists beside the retrieved documents, and what each says about them.
BESIDE = {"scores": "score", "tokens": "tokens"}


def is_pair(record: Any) -> bool:
    """Whether a record holds both sides."""
    return isinstance(record, Mapping) and all(
        any(name in record for name in names) for names in (RETRIEVED, GROUND_TRUTH)
    )


def side(
    records: Sequence[Any], value: str, faults: Faults, lines: Sequence[int] | None = None
) -> dict[Any, Any]:
    """Give one side by query: judgments for "grade", the run for "score".

    Queries are named by their key ``query``, ``query_id``, ``qid`` or ``id``, or else numbered.
    """
    found: dict[Any, Any] = {}
    for number, record in enumerate(records, 1):
        line = lines[number - 1] if lines else None
        if not is_pair(record):
            hint = 'give {"retrieved": […], "ground_truth": {…}} for each query'
            faults.fail("bad-shape", f"record {number}: cannot read {shown(record)}", hint, line)
        query = checked_id(record.get(ours(record).get("query", "id"), number), faults, line)
        if query in found:
            message = f"record {number}: query {query!r} stands there twice"
            faults.fail("duplicate-key", message, "keep one of them", line)
        names = GROUND_TRUTH if value == "grade" else RETRIEVED
        entries = next(record[name] for name in names if name in record)
        found[query or ""] = (
            entries if value == "grade" else _joined(record, entries, number, faults)
        )
    faults.check()
    return found


def _joined(record: Mapping[str, Any], entries: Any, number: int, faults: Faults) -> Any:
    """Join documents with the scores and lengths that stand beside them."""
    beside = {own: record[name] for name, own in BESIDE.items() if name in record}
    if not beside or not isinstance(entries, (list, tuple)):
        return entries
    for name, cells in beside.items():
        if not isinstance(cells, list) or len(cells) != len(entries):
            message = f"record {number}: {name} {shown(cells)} for {len(entries)} documents"
            faults.fail("bad-shape", message, "give one for each document that was retrieved")
    rows = zip(entries, *beside.values(), strict=True)
    return [dict(zip(("document", *beside), row, strict=True)) for row in rows]
