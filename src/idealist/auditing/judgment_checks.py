"""Findings about judgments, and about files that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from idealist.auditing.audit_case import AuditCase
from idealist.data import Qrels
from idealist.data.columns import Ints
from idealist.errors import CODES, Contradictions, Fault, InputError
from idealist.formats import read_qrels
from idealist.measures.instrument import chosen
from idealist.measures.sets import R
from idealist.notation import many, tidy
from idealist.rendering.doubt import EXAMPLES, Doubt


def unreadable(case: AuditCase) -> Iterator[Doubt]:
    """Say what is wrong with the runs that cannot be read."""
    for name, error in case.refused.items():
        yield from faults_of(error, name)


def contradicting(case: AuditCase) -> Iterator[Doubt]:
    """List judgments that contradict each other, and price them by the higher grades."""
    if (error := case.contradictions) is None:
        return
    higher = settled(error) if error.without is None else None
    price = {} if higher is None else case.for_each_run(lambda run: case.rejudged(run, higher))
    for one in faults_of(error):
        yield replace(
            one, finding=f"{one.finding}; {error.meanwhile}",
            total=len(error.given["query"]), price=price,
            supposing="" if higher is None else "if the highest grade of each is right",
        )  # fmt: skip


def unread(error: InputError) -> Iterator[Doubt]:
    """Say what is wrong with judgments that cannot be read, so that nothing can be compared."""
    for one in faults_of(error):
        yield replace(one, finding=f"{one.finding}; nothing else was looked at")


def read_judgments(data: Any) -> tuple[Qrels, Contradictions | None]:
    """Read judgments; where some contradict each other, the others and what was wrong."""
    try:
        return read_qrels(data), None
    except Contradictions as error:
        try:
            kept = error.without() if error.without else settled(error, highest=False)
            return replace(kept, read_with=error.read_with), error
        except InputError:  # something else is wrong too, or nothing is left
            raise error from None


def settled(error: Contradictions, *, highest: bool = True) -> Qrels:
    """Return judgments with the highest grade of pairs that have several, or without these pairs.

    >>> try:
    ...     read_qrels([("q", "d", 1), ("q", "d", 2), ("q", "e", 0)])
    ... except Contradictions as error:
    ...     print(settled(error).to_dict(), settled(error, highest=False).to_dict())
    {'q': {'d': 2, 'e': 0}} {'q': {'e': 0}}
    """
    given = error.given
    subtopics = given["subtopic"] or [""] * len(given["query"])
    keys = list(zip(given["query"], given["document"], subtopics, strict=True))
    grades: dict[tuple[str, str, str], set[float]] = {}
    for key, grade in zip(keys, given["grade"], strict=True):
        grades.setdefault(key, set()).add(grade)
    disputed = {key[:2] for key, own in grades.items() if len(own) > 1}
    kept = [
        i
        for i, key in enumerate(keys)
        if (given["grade"][i] == max(grades[key]) if highest else key[:2] not in disputed)
    ]
    rows = {name: given[name] for name in ("query", "document", "grade", "subtopic", "lines")}
    columns = {name: [cells[i] for i in kept] for name, cells in (given["columns"] or {}).items()}
    chosen = {name: cells and [cells[i] for i in kept] for name, cells in rows.items()}
    return Qrels.build(**{**given, **chosen, "columns": columns})


def faults_of(error: InputError, run: str = "") -> Iterator[Doubt]:
    """List the faults of an input, one finding for each kind.

    >>> from idealist import read_qrels
    >>> try:
    ...     read_qrels([("q", "d", 1), ("q", "d", 2)])
    ... except InputError as error:
    ...     print(next(faults_of(error)).code)
    contradiction
    """
    kinds: dict[str, list[Fault]] = {}
    for fault in error.faults:
        kinds.setdefault(fault.code, []).append(fault)
    for code, faults in kinds.items():
        count = error.total if len(kinds) == 1 else len(faults)
        more = f" and {count - 1} more" if count > 1 else ""
        yield Doubt(
            code, f"{faults[0].message}{more}", count, severity="error", run=run,
            examples=tuple(map(str, faults[:EXAMPLES])),
            remedy=next((fault.hint for fault in faults if fault.hint), ""),
            doc=CODES.get(code, ""),
        )  # fmt: skip


#: In the order in which findings of the same severity are listed.
FILE_CHECKS = (unreadable, contradicting)


#: Grades that there may be: more are utilities, of which not every one is given. Suggested.
MOST_GRADES = 20
#: Share of queries with one relevant document from which on that is said. Suggested.
SINGLE_RELEVANT = 0.5

#: What an evaluation doubts about the judgments; all other doubts are about runs.
JUDGMENT_DOUBTS = (
    "no-relevant", "positives-only", "repeated-judgments", "ungraded", "binary-on-graded",
    "fractional-grades", "model-grades",
)  # fmt: skip


def doubted_judgments(case: AuditCase) -> Iterator[Doubt]:
    """Repeat what evaluations doubt about the judgments, once, with the price for each run."""
    found: dict[str, Doubt] = {}
    nothing = none_relevant(case.qrels)  # which is a finding of its own
    told = (one for own in case.doubts.values() for one in own if one.code in JUDGMENT_DOUBTS)
    for doubt in told:
        if not (doubt.code == "no-relevant" and nothing):
            first = found.setdefault(doubt.code, doubt)
            both = {run: {**first.price.get(run, {}), **own} for run, own in doubt.price.items()}
            found[doubt.code] = replace(first, price={**first.price, **both})
    yield from found.values()


def relevant_counts(qrels: Qrels) -> Ints:
    """Count the relevant documents of each query."""
    before = np.concatenate([[0], np.cumsum(qrels.grades > 0)])
    return np.diff(before[qrels.starts])


def none_relevant(qrels: Qrels) -> bool:
    """Whether no document is relevant for any query."""
    return not (qrels.grades > 0).any()


def single(case: AuditCase) -> Iterator[Doubt]:
    """Look for queries with a single relevant document, where they are many."""
    queries = chosen(case.qrels.queries, relevant_counts(case.qrels) == 1)
    total = len(case.qrels.queries)
    if len(queries) >= SINGLE_RELEVANT * total and queries:
        yield Doubt(
            "single-relevant",
            f"{many(len(queries), 'query has', 'queries have')} a single relevant document, of "
            f"{total}",
            len(queries), queries, severity="note", total=total,
        )  # fmt: skip


def beyond_cutoff(case: AuditCase) -> Iterator[Doubt]:
    """Look for recall that cannot reach 1: more documents are relevant than it looks at."""
    counts = relevant_counts(case.qrels)
    for label, instrument in case.evaluator.instruments.items():
        measure = instrument.measure
        if not isinstance(measure, R) or not measure.cutoff or measure.denominator != "R":
            continue
        more = counts > measure.cutoff
        if not np.count_nonzero(more):
            continue
        queries, half = chosen(case.qrels.queries, more), float(np.median(counts)) > measure.cutoff
        capped = {label: replace(instrument, measure=replace(measure, denominator="min(k,R)"))}
        shown = zip(queries[:EXAMPLES], counts[more].tolist(), strict=False)
        yield Doubt(
            "more-relevant",
            f"{many(len(queries), 'query has', 'queries have')} more than {measure.cutoff} "
            f"relevant documents, of {len(counts)}, so {label} cannot reach 1",
            len(queries), queries, severity="warning" if half else "note", total=len(counts),
            examples=tuple(f"query {query}: {count} relevant" for query, count in shown),
            price=case.for_each_run(
                lambda one, label=label, capped=capped: one.priced(  # type: ignore[misc]
                    {label: one.placed[label]}, capped
                )
            ),
            supposing="as capped recall",
            remedy=f"look deeper, or use capped recall: R(denominator=min(k,R))@{measure.cutoff}",
        )  # fmt: skip


def unused_grades(case: AuditCase) -> Iterator[Doubt]:
    """Look for grades of the scale that no document has."""
    counts = case.coverage.grades
    unused = _unused(case.qrels, {*counts}) if 0 < len(counts) <= MOST_GRADES else []
    if unused:
        names = ", ".join(map(str, unused))
        merged = f"merged by {case.qrels.merge}, " if case.qrels.merge else ""
        yield Doubt(
            "unused-grades",
            f"{merged}the grades range from {min(counts):g} to {max(counts):g}, and no document "
            f"has {names}",
            len(unused), severity="note", total=len(counts) + len(unused),
            examples=_distribution(counts),
        )  # fmt: skip


def one_sided(case: AuditCase) -> Iterator[Doubt]:
    """Look for judgments that all say relevant, or of which none does."""
    counts, none = case.coverage.grades, none_relevant(case.qrels)
    if not none and (min(counts) <= 0 or case.qrels.gold != "pooled"):
        return
    whole = "no document is relevant, so no run can score" if none else "all are relevant"
    yield Doubt(
        "one-sided",
        f"{whole}: {many(len(case.qrels), 'judgment', 'judgments')} of grade "
        f"{', '.join(f'{grade:g}' for grade in counts)}",
        len(case.qrels), severity="error" if none else "note", total=len(case.qrels),
        examples=_distribution(counts),
        remedy="find out where the relevant documents were lost" if none else "",
    )  # fmt: skip


def _distribution(counts: Mapping[float, int]) -> tuple[str, ...]:
    return tuple(f"grade {grade}: {count}" for grade, count in counts.items())


def _unused(qrels: Qrels, used: set[float]) -> list[float]:
    """Name the grades of the scale, or else between the lowest and the highest, not given.

    Whole numbers far apart, such as percentages, are no scale of which some are missing.
    """
    if qrels.scale:
        return [tidy(grade) for grade in qrels.scale.grades if tidy(grade) not in used]
    whole = [grade for grade in used if isinstance(grade, int)]
    between = range(min(*whole, 0), max(whole)) if whole else range(0)
    if len(whole) < len(used) or len(between) > MOST_GRADES:
        return []
    return [grade for grade in between if grade not in used and grade]


def binary_labels(case: AuditCase) -> Iterator[Doubt]:
    """Look for graded measures where the judgments are binary."""
    levels = np.unique(case.qrels.grades[case.qrels.grades > 0])
    labels = [
        label
        for label, one in case.evaluator.instruments.items()
        if "gain" in one.measure.parameters() and getattr(one.measure, "gain", "") != "binary"
    ]
    if len(levels) == 1 and labels:
        are = "is a graded measure" if len(labels) == 1 else "are graded measures"
        yield Doubt(
            "graded-on-binary",
            f"{', '.join(labels)} {are}, and every relevant document has grade {levels[0]:g}",
            len(labels), severity="note", total=len(case.evaluator.instruments),
        )  # fmt: skip


#: In the order in which findings of the same severity are listed.
CHECKS = (doubted_judgments, single, beyond_cutoff, unused_grades, one_sided, binary_labels)
