"""Judgments: which grade a document has for a query."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from idealist.errors import Faults
from idealist.notation import tidy
from idealist.tables.columns import Bools, Floats, Ints, freeze, starts_of
from idealist.tables.judgments import Judgments, Scale, Subtopics, check_grades


@dataclass(frozen=True)
class Pool:
    """Queries with similarly many judgments: their grades, highest first, padded to one width."""

    queries: Ints
    grades: Floats
    judged: Bools


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judged pairs of query and document, sorted by query and document.

    The pairs of query ``queries[i]`` are ``documents[starts[i]:starts[i + 1]]``. Where a document
    is judged by subtopic, its grade is the highest one and `subtopics` holds the rows. `left_out`
    names judged queries that are not to count.
    """

    queries: tuple[str, ...]
    starts: Ints
    documents: tuple[str, ...]
    grades: Floats
    columns: Mapping[str, Any] = field(default_factory=dict)
    subtopics: Subtopics | None = None
    scale: Scale | None = None
    repeats: int = 0
    name: str = "qrels"
    left_out: frozenset[str] = frozenset()

    @classmethod
    def build(
        cls,
        query: Sequence[str],
        document: Sequence[str],
        grade: Sequence[float],
        *,
        subtopic: Sequence[str] | None = None,
        columns: Mapping[str, Sequence[Any]] | None = None,
        scale: Scale | None = None,
        lines: Sequence[int] | None = None,
        empty: Sequence[str] = (),
        name: str = "qrels",
    ) -> Qrels:
        """Sort rows into a table; a repeated judgment counts once, a contradiction is refused.

        `empty` names queries that were judged to have no relevant document at all.
        """
        rows = Judgments(query, document, grade, subtopic or [""] * len(query), lines)
        faults = Faults(name)
        if not len(query):
            faults.fail("empty", "there are no judgments", "give at least one judged document")
        kept = rows.unique(faults)
        check_grades(rows, kept, scale, faults)
        faults.check()
        pairs = [i for n, i in enumerate(kept) if not n or rows.pair(i) != rows.pair(kept[n - 1])]
        sizes = dict.fromkeys(sorted({*query, *empty}), 0)
        for i in pairs:
            sizes[query[i]] += 1
        grades, subtopics = rows.by_subtopic(kept, pairs, subtopic is not None)
        return cls(
            queries=tuple(sizes),
            starts=freeze(starts_of(list(sizes.values()))),
            documents=tuple(document[i] for i in pairs),
            grades=freeze(grades),
            columns=_columns(columns or {}, pairs),
            subtopics=subtopics,
            scale=scale,
            repeats=len(query) - len(kept),
            name=name,
        )

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return (
            f"<Qrels {self.name}: {len(self.queries)} queries, {len(self)} judgments, {self.hash}>"
        )

    @cached_property
    def hash(self) -> str:
        """Ten hexadecimal digits that depend on the judgments alone, not on order or format."""
        digest = hashlib.sha256()
        for row in self._hash_rows():
            digest.update(json.dumps(row).encode() + b"\n")
        return digest.hexdigest()[:10]

    def _hash_rows(self) -> Iterable[tuple[str, ...]]:
        names = sorted(self.columns)
        columns = [self.columns[name] for name in names]
        yield ("columns", *names, "scale", *(map(str, self.scale.grades) if self.scale else ()))
        for query, start, end in self.spans():
            yield (query, str(end - start))
            for i in range(start, end):
                extra = (_cell(column[i]) for column in columns)
                yield (query, self.documents[i], _cell(self.grades[i]), *extra)
        if self.subtopics is not None:
            rows = zip(
                self.subtopics.pair, self.subtopics.subtopic, self.subtopics.grade, strict=True
            )
            for pair, subtopic, grade in rows:
                yield (str(pair), subtopic, _cell(grade))

    def spans(self) -> Iterable[tuple[str, int, int]]:
        """Give each query with the first and the past-the-end index of its pairs."""
        return zip(self.queries, self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)

    @cached_property
    def lookup(self) -> dict[str, dict[str, int]]:
        """The index of each judged pair, by query and document."""
        return {
            query: {self.documents[i]: i for i in range(start, end)}
            for query, start, end in self.spans()
        }

    @cached_property
    def numbers(self) -> dict[str, Floats]:
        """The judgment columns that hold numbers."""
        columns = self.columns.items()
        return {name: column for name, column in columns if isinstance(column, np.ndarray)}

    @cached_property
    def truncated(self) -> Qrels:
        """The same judgments with fractions cut off, as C's `atol` reads them."""
        whole = np.trunc(self.grades)
        return self if np.array_equal(whole, self.grades) else replace(self, grades=freeze(whole))

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """The grades by query, in blocks of similar size, so that one long list pads few others."""
        sizes = np.diff(self.starts)
        width = np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
        return tuple(self._pool(np.flatnonzero(width == exponent)) for exponent in np.unique(width))

    def _pool(self, queries: Ints) -> Pool:
        starts, sizes = self.starts[queries], np.diff(self.starts)[queries]
        column = np.arange(max(int(sizes.max()), 1))
        judged = column < sizes[:, None]
        cell = np.where(judged, starts[:, None] + column, 0)  # a table has at least one judgment
        grades = np.where(judged, self.grades[cell], -np.inf)
        grades = -np.sort(-grades, axis=1)
        return Pool(queries, freeze(np.where(judged, grades, 0.0)), freeze(judged))

    @cached_property
    def maximum(self) -> float:
        """The highest grade of the declared scale, or else the highest one given."""
        return float(self.scale.maximum if self.scale else self.grades.max())

    def on(self, scale: Scale) -> Qrels:
        """Declare the scale of the grades; each must be on it."""
        query = [query for query, start, end in self.spans() for _ in range(start, end)]
        rows = Judgments(query, self.documents, self.grades.tolist(), [""] * len(query), None)
        faults = Faults(self.name)
        check_grades(rows, list(range(len(query))), scale, faults)
        faults.check()
        return replace(self, scale=scale)

    def only(self, queries: Collection[str]) -> Qrels:
        """Keep the judgments of some queries.

        >>> qrels = Qrels.build(["q1", "q2"], ["d1", "d1"], [1, 0])
        >>> qrels.only({"q2"}).queries
        ('q2',)
        """
        chosen = [(query, start, end) for query, start, end in self.spans() if query in queries]
        kept = np.array([i for _, start, end in chosen for i in range(start, end)], dtype=np.int64)
        if not len(kept):
            hint = "check that the ids are written alike"
            Faults(self.name).fail("empty", "none of the queries asked for has a judgment", hint)
        return replace(
            self,
            queries=tuple(query for query, _, _ in chosen),
            starts=freeze(starts_of([end - start for _, start, end in chosen])),
            documents=tuple(self.documents[i] for i in kept),
            grades=freeze(self.grades[kept]),
            columns=_columns(self.columns, kept),
            subtopics=self.subtopics and self.subtopics.only(kept),
            left_out=self.left_out | (set(self.queries) - {query for query, _, _ in chosen}),
        )


def _columns(columns: Mapping[str, Sequence[Any]], pairs: Iterable[int]) -> Mapping[str, Any]:
    return MappingProxyType({key: _column(values, pairs) for key, values in columns.items()})


def _column(values: Sequence[Any], pairs: Iterable[int]) -> Floats | tuple[str, ...]:
    chosen = [values[i] for i in pairs]
    if all(isinstance(value, str) for value in chosen):
        return tuple(chosen)
    return freeze(np.array(chosen, dtype=np.float64))  # type: ignore[no-any-return]


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else str(tidy(float(value)))
