"""Doubts about grades: fractions, binary measures of graded judgments, unknown utilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from idealist.doubts.case import Case, many
from idealist.evaluation import Doubt
from idealist.instrument import Instrument
from idealist.measures.base import Binary
from idealist.measures.judged import Count
from idealist.measures.udcg import UDCG
from idealist.measuring import measured
from idealist.ranking import rank


def fractional(case: Case) -> Iterator[Doubt]:
    """Look for fractions that the convention's tool cuts off."""
    count = int(np.count_nonzero(case.qrels.grades != np.trunc(case.qrels.grades)))
    cut = {
        label: one for label, one in case.instruments.items() if one.protocol.grades == "truncate"
    }
    if not count or not cut:
        return
    kept = {replace(one.protocol, grades="keep") for one in cut.values()}
    placed = rank(case.qrels, case.run, kept)
    values = {
        label: measured(one, placed[replace(one.protocol, grades="keep")]).aggregate
        for label, one in cut.items()
        if not isinstance(one.measure, Count)
    }
    prices = ", ".join(f"{label} is {value:.4f}" for label, value in values.items())
    message = (
        f"{many(count, 'grade has', 'grades have')} a fraction, which {case.convention.tool} cuts "
        f"off; with grades=keep {prices}"
    )
    yield Doubt("fractional-grades", message, count, (), values)


def binary(case: Case) -> Iterator[Doubt]:
    """Look for measures that make two kinds out of many grades."""
    grades = np.unique(case.qrels.grades[case.qrels.grades >= 0])
    labels = [label for label, one in case.instruments.items() if _knows_two(one)]
    if len(grades) > 2 and labels:
        listed = ", ".join(f"{grade:g}" for grade in grades[:10])
        message = (
            f"{', '.join(labels)}: relevant or not, while the judgments have the grades {listed}; "
            "set rel= to say where relevance begins"
        )
        yield Doubt("binary-on-graded", message, len(labels))


def _knows_two(instrument: Instrument) -> bool:
    measure = instrument.measure
    binary = (
        isinstance(measure, Binary)
        or getattr(measure, "gain", "") == "binary"
        or isinstance(measure, UDCG)
    )
    return (
        binary and not isinstance(measure, Count) and getattr(measure, "rel", None) in (1, "none")
    )


def not_in_tool(case: Case) -> Iterator[Doubt]:
    """Look for measures that the convention's tool does not have."""
    labels = [
        label for label, one in case.instruments.items() if not case.convention.has(one.measure)
    ]
    if labels:
        message = (
            f"{case.convention.tool} has no {', '.join(labels)}; the parameters are the default's"
        )
        yield Doubt("not-in-tool", message, len(labels))


def utility(case: Case) -> Iterator[Doubt]:
    """Look for passages that UDCG knows nothing of."""
    for label, instrument in case.instruments.items():
        measure = instrument.measure
        if not isinstance(measure, UDCG):
            continue
        placements = case.placements(label)
        known = ~np.isnan(placements.qrels.numbers[measure.signal][placements.judgment])
        if measure.cutoff is not None:
            known &= placements.rank <= measure.cutoff
        passages = np.minimum(placements.retrieved, measure.cutoff or placements.retrieved)
        lacking = passages - np.bincount(placements.query[known], minlength=len(passages))
        if count := int(lacking.sum()):
            queries = case.named(lacking > 0)
            message = (
                f"{label}: {count} of {int(passages.sum())} passages have no {measure.signal} "
                f"and add nothing, in {many(len(queries), 'query', 'queries')}"
            )
            yield Doubt("unknown-utility", message, count, queries)
