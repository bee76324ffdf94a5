"""Doubts about rankings: unjudged documents, ties, precision, duplicates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from idealist.errors import IdealistError
from idealist.evaluating.doubt_case import Case, few, prices
from idealist.measures.instrument import Measured, measured
from idealist.notation import many
from idealist.ranking.ranked import limited
from idealist.report.doubt import Doubt

#: How deep a measure without cutoff is looked at for unjudged documents.
TOP = 10
#: The orders of ties between which all others lie.
HOW = ("worst", "best")


def unjudged(case: Case) -> Iterator[Doubt]:
    """Count unjudged documents above each cutoff, and price them by the condensed lists.

    The least cutoff is always reported, deeper ones where the price is not nothing.
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
        values = case.priced({label: case.condensed[label] for label in labels})
        if values or cutoff == min(by_cutoff):
            queries = case.named(seen > np.bincount(near, minlength=len(seen)))
            were = "is" if count == 1 else "are"
            where = "at rank 1" if cutoff == 1 else f"in the first {cutoff}"
            share = f"{count} of {total} documents {where} {were} unjudged"
            cost = prices("with all unjudged documents taken out", values)
            message = f"{share}, in {many(len(queries), 'query', 'queries')}{cost}"
            yield Doubt("unjudged", message, count, queries, values)


def ties(case: Case) -> Iterator[Doubt]:
    """Find how far the order of ties could move each value."""
    values: dict[str, list[float]] = {}
    moved = np.zeros(len(case.qrels.queries), dtype=bool)
    for label, instrument in case.instruments.items():
        if not np.count_nonzero(case.placed[label].ties) or instrument.protocol.ties == "expected":
            continue
        ends = [case.measured[label], *filter(None, (_retied(case, label, h) for h in HOW))]
        ends.sort(key=lambda end: end.aggregate)
        low, high = ends[0], ends[-1]
        if f"{low.aggregate:.4f}" != f"{high.aggregate:.4f}":
            values[label] = [low.aggregate, high.aggregate]
            moved |= (low.values != high.values) & ~np.isnan(low.values)
    if values:
        queries = case.named(moved)
        ranges = ", ".join(_range(case, label, a, b) for label, (a, b) in values.items())
        some = many(len(queries), "query", "queries")
        message = f"the order of tied scores decides {some} ({few(queries)}): {ranges}"
        yield Doubt("ties", message, len(queries), queries, values)


def _range(case: Case, label: str, low: float, high: float) -> str:
    least = "" if case.instruments[label].measure.monotone else "at least "
    return f"{label} {least}from {low:.4f} to {high:.4f}"


def _retied(case: Case, label: str, how: str) -> Measured | None:
    """Measure with ties ordered by what the measure rewards; None where it refuses."""
    instrument, placements = case.instruments[label], case.placed[label]
    protocol = instrument.protocol
    try:
        if isinstance(protocol.depth, int):  # it may cut a tie in two: order whole lists, then cut
            placements = case.ranked[protocol.whole()]
        placements = placements.retied(how, instrument.measure.worth(placements))
        return measured(instrument, limited(placements, protocol))
    except IdealistError:
        return None


def float32(case: Case) -> Iterator[Doubt]:
    """Where float32 ties scores that differ, see whether that moves a value."""
    for mine, other in (("float64", "float32"), ("float32", "float64")):
        labels = [
            label
            for label, one in case.instruments.items()
            if one.protocol.precision == mine and np.count_nonzero(case.placed[label].float32)
        ]
        if values := case.reranked(labels, precision=other):
            near = np.any([case.placed[label].float32 for label in values], axis=0)
            queries, cost = case.named(near), prices(f"with precision={other}", values)
            some = many(len(queries), "query has", "queries have")
            message = f"{some} scores closer than float32 can tell ({few(queries)}){cost}"
            yield Doubt("float32", message, len(queries), queries, values)


def duplicates(case: Case) -> Iterator[Doubt]:
    """Count what stood there more than once."""
    first, repeats = case.first, case.qrels.repeats
    dropped = ("repeated document was dropped", "repeated documents were dropped")
    merged = ("chunk was merged into a better one", "chunks were merged into better ones")
    for code, counts, words in (
        ("duplicates", first.duplicates, dropped),
        ("collapsed", first.merged, merged),
    ):
        if np.count_nonzero(counts):
            count = int(counts.sum())
            queries = case.named(counts > 0)
            message = f"{many(count, *words)}, in {many(len(queries), 'query', 'queries')}"
            yield Doubt(code, message, count, queries)
    if repeats:
        message = f"{many(repeats, 'judgment stands', 'judgments stand')} in the qrels twice"
        yield Doubt("repeated-judgments", message, repeats)
    if unscored := first.unscored:
        message = f"{many(unscored, 'row', 'rows')} of the run without a score: not retrieved"
        yield Doubt("unscored", message, unscored)
    if ungraded := case.qrels.ungraded:
        message = f"{many(ungraded, 'row', 'rows')} of the qrels without a grade: not judged"
        yield Doubt("ungraded", message, ungraded)
