"""Doubts: what is legal but questionable about a result, counted and priced.

Here are those about rankings, and the list of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, cast

import numpy as np

from idealist.data.columns import Ints
from idealist.errors import IdealistError
from idealist.evaluating import data_doubts as data
from idealist.evaluating.doubt_case import DoubtCase
from idealist.evaluating.other_orders import upside_down
from idealist.measures.instrument import Measured, Retied, measured, retied
from idealist.notation import many
from idealist.ranking.placements import Placements
from idealist.rendering.doubt import Doubt, Severity
from idealist.rendering.wording import few, number

#: How deep a measure without cutoff is looked at for unjudged documents.
TOP = 10
#: How far the order of ties must move a value for that to be more than a note. Suggested.
TIES_MATTER = 0.001
#: Orders of ties that are tried where it is not known which one is the best.
ORDERS = ("docid-asc", "docid-desc", "random(1)")


def unjudged(case: DoubtCase) -> Iterator[Doubt]:
    """Count unjudged documents above each cutoff, and price them by the condensed lists.

    The cutoff of the first measure is reported first and always, others only where they have a
    price. Where documents without a judgment are known not to be relevant, there is nothing to
    count.
    """
    if case.qrels.gold != "pooled":
        return
    by_cutoff: dict[int, list[str]] = {}
    for label, instrument in case.instruments.items():
        if instrument.protocol.unjudged == "zero" and instrument.measure.judges:
            by_cutoff.setdefault(instrument.measure.cutoff or TOP, []).append(label)
    for cutoff, labels in by_cutoff.items():
        placements = case.placed[labels[0]]
        total = int(np.minimum(placements.retrieved, cutoff).sum())
        unknown = unjudged_in(placements, cutoff)
        if not (count := int(unknown.sum())):
            continue
        price = case.priced({label: case.condensed[label] for label in labels})
        if price or cutoff == next(iter(by_cutoff)):
            queries = case.named(unknown > 0)
            were = "is" if count == 1 else "are"
            where = "at rank 1" if cutoff == 1 else f"in the first {cutoff}"
            share = f"{count} of {total} documents {where} {were} unjudged"
            yield Doubt(
                "unjudged", f"{share}, in {many(len(queries), 'query', 'queries')}",
                count, queries, price, "with all unjudged documents taken out", total=total,
                depth=cutoff, command=case.command(unjudged="drop"),
            )  # fmt: skip


def unjudged_in(placements: Placements, cutoff: int | None) -> Ints:
    """Count the unjudged documents above a cutoff, or in the first few, of each query."""
    seen = np.minimum(placements.retrieved, cutoff or TOP)
    near = placements.query[placements.rank <= (cutoff or TOP)]
    return seen - np.bincount(near, minlength=len(seen))


def ties(case: DoubtCase) -> Iterator[Doubt]:
    """Find how far the order of ties could move each value."""
    ranges: dict[str, tuple[float, ...]] = {}
    moved, known = np.zeros(len(case.qrels.queries), dtype=bool), Retied()
    for label, instrument in case.instruments.items():
        if not np.count_nonzero(case.placed[label].ties) or instrument.protocol.ties == "expected":
            continue
        ends = sorted(_ends(case, label, known), key=lambda end: end.aggregate)
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
        command=case.command(**untied(case)),
    )  # fmt: skip


def _ends(case: DoubtCase, label: str, known: Retied) -> Iterator[Measured]:
    """Measure with ties as they are, worst and best; a measure may refuse the last two."""
    yield case.measured[label]
    for how in ("worst", "best"):
        with suppress(IdealistError):
            yield retied(case.instruments[label], case.ranked, how, known)
    if case.qrels.cover:  # then no order is known to be the best
        for how in ORDERS:
            placements = case.ranked[case.placed[label].protocol.varied(ties=how)]
            yield measured(case.instruments[label], placements)


def _range(case: DoubtCase, label: str, low: float, high: float) -> str:
    is_sure = case.instruments[label].measure.monotone and not case.qrels.cover
    least = "" if is_sure else "at least "
    return f"{label} {least}from {number(low)} to {number(high)}"


def untied(case: DoubtCase) -> dict[str, Any]:
    """Choose the axis that averages over ties; not all measures have a mean over their orders."""
    measures = case.instruments.values()
    means = not case.qrels.cover and all(
        one.measure.averages_ties and one.protocol.depth == "none" for one in measures
    )
    return {"ties": "expected" if means else "random(1)"}


def float32(case: DoubtCase) -> Iterator[Doubt]:
    """Where float32 ties scores that differ, see whether that moves a value."""
    for mine, other in (("float64", "float32"), ("float32", "float64")):
        close = (label for label, one in case.placed.items() if one.float32.any())
        labels = [one for one in close if case.placed[one].protocol.precision == mine]
        if price := case.reranked(labels, precision=other):
            moved = [label for own in price.values() for label in own]
            queries = case.named(np.any([case.placed[label].float32 for label in moved], axis=0))
            some = many(len(queries), "query has", "queries have")
            yield Doubt(
                "float32", f"{some} scores closer than float32 can tell ({few(queries)})",
                len(queries), queries, price, f"with precision={other}",
                total=len(case.qrels.queries), command=case.command(precision=other),
            )  # fmt: skip


def duplicates(case: DoubtCase) -> Iterator[Doubt]:
    """Count documents retrieved twice, and chunks that were merged."""
    dropped = ("repeated document was dropped", "repeated documents were dropped")
    merged = ("chunk was merged into a better one", "chunks were merged into better ones")
    for code, counts, words in (
        ("duplicates", case.first.duplicates, dropped),
        ("collapsed", case.first.merged, merged),
    ):
        if count := int(counts.sum()):
            queries = case.named(counts > 0)
            said = f"{many(count, *words)}, in {many(len(queries), 'query', 'queries')}"
            yield Doubt(code, said, count, queries, severity="note")


def rows_left_out(case: DoubtCase) -> Iterator[Doubt]:
    """Count rows of either file that repeat another or say nothing."""
    total = len(case.qrels.queries)
    if count := case.qrels.repeats:
        said = f"{many(count, 'judgment is', 'judgments are')} in the qrels more than once"
        yield Doubt("repeated-judgments", said, count, total=total)
    if count := case.first.unscored:
        said = f"{many(count, 'row', 'rows')} of the run without a score: not retrieved"
        yield Doubt("unscored", said, count, total=total)
    if count := case.qrels.ungraded:
        said = f"{many(count, 'row', 'rows')} of the qrels without a grade: not judged"
        yield Doubt("ungraded", said, count, total=total)


def remarks(case: DoubtCase) -> Iterator[Doubt]:
    """Pass on what the readers of both files decided."""
    for remark in dict.fromkeys((*case.qrels.remarks, *case.run.source.remarks)):
        by_score = any(one.protocol.order == "score" for one in case.instruments.values())
        if remark.code == "list-order" and not by_score:
            continue  # the scores do not rank them then
        severity = cast("Severity", remark.severity)
        concerned = case.mask(remark.queries)
        yield Doubt(
            remark.code, remark.message, remark.count, case.named(concerned),
            case.without(concerned) if remark.queries else {},
            "without it" if len(remark.queries) == 1 else "without them",
            severity=severity, total=remark.total, command=remark.command,
        )  # fmt: skip


Check = Callable[[DoubtCase], Iterator[Doubt]]
CHECKS: tuple[Check, ...] = (
    remarks,
    data.nothing_matches, data.few_meet, upside_down, data.missing, data.unknown,
    data.no_relevant, data.unjudged_traffic, data.few_weigh, data.not_weighted,
    data.positives, unjudged, ties, float32, duplicates, rows_left_out,
    data.subtopics, data.undivided, data.no_spans, data.preferences, data.fractional,
    data.binary,
    data.not_in_tool, data.other_name, data.utility,
)  # fmt: skip


def find_doubts(case: DoubtCase, checks: Iterable[Check] = CHECKS) -> tuple[Doubt, ...]:
    """Look for everything that is doubtful about a run and the judgments."""
    return tuple(doubt.explained for check in checks for doubt in check(case))
