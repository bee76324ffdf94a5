"""Evidence: judgments of parts of documents, and the documents that these are parts of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from idealist.data import Qrels
from idealist.data.spans import Span
from idealist.errors import Faults, UsageError


def as_evidence(qrels: Qrels, cover: str) -> Qrels:
    """Check that all judgments are of spans, and that each is something to be found."""
    faults = Faults(qrels.name)
    if qrels.stated or qrels.subtopics is not None or qrels.preferences is not None:
        hint = "give a row for each span: query, document, start, end"
        faults.fail("bad-shape", "evidence is neither a bundle, nor of subtopics or pairs", hint)
    grades = qrels.grades.tolist()
    for query, begin, end in qrels.spans():
        for i in range(begin, end):
            document, span = qrels.documents[i], Span.of(qrels.documents[i])
            said = f"query {query!r}, document {document!r}"
            if span is None or span.start == span.end:
                hint = "name it document[start:end], or give start and end"
                faults.add("bad-span", f"{said}: this is no part of a document", hint)
            if grades[i] < 1:
                hint = (
                    "give 1 or more, and leave out what is not to be found; if these rows are no "
                    "evidence, leave out their columns start, end and quote"
                )
                faults.add("bad-grade", f"{said}: evidence of grade {grades[i]:g}", hint)
    faults.check()
    return replace(qrels, cover=cover)


def evidence_documents(gold: Any) -> Qrels:
    r"""Return the documents that hold evidence, each with the highest grade of its spans.

    Evaluate chunks against them with ``collapse=r"\[\d+:\d+\]"``, which makes documents of chunks.

    >>> from idealist.formats import read_evidence
    >>> gold = read_evidence({"query": ["q1", "q1"], "doc": ["d1", "d1"],
    ...                       "start": [0, 40], "end": [9, 50]})
    >>> evidence_documents(gold).to_dict()
    {'q1': {'d1': 1}}
    """
    if not isinstance(gold, Qrels) or not gold.cover:
        raise UsageError("these judgments are not of spans", "read them with read_evidence")
    best: dict[tuple[str, str], float] = {}
    for query, begin, end in gold.spans():
        names = (Span.of(gold.documents[i]) for i in range(begin, end))
        for span, grade in zip(names, gold.grades[begin:end].tolist(), strict=True):
            if span is not None:
                key = query, span.document
                best[key] = max(grade, best.get(key, grade))
    made = Qrels.build(
        [query for query, _ in best], [document for _, document in best], list(best.values()),
        scale=gold.scale, empty=gold.queries, remarks=gold.remarks, name=gold.name,
    )  # fmt: skip
    return replace(made, meant=gold.meant)
