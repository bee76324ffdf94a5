"""Order: one query's documents, best first. Documents are sorted here and nowhere else."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np

from idealist.data import Rows
from idealist.data.columns import Bools, Floats, Ints
from idealist.errors import Faults
from idealist.notation import call
from idealist.protocol import Protocol, suffix


@dataclass(frozen=True)
class Entries:
    """One query's rows, with the key that orders them, smallest first.

    `rows` holds the position of each in the run.
    """

    documents: list[str]
    scores: Floats
    rows: Ints
    keys: Floats

    def at(self, kept: Sequence[int] | Ints) -> Entries:
        """Return some of the entries, in the order given."""
        documents = [self.documents[i] for i in kept]
        index = np.asarray(kept, dtype=np.int64)
        return Entries(documents, self.scores[index], self.rows[index], self.keys[index])


@dataclass(frozen=True)
class Query:
    """One query of a run, and how it is ordered; what is wrong with its rows goes to `faults`."""

    name: str
    rows: Rows
    protocol: Protocol
    faults: Faults

    def note(self, code: str, message: str, hint: str, row: int) -> None:
        """Note a fault of the query, and the line that it is on."""
        self.faults.add(code, f"query {self.name!r}{message}", hint, self.rows.line(int(row)))

    def refuse(self, message: str, hint: str) -> NoReturn:
        """Refuse a run that lacks a column."""
        Faults(self.rows.name).fail("missing-column", message, hint)

    @property
    def ordered_by(self) -> str:
        """What orders the run: without scores its ranks do, and without these its given order."""
        if self.protocol.order != "score" or self.rows.scores is not None:
            return self.protocol.order
        return "given" if self.rows.ranks is None else "rank"

    def entries(self, span: slice) -> Entries:
        """Take the rows of the query."""
        rows, index = self.rows, np.arange(span.start, span.stop)
        scores = np.full(len(index), np.nan) if rows.scores is None else rows.scores[span]
        if self.ordered_by == "rank":
            if rows.ranks is None:
                hint = "give a rank column, or use order=score or order=given"
                self.refuse("order=rank, but the run has no ranks", hint)
            keys = rows.ranks[span]
        elif self.ordered_by == "given":
            keys = np.arange(len(index), dtype=np.float64)
        else:
            with np.errstate(over="ignore"):
                keys = -scores.astype(self.protocol.precision).astype(np.float64)
        return Entries(list(rows.documents[span]), scores, index, keys)


def without_duplicates(entries: Entries, query: Query) -> Entries:
    """Keep one row of each document, or note that it was retrieved twice."""
    if len(set(entries.documents)) == len(entries.documents):
        return entries
    kept: dict[str, int] = {}
    for i, document in enumerate(entries.documents):
        if document in kept and query.protocol.duplicates == "error":
            first = query.rows.line(int(entries.rows[kept[document]]))
            where = f", first on line {first}" if first else ""
            message = f": document {document!r} was retrieved twice{where}"
            hint = "remove one, or choose with --set duplicates=first or duplicates=last"
            query.note("duplicate", message, hint, entries.rows[i])
        elif document not in kept or query.protocol.duplicates == "last":
            kept[document] = i
    return entries.at(sorted(kept.values()))


def without_self(entries: Entries, query: Query) -> Entries:
    """Leave out the document whose id is the query's, and its chunks."""
    if not query.protocol.exclude_self:
        return entries
    others = [i for i, d in enumerate(entries.documents) if whole(d, query.protocol) != query.name]
    return entries.at(others) if len(others) < len(entries.documents) else entries


def collapsed(entries: Entries, protocol: Protocol) -> Entries:
    """Replace chunks by their documents: the best chunk of each document is kept."""
    if protocol.collapse == "none":
        return entries
    documents = [whole(document, protocol) for document in entries.documents]
    keys = [(math.isnan(key), key) for key in entries.keys.tolist()]  # NaN is worse than all
    best: dict[str, int] = {}
    for i, document in enumerate(documents):
        if document not in best or keys[i] < keys[best[document]]:
            best[document] = i
    kept = entries.at(list(best.values()))
    return Entries(list(best), kept.scores, kept.rows, kept.keys)


def whole(chunk: str, protocol: Protocol) -> str:
    """Return the document a chunk belongs to."""
    if protocol.collapse == "none":
        return chunk
    if protocol.mapping:
        return protocol.mapping.get(chunk, chunk)
    return suffix(protocol.collapse).sub("", chunk, count=1) or chunk


def lengths(entries: Entries, query: Query) -> Floats:
    """Return the tokens of each entry; note invalid lengths and count them as 0.

    If the budget is a number of chunks, each entry counts as 1.
    """
    if query.protocol.depth.startswith("chunks"):
        return np.ones(len(entries.documents))
    if query.rows.tokens is None:
        hint = "add a column tokens to the run, the length of each document"
        query.refuse(f"depth={query.protocol.depth}, but the run has no lengths", hint)
    tokens = query.rows.tokens[entries.rows]
    bad = ~np.isfinite(tokens) | (tokens < 0)
    for i in np.flatnonzero(bad).tolist():
        message = f", document {entries.documents[i]!r}: length is {tokens[i]:g}"
        hint = "a length is a number of tokens, at least 0; repair it, or use another depth"
        query.note("bad-length", message, hint, entries.rows[i])
    return np.where(bad, 0.0, tokens)


