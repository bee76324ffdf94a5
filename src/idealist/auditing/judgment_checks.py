"""Findings about judgments: how many are relevant, which grades there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from idealist.auditing.audit_case import Case
from idealist.auditing.finding import Finding, price
from idealist.auditing.thresholds import EXAMPLES, MOST_GRADES, SINGLE_RELEVANT
from idealist.data import Qrels
from idealist.data.columns import Ints
from idealist.errors import IdealistError
from idealist.measures.instrument import measured
from idealist.measures.sets import R
from idealist.notation import many, tidy


def relevant_counts(qrels: Qrels) -> Ints:
    """Count the relevant documents of each query."""
    before = np.concatenate([[0], np.cumsum(qrels.grades > 0)])
    return np.diff(before[qrels.starts])


def none_relevant(qrels: Qrels) -> bool:
    """Whether no document is relevant for any query."""
    return not (qrels.grades > 0).any()


def single(case: Case) -> Iterator[Finding]:
    """Look for queries with one relevant document, where they are many."""
    queries = case.named(relevant_counts(case.qrels) == 1)
    total = len(case.qrels.queries)
    if len(queries) >= SINGLE_RELEVANT * total and queries:
        yield Finding(
            "single-relevant", "note",
            f"{many(len(queries), 'query has', 'queries have')} a single relevant document, of "
            f"{total}",
            count=len(queries), total=total,
            examples=tuple(f"query {query}" for query in queries[:EXAMPLES]),
            remedy="measure RR or Success, and judge more; AP, R and nDCG say no more here",
            doc="where one document was written down, others that answer count as not relevant, as "
            "in MS MARCO",
        )  # fmt: skip


def beyond_cutoff(case: Case) -> Iterator[Finding]:
    """Look for recall that cannot reach 1: more documents are relevant than it looks at."""
    counts = relevant_counts(case.qrels)
    for label, instrument in case.evaluator.instruments.items():
        measure = instrument.measure
        if not isinstance(measure, R) or not measure.cutoff or measure.denominator != "R":
            continue
        more = counts > measure.cutoff
        if not np.count_nonzero(more):
            continue
        queries, half = case.named(more), float(np.median(counts)) > measure.cutoff
        yield Finding(
            "more-relevant", "warning" if half else "note",
            f"{many(len(queries), 'query has', 'queries have')} more than {measure.cutoff} "
            f"relevant documents, of {len(counts)}, so that {label} cannot reach 1",
            count=len(queries), total=len(counts),
            examples=tuple(
                f"query {query}: {count} relevant"
                for query, count in zip(queries[:EXAMPLES], counts[more].tolist(), strict=False)
            ),
            cost=_capped(case, label),
            remedy=f"measure deeper, or capped recall: R(denominator=min(k,R))@{measure.cutoff}",
            doc="recall at k has a ceiling of k / relevant, and means of queries with different "
            "ceilings say little",
        )  # fmt: skip


def _capped(case: Case, label: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Price the ceiling: recall with as many relevant documents as fit."""
    instrument = case.evaluator.instruments[label]
    capped = replace(instrument, measure=replace(instrument.measure, denominator="min(k,R)"))  # type: ignore[call-arg]
    cost = {}
    for name, one in case.audited.items():
        with suppress(IdealistError):
            then = {label: measured(capped, one.placed[label]).aggregate}
            cost[name] = price(one.evaluation.aggregates, then)
    return {name: own for name, own in cost.items() if own}


def unused_grades(case: Case) -> Iterator[Finding]:
    """Look for grades of the scale that nobody gave."""
    counts = case.coverage.grades
    unused = _unused(case.qrels, {*counts}) if 0 < len(counts) <= MOST_GRADES else []
    if unused:
        names = ", ".join(map(str, unused))
        yield Finding(
            "unused-grades", "note",
            f"the grades reach from {min(counts):g} to {max(counts):g}, and nobody gave {names}",
            count=len(unused), total=len(counts) + len(unused),
            examples=_distribution(counts),
            remedy="look whether labels were lost or renumbered when the file was made",
            doc="gains are made of grades: a step that nobody uses makes the next one worth more",
        )  # fmt: skip


def one_sided(case: Case) -> Iterator[Finding]:
    """Look for judgments that all say relevant, or of which none does."""
    counts, none = case.coverage.grades, none_relevant(case.qrels)
    if not none and (min(counts) <= 0 or len(counts) > MOST_GRADES):
        return
    whole = "no document is relevant, so that no run can score" if none else "all are relevant"
    yield Finding(
        "one-sided", "error" if none else "note",
        f"{whole}: {many(len(case.qrels), 'judgment', 'judgments')} of grade "
        f"{', '.join(f'{grade:g}' for grade in counts)}",
        count=len(case.qrels), total=len(case.qrels),
        examples=_distribution(counts),
        remedy="find out where the relevant documents were lost"
        if none
        else "keep the documents that judges found not relevant too, with grade 0",
        doc="without both, what a system did well cannot be told from what it did badly, nor what "
        "was judged and found bad from what nobody saw",
    )  # fmt: skip


def _distribution(counts: Mapping[float, int]) -> tuple[str, ...]:
    return tuple(f"grade {grade}: {count}" for grade, count in counts.items())


def _unused(qrels: Qrels, used: set[float]) -> list[float]:
    """Name the grades of the scale, or else between the lowest and the highest, not given."""
    if qrels.scale:
        return [tidy(grade) for grade in qrels.scale.grades if tidy(grade) not in used]
    whole = [grade for grade in used if isinstance(grade, int)]
    if len(whole) < len(used) or not whole:
        return []
    return [grade for grade in range(min(*whole, 0), max(whole)) if grade not in used and grade]


def binary_labels(case: Case) -> Iterator[Finding]:
    """Look for graded measures of judgments that only say relevant or not."""
    levels = np.unique(case.qrels.grades[case.qrels.grades > 0])
    labels = [
        label
        for label, one in case.evaluator.instruments.items()
        if "gain" in one.measure.parameters() and getattr(one.measure, "gain", "") != "binary"
    ]
    if len(levels) == 1 and labels:
        yield Finding(
            "graded-on-binary", "note",
            f"{', '.join(labels)}: the measure asks for grades, and every relevant document has "
            f"the grade {levels[0]:g}",
            count=len(labels), total=len(case.evaluator.instruments),
            remedy="judge in grades, or do not compare with values of graded judgments",
            doc="with one grade, every gain function gives the same order, and nothing tells the "
            "best answer from a passable one",
        )  # fmt: skip
