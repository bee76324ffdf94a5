"""Judgments as a table, and their grades padded into blocks for formulas over arrays."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, starmap
from json.encoder import encode_basestring_ascii
from typing import Any

import numpy as np

from idealist import kernel
from idealist.data.columns import Bools, Floats, Ints, cell_text, columns_at, freeze, starts_of
from idealist.data.judgments import (
    DECISIVE,
    JudgeRows,
    Judgments,
    Scale,
    Subtopics,
    check_grades,
)
from idealist.data.kernel_pairs import KernelDocuments, kernel_pairs, pair_lines
from idealist.data.preferences import Group, Preferences, groups_of
from idealist.data.remarks import Remark
from idealist.data.spans import Evidence
from idealist.errors import Contradictions, Faults
from idealist.notation import many, tidy


@dataclass(frozen=True, eq=False)
class Pool:
    """Queries with similarly many judgments: their grades, highest first, padded to one width.

    `known` keeps what formulas computed from these grades, for later runs.
    """

    queries: Ints
    grades: Floats
    judged: Bools
    known: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def levels(self) -> frozenset[float]:
        """The different grades."""
        return frozenset(self.grades[self.judged].tolist())

    @cached_property
    def without_negative(self) -> Pool:
        """The same, with negative grades counted as unjudged."""
        return replace(self, judged=freeze(self.judged & (self.grades >= 0)), known={})


def _json_line(*cells: str) -> bytes:
    return f"[{', '.join(map(encode_basestring_ascii, cells))}]\n".encode()


def pools_of(starts: Ints, grades: Floats) -> tuple[Pool, ...]:
    """Divide queries into blocks of similar size, so that one long list pads few others."""
    width = np.ceil(np.log2(np.maximum(np.diff(starts), 1))).astype(np.int64)
    return tuple(
        _pool(starts, grades, np.flatnonzero(width == exponent))
        for exponent in np.flatnonzero(np.bincount(width))
    )


def _pool(starts: Ints, grades: Floats, queries: Ints) -> Pool:
    first, sizes = starts[queries], np.diff(starts)[queries]
    column = np.arange(max(int(sizes.max()), 1))
    judged = column < sizes[:, None]
    padded = np.full(judged.shape, -np.inf)
    padded[judged] = grades[(first[:, None] + column)[judged]]
    padded = -np.sort(-padded, axis=1)
    return Pool(queries, freeze(np.where(judged, padded, 0.0)), freeze(judged))


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judged pairs of query and document, sorted by query and document.

    The pairs of query ``queries[i]`` are ``documents[starts[i]:starts[i + 1]]``. If a document is
    judged by subtopic, its grade is the highest one and `subtopics` holds the rows; with
    `preferences`, it is the highest level. `left_out` names judged queries that do not count,
    `remarks` says what reading them decided, and `read_with` which options that took. `is_trec`
    says that they were TREC text, whose grades are whole numbers. `judged_by` holds what each of
    several judges said, and `merge` the rule that made one grade of it. `meant` is what the user
    says of documents without a judgment: see `gold`. `whole` are the judgments that these are part
    of. `stated` is the hash of judgments whose documents are not known, as in a bundle. Where the
    documents are spans, `cover` is the rule by which chunks find them.
    """

    queries: tuple[str, ...]
    starts: Ints
    documents: Sequence[str]
    grades: Floats
    columns: Mapping[str, Any] = field(default_factory=dict)
    subtopics: Subtopics | None = None
    preferences: Preferences | None = None
    scale: Scale | None = None
    repeats: int = 0
    ungraded: int = 0
    ignored: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    read_with: tuple[str, ...] = ()
    name: str = "qrels"
    left_out: frozenset[str] = frozenset()
    is_trec: bool = False
    judged_by: JudgeRows | None = None
    merge: str = ""
    meant: str = ""
    whole: Qrels | None = None
    stated: str = ""
    cover: str = ""

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
        ungraded: int = 0,
        ignored: Sequence[str] = (),
        remarks: Sequence[Remark] = (),
        name: str = "qrels",
    ) -> Qrels:
        """Sort rows into a table; a repeated judgment counts once, a contradiction is refused.

        `empty` names queries judged to have no relevant document; `ungraded` counts rows that came
        without a grade and were not kept, `ignored` names columns that were not kept.
        """
        rows = Judgments(query, document, grade, subtopic or [""] * len(query), lines)
        faults = Faults(name)
        if not len(query) and not empty:
            faults.fail("empty", "there are no judgments", "give at least one judged document")
        kept = rows.unique(faults)
        contradicting = faults.total
        rows.check_columns(columns or {}, faults)
        check_grades(rows, kept, scale, faults)
        if contradicting:
            raise Contradictions(faults.shown, faults.total, {
                "query": query, "document": document, "grade": grade, "subtopic": subtopic,
                "columns": columns, "scale": scale, "lines": lines, "empty": empty,
                "ungraded": ungraded, "ignored": ignored, "remarks": remarks, "name": name,
            })  # fmt: skip
        faults.check()
        pairs, subtopics = kept, None
        if subtopic is None:
            grades = np.array([grade[i] for i in kept], dtype=np.float64)
        else:
            pairs = rows.pairs(kept)
            grades, subtopics = rows.by_subtopic(kept, pairs)
        sizes = dict.fromkeys(sorted({*query, *empty}), 0) | Counter(query[i] for i in pairs)
        return cls(
            queries=tuple(sizes),
            starts=freeze(starts_of(list(sizes.values()))),
            documents=tuple(document[i] for i in pairs),
            grades=freeze(grades),
            columns=columns_at(columns or {}, pairs),
            subtopics=subtopics,
            scale=scale,
            repeats=len(query) - len(kept),
            ungraded=ungraded,
            ignored=tuple(ignored),
            remarks=tuple(remarks),
            name=name,
        )

    def __len__(self) -> int:
        return len(self.documents)

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: the columns, and nothing of the kernel's."""
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        return held | {"documents": tuple(self.documents), "columns": dict(self.columns)}

    def __repr__(self) -> str:
        queries = many(len(self.queries), "query", "queries")
        judgments = many(len(self), "judgment", "judgments")
        return f"<Qrels {self.name}: {queries}, {judgments}, {self.hash}>"

    @classmethod
    def of_kernel(
        cls,
        found: tuple[Any, bytes, int],
        scale: Scale | None,
        name: str,
        remarks: Sequence[Remark] = (),
    ) -> Qrels | None:
        """Take over what the kernel read; None where a grade is not on the scale."""
        pairs, grades, repeats = found
        documents, column = KernelDocuments(pairs), freeze(np.frombuffer(grades))
        if scale is not None and not np.isin(column, scale.grades).all():
            return None
        return cls(
            documents.queries, documents.starts, documents, column,
            scale=scale, repeats=repeats, name=name, remarks=tuple(remarks),
        )  # fmt: skip

    def pairs(self, module: Any) -> Any:
        """Return the judged pairs as the kernel keeps them, which is done once."""
        if "_pairs" not in vars(self):
            vars(self)["_pairs"] = kernel_pairs(module, self.queries, self.starts, self.documents)
        return vars(self)["_pairs"]

    @property
    def hash(self) -> str:
        """Ten hexadecimal digits that depend only on the judgments, not on order or format."""
        return self.stated or self.digest[:10]

    @cached_property
    def digest(self) -> str:
        """The digits of which `hash` has the first, all of them."""
        digest = hashlib.sha256()
        for line in self.hashed_lines():
            digest.update(line)
        return digest.hexdigest()

    def hashed_lines(self) -> Iterator[bytes]:
        """Yield what is hashed: a line on columns and scale, then the judgments in their order."""
        named = {name: column.tolist() for name, column in self.numbers.items()}
        named |= {name: self.columns[name] for name in DECISIVE if name in self.columns}
        scale = map(str, self.scale.grades) if self.scale else ()
        yield _json_line("columns", *sorted(named), "scale", *scale)
        module = None if named else kernel.native()
        if module is None:
            yield from starmap(_json_line, self._hash_rows(named))
        else:
            yield from pair_lines(self.pairs(module), len(self.queries), self.grades, cell_text)
        yield from starmap(_json_line, self._hash_others())

    def _hash_rows(self, named: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
        columns = [self.grades.tolist(), *(named[name] for name in sorted(named))]
        cells = zip(*(map(cell_text, column) for column in columns), strict=True)
        for query, start, end in self.spans():
            yield (query, str(end - start))
            for document, row in zip(self.documents[start:end], cells, strict=False):
                yield (query, document, *row)

    def _hash_others(self) -> Iterable[Iterable[str]]:
        if (rows := self.subtopics) is not None:
            for row in zip(rows.pair, rows.subtopic, rows.grade, strict=True):
                yield map(cell_text, row)
        for row in self.preferences.rows() if self.preferences else ():
            yield map(cell_text, row)
        if self.cover:
            yield ("cover", self.cover)

    def spans(self) -> Iterable[tuple[str, int, int]]:
        """Yield each query with the first and the past-the-end index of its pairs."""
        return zip(self.queries, self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)

    @cached_property
    def known(self) -> frozenset[str]:
        """The judged queries."""
        return frozenset(self.queries)

    @cached_property
    def evidence(self) -> Evidence | None:
        """The spans that chunks are to find; None if documents are judged.

        >>> Qrels.build(["q"], ["d[0:9]"], [1]).evidence is None
        True
        """
        spans = ((query, self.documents[start:end]) for query, start, end in self.spans())
        return Evidence.of(self.cover, spans) if self.cover else None

    @cached_property
    def lookup(self) -> dict[str, dict[str, int]]:
        """The index of each judged pair, by query and document."""
        return {
            query: {self.documents[i]: i for i in range(start, end)}
            for query, start, end in self.spans()
        }

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the grades by query and document.

        >>> Qrels.build(["q1"], ["d1"], [2]).to_dict()
        {'q1': {'d1': 2}}
        """
        grades = [tidy(grade) for grade in self.grades.tolist()]
        return {
            q: dict(zip(self.documents[a:b], grades[a:b], strict=True)) for q, a, b in self.spans()
        }

    @cached_property
    def numbers(self) -> dict[str, Floats]:
        """The judgment columns that hold numbers."""
        columns = self.columns.items()
        return {name: column for name, column in columns if isinstance(column, np.ndarray)}

    @cached_property
    def truncated(self) -> Qrels:
        """The same judgments with fractions cut off, as C's `atol` reads them."""
        rows, whole = self.subtopics and self.subtopics.truncated, np.trunc(self.grades)
        same = rows is self.subtopics and np.array_equal(whole, self.grades)
        return self if same else replace(self, grades=freeze(whole), subtopics=rows)

    @property
    def keeps_fractions(self) -> bool:
        """Whether grades have fractions that no reader of TREC text has cut off."""
        return not self.is_trec and self.truncated is not self

    @cached_property
    def gold(self) -> str:
        """What a document without a judgment is: one of `GOLD`, said or else found.

        Where no judgment says that a document is not relevant, only relevant ones were listed;
        rows without a grade show that others were looked at.

        >>> Qrels.build(["q", "q"], ["a", "b"], [1, 2]).gold
        'positives'
        """
        graded = self.preferences is None and not self.ungraded and len(self)
        return self.meant or ("positives" if graded and self.grades.min() > 0 else "pooled")

    @cached_property
    def nonzero(self) -> Qrels:
        """The judgments whose truncated grade is not 0; a query left without any stays."""
        kept = np.flatnonzero(self.truncated.grades)
        sizes = np.diff(np.searchsorted(kept, self.starts))
        found = self.truncated.at(kept, self.queries, sizes)
        return replace(found, subtopics=found.subtopics and found.subtopics.nonzero)

    def cast(self, grades: str) -> Qrels:
        """Read the grades as the axis `grades` says.

        >>> qrels = Qrels.build(["q1", "q1", "q2"], ["d1", "d2", "d1"], [1.7, 0, 0])
        >>> qrels.cast("nonzero").grades.tolist(), qrels.cast("nonzero").queries
        ([1.0], ('q1', 'q2'))
        """
        if grades == "keep":
            return self
        return self.nonzero if grades == "nonzero" else self.truncated

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """The grades by query, in blocks of similar size."""
        return pools_of(self.starts, self.grades)

    @cached_property
    def preferred(self) -> tuple[tuple[Group, ...], ...] | None:
        """What the groups of each query prefer; None if the grades say it for all."""
        return groups_of(self)

    @cached_property
    def maximum(self) -> float:
        """The highest grade of the declared scale, or else of the judgments."""
        if self.scale:
            return float(self.scale.maximum)
        return float(self.grades.max()) if len(self) else 0.0

    @cached_property
    def minimum(self) -> float:
        """The lowest grade of the judgments, at most 0."""
        return float(self.grades.min(initial=0.0))

    def on(self, scale: Scale) -> Qrels:
        """Declare the scale of the grades; each must be on it."""
        query = [query for query, start, end in self.spans() for _ in range(start, end)]
        rows = Judgments(query, self.documents, self.grades.tolist(), [""] * len(query), None)
        faults = Faults(self.name)
        check_grades(rows, list(range(len(query))), scale, faults)
        faults.check()
        scaled = replace(self, scale=scale)
        if not self.stated:
            return scaled
        stated = hashlib.sha256(_json_line(self.stated, *map(str, scale.grades)))
        return replace(scaled, stated=stated.hexdigest()[:10], whole=self.whole or self)

    def only(self, queries: Collection[str]) -> Qrels:
        """Keep the judgments of some queries.

        >>> qrels = Qrels.build(["q1", "q2"], ["d1", "d1"], [1, 0])
        >>> qrels.only({"q2"}).queries
        ('q2',)
        """
        chosen = [(query, start, end) for query, start, end in self.spans() if query in queries]
        kept = np.array([i for _, start, end in chosen for i in range(start, end)], dtype=np.int64)
        if not chosen:
            hint = "check that both spell the ids alike"
            Faults(self.name).fail("empty", "none of the queries asked for is judged", hint)
        names = tuple(query for query, _, _ in chosen)
        only = self.at(kept, names, [end - start for _, start, end in chosen])
        gone = self.left_out | (set(self.queries) - set(names))
        return replace(only, left_out=gone, whole=self.whole or self)

    def at(self, kept: Ints, queries: tuple[str, ...], sizes: Sequence[int] | Ints) -> Qrels:
        """Keep some pairs; `sizes` says how many of them are each query's."""
        return replace(
            self,
            queries=queries,
            starts=freeze(starts_of(sizes)),
            documents=tuple(map(self.documents.__getitem__, kept.tolist())),
            grades=freeze(self.grades[kept]),
            columns=columns_at(self.columns, kept.tolist()),
            subtopics=self.subtopics and self.subtopics.only(kept),
            preferences=self.preferences and self.preferences.only(kept),
            judged_by=self.judged_by and self.judged_by.only(kept),
            stated=self._stated_part(queries, kept),
        )

    def _stated_part(self, queries: tuple[str, ...], kept: Ints) -> str:
        """Name a part of judgments whose documents are not known, so that no other is named so."""
        if not self.stated:
            return ""
        rows = chain([(self.stated,), queries], ([str(i)] for i in kept.tolist()))
        return hashlib.sha256(b"".join(starmap(_json_line, rows))).hexdigest()[:10]
