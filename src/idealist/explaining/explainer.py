"""Explaining: why a query has its value, and which queries lose most."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from idealist.data import Queries
from idealist.data.columns import Floats, Ints, to_id
from idealist.evaluating.evaluator import Evaluator
from idealist.explaining.contributions import Terms
from idealist.explaining.explained_run import ExplainedRun, one_or_more
from idealist.explaining.explanation import Explanation, JudgedDocument, LosingQuery, Row, Worst
from idealist.explaining.ladder import Ladder, ladder
from idealist.formats import read_queries
from idealist.formats.document_texts import DocumentTexts, document_texts
from idealist.measures.instrument import measured
from idealist.ranking.whole_lists import Listed, judged_documents, listed_documents

#: How many queries are looked up in one pass over the run.
TOGETHER = 200
#: What the value so far means of a measure that is no sum.
CUT = "so far is the value of the list cut there"


class Explainer:
    """Judgments, a run and a measure, prepared once, to explain any of the queries.

    `texts` has the texts of the queries, as `read_queries` reads them, and `docs` those of the
    documents: {id: text}, a data frame, a file or a folder. The `options` are those of `evaluate`.

    >>> explainer = Explainer({"q1": {"d1": 1}}, {"q1": ["d3", "d1"]}, "RR@10")
    >>> explainer("q1").value, explainer("q1").losses["unjudged"]
    (0.5, 0.5)
    """

    def __init__(
        self, qrels: Any, run: Any, measure: Any, *, texts: Any = None, docs: Any = None,
        **options: Any,
    ) -> None:  # fmt: skip
        evaluator = Evaluator(qrels, [measure], **options)
        ((self.label, self.instrument),) = evaluator.instruments.items()
        self._convention = evaluator.convention.name
        self._signature = evaluator.signatures[self.label]
        self._run = ExplainedRun.of(evaluator, run)
        self.placements = self._run.placements
        self.texts = Queries({}) if texts is None else read_queries(texts)
        self._docs = docs
        self._cuts: dict[int, Floats] = {}

    @property
    def meets(self) -> bool:
        """Whether any document of the run is judged."""
        return self._run.meets

    @cached_property
    def ladder(self) -> Ladder:
        """What every query loses."""
        return ladder(self.instrument, self.placements)

    def worst(self, count: int = 10, full: bool = False, ranks: int | None = None) -> Worst:
        """Find the queries that lose most, the worst first; `full` explains each of them."""
        found, texts = self.ladder, self.texts.text
        counted = np.flatnonzero(found.counted & ~np.isnan(found.loss))
        order = counted[np.argsort(-found.loss[counted], kind="stable")].tolist()
        order = order[: one_or_more("count", count)]
        named = [found.queries[i] for i in order]
        return Worst(
            run=self._run.ranked.run.name,
            measure=self.label,
            convention=self._convention,
            signature=self._signature,
            value=self._run.measured.aggregate,
            queries=len(counted),
            losses=found.mean(),
            rows=tuple(
                LosingQuery(name, float(found.actual[i]), found.at(i), texts.get(name, ""))
                for name, i in zip(named, order, strict=True)
            ),
            explanations=tuple(self.each(named, ranks)) if full else (),
        )

    def __call__(self, query: Any, ranks: int | None = None) -> Explanation:
        """Explain a query; so many `ranks` are shown, by default down to the cutoff, or 10."""
        return next(self.each([query], ranks))

    def each(self, queries: Iterable[Any], ranks: int | None = None) -> Iterator[Explanation]:
        """Explain many queries: the run, and the texts, are read once for hundreds of them."""
        named = map(to_id, queries)
        while some := list(islice(named, TOGETHER)):
            places = list(map(self._run.index, some))
            lists = listed_documents(self._run.ranked.held, self.placements, places)
            depth = self._run.depth(ranks)
            yield from self._told([self._explained(i, lists[i], depth) for i in places])

    def _explained(self, index: int, documents: Listed, depth: int) -> Explanation:
        place = np.arange(*self.placements.starts[index : index + 2])
        found = self._run.terms(index)
        best = self._best(index)
        rows = tuple(self._rows(index, place, found, best, documents, depth))
        adds, deep = found.adds, self.placements.rank[place] > depth
        so_far = (row.so_far is not None for row in rows)
        name = self.placements.qrels.queries[index]
        return Explanation(
            run=self._run.ranked.run.name,
            query=name,
            measure=self.label,
            convention=self._convention,
            signature=self._signature,
            value=float(self.ladder.actual[index]),
            ideal=float(self.ladder.ideal[index]),
            losses=self.ladder.at(index),
            rows=rows,
            words=found.words + (f"; {CUT}" if adds is None and any(so_far) else ""),
            notes=tuple(self._notes(index)),
            retrieved=int(self.placements.retrieved[index]),
            rest=None if adds is None else math.fsum(adds[0, : len(place)][deep].tolist()),
            below=tuple(one for one in best if one.rank is not None and one.rank > depth),
            missing=tuple(one for one in best if one.rank is None),
            text=self.texts.text.get(name, ""),
        )

    def _best(self, index: int) -> list[JudgedDocument]:
        """List the documents of the ideal list, each with its rank in the actual one."""
        found = judged_documents(self.placements, index)
        best = judged_documents(self.ladder.best, index).items()
        return [JudgedDocument(one, grade, found.get(one, (None,))[0]) for one, (_, grade) in best]

    def _rows(
        self, index: int, place: Ints, found: Terms, best: Sequence[JudgedDocument],
        documents: Listed, depth: int,
    ) -> Iterator[Row]:  # fmt: skip
        """Generate the rows: what is at each rank, here and in the ideal list."""
        placements = self.placements
        at = {int(r): i for i, r in enumerate(placements.rank[place].tolist())}
        so_far = self._so_far(index, place, found, min(depth, len(documents)))
        for rank_ in range(1, min(depth, max(len(documents), len(best))) + 1):
            i = at.get(rank_)
            document, score = documents[rank_ - 1] if rank_ <= len(documents) else (None, math.nan)
            adds = None if found.adds is None or document is None else 0.0
            yield Row(
                rank=rank_,
                document=document,
                score=None if math.isnan(score) else score,
                grade=None if i is None else float(placements.grade[place[i]]),
                terms={} if i is None else {k: float(v[0, i]) for k, v in found.columns.items()},
                adds=adds if i is None or found.adds is None else float(found.adds[0, i]),
                so_far=so_far.get(rank_),
                ideal=best[rank_ - 1] if rank_ <= len(best) else None,
            )

    def _so_far(self, index: int, place: Ints, found: Terms, depth: int) -> dict[int, float]:
        """Compute the value down to each rank: a sum, or the value of the list cut there."""
        placements = self.placements
        if found.adds is not None:
            adds = np.zeros(int(placements.retrieved[index]) + 1)
            adds[placements.rank[place]] = found.adds[0, : len(place)]
            return dict(enumerate(np.cumsum(adds)[: depth + 1].tolist()))
        if placements.protocol.ties == "expected":  # the documents of a tie have no ranks
            return {}
        return {r: float(self._cut(r)[index]) for r in range(1, depth + 1)}

    def _cut(self, depth: int) -> Floats:
        """Measure all lists cut at a depth, once."""
        if depth not in self._cuts:
            self._cuts[depth] = measured(self.instrument, self.placements.cut(depth)).values
        return self._cuts[depth]

    def _told(self, found: list[Explanation]) -> list[Explanation]:
        """Add the texts of documents, where they are given."""
        if self._docs is None:
            return found
        texts = document_texts(self._docs, [one for each in found for one in _documents(each)])
        return [_with_texts(one, texts) for one in found]

    def _notes(self, index: int) -> Iterator[str]:
        """Generate remarks on what else decides the value."""
        yield from self._run.notes(index)
        if not self.instrument.measure.monotone:
            yield "the ideal list has the best documents first, but another order may be worth more"


def _documents(found: Explanation) -> tuple[str, ...]:
    """Name the documents whose texts are shown."""
    retrieved = (row.document for row in found.rows if row.document is not None)
    return *retrieved, *(one.document for one in found.missing)


def _with_texts(found: Explanation, texts: DocumentTexts) -> Explanation:
    own = replace(texts, asked=_documents(found))
    return replace(
        found,
        rows=tuple(replace(row, text=own[row.document]) for row in found.rows),
        missing=tuple(replace(one, text=own[one.document]) for one in found.missing),
        notes=(*found.notes, *own.remarks),
    )


def explain(
    qrels: Any, run: Any, measure: Any, *, query: Any, ranks: int | None = None, **options: Any
) -> Explanation:
    """Explain the value of one query, rank by rank, and what separates it from the ideal list's.

    `ranks` says how many ranks are shown; the `options` are those of `Explainer`, which explains
    several queries.

    >>> found = explain({"q1": {"d1": 2, "d2": 1}}, {"q1": ["u", "d1"]}, "DCG@10", query="q1")
    >>> [(row.document, row.grade, round(row.adds, 4)) for row in found.rows]
    [('u', None, 0.0), ('d1', 2.0, 1.2619)]
    >>> {cause: round(lost, 4) for cause, lost in found.losses.items() if lost}
    {'unjudged': 0.7381, 'missing': 0.6309}
    """
    return Explainer(qrels, run, measure, **options)(query, ranks)
