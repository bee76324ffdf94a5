"""Doubts: what is legal but questionable about a result, counted and priced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from idealist.conventions import Convention
from idealist.evaluation import Doubt
from idealist.instrument import Instrument
from idealist.measures.base import Binary
from idealist.measures.judged import Count, Judged
from idealist.measures.udcg import UDCG
from idealist.measuring import Measured, entering, measured
from idealist.placements import Placements
from idealist.protocol import Protocol
from idealist.rank import rank
from idealist.tables import Qrels, Run
from idealist.tables.columns import Bools

#: How many queries a doubt names.
NAMED = 5
#: How deep a measure without cutoff is looked at for unjudged documents.
TOP = 10
#: What each doubt means. The reference is made from this table.
CODES: dict[str, str] = {
    "binary-on-graded": "a measure that knows two kinds of documents is used on more than two grades",
    "collapsed": "chunks were merged into their documents, the best one kept",
    "duplicates": "a document was retrieved twice for a query and one row was taken",
    "float32": "float32 and float64 scores give different rankings",
    "fractional-grades": "the convention's tool cuts off fractions of grades",
    "missing-queries": "judged queries are not in the run",
    "no-relevant": "queries have no relevant document",
    "not-in-tool": "the convention's tool does not have this measure",
    "repeated-judgments": "the same judgment stands in the qrels more than once",
    "ties": "documents with equal scores could be ordered otherwise",
    "unjudged": "documents in the first k were not judged",
    "unknown-queries": "queries of the run have no judgments",
    "unknown-utility": "passages in the first k lack the column that UDCG needs",
}


@dataclass(frozen=True)
class Case:
    """One evaluation while it is looked over."""

    qrels: Qrels
    convention: Convention
    instruments: Mapping[str, Instrument]
    run: Run
    placed: Mapping[Protocol, Placements]
    measured: Mapping[str, Measured]

    @cached_property
    def first(self) -> Placements:
        """The placements of the first measure, for what no protocol changes."""
        return self.placements(next(iter(self.instruments)))

    def placements(self, label: str) -> Placements:
        """Give the placements a measure was computed from."""
        return self.placed[self.instruments[label].protocol]

    def named(self, mask: Bools) -> tuple[str, ...]:
        """Name the queries of a mask."""
        return tuple(self.qrels.queries[i] for i in np.flatnonzero(mask))

    def without(self, gone: Bools, labels: Mapping[str, Instrument]) -> dict[str, float]:
        """Price some queries: what each measure is without them."""
        priced = {
            label: measured(instrument, self.placements(label), ~gone).aggregate
            for label, instrument in labels.items()
            if not isinstance(instrument.measure, Count)
        }
        return {label: value for label, value in priced.items() if value != self.measured[label].aggregate}


def find_doubts(case: Case) -> tuple[Doubt, ...]:
    """Look for everything that is doubtful."""
    return tuple(doubt for check in CHECKS for doubt in check(case))


def _few(queries: tuple[str, ...]) -> str:
    more = f" and {len(queries) - NAMED} more" if len(queries) > NAMED else ""
    return ", ".join(queries[:NAMED]) + more


def _many(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _prices(values: Mapping[str, float]) -> str:
    shown = ", ".join(f"{label} is {value:.4f}" for label, value in values.items() if value == value)
    return f"; without it {shown}" if shown else ""


def _missing(case: Case) -> Iterator[Doubt]:
    gone = ~case.first.in_run
    if not gone.any():
        return
    queries = case.named(gone)
    counting = {
        label: one for label, one in case.instruments.items() if one.protocol.missing == "zero"
    }
    how = "count as empty lists" if counting else "do not count"
    message = f"{_many(len(queries), 'judged query is', 'judged queries are')} not in the run and {how}"
    values = case.without(gone, counting)
    yield Doubt("missing-queries", f"{message} ({_few(queries)}){_prices(values)}", len(queries), queries, values)


def _unknown(case: Case) -> Iterator[Doubt]:
    queries = case.first.unknown
    if queries:
        message = f"{_many(len(queries), 'query of the run has', 'queries of the run have')} no judgments"
        yield Doubt("unknown-queries", f"{message} and are left out ({_few(queries)})", len(queries), queries)


def _no_relevant(case: Case) -> Iterator[Doubt]:
    """Look for queries whose value is a convention's word, not a measurement."""
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for label, instrument in case.instruments.items():
        if "no_relevant" not in instrument.measure.parameters() or isinstance(instrument.measure, Count):
            continue
        unsettled = replace(instrument.measure, no_relevant="nan")  # type: ignore[call-arg]
        gaps = np.isnan(unsettled.values(case.placements(label))) & entering(case.placements(label))
        if gaps.any():
            prices = found.setdefault(case.named(gaps), {})
            prices.update(case.without(gaps, {label: instrument}))
    for queries, values in found.items():
        message = f"{_many(len(queries), 'query has', 'queries have')} no relevant document ({_few(queries)})"
        yield Doubt("no-relevant", message + _prices(values), len(queries), queries, values)


def _unjudged(case: Case) -> Iterator[Doubt]:
    """Count unjudged documents above each cutoff, and price them by the condensed list."""
    by_cutoff: dict[int, list[str]] = {}
    for label, instrument in case.instruments.items():
        if instrument.protocol.unjudged == "zero" and not isinstance(instrument.measure, (Count, Judged)):
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
        queries = case.named(holes > 0)
        share = f"{count} of {int(seen.sum())} documents in the first {cutoff} are unjudged"
        message = f"{share}, in {_many(len(queries), 'query', 'queries')}{_prices(values)}"
        yield Doubt("unjudged", message, count, queries, values)


