"""Findings about texts: documents that are not there, the same text twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from idealist.auditing.audit_case import AuditCase
from idealist.auditing.leave_out import without_judgments
from idealist.data import Qrels
from idealist.data.columns import Bools
from idealist.evaluating.doubt_case import DoubtCase, RunPrice
from idealist.notation import many
from idealist.rendering.doubt import EXAMPLES, Doubt
from idealist.rendering.wording import clipped, few

#: The characters of a text that are shown.
SHOWN = 60


def absent(case: AuditCase) -> Iterator[Doubt]:
    """Look for judged documents that the collection does not have, or that have no text.

    What a run retrieves is in the collection; then the texts given are not all there are.
    """
    if case.docs is None:
        return
    gone = np.array([document not in case.docs for document in case.qrels.documents], dtype=bool)
    names = list(dict.fromkeys(case.qrels.documents[i] for i in np.flatnonzero(gone).tolist()))
    examples = tuple(f"document {name}" for name in names[:EXAMPLES])
    count, total = int(np.count_nonzero(gone)), len(gone)
    if held := {case.qrels.documents[i] for i in np.flatnonzero(gone & _retrieved(case)).tolist()}:
        every, verb = len({*case.qrels.documents}), "has" if len(names) == 1 else "have"
        some = f"{len(names)} of {every} judged documents {verb} no text in what was given"
        yield Doubt(
            "missing-texts",
            f"{some}, and runs retrieve {len(held)} of them: it is a part of the collection, or "
            "has other ids",
            len(names), severity="warning" if len(names) == every else "note", total=every,
            examples=examples,
        )  # fmt: skip
    elif count and count == total:
        said = f"none of the {len(names)} judged documents is in the collection: do the ids match?"
        yield Doubt(
            "absent-documents", said, count, severity="error", total=total, examples=examples,
            remedy="give the collection that was judged, with its ids as the judgments write them",
            doc="nothing can be said about texts that are not found",
        )  # fmt: skip
    elif count:
        lost = int(np.count_nonzero(gone & (case.qrels.grades > 0)))
        some = many(count, "judgment is", "judgments are")
        where = f"of documents that the collection does not have, of {total}"
        price = case.for_each_run(lambda one: _unjudged(one, gone))
        yield Doubt(
            "absent-documents", f"{some} {where}, {lost} of them relevant",
            count, (), price, "without these judgments",
            severity="error" if lost else "warning", total=total, examples=examples,
        )  # fmt: skip


def _retrieved(case: AuditCase) -> Bools:
    """Say which judgments are of documents that some run retrieves for their query."""
    found = np.zeros(len(case.qrels.documents), dtype=bool)
    for one in case.runs.values():
        if len(one.whole.qrels.documents) == len(found):
            found[one.whole.judgment] = True
    return found


def _unjudged(one: DoubtCase, gone: Bools) -> RunPrice:
    """Price judgments: what measures would be without them."""
    placed = {
        label: without_judgments(placements, gone)
        for label, placements in one.placed.items()
        if len(placements.qrels.documents) == len(gone)
    }
    return one.priced(placed)


def same_text(case: AuditCase) -> Iterator[Doubt]:
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
        alike = _alike(case.qrels, found)
        yield Doubt(
            "same-text",
            f"{many(len(found), 'text has', 'texts have')} different grades for the same query, "
            "under different ids",
            len(found), total=len(case.qrels),
            examples=tuple(
                f"query {query}: {', '.join(group[:3])}" for query, group in found[:EXAMPLES]
            ),
            price=case.for_each_run(lambda one: case.rejudged(one, alike)),
            supposing="if copies have the highest of their grades",
        )  # fmt: skip


def _alike(qrels: Qrels, found: list[tuple[str, list[str]]]) -> Qrels:
    """Return judgments in which copies of a document have the highest of their grades."""
    grades = qrels.grades.copy()
    for query, group in found:
        places = [qrels.lookup[query][name] for name in group]
        grades[places] = grades[places].max()
    return replace(qrels, grades=grades)


def same_query(case: AuditCase) -> Iterator[Doubt]:
    """Look for queries of one text under different ids."""
    if case.texts is None:
        return
    texts = case.texts.text
    groups = _groups({query: texts.get(query, "") for query in case.qrels.queries})
    if groups:
        count = sum(map(len, groups))
        again = {name for group in groups for name in group[1:]}
        gone = np.array([query in again for query in case.qrels.queries], dtype=bool)
        yield Doubt(
            "same-query",
            f"{many(len(groups), 'text is', 'texts are')} shared by several queries, {count} in "
            "all",
            count, total=len(case.qrels.queries),
            examples=tuple(
                f"{', '.join(group[:3])}: {clipped(texts[group[0]], SHOWN)}"
                for group in groups[:EXAMPLES]
            ),
            price=case.for_each_run(lambda one: one.without(gone)),
            supposing="if only the first of them counts",
        )  # fmt: skip


def unrelated(case: AuditCase) -> Iterator[Doubt]:
    """Look for texts of queries that are none of those judged."""
    told = case.texts and case.texts.text
    if told is not None and {*told}.isdisjoint(case.qrels.queries):
        yield Doubt(
            "unrelated", "the texts that were given name no judged query: do the ids match?",
            len(told), total=len(told),
            examples=(f"given: {few(tuple(told))}", f"audited: {few(case.qrels.queries)}"),
            remedy="give the texts of these queries",
        )  # fmt: skip


def _groups(texts: Mapping[str, str]) -> list[list[str]]:
    """Group ids whose texts are equal but for blanks and case."""
    found: dict[str, list[str]] = {}
    for name, text in texts.items():
        if words := " ".join(text.split()).casefold():
            found.setdefault(words, []).append(name)
    return [names for names in found.values() if len(names) > 1]


#: In the order in which findings of the same severity are listed.
CHECKS = (absent, same_text, same_query, unrelated)
