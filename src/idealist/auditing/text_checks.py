"""Findings about texts: documents that are not there, the same text twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from idealist.auditing.audit_case import Case
from idealist.auditing.coverage import unjudged
from idealist.auditing.finding import Finding, price
from idealist.auditing.pricing import all_runs, rejudged, without_queries
from idealist.auditing.thresholds import EXAMPLES
from idealist.data import Qrels
from idealist.data.columns import Bools
from idealist.errors import IdealistError
from idealist.evaluating.doubt_case import few
from idealist.measures.instrument import measured
from idealist.notation import many
from idealist.report.draw import clipped

#: The characters of a text that are shown.
SHOWN = 60


def absent(case: Case) -> Iterator[Finding]:
    """Look for judged documents that the collection does not have."""
    if case.docs is None:
        return
    gone = np.array([document not in case.docs for document in case.qrels.documents], dtype=bool)
    if not (count := int(np.count_nonzero(gone))):
        return
    if count == len(gone):
        yield _no_document(case)
        return
    lost = int(np.count_nonzero(gone & (case.qrels.grades > 0)))
    names = dict.fromkeys(case.qrels.documents[i] for i in np.flatnonzero(gone).tolist())
    yield Finding(
        "absent-documents", "error" if lost else "warning",
        f"{many(count, 'judgment is', 'judgments are')} of documents that the collection does not "
        f"have, of {len(gone)}, {lost} of them relevant",
        count=count, total=len(gone),
        examples=tuple(f"document {name}" for name in list(names)[:EXAMPLES]),
        cost=_without(case, gone),
        supposing="these judgments are taken out",
        remedy="index the collection that was judged, or take these judgments out",
        doc="no system can retrieve them, so that no system can reach 1",
    )  # fmt: skip


def _no_document(case: Case) -> Finding:
    """Say that collection and judgments have no document in common: then the ids are wrong."""
    names = dict.fromkeys(case.qrels.documents)
    return Finding(
        "absent-documents", "error",
        f"none of the {len(names)} judged documents is in the collection: do the ids match?",
        count=len(case.qrels), total=len(case.qrels),
        examples=tuple(f"document {name}" for name in list(names)[:EXAMPLES]),
        remedy="give the collection that was judged, with its ids as the judgments write them",
        doc="nothing can be said about texts that are not found",
    )  # fmt: skip


def _without(case: Case, gone: Bools) -> dict[str, dict[str, tuple[float, float]]]:
    """Price judgments: what measures would be without them."""
    cost = {}
    for name, one in case.audited.items():
        then: dict[str, float] = {}
        for label, instrument in case.evaluator.instruments.items():
            placements = one.placed[label]
            if instrument.measure.judges and len(placements.qrels.documents) == len(gone):
                with suppress(IdealistError):
                    fewer = unjudged(placements, gone)
                    then[label] = measured(instrument, fewer).aggregate
        cost[name] = price(one.evaluation.aggregates, then)
    return {name: own for name, own in cost.items() if own}


def same_text(case: Case) -> Iterator[Finding]:
    """Look for documents of one text that have different grades for one query."""
    if case.docs is None:
        return
    docs, grades = case.docs, case.qrels.grades
    found = [
        (query, group)
        for query, judged in case.qrels.lookup.items()
        for group in _groups({name: docs[name] for name in judged if name in docs})
        if len({grades[judged[name]] for name in group}) > 1
    ]
    if found:
        yield Finding(
            "same-text", "warning",
            f"{many(len(found), 'text has', 'texts have')} different grades for the same query, "
            "under different ids",
            count=len(found), total=len(case.qrels),
            examples=tuple(
                f"query {query}: {', '.join(group[:3])}" for query, group in found[:EXAMPLES]
            ),
            cost=all_runs(case, lambda run: rejudged(case, run, _alike(case.qrels, found))),
            supposing="copies have the highest of their grades",
            remedy="give copies of a document one id, or one grade",
            doc="a system cannot tell copies apart; which of them it returns is chance, and so is "
            "the grade",
        )  # fmt: skip


def _alike(qrels: Qrels, found: list[tuple[str, list[str]]]) -> Qrels:
    """Give copies of a document the highest of their grades."""
    grades = qrels.grades.copy()
    for query, group in found:
        places = [qrels.lookup[query][name] for name in group]
        grades[places] = grades[places].max()
    return replace(qrels, grades=grades)


def same_query(case: Case) -> Iterator[Finding]:
    """Look for queries of one text under different ids."""
    if case.queries is None:
        return
    groups = _groups({query: case.queries.text.get(query, "") for query in case.qrels.queries})
    if groups:
        count = sum(map(len, groups))
        again = {name for group in groups for name in group[1:]}
        gone = np.array([query in again for query in case.qrels.queries], dtype=bool)
        yield Finding(
            "same-query", "warning",
            f"{many(len(groups), 'text is', 'texts are')} the text of several queries, {count} in "
            "all",
            count=count, total=len(case.qrels.queries),
            examples=tuple(
                f"{', '.join(group[:3])}: {clipped(case.queries.text[group[0]], SHOWN)}"
                for group in groups[:EXAMPLES]
            ),
            cost=all_runs(case, lambda run: without_queries(case, run, gone)),
            supposing="the first of them alone counts",
            remedy="keep one of them, with the judgments of all",
            doc="they count twice in every mean and test, and their judgments may disagree",
        )  # fmt: skip


def unrelated(case: Case) -> Iterator[Finding]:
    """Look for texts of queries, and teams, that name nothing of what is audited."""
    given = {
        "query": (case.queries and case.queries.text, case.qrels.queries),
        "run": (case.teams, [*case.audited, *case.refused]),
    }
    for what, (told, known) in given.items():
        if told is None or not {*told}.isdisjoint(known):
            continue
        file = "texts" if what == "query" else "teams"
        yield Finding(
            "unrelated", "warning",
            f"the {file} that were given name no {what} of those audited: do the ids match?",
            count=len(told), total=len(told),
            examples=(f"given: {few(tuple(told))}", f"audited: {few(tuple(known))}"),
            remedy=f"give the {file} of these {'queries' if what == 'query' else 'runs'}",
            doc="what they would have let be checked was not",
        )  # fmt: skip


def _groups(texts: Mapping[str, str]) -> list[list[str]]:
    """Put ids together whose texts differ in nothing but blanks and case."""
    found: dict[str, list[str]] = {}
    for name, text in texts.items():
        if words := " ".join(text.split()).casefold():
            found.setdefault(words, []).append(name)
    return [names for names in found.values() if len(names) > 1]
