"""Doubts about rankings: unjudged documents, ties, precision, duplicates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from idealist.doubts.case import Case, few, many, prices
from idealist.evaluation import Doubt
from idealist.measures.judged import Count, Judged
from idealist.measuring import measured
from idealist.placements import Placements
from idealist.ranking import rank

#: How deep a measure without cutoff is looked at for unjudged documents.
TOP = 10


def unjudged(case: Case) -> Iterator[Doubt]:
    """Count unjudged documents above each cutoff, and price them by the condensed list."""
    by_cutoff: dict[int, list[str]] = {}
    for label, instrument in case.instruments.items():
        if instrument.protocol.unjudged == "zero" and not isinstance(
            instrument.measure, (Count, Judged)
        ):
            by_cutoff.setdefault(instrument.measure.cutoff or TOP, []).append(label)
    for cutoff, labels in sorted(by_cutoff.items()):
        placements = case.placements(labels[0])
        seen = np.minimum(placements.retrieved, cutoff)
        near = placements.query[placements.rank <= cutoff]
        holes = seen - np.bincount(near, minlength=len(seen))
        if not (count := int(holes.sum())):
            continue
        values = {
            label: measured(case.instruments[label], case.placements(label).condensed()).aggregate
            for label in labels
        }
        values = {
            key: value for key, value in values.items() if value != case.measured[key].aggregate
        }
        queries = case.named(holes > 0)
        share = f"{count} of {int(seen.sum())} documents in the first {cutoff} are unjudged"
        message = f"{share}, in {many(len(queries), 'query', 'queries')}{prices(values)}"
        yield Doubt("unjudged", message, count, queries, values)


def ties(case: Case) -> Iterator[Doubt]:
    """Find how far the order of ties could move each value."""
    for label, instrument in case.instruments.items():
        placements = case.placements(label)
        if not placements.ties.any() or instrument.protocol.ties == "expected":
            continue
        low, high = (
            measured(instrument, _retied(case, placements, ties)) for ties in ("worst", "best")
        )
        moved = (low.values != high.values) & ~np.isnan(low.values)
        if moved.any() and low.aggregate != high.aggregate:
            queries = case.named(moved)
            message = (
                f"{label}: the order of tied scores decides "
                f"{many(len(queries), 'query', 'queries')} ({few(queries)}); "
                f"the value could lie between {low.aggregate:.4f} and {high.aggregate:.4f}"
            )
            values = {label: [low.aggregate, high.aggregate]}
            yield Doubt("ties", message, len(queries), queries, values)


def _retied(case: Case, placements: Placements, ties: str) -> Placements:
    if placements.protocol.depth == "none":
        return placements.retied(ties)
    other = replace(placements.protocol, ties=ties)  # the depth may cut a tie in two
    return rank(case.qrels, case.run, [other])[other]


def float32(case: Case) -> Iterator[Doubt]:
    """Where float32 ties scores that differ, see whether that moves a value."""
    labels = [label for label in case.instruments if case.placements(label).float32.any()]
    if not labels:
        return
    swap = {"float64": "float32", "float32": "float64"}
    others = {
        label: replace(
            case.instruments[label].protocol,
            precision=swap[case.instruments[label].protocol.precision],
        )
        for label in labels
    }
    placed = rank(case.qrels, case.run, set(others.values()))
    changed = np.zeros(len(case.qrels.queries), dtype=bool)
    values = {}
    for label, protocol in others.items():
        other = measured(case.instruments[label], placed[protocol])
        moved = ~np.isclose(
            other.values, case.measured[label].values, rtol=0, atol=0, equal_nan=True
        )
        if moved.any():
            changed |= moved
            values[f"{label} with {protocol.precision}"] = other.aggregate
    if values:
        queries = case.named(changed)
        prices = ", ".join(f"{label} is {value:.4f}" for label, value in values.items())
        message = (
            f"scores closer than float32 can tell decide {many(len(queries), 'query', 'queries')}"
        )
        yield Doubt(
            "float32", f"{message} ({few(queries)}); {prices}", len(queries), queries, values
        )


def duplicates(case: Case) -> Iterator[Doubt]:
    """Count what stood there more than once."""
    first = case.first
    for code, counts, what in (
        (
            "duplicates",
            first.duplicates,
            ("repeated document was dropped", "repeated documents were dropped"),
        ),
        (
            "collapsed",
            first.merged,
            ("chunk was merged into a better one", "chunks were merged into better ones"),
        ),
    ):
        if count := int(counts.sum()):
            queries = case.named(counts > 0)
            yield Doubt(
                code,
                f"{many(count, *what)}, in {many(len(queries), 'query', 'queries')}",
                count,
                queries,
            )
    if case.qrels.repeats:
        message = (
            f"{many(case.qrels.repeats, 'judgment stands', 'judgments stand')} in the qrels twice"
        )
        yield Doubt("repeated-judgments", message, case.qrels.repeats)
