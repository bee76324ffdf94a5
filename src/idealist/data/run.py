"""A run: what a system retrieved for each query, by score or in a given order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from idealist.data.columns import Floats, Ints, freeze, starts_of
from idealist.data.remarks import Remark
from idealist.errors import Faults

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from idealist.data.spans import Evidence
    from idealist.ranking.compiled import KernelAnswer, KernelRequest


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a run, grouped by query and otherwise in the order they came.

    The rows of query ``queries[i]`` are ``documents[starts[i]:starts[i + 1]]``. Without scores, the
    ranks are the ranking, or else the given order. `tokens` are the lengths of the documents, if
    known. `lines` holds the line of each row in the file, `ignored` names columns that no ranking
    needs, `unscored` counts rows that came without a score and were not kept, `remarks` says what
    reading them decided, and `tag` is TREC's last column. Where the documents are chunks,
    `evidence` is what they are to find.
    """

    queries: tuple[str, ...]
    starts: Ints
    documents: Sequence[str]
    scores: Floats | None = None
    ranks: Floats | None = None
    tokens: Floats | None = None
    lines: Ints | None = None
    ignored: tuple[str, ...] = ()
    unscored: int = 0
    remarks: tuple[Remark, ...] = ()
    tag: str = ""
    name: str = "run"
    evidence: Evidence | None = None

    @classmethod
    def build(
        cls,
        query: Sequence[str],
        document: Sequence[str],
        score: Sequence[float] | None = None,
        *,
        rank: Sequence[float] | None = None,
        tokens: Sequence[float] | None = None,
        lines: Sequence[int] | None = None,
        empty: Sequence[str] = (),
        ignored: Sequence[str] = (),
        unscored: int = 0,
        remarks: Sequence[Remark] = (),
        tag: str = "",
        name: str = "run",
    ) -> Rows:
        """Group rows by query; `empty` names queries for which nothing was retrieved."""
        if not len(query) and not empty:
            hint = "give at least one retrieved document"
            Faults(name).fail("empty", "the run holds no rows", hint)
        codes: dict[str, int] = {}
        code = np.array([codes.setdefault(q, len(codes)) for q in query], dtype=np.int64)
        for q in empty:
            codes.setdefault(q, len(codes))
        sizes = np.bincount(code, minlength=len(codes))
        given = {"scores": score, "ranks": rank, "tokens": tokens, "lines": lines}
        columns: dict[str, Any] = {
            key: np.array(column, dtype=np.int64 if key == "lines" else np.float64)
            for key, column in given.items()
            if column is not None
        }
        if np.any(np.diff(code) < 0):  # rows of one query lie apart
            together = np.argsort(code, kind="stable")
            document = [document[i] for i in together.tolist()]
            columns = {key: column[together] for key, column in columns.items()}
        columns = {key: freeze(column) for key, column in columns.items()}
        columns |= {"ignored": tuple(ignored), "unscored": unscored, "remarks": tuple(remarks)}
        columns |= {"tag": tag, "name": name}
        return cls(tuple(codes), freeze(starts_of(sizes)), document, **columns)

    def __len__(self) -> int:
        return len(self.documents)

    def spans(self) -> dict[str, slice]:
        """Return the rows of each query, as slices."""
        ends = zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
        return {query: slice(*ends_) for query, ends_ in zip(self.queries, ends, strict=True)}

    def line(self, row: int) -> int | None:
        """Return the line of a row, if it came from a file."""
        return int(self.lines[row]) if self.lines is not None else None

    def rows(self) -> Rows:
        """Return the rows themselves."""
        return self

    def some(self, queries: Collection[str]) -> Rows:
        """Keep the rows of some queries."""
        spans = self.spans()
        kept = {query: spans[query] for query in queries if query in spans}
        index = np.concatenate([np.zeros(0, np.int64), *map(_range, kept.values())])
        starts = starts_of([span.stop - span.start for span in kept.values()])
        return self.at(index, tuple(kept), starts)

    def at(self, index: Ints, queries: tuple[str, ...], starts: Ints) -> Rows:
        """Keep some rows; `starts` says which of them are each query's."""
        names = ("scores", "ranks", "tokens", "lines")
        columns = {
            key: column[index] for key in names if (column := getattr(self, key)) is not None
        }
        documents = [self.documents[i] for i in index.tolist()]
        return replace(self, queries=queries, starts=starts, documents=documents, **columns)

    def present(self) -> Rows:
        """Leave out queries without rows."""
        sizes = np.diff(self.starts)
        queries = tuple(q for q, size in zip(self.queries, sizes, strict=True) if size)
        return replace(self, queries=queries, starts=starts_of(sizes[sizes > 0]))

    def held(self) -> Rows:
        """Return the rows themselves: they are in memory."""
        return self


def _range(span: slice) -> Ints:
    return np.arange(span.start, span.stop)


class Source(Protocol):
    """What a run is read from when it is ranked: a file, or an object other than `Rows`."""

    @property
    def name(self) -> str:
        """What errors call it."""

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What reading it decided, once it is read."""

    def rows(self) -> Rows:
        """Read all rows."""

    def some(self, queries: Collection[str]) -> Rows:
        """Read the rows of some queries."""

    def ranked(self, request: KernelRequest) -> KernelAnswer | None:
        """Let the compiled kernel read and rank it; None if it cannot."""

    def held(self) -> Source | Rows:
        """Return what can be ranked several times without being parsed in Python each time."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A named ranking for many queries; one read from a file stays a file until it is ranked.

    >>> run = Run(Rows.build(["q1", "q1"], ["d2", "d1"], [0.4, 0.9]), name="bm25")
    >>> run
    <Run bm25>
    >>> len(run.rows())
    2
    """

    source: Source | Rows
    name: str

    def __repr__(self) -> str:
        return f"<Run {self.name}>"

    def rows(self) -> Rows:
        """Return the rows; those of a file are read again each time and take no memory."""
        return self.source.rows()

    def loaded(self) -> Run:
        """Return the same run with its rows in memory."""
        return Run(self.rows(), self.name)

    def held(self) -> Run:
        """Return the same run in a form that can be ranked several times."""
        return Run(self.source.held(), self.name)

    def renamed(self, name: str) -> Run:
        """Return the same run under another name."""
        return Run(self.source, name)
