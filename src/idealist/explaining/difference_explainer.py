"""Explaining differences: why a query has another value in another run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from idealist.data import Queries
from idealist.data.columns import to_id
from idealist.evaluating.evaluator import Evaluator
from idealist.explaining.contributions import ADDITIVE
from idealist.explaining.difference_explanation import Change, DifferenceExplanation
from idealist.explaining.explained_run import ExplainedRun, one_or_more
from idealist.explaining.worsened_queries import WorsenedQueries
from idealist.formats import read_queries
from idealist.formats.document_texts import DocumentTexts, document_texts
from idealist.formats.source import distinct
from idealist.ranking.whole_lists import judged_documents, whole_lists

#: How many queries are looked up in one pass over the runs.
TOGETHER = 1000
#: By how much the sum of what documents add may miss a value that they make up.
ROUNDING = 1e-9
#: What is said of values that are no sum, of those that a rule makes, and of those that are one.
UNTOLD = "so it cannot be said what each document did to it; the lists show what moved"
SET = "the value is rounded, undefined or set by a rule, and not what documents add"
DEPENDS = (
    "what a document adds depends on those above it, so an effect is not what this document would "
    "have done alone"
)


class DifferenceExplainer:
    """Judgments, two runs and a measure, prepared once, to explain how any query changed.

    `baseline` and `run` may be ranked already, by these judgments. `texts` has the texts of the
    queries, `docs` those of the documents, and the `options` are those of `evaluate`.

    >>> qrels, old, new = {"q1": {"d1": 1}}, {"q1": ["d1", "d2"]}, {"q1": ["d2", "d1"]}
    >>> found = DifferenceExplainer(qrels, old, new, "RR@10")("q1")
    >>> found.difference, found.changes[0].words()
    (-0.5, 'd1 (grade 1) fell from 1 to 2: -0.5000')
    """

    def __init__(
        self, qrels: Any, baseline: Any, run: Any, measure: Any, *, texts: Any = None,
        docs: Any = None, **options: Any,
    ) -> None:  # fmt: skip
        evaluator = Evaluator(qrels, [measure], **options)
        ((self.label, self.instrument),) = evaluator.instruments.items()
        self._old, self._new = (ExplainedRun.of(evaluator, one) for one in (baseline, run))
        self.names = distinct([one.ranked.run.name for one in (self._old, self._new)])
        self.texts = Queries({}) if texts is None else read_queries(texts)
        self._convention = evaluator.convention.name
        self._signature = evaluator.signatures[self.label]
        self._docs = docs

    @property
    def meets(self) -> bool:
        """Whether any document of each run is judged."""
        return self._old.meets and self._new.meets

    @property
    def sense(self) -> int:
        """1 where higher is better, -1 where lower is, 0 where neither."""
        measure = self.instrument.measure
        return measure.direction if measure.judges else 0

    def __call__(self, query: Any, ranks: int | None = None) -> DifferenceExplanation:
        """Explain how a query changed; both lists are shown down to the cutoff, or 10."""
        return next(self.each([query], ranks))

    def each(
        self, queries: Iterable[Any], ranks: int | None = None
    ) -> Iterator[DifferenceExplanation]:
        """Explain many queries: the runs, and the texts, are read once for hundreds of them."""
        named = map(to_id, queries)
        while some := list(islice(named, TOGETHER)):
            yield from self._batch(some, ranks)

    def worst(
        self, count: int = 10, full: bool = False, ranks: int | None = None
    ) -> WorsenedQueries:
        """Find the queries that lost most, the worst first, and why; `full` shows their lists."""
        old, new = self._old.measured, self._new.measured
        lost = (old.values - new.values) * (self.sense or 1)
        counted = old.counted & new.counted & ~np.isnan(lost)
        places = np.flatnonzero(counted & (lost > ROUNDING))
        order = places[np.argsort(-lost[places], kind="stable")][: one_or_more("count", count)]
        queries = self._old.placements.qrels.queries
        return WorsenedQueries(
            measure=self.label,
            convention=self._convention,
            signature=self._signature,
            baseline=self.names[0],
            run=self.names[1],
            before=old.aggregate,
            after=new.aggregate,
            queries=int(counted.sum()),
            lost=len(places),
            explanations=tuple(self.each([queries[i] for i in order], ranks)),
            sense=self.sense,
            full=full,
        )

    def _batch(self, queries: Sequence[str], ranks: int | None) -> list[DifferenceExplanation]:
        """Explain queries whose lists are found together."""
        places = list(map(self._index, queries))
        protocol = self.instrument.protocol
        old, new = (whole_lists(one.ranked, protocol, queries) for one in (self._old, self._new))
        depth = self._new.depth(ranks)
        found = []
        for query, i, before, after in zip(queries, places, old, new, strict=True):
            both = _MeasuredList.of(self._old, i, before), _MeasuredList.of(self._new, i, after)
            found.append(self._explained(query, i, *both, depth))
        return self._told(found)

    def _index(self, query: str) -> int:
        """Find a judged query, or say why neither run has it."""
        side = self._new if query in self._new.placements.unknown else self._old
        return side.index(query)

    def _explained(
        self, query: str, index: int, old: _MeasuredList, new: _MeasuredList, ranks: int
    ) -> DifferenceExplanation:
        changes = sorted(_changes(old, new, ranks), key=_first)
        return DifferenceExplanation(
            query=query,
            measure=self.label,
            convention=self._convention,
            signature=self._signature,
            baseline=self.names[0],
            run=self.names[1],
            before=old.value,
            after=new.value,
            additive=old.adds is not None and new.adds is not None,
            words=tuple(self._words(old, new)),
            changes=tuple(changes),
            ranks=ranks,
            cutoff=self.instrument.measure.cutoff,
            sense=self.sense,
            notes=tuple(self._notes(index)),
            text=self.texts.text.get(query, ""),
        )

    def _words(self, old: _MeasuredList, new: _MeasuredList) -> Iterator[str]:
        """Say how the values are made of what documents add, or that they are not."""
        for one in (old, new):
            if one.adds is None:
                yield f"{one.words}, {UNTOLD}"
                return
        made = dict.fromkeys(one.words for one in (new, old) if one.value) or {new.words: None}
        several = len(made) > 1
        for name, words in zip(reversed(self.names), made, strict=False):
            yield f"in {name}, {words}" if several else words
        if self.instrument.measure.name not in ADDITIVE:
            yield DEPENDS

    def _notes(self, index: int) -> Iterator[str]:
        """Say what else decides one of the values, or both."""
        old, new = (list(one.notes(index)) for one in (self._old, self._new))
        yield from (note for note in old if note in new)
        for name, own, other in zip(self.names, (old, new), (new, old), strict=True):
            yield from (f"{name}: {note}" for note in own if note not in other)

    def _told(self, found: list[DifferenceExplanation]) -> list[DifferenceExplanation]:
        """Add the texts of documents, where they are given."""
        if self._docs is None:
            return found
        texts = document_texts(self._docs, {one.document for each in found for one in each.changes})
        return [_with_texts(one, texts) for one in found]


def _with_texts(found: DifferenceExplanation, texts: DocumentTexts) -> DifferenceExplanation:
    told = [
        replace(one, title=text.title, text=text.text)
        if (text := texts.found.get(one.document))
        else one
        for one in found.changes
    ]
    own = replace(texts, asked=tuple(one.document for one in told))
    return replace(found, changes=tuple(told), notes=(*found.notes, *own.remarks))


class _MeasuredList(NamedTuple):
    """One list of a query: its value, the rank of every document, and what judged ones add."""

    value: float
    ranks: dict[str, int]
    grades: dict[str, float]
    adds: dict[str, float] | None
    words: str

    @classmethod
    def of(cls, run: ExplainedRun, index: int, documents: Sequence[str]) -> _MeasuredList:
        """Take a list apart."""
        found, value = run.terms(index), float(run.measured.values[index])
        ranks = {document: rank for rank, document in enumerate(documents, 1)}
        judged = judged_documents(run.placements, index)
        grades = {document: grade for document, (_, grade) in judged.items()}
        if found.adds is None:
            return cls(value, ranks, grades, None, found.words)
        adds = dict(zip(judged, found.adds[0].tolist(), strict=False))
        made = math.fsum(adds.values())
        if not math.isclose(made, value, rel_tol=ROUNDING, abs_tol=ROUNDING):
            return cls(value, ranks, grades, None, SET)
        return cls(value, ranks, grades, adds, found.words)


def _changes(old: _MeasuredList, new: _MeasuredList, ranks: int) -> Iterator[Change]:
    """Say what became of the first documents of both lists, and of all that add something."""
    both = [own.adds for own in (old, new) if own.adds is not None]
    adds = both if len(both) == 2 else []
    first = (one for own in (new, old) for one, rank in own.ranks.items() if rank <= ranks)
    adding = (one for own in adds for one, part in own.items() if part)
    grades = old.grades | new.grades
    for one in dict.fromkeys([*first, *adding]):
        before, after = [own.get(one, 0.0) for own in adds] or (None, None)
        ranked = old.ranks.get(one), new.ranks.get(one)
        yield Change(one, grades.get(one), *ranked, before, after)


def _first(change: Change) -> tuple[float, float, int]:
    """Order changes: by what they did to the value, by grade if that is not known, by rank."""
    effect, grade = change.effect, change.grade or 0.0
    size = grade if effect is None else round(abs(effect), 12)
    ranks = [rank for rank in (change.before, change.after) if rank is not None]
    return -size, -(change.grade is not None), min(ranks)


def explain_difference(
    qrels: Any, baseline: Any, run: Any, measure: Any, *, query: Any, ranks: int | None = None,
    **options: Any,
) -> DifferenceExplanation:  # fmt: skip
    """Explain why a query has another value in `run` than in `baseline`, document by document.

    What each document did to the value adds up to the difference, where the measure is a sum over
    documents; others say that they are not. `ranks` says how many ranks of both lists are shown;
    the `options` are those of `DifferenceExplainer`, which explains several queries.

    >>> qrels, old, new = {"q1": {"d1": 2, "d2": 1}}, {"q1": ["d1", "d2"]}, {"q1": ["u", "d1"]}
    >>> found = explain_difference(qrels, old, new, "DCG@10", query="q1")
    >>> print("\\n".join(one.words(10) for one in found.changes))
    d1 (grade 2) fell from 1 to 2: -0.7381
    d2 (grade 1) is no longer in the list (it was at 2): -0.6309
    u (unjudged) entered at 1 (not in the list before): 0.0000
    """
    return DifferenceExplainer(qrels, baseline, run, measure, **options)(query, ranks)
