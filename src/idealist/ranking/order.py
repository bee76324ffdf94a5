"""Order: one query's documents, best first. Documents are sorted here and nowhere else."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

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


def entries_of(rows: Rows, span: slice, protocol: Protocol) -> Entries:
    """Read one query's rows."""
    index = np.arange(span.start, span.stop)
    scores = np.full(len(index), np.nan) if rows.scores is None else rows.scores[span]
    by = _ordered_by(rows, protocol)
    if by == "rank":
        if rows.ranks is None:
            hint = "give a rank column, or use order=score or order=given"
            Faults(rows.name).fail("missing-column", "order=rank, but the run has no ranks", hint)
        keys = rows.ranks[span]
    elif by == "given":
        keys = np.arange(len(index), dtype=np.float64)
    else:
        with np.errstate(over="ignore"):
            keys = -scores.astype(protocol.precision).astype(np.float64)
    return Entries(list(rows.documents[span]), scores, index, keys)


def _ordered_by(rows: Rows, protocol: Protocol) -> str:
    """Return what orders a run: without scores its ranks, and without these the given order."""
    if protocol.order != "score" or rows.scores is not None:
        return protocol.order
    return "given" if rows.ranks is None else "rank"


def without_duplicates(
    entries: Entries, rows: Rows, query: str, protocol: Protocol, faults: Faults
) -> Entries:
    """Keep one row per document, or note that a document was retrieved twice."""
    if len(set(entries.documents)) == len(entries.documents):
        return entries
    kept: dict[str, int] = {}
    for i, document in enumerate(entries.documents):
        if document in kept and protocol.duplicates == "error":
            first, again = (rows.line(int(entries.rows[n])) for n in (kept[document], i))
            where = f", first on line {first}" if first else ""
            faults.add(
                "duplicate",
                f"query {query!r}: document {document!r} was retrieved twice{where}",
                "remove one, or choose with --set duplicates=first or duplicates=last",
                again,
            )
        elif document not in kept or protocol.duplicates == "last":
            kept[document] = i
    return entries.at(sorted(kept.values()))


def without_self(entries: Entries, query: str, protocol: Protocol) -> Entries:
    """Leave out the document that has the query's id, and its chunks."""
    if not protocol.exclude_self:
        return entries
    others = [i for i, d in enumerate(entries.documents) if whole(d, protocol) != query]
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


def lengths(entries: Entries, rows: Rows, query: str, protocol: Protocol, faults: Faults) -> Floats:
    """Return the tokens of each entry; note invalid lengths and count them as 0.

    If the budget is a number of chunks, each entry counts as 1.
    """
    if protocol.depth.startswith("chunks"):
        return np.ones(len(entries.documents))
    if rows.tokens is None:
        hint = "add a column tokens to the run, the length of each document"
        message = f"depth={protocol.depth}, but the run has no lengths"
        Faults(rows.name).fail("missing-column", message, hint)
    tokens = rows.tokens[entries.rows]
    bad = ~np.isfinite(tokens) | (tokens < 0)
    for i in np.flatnonzero(bad).tolist():
        message = f"query {query!r}, document {entries.documents[i]!r}: length is {tokens[i]:g}"
        hint = "a length is a number of tokens, at least 0; repair it, or use another depth"
        faults.add("bad-length", message, hint, rows.line(int(entries.rows[i])))
    return np.where(bad, 0.0, tokens)


def check_keys(
    entries: Entries, rows: Rows, query: str, protocol: Protocol, faults: Faults
) -> None:
    """Note ranks and scores that cannot order documents."""
    keys = entries.keys
    if _ordered_by(rows, protocol) == "rank":
        code, hint = "bad-rank", "repair the rank column, or use order=score"
        bad, say = ~np.isfinite(keys) | (np.trunc(keys) != keys), _rank_words
    else:
        code, say = "nonfinite-score", _score_words
        hint = "repair the score, or choose with --set nonfinite=as_is or nonfinite=last"
        bad = _refused(keys, protocol.nonfinite)
    for i in np.flatnonzero(bad).tolist():
        message = f"query {query!r}, document {entries.documents[i]!r}: {say(entries, i)}"
        faults.add(code, message, hint, rows.line(int(entries.rows[i])))


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
    """Order one query's documents: the only place where documents are sorted.

    Faults are collected in `faults`, so that all queries' faults are reported together.
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
        faults = Faults()  # ties of what is sorted again below are reported already
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
    """Keep the first entries whose lengths add up to at most the budget, in the run's order."""
    ranked, _, _ = _sorted(entries, rows, query, protocol, faults)
    with np.errstate(over="ignore"):
        spent = np.cumsum(lengths(ranked, rows, query, protocol, faults))
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
    hint = "choose an order for ties, such as --set ties=docid-desc"
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
