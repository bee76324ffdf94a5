"""Doubts about rankings: unjudged documents, ties, precision, duplicates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from idealist.data.columns import Bools
from idealist.errors import IdealistError
from idealist.evaluating.doubt_case import DoubtCase
from idealist.measures.instrument import Measured, retied
from idealist.notation import many
from idealist.report.doubt import Doubt
from idealist.report.wording import few, number

#: How deep a measure without cutoff is looked at for unjudged documents.
TOP = 10
#: How far the order of ties must move a value for that to be more than a note. Suggested.
TIES_MATTER = 0.001


def unjudged(case: DoubtCase) -> Iterator[Doubt]:
    """Count unjudged documents above each cutoff, and price them by the condensed lists.

    The least cutoff is always reported, deeper ones only where they have a price.
    """
    by_cutoff: dict[int, list[str]] = {}
    for label, instrument in case.instruments.items():
        if instrument.protocol.unjudged == "zero" and instrument.measure.judges:
            by_cutoff.setdefault(instrument.measure.cutoff or TOP, []).append(label)
    for cutoff, labels in sorted(by_cutoff.items()):
        placements = case.placed[labels[0]]
        seen = np.minimum(placements.retrieved, cutoff)
        near = placements.query[placements.rank <= cutoff]
        total = int(seen.sum())
        if not (count := total - len(near)):
            continue
        price = case.priced({label: case.condensed[label] for label in labels})
        if price or cutoff == min(by_cutoff):
            queries = case.named(seen > np.bincount(near, minlength=len(seen)))
            were = "is" if count == 1 else "are"
            where = "at rank 1" if cutoff == 1 else f"in the first {cutoff}"
            share = f"{count} of {total} documents {where} {were} unjudged"
            yield Doubt(
                "unjudged", f"{share}, in {many(len(queries), 'query', 'queries')}",
                count, queries, price, "with all unjudged documents taken out", total=total,
                remedy="judge them, or compare by what is judged",
                command=case.command(unjudged="drop"),
                doc="unjudged documents count as not relevant",
            )  # fmt: skip


def ties(case: DoubtCase) -> Iterator[Doubt]:
    """Find how far the order of ties could move each value."""
    ranges: dict[str, tuple[float, ...]] = {}
    moved = np.zeros(len(case.qrels.queries), dtype=bool)
    for label, instrument in case.instruments.items():
        if not np.count_nonzero(case.placed[label].ties) or instrument.protocol.ties == "expected":
            continue
        ends = sorted(_ends(case, label), key=lambda end: end.aggregate)
        low, high = ends[0], ends[-1]
        if f"{low.aggregate:.4f}" != f"{high.aggregate:.4f}":
            ranges[label] = (case.measured[label].aggregate, low.aggregate, high.aggregate)
            moved |= (low.values != high.values) & ~np.isnan(low.values)
    if not ranges:
        return
    queries = case.named(moved)
    said = ", ".join(_range(case, label, *ends) for label, (_, *ends) in ranges.items())
    decided = f"{many(len(queries), 'query', 'queries')} ({few(queries)})"
    judging = (ends for label, ends in ranges.items() if case.instruments[label].measure.judges)
    small = all(np.ptp(ends[1:]) < TIES_MATTER for ends in judging)
    yield Doubt(
        "ties", f"the order of tied scores decides {decided}: {said}",
        len(queries), queries, {case.run.name: ranges},
        severity="note" if small else "warning", total=len(case.qrels.queries),
        remedy="write scores with all their digits; until then report the mean over the orders of "
        "ties, or over several random ones",
        command=case.command(**untied(case)),
        doc="the order of equal scores is the tool's choice, not the system's: each tool then "
        "prints another value for the same run",
    )  # fmt: skip


def _ends(case: DoubtCase, label: str) -> Iterator[Measured]:
    """Measure with ties as they are, worst and best; a measure may refuse the last two."""
    yield case.measured[label]
    for how in ("worst", "best"):
        with suppress(IdealistError):
            yield retied(case.instruments[label], case.ranked, how)


def _range(case: DoubtCase, label: str, low: float, high: float) -> str:
    least = "" if case.instruments[label].measure.monotone else "at least "
    return f"{label} {least}from {number(low)} to {number(high)}"


def untied(case: DoubtCase) -> dict[str, Any]:
    """Choose the axis that averages over ties; not all measures have a mean over their orders."""
    measures = case.instruments.values()
    means = all(one.measure.averages_ties and one.protocol.depth == "none" for one in measures)
    return {"ties": "expected" if means else "random(1)"}


def float32(case: DoubtCase) -> Iterator[Doubt]:
    """Where float32 ties scores that differ, see whether that moves a value."""
    for mine, other in (("float64", "float32"), ("float32", "float64")):
        labels = [
            label
            for label, one in case.instruments.items()
            if one.protocol.precision == mine and np.count_nonzero(case.placed[label].float32)
        ]
        if price := case.reranked(labels, precision=other):
            moved = [label for own in price.values() for label in own]
            queries = case.named(np.any([case.placed[label].float32 for label in moved], axis=0))
            some = many(len(queries), "query has", "queries have")
            yield Doubt(
                "float32", f"{some} scores closer than float32 can tell ({few(queries)})",
                len(queries), queries, price, f"with precision={other}",
                total=len(case.qrels.queries),
                remedy="write scores that differ in their first 7 digits; until then say in which "
                "precision they are compared",
                command=case.command(precision=other),
                doc="tools that read scores as float32, as trec_eval 9 does, take these for ties "
                "and print another value",
            )  # fmt: skip


def duplicates(case: DoubtCase) -> Iterator[Doubt]:
    """Count documents retrieved twice, and chunks that were merged."""
    first = case.first
    dropped = ("repeated document was dropped", "repeated documents were dropped")
    merged = ("chunk was merged into a better one", "chunks were merged into better ones")
    yield from _counted(case, "duplicates", first.duplicates > 0, first.duplicates.sum(), dropped)
    yield from _counted(case, "collapsed", first.merged > 0, first.merged.sum(), merged)


def _counted(
    case: DoubtCase, code: str, where: Bools, count: Any, words: tuple[str, str]
) -> Iterator[Doubt]:
    if queries := case.named(where):
        said = f"{many(int(count), *words)}, in {many(len(queries), 'query', 'queries')}"
        yield Doubt(code, said, int(count), queries, severity="note")


def rows_left_out(case: DoubtCase) -> Iterator[Doubt]:
    """Count rows of either file that repeat another or say nothing."""
    total = len(case.qrels.queries)
    if count := case.qrels.repeats:
        yield Doubt(
            "repeated-judgments",
            f"{many(count, 'judgment is', 'judgments are')} in the qrels more than once",
            count, total=total, remedy="write each pair of query and document once",
            doc="repeated rows are a sign of files that were joined twice",
        )  # fmt: skip
    if count := case.first.unscored:
        yield Doubt(
            "unscored", f"{many(count, 'row', 'rows')} of the run without a score: not retrieved",
            count, total=total, remedy="give these rows a score, or take them out of the run",
            doc="a document without a score is not retrieved",
        )  # fmt: skip
    if count := case.qrels.ungraded:
        yield Doubt(
            "ungraded", f"{many(count, 'row', 'rows')} of the qrels without a grade: not judged",
            count, total=total, remedy="give these rows a grade, or take them out",
            doc="a pair without a grade is unjudged",
        )  # fmt: skip