def check_keys(entries: Entries, query: Query) -> None:
    """Note ranks and scores that cannot order anything."""
    keys = entries.keys
    if query.ordered_by == "rank":
        code, hint = "bad-rank", "repair the rank column, or use order=score"
        bad, say = ~np.isfinite(keys) | (np.trunc(keys) != keys), _rank_words
    else:
        code, say = "nonfinite-score", _score_words
        hint = "repair the score, or choose with --set nonfinite=as_is or nonfinite=last"
        bad = _refused(keys, query.protocol.nonfinite)
    for i in np.flatnonzero(bad).tolist():
        message = f", document {entries.documents[i]!r}: {say(entries, i)}"
        query.note(code, message, hint, entries.rows[i])


def _refused(keys: Floats, nonfinite: str) -> Bools:
    if nonfinite == "last":
        return np.zeros(len(keys), dtype=bool)
    return np.isnan(keys) if nonfinite == "as_is" else ~np.isfinite(keys)


def _rank_words(entries: Entries, i: int) -> str:
    rank = entries.keys[i]
    return "rank is not a number" if np.isnan(rank) else f"rank {rank} is not a whole number"


def _score_words(entries: Entries, i: int) -> str:
    score = entries.scores[i]
    return f"score is {score}" + (", too large for float32" if np.isfinite(score) else "")


@dataclass(frozen=True)
class Ranking:
    """One query's documents, best first, with the first and last rank of each one's tie.

    Where these are chunks, `sums` counts what they covered so far.
    """

    documents: list[str]
    scores: Floats
    first: Ints
    last: Ints
    duplicates: int
    merged: int
    float32: bool
    sums: Ints = field(default_factory=lambda: np.zeros((0, 5), dtype=np.int64))

    @property
    def tied(self) -> bool:
        """Whether any two documents have the same score."""
        return bool(np.any(self.first < self.last))


def order(rows: Rows, span: slice, query: str, protocol: Protocol, faults: Faults) -> Ranking:
    """Order one query's documents: the only place where documents are sorted.

    Faults are collected in `faults`, so that all queries' faults are reported together.
    """
    asked = Query(query, rows, protocol, faults)
    entries = asked.entries(span)
    before = len(entries.documents)
    entries = without_duplicates(entries, asked)
    duplicates = before - len(entries.documents)
    check_keys(entries, asked)
    entries = without_self(entries, asked)
    float32 = _float32_ties(entries.scores, protocol)
    if protocol.budget is not None:
        entries = _within(protocol.budget, entries, asked)
        asked = replace(asked, faults=Faults())  # what is sorted again has had its ties reported
    chunks = len(entries.documents)
    entries = collapsed(entries, protocol)
    merged = chunks - len(entries.documents)
    entries, first, last = _sorted(entries, asked)
    return Ranking(entries.documents, entries.scores, first, last, duplicates, merged, float32)


def _sorted(entries: Entries, query: Query) -> tuple[Entries, Ints, Ints]:
    """Sort entries, with the first and last rank of each one's tie."""
    entries = entries.at(np.argsort(entries.keys, kind="stable"))  # NaN comes last
    first, last = _tie_bounds(entries.keys)
    if np.any(first < last):
        entries = entries.at(_break_ties(entries, first, last, query))
    return entries, first, last


def _within(budget: int, entries: Entries, query: Query) -> Entries:
    """Keep the first entries whose lengths together stay within the budget, in the run's order."""
    ranked, _, _ = _sorted(entries, query)
    with np.errstate(over="ignore"):
        spent = np.cumsum(lengths(ranked, query))
    kept = ranked.rows[spent <= budget]  # lengths are not negative, so these are the first
    return entries.at(np.flatnonzero(np.isin(entries.rows, kept)))


def _tie_bounds(keys: Floats) -> tuple[Ints, Ints]:
    """Return the first and last rank of the tie each sorted key is in."""
    n = len(keys)
    new = np.ones(n + 1, dtype=bool)
    new[1:-1] = (keys[1:] != keys[:-1]) & ~(np.isnan(keys[1:]) & np.isnan(keys[:-1]))
    edges = np.flatnonzero(new)
    sizes = np.diff(edges)
    return np.repeat(edges[:-1] + 1, sizes), np.repeat(edges[1:], sizes)


def _break_ties(entries: Entries, first: Ints, last: Ints, query: Query) -> Ints:
    permutation, ties = np.arange(len(first)), query.protocol.ties
    for start in np.unique(first[first < last]).tolist():
        if ties == "error":
            _report_tie(entries, start - 1, query)
        block = slice(start - 1, int(last[start - 1]))
        members = permutation[block].tolist()
        permutation[block] = _tie_order(members, entries.documents, query.name, ties)
    return permutation


def _report_tie(entries: Entries, i: int, query: Query) -> None:
    a, b = entries.documents[i], entries.documents[i + 1]
    message = f": documents {a!r} and {b!r} have the same {query.protocol.order}"
    hint = "choose an order of ties, such as --set ties=docid-desc"
    query.note("tie", message, hint, entries.rows[i + 1])


def _tie_order(members: list[int], documents: list[str], query: str, ties: str) -> list[int]:
    if ties == "input":
        return members
    if ties == "input-reversed":
        return members[::-1]
    if ties.startswith("random"):
        return sorted(members, key=lambda i: _draw(call(ties)[1][0], query, documents[i]))
    return sorted(members, key=documents.__getitem__, reverse=ties != "docid-asc")


def _draw(seed: str, query: str, document: str) -> bytes:
    """Draw from seed, query and document only, so that no other row changes the order."""
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
