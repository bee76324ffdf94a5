"""Chunk lists: ranked chunks become the evidence that they find, each piece once.

A chunk that finds several pieces stands for them one after the other, and one that finds nothing
new keeps its place, so that the same evidence in the same order has the same value however
documents are cut into chunks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from idealist.data import Qrels, Rows, Run
from idealist.data.columns import Ints, freeze, starts_of
from idealist.data.remarks import Remark
from idealist.data.run import Source
from idealist.data.spans import Evidence, Piece, Ranges, Span, overlap
from idealist.errors import Faults, UsageError
from idealist.ranking.compiled import KernelAnswer, KernelRequest
from idealist.ranking.order import Ranking

#: What a chunk is called that is a piece of evidence, found in another chunk above.
AGAIN = "{} again"


class Sums(NamedTuple):
    """What lists have down to some chunk, one number a query.

    How many pieces of evidence they `found`, how many characters of it they `covered`, and how many
    characters were `read`: once each, and as often as they were `repeated`.
    """

    found: Ints
    covered: Ints
    read: Ints
    repeated: Ints


@dataclass(frozen=True, eq=False)
class Coverage:
    """What lists of chunks have down to each of their entries, with the number of its chunk.

    The entries of a query begin at `starts`; the columns of `sums` are those of `Sums`.
    """

    starts: Ints
    chunk: Ints
    sums: Ints

    @classmethod
    def of(cls, lists: Iterable[tuple[int, Ranking]], queries: int) -> Coverage:
        """Put the lists of all queries one after the other, by the number of each query."""
        sizes = np.zeros(queries, dtype=np.int64)
        columns = [np.zeros((0, 5), dtype=np.int64)]
        for query, ranking in sorted(lists, key=lambda pair: pair[0]):
            sizes[query] = len(ranking.documents)
            columns.append(ranking.sums)
        joined = np.concatenate(columns)
        return cls(starts_of(sizes), freeze(joined[:, 0].copy()), freeze(joined[:, 1:].copy()))

    def within(self, chunks: int | None, retrieved: Ints) -> Sums:
        """Look at the first chunks of each list, of which so many entries were `retrieved`."""
        place = np.arange(len(self.chunk)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        query = np.repeat(np.arange(len(retrieved)), np.diff(self.starts))
        near = place < retrieved[query]
        if chunks is not None:
            near &= self.chunk <= chunks
        count = np.bincount(query[near], minlength=len(retrieved))
        if not len(self.sums):
            return Sums(count, count, count, count)
        last = np.maximum(self.starts[:-1] + count - 1, 0)
        return Sums(*np.where(count > 0, self.sums[last].T, 0))


@dataclass
class _Seen:
    """What was seen of the evidence for one query so far."""

    evidence: Evidence
    query: str
    found: int = 0
    covered: int = 0
    repeated: int = 0

    def __post_init__(self) -> None:
        self.read: dict[str, Ranges] = {}
        self.parts: dict[str, int] = {}
        self.known: set[str] = set()
        self.size = 0

    def add(self, chunk: Span) -> list[str]:
        """Read a chunk, and return the evidence that it finds."""
        document, start, end = chunk
        new = self.read.setdefault(document, Ranges()).add(start, end)
        self.repeated += end - start
        self.size += sum(b - a for a, b in new)
        if (gold := self.evidence.union.get(self.query, {}).get(document)) is None:
            return []
        ranges = list(zip(gold.starts, gold.ends, strict=True))
        self.covered += sum(overlap(a, b, ranges) for a, b in new)
        pieces = self.evidence.pieces[self.query][document]
        names = [one.name for one in pieces if self._finds(one, chunk, new)]
        self.known.update(names)
        self.found += len(names)
        return names

    def _finds(self, piece: Piece, chunk: Span, new: list[tuple[int, int]]) -> bool:
        """Whether a chunk, of which so much is new, finds a piece that was not found yet."""
        name, start, end = piece
        part = self.parts[name] = self.parts.get(name, 0) + overlap(start, end, new)
        kind, least = self.evidence.cover
        if name in self.known:
            return False
        if kind == "share":
            return part > 0 and part / (end - start) >= least
        both = overlap(start, end, [(chunk.start, chunk.end)])
        return both > 0 and both / (end - start + chunk.end - chunk.start - both) >= least

    @property
    def sums(self) -> tuple[int, int, int, int]:
        """The columns of `Sums`."""
        return self.found, self.covered, self.size, self.repeated


def with_evidence(ranking: Ranking, query: str, evidence: Evidence) -> Ranking:
    """Put the evidence that chunks find in their place, each piece at the first that finds it."""
    seen, names, chunk, sums = _Seen(evidence, query), [], [], []
    for number, name in enumerate(ranking.documents):
        if (span := Span.of(name)) is None:
            hint = "collapse works on judged documents: evidence_documents(gold)"
            raise UsageError(f"query {query}: {name} is no chunk, and the gold is spans", hint)
        found = seen.add(span) or [AGAIN.format(name) if name in seen.known else name]
        names += found
        chunk += [number] * len(found)
        sums += [(number + 1, *seen.sums)] * len(found)
    first = np.searchsorted(chunk, np.arange(len(ranking.documents) + 1))  # entry of each chunk
    one = np.array(chunk, dtype=np.int64)
    tied = ranking.first[one] < ranking.last[one]
    place = np.arange(1, len(one) + 1)
    return replace(
        ranking,
        documents=names,
        scores=ranking.scores[one],
        first=np.where(tied, first[ranking.first[one] - 1] + 1, place),
        last=np.where(tied, first[ranking.last[one]], place),
        sums=np.array(sums, dtype=np.int64).reshape(-1, 5),
    )


@dataclass(frozen=True)
class ChunkRun:
    """A run whose documents are chunks, beside the evidence that they are to find."""

    source: Source | Rows
    evidence: Evidence

    @property
    def name(self) -> str:
        """What errors call it."""
        return self.source.name

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What reading it decided, once it is read."""
        return self.source.remarks

    def rows(self) -> Rows:
        """Read all rows; a file says in columns where chunks are, or in their names."""
        rows = getattr(self.source, "chunks", self.source.rows)()
        if rows.evidence is not None:  # they were looked at before
            return replace(rows, evidence=self.evidence)
        faults = Faults(rows.name)
        for row, name in enumerate(rows.documents):
            if Span.of(name) is None:
                hint = "give start and end of each chunk, its text and --docs, or document[0:400]"
                message = f"document {name!r} is no chunk, and the gold is spans"
                faults.add("bad-span", message, hint, rows.line(row))
        faults.check()
        return replace(rows, evidence=self.evidence)

    def some(self, queries: Collection[str]) -> Rows:
        """Read the rows of some queries."""
        return self.rows().some(queries)

    def held(self) -> Rows:
        """Return the rows."""
        return self.rows()

    def ranked(self, request: KernelRequest) -> KernelAnswer | None:
        """Decline: the kernel knows nothing of evidence."""
        return None


def chunked(run: Run, qrels: Qrels) -> Run:
    """Return a run beside the evidence that it is to find, if the judgments are spans."""
    if (evidence := qrels.evidence) is None:
        return run
    source = run.source.source if isinstance(run.source, ChunkRun) else run.source
    return Run(ChunkRun(source, evidence), run.name)
