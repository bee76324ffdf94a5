"""Two lists side by side: the baseline's and the run's or, of a single run, its own and the ideal.

What changed is explained by `DifferenceExplainer` and `Explainer`; here it becomes rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealist.errors import UsageError
from idealist.explaining.difference_explainer import DifferenceExplainer
from idealist.explaining.difference_explanation import Change, DifferenceExplanation
from idealist.explaining.explainer import Explainer
from idealist.explaining.explanation import Explanation, most_lost
from idealist.formats.document_texts import DocumentText, document_texts
from idealist.notation import many, tidy
from idealist.ranking.stored_placements import has_documents
from idealist.rendering.plain_data import finite
from idealist.rendering.wording import few
from idealist.reporting.computing import Findings
from idealist.reporting.query_rows import QueryRow


@dataclass(frozen=True)
class Place:
    """A document at a rank: how it moved, its grade (None if unjudged), and what it adds."""

    rank: int
    document: str
    grade: float | None
    move: str
    adds: float | None
    title: str = ""
    text: str = ""

    def data(self) -> dict[str, Any]:
        """Return it as plain data; texts are left out."""
        return {
            "rank": self.rank, "document": self.document,
            "grade": None if self.grade is None else tidy(self.grade), "move": self.move,
            "adds": finite(self.adds),
        }  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One of the two lists: whose it is, and its value."""

    name: str
    value: float
    places: tuple[Place, ...]

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "name": self.name, "value": finite(self.value),
            "places": [one.data() for one in self.places],
        }  # fmt: skip


@dataclass(frozen=True)
class QueryLists:
    """A query with its two lists, what happened in one line (`said`), and more of it (`words`)."""

    row: QueryRow
    said: str
    words: tuple[str, ...]
    sides: tuple[Side, Side]

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        sides = [side.data() for side in self.sides]
        return {"query": self.row.query, "said": self.said, "lists": sides}


def lists_of(findings: Findings, rows: Sequence[QueryRow], docs: Any) -> list[QueryLists]:
    """Set the lists of some queries side by side; the runs are read once for hundreds of them.

    Bundles have no lists to show.
    """
    if not rows or not all(has_documents(findings.ranked[run].run) for run in findings.shown):
        return []
    ranked, alone = findings.ranked, findings.alone
    (measure,) = alone.measures.values()
    rules = {"convention": alone.convention, **alone.axes}
    if not findings.baseline:
        explainer = Explainer(alone.qrels, ranked[findings.main], measure, **rules)
        with suppress(UsageError):  # a count has no ideal list
            return _alone(explainer, rows, docs)
        return []
    pair = ranked[findings.baseline], ranked[findings.main]
    both = DifferenceExplainer(alone.qrels, *pair, measure, docs=docs, **rules)
    explained = both.each([row.query for row in rows])
    return [_two(row, one) for row, one in zip(rows, explained, strict=True)]


def untold(lists: Sequence[QueryLists], docs: Any) -> str:
    """Say how many of the documents shown have no text; nothing where all have one."""
    places = [place for one in lists for side in one.sides for place in side.places]
    shown = {place.document: place.title or place.text for place in places}
    lacking = [document for document, text in shown.items() if not text]
    if docs is None or not lacking:
        return ""
    where = docs if isinstance(docs, (str, Path)) else "the texts given"
    match = ": do the ids match?" if len(lacking) == len(shown) else ""
    verb = "has" if len(lacking) == 1 else "have"
    count = f"{len(lacking)} of {many(len(shown), 'document', 'documents')} shown"
    return f"{count} {verb} no text in {where} ({few(lacking)}){match}"


def _two(row: QueryRow, found: DifferenceExplanation) -> QueryLists:
    words = (*found.lines(), *found.words, *found.notes)
    return QueryLists(row, next(iter(found.reasons(1)), ""), words, two_sides(found))


def two_sides(found: DifferenceExplanation) -> tuple[Side, Side]:
    """Take both lists out of an explanation."""
    old = Side(found.baseline, found.before, tuple(_placed(found.old_list, "before")))
    return old, Side(found.run, found.after, tuple(_placed(found.new_list, "after")))


def _placed(changes: Sequence[Change], side: str) -> Iterator[Place]:
    for one in changes:
        rank, adds = getattr(one, side), getattr(one, f"adds_{side}")
        yield Place(rank, one.document, one.grade, one.arrow, adds, one.title, one.text)


def _alone(explainer: Explainer, rows: Sequence[QueryRow], docs: Any) -> list[QueryLists]:
    """Set the lists of a single run beside the ideal ones."""
    found = list(explainer.each([row.query for row in rows]))
    ids = {one for each in found for one in _documents(each)}
    texts = {} if docs is None else document_texts(docs, ids).found
    return [_beside_ideal(row, one, texts) for row, one in zip(rows, found, strict=True)]


def _documents(found: Explanation) -> Iterator[str]:
    for row in found.rows:
        yield from filter(None, (row.document, row.ideal and row.ideal.document))


def _beside_ideal(
    row: QueryRow, found: Explanation, texts: Mapping[str, DocumentText]
) -> QueryLists:
    lost = most_lost(found.losses)
    return QueryLists(row, lost, (lost, found.words, *found.notes), ideal_sides(found, texts))


def ideal_sides(found: Explanation, texts: Mapping[str, DocumentText]) -> tuple[Side, Side]:
    """Take a list and the ideal one out of an explanation."""
    best = {one.ideal.document: one.rank for one in found.rows if one.ideal}
    mine = tuple(
        Place(
            one.rank, one.document, one.grade,
            f"ideal {best[one.document]}" if one.document in best else "", one.adds,
            *_told(texts, one.document),
        )
        for one in found.rows
        if one.document is not None
    )  # fmt: skip
    ideal = tuple(
        Place(
            one.rank, one.ideal.document, one.ideal.grade,
            "not retrieved" if one.ideal.rank is None else f"here {one.ideal.rank}", None,
            *_told(texts, one.ideal.document),
        )
        for one in found.rows
        if one.ideal
    )  # fmt: skip
    return Side(found.run, found.value, mine), Side("the ideal list", found.ideal, ideal)


def _told(texts: Mapping[str, DocumentText], document: str) -> tuple[str, str]:
    known = texts.get(document, DocumentText("", ""))
    return known.title, known.text
