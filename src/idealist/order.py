"""Order: one query's documents, best first. This is the only sort of documents there is.

Plain Python over NumPy: the definition that any faster version is held to.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np

from idealist.entries import (
    Entries,
    check_keys,
    collapsed,
    entries_of,
    lengths,
    without_duplicates,
    without_self,
)
from idealist.errors import Faults
from idealist.notation import call
from idealist.protocol import Protocol
from idealist.tables import Rows
from idealist.tables.columns import Floats, Ints


@dataclass(frozen=True)
class Ranking:
    """One query's documents, best first, with the first and last rank of each one's tie."""

    documents: list[str]
    scores: Floats
    first: Ints
    last: Ints
    duplicates: int
    merged: int
    float32: bool

    @property
    def tied(self) -> bool:
        """Whether any two documents have the same score."""
        return bool(np.any(self.first < self.last))


def order(rows: Rows, span: slice, query: str, protocol: Protocol, faults: Faults) -> Ranking:
    """Order one query's documents. This is the only sort.

    What is wrong with them is noted in `faults`, so that all queries' faults come together.
    """
    entries = entries_of(rows, span, protocol)
    before = len(entries.documents)
    entries = without_duplicates(entries, rows, query, protocol, faults)
    duplicates = before - len(entries.documents)
    check_keys(entries, rows, query, protocol, faults)
    entries = without_self(entries, query, protocol)
    float32 = _float32_ties(entries.scores, protocol)
    if protocol.budget is not None:
        entries = _within(protocol.budget, entries, rows, query, protocol, faults)
        faults = Faults()  # what is sorted again below has had its ties reported
    chunks = len(entries.documents)
    entries = collapsed(entries, protocol)
    merged = chunks - len(entries.documents)
    entries, first, last = _sorted(entries, rows, query, protocol, faults)
    return Ranking(
        entries.documents,
        entries.scores,
        first,
        last,
        duplicates=duplicates,
        merged=merged,
        float32=float32,
    )


def _sorted(
    entries: Entries, rows: Rows, query: str, protocol: Protocol, faults: Faults
) -> tuple[Entries, Ints, Ints]:
    """Sort entries, with the first and last rank of each one's tie."""
    entries = entries.at(np.argsort(entries.keys, kind="stable"))  # NaN comes last
    first, last = _tie_bounds(entries.keys)
    if np.any(first < last):
        entries = entries.at(_break_ties(entries, first, last, rows, query, protocol, faults))
    return entries, first, last


def _within(
    budget: int, entries: Entries, rows: Rows, query: str, protocol: Protocol, faults: Faults
) -> Entries:
    """Keep the first entries whose lengths together stay within the budget, in the run's order."""
    ranked, _, _ = _sorted(entries, rows, query, protocol, faults)
    with np.errstate(over="ignore"):
        spent = np.cumsum(lengths(ranked, rows, query, protocol, faults))
    kept = ranked.rows[spent <= budget]  # lengths are not negative, so these are the first
    return entries.at(np.flatnonzero(np.isin(entries.rows, kept)))


def _tie_bounds(keys: Floats) -> tuple[Ints, Ints]:
    """Give the first and last rank of the tie each sorted key stands in."""
    n = len(keys)
    new = np.ones(n + 1, dtype=bool)
    new[1:-1] = (keys[1:] != keys[:-1]) & ~(np.isnan(keys[1:]) & np.isnan(keys[:-1]))
    edges = np.flatnonzero(new)
    sizes = np.diff(edges)
    return np.repeat(edges[:-1] + 1, sizes), np.repeat(edges[1:], sizes)


def _break_ties(
    entries: Entries, first: Ints, last: Ints, rows: Rows, query: str, protocol: Protocol,
    faults: Faults,
) -> Ints:  # fmt: skip
    permutation = np.arange(len(first))
    for start in np.unique(first[first < last]).tolist():
        if protocol.ties == "error":
            _report_tie(entries, start - 1, rows, query, protocol, faults)
        block = slice(start - 1, int(last[start - 1]))
        members = permutation[block].tolist()
        permutation[block] = _tie_order(members, entries.documents, query, protocol.ties)
    return permutation


def _report_tie(
    entries: Entries, i: int, rows: Rows, query: str, protocol: Protocol, faults: Faults
) -> None:
    a, b = entries.documents[i], entries.documents[i + 1]
    message = f"query {query!r}: documents {a!r} and {b!r} have the same {protocol.order}"
    hint = "choose an order of ties, such as --set ties=docid-desc"
    faults.add("tie", message, hint, rows.line(int(entries.rows[i + 1])))


def _tie_order(members: list[int], documents: list[str], query: str, ties: str) -> list[int]:
    if ties == "input":
        return members
    if ties == "input-reversed":
        return members[::-1]
    if ties.startswith("random"):
        return sorted(members, key=lambda i: _draw(call(ties)[1][0], query, documents[i]))
    return sorted(members, key=documents.__getitem__, reverse=ties != "docid-asc")


def _draw(seed: str, query: str, document: str) -> bytes:
    """Draw from seed, query and document alone, so that no other row changes the order."""
    row = json.dumps([seed, query, document])
    return hashlib.blake2b(row.encode(), digest_size=16).digest()


def _float32_ties(scores: Floats, protocol: Protocol) -> bool:
    """Whether float32 ties two scores that differ in float64."""
    if protocol.order != "score" or len(scores) < 2:
        return False
    scores = np.sort(scores)
    with np.errstate(over="ignore"):
        rough = scores.astype(np.float32)
    return bool(np.any((rough[1:] == rough[:-1]) & (scores[1:] != scores[:-1])))