def _ties(case: Case) -> Iterator[Doubt]:
    """Find how far the order of ties could move each value."""
    for label, instrument in case.instruments.items():
        placements = case.placements(label)
        if not placements.tied or instrument.protocol.ties == "expected":
            continue
        low, high = (
            measured(instrument, _retied(case, placements, ties)) for ties in ("worst", "best")
        )
        moved = (low.values != high.values) & ~np.isnan(low.values)
        if moved.any():
            queries = case.named(moved)
            message = (
                f"{label}: the order of tied scores decides "
                f"{_many(len(queries), 'query', 'queries')} ({_few(queries)}); "
                f"the value could lie between {low.aggregate:.4f} and {high.aggregate:.4f}"
            )
            values = {label: [low.aggregate, high.aggregate]}
            yield Doubt("ties", message, len(queries), queries, values)


def _retied(case: Case, placements: Placements, ties: str) -> Placements:
    if placements.protocol.depth == "none":
        return placements.retied(ties)
    other = replace(placements.protocol, ties=ties)  # the depth may cut a tie in two
    return rank(case.qrels, case.run, [other])[other]


def _float32(case: Case) -> Iterator[Doubt]:
    """Where float32 ties scores that differ, see whether that moves a value."""
    labels = [label for label in case.instruments if case.placements(label).float32.any()]
    if not labels:
        return
    swap = {"float64": "float32", "float32": "float64"}
    others = {
        label: replace(case.instruments[label].protocol, precision=swap[case.instruments[label].protocol.precision])
        for label in labels
    }
    placed = rank(case.qrels, case.run, set(others.values()))
    changed = np.zeros(len(case.qrels.queries), dtype=bool)
    values = {}
    for label, protocol in others.items():
        other = measured(case.instruments[label], placed[protocol])
        moved = ~np.isclose(other.values, case.measured[label].values, rtol=0, atol=0, equal_nan=True)
        if moved.any():
            changed |= moved
            values[f"{label} with {protocol.precision}"] = other.aggregate
    if values:
        queries = case.named(changed)
        prices = ", ".join(f"{label} is {value:.4f}" for label, value in values.items())
        message = f"scores closer than float32 can tell decide {_many(len(queries), 'query', 'queries')}"
        yield Doubt("float32", f"{message} ({_few(queries)}); {prices}", len(queries), queries, values)


def _duplicates(case: Case) -> Iterator[Doubt]:
    first = case.first
    for code, counts, what in (
        ("duplicates", first.duplicates, "repeated documents were dropped"),
        ("collapsed", first.merged, "chunks were merged into a better one of their document"),
    ):
        if count := int(counts.sum()):
            queries = case.named(counts > 0)
            yield Doubt(code, f"{count} {what}, in {_many(len(queries), 'query', 'queries')}", count, queries)
    if case.qrels.repeats:
        message = f"{_many(case.qrels.repeats, 'judgment stands', 'judgments stand')} in the qrels twice"
        yield Doubt("repeated-judgments", message, case.qrels.repeats)


def _fractional(case: Case) -> Iterator[Doubt]:
    count = int(np.count_nonzero(case.qrels.grades != np.trunc(case.qrels.grades)))
    cut = {label: one for label, one in case.instruments.items() if one.protocol.grades == "truncate"}
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
        f"{_many(count, 'grade has', 'grades have')} a fraction, which {case.convention.tool} cuts "
        f"off; with grades=keep {prices}"
    )
    yield Doubt("fractional-grades", message, count, (), values)


def _binary(case: Case) -> Iterator[Doubt]:
    grades = np.unique(case.qrels.grades[case.qrels.grades >= 0])
    labels = [label for label, one in case.instruments.items() if _knows_two(one)]
    if len(grades) > 2 and labels:
        message = (
            f"{', '.join(labels)}: relevant or not, while the judgments have the grades "
            f"{', '.join(f'{grade:g}' for grade in grades[:10])}; set rel= to say where relevance begins"
        )
        yield Doubt("binary-on-graded", message, len(labels))


def _knows_two(instrument: Instrument) -> bool:
    measure = instrument.measure
    binary = isinstance(measure, Binary) or getattr(measure, "gain", "") == "binary" or isinstance(measure, UDCG)
    return binary and not isinstance(measure, Count) and getattr(measure, "rel", None) in (1, "none")


def _not_in_tool(case: Case) -> Iterator[Doubt]:
    labels = [
        label for label, one in case.instruments.items() if not case.convention.has(one.measure)
    ]
    if labels:
        message = f"{case.convention.tool} has no {', '.join(labels)}; the parameters are the default's"
        yield Doubt("not-in-tool", message, len(labels))


def _utility(case: Case) -> Iterator[Doubt]:
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
                f"and add nothing, in {_many(len(queries), 'query', 'queries')}"
            )
            yield Doubt("unknown-utility", message, count, queries)


CHECKS: tuple[Callable[[Case], Iterator[Doubt]], ...] = (
    _missing, _unknown, _no_relevant, _unjudged, _ties, _float32, _duplicates, _fractional, _binary,
    _not_in_tool, _utility,
)  # fmt: skip
