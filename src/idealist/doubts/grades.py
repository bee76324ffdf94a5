"""Doubts about grades: fractions, binary measures of graded judgments, unknown utilities."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from idealist.doubts.case import Case, prices
from idealist.evaluation import Doubt
from idealist.measures.base import Measure
from idealist.measures.relevance import Threshold
from idealist.notation import many


def fractional(case: Case) -> Iterator[Doubt]:
    """Look for fractions that the convention's tool cuts off."""
    cast = {label: one.protocol.grades for label, one in case.instruments.items()}
    cut = [label for label, rule in cast.items() if rule != "keep"]
    if not cut or case.qrels.truncated is case.qrels:
        return
    count = int(np.count_nonzero(case.qrels.grades != case.qrels.truncated.grades))
    values = case.reranked(cut, grades="keep")
    cost = prices("with grades=keep", values)
    some = many(count, "grade has", "grades have")
    rules = " or ".join(dict.fromkeys(f"grades={cast[label]}" for label in cut))
    message = f"{some} a fraction, which {rules} cuts off{cost}"
    yield Doubt("fractional-grades", message, count, (), values)


def subtopics(case: Case) -> Iterator[Doubt]:
    """Say where judgments by subtopic became one grade."""
    measures = [one.measure for one in case.instruments.values()]
    apart = [one.needs in ("subtopics", "groups") or _prefers(one) for one in measures]
    if case.qrels.subtopics is not None and not all(apart):
        count = len(np.unique(case.qrels.subtopics.pair))
        some = many(count, "document was", "documents were")
        yield Doubt(
            "subtopics", f"{some} judged by subtopic or judge; the highest grade counts", count
        )


def undivided(case: Case) -> Iterator[Doubt]:
    """Look for measures of subtopics or groups where the judgments name none."""
    divided = {"subtopic", "iteration"} & case.qrels.columns.keys()
    labels = [
        label
        for label, one in case.instruments.items()
        if one.measure.needs in ("subtopics", "groups")
    ]
    if labels and case.qrels.subtopics is None and not divided:
        message = (
            f"{', '.join(labels)}: the judgments name no subtopics or groups, so that all are one; "
            "name them in TREC's second column, or in a column subtopic"
        )
        yield Doubt("undivided", message, len(labels))


def _prefers(measure: Measure) -> bool:
    """Whether a measure is of preferences, which each group of judgments has for itself."""
    return measure.name.startswith("prefs_")


def preferences(case: Case) -> Iterator[Doubt]:
    """Say where levels of preference, which only order documents, are taken for grades."""
    labels = [
        label
        for label, one in case.instruments.items()
        if one.measure.judges and not _prefers(one.measure)
    ]
    if case.qrels.preferences is not None and labels:
        message = (
            f"{', '.join(labels)}: the grade of a document is the highest level that preferences "
            "give it, and levels are only meant to order documents"
        )
        yield Doubt("preferences", message, len(labels))


def binary(case: Case) -> Iterator[Doubt]:
    """Look for measures that take different grades for the same."""
    levels = {grade for pool in case.qrels.pools for grade in pool.levels}
    grades = sorted(grade for grade in levels if grade >= 0)
    labels = [
        label
        for label, one in case.instruments.items()
        if "rel" not in case.written[label] and _merges(one.measure, grades)
    ]
    if labels:
        listed = ", ".join(f"{grade:g}" for grade in grades[:10])
        message = (
            f"{', '.join(labels)}: only relevant or not counts, and the judgments have the grades "
            f"{listed}; set rel to say from which grade on a document is relevant"
        )
        yield Doubt("binary-on-graded", message, len(labels))


def _merges(measure: Measure, grades: list[float]) -> bool:
    """Whether a measure's threshold takes several of the grades for the same."""
    if isinstance(measure, Threshold):
        relevant = sum(map(measure.relevant, grades))
    elif measure.name == "UDCG" or getattr(measure, "gain", "") == "binary":
        relevant = sum(grade >= 1 for grade in grades)
    else:
        return False
    return measure.judges and (relevant > 1 or len(grades) - relevant > 1)


def utility(case: Case) -> Iterator[Doubt]:
    """Look for passages that UDCG knows nothing of."""
    for label, instrument in case.instruments.items():
        measure, placements = instrument.measure, case.placed[label]
        if measure.name != "UDCG" or not placements.retrieved.any():
            continue
        signal = str(measure.written()["signal"])
        known = ~np.isnan(placements.qrels.numbers[signal][placements.judgment])
        if measure.cutoff is not None:
            known &= placements.rank <= measure.cutoff
        passages = np.minimum(placements.retrieved, measure.cutoff or placements.retrieved)
        lacking = passages - np.bincount(placements.query[known], minlength=len(passages))
        count, total, queries = int(lacking.sum()), int(passages.sum()), case.named(lacking > 0)
        if count:
            where = f"{count} of {total} passages, in {many(len(queries), 'query', 'queries')}"
            message = f"{label}: {signal} is not known for {where}; they add nothing"
            yield Doubt("unknown-utility", message, count, queries)
