"""Bounds: how far a value could move if unjudged documents were judged, or ties reordered."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from idealist.bounding.bound_case import BoundCase, grades_of, most_elsewhere
from idealist.bounding.bounds_result import Bounds, Judging, Narrowing, Source
from idealist.bounding.differences import CasePair, names_ahead
from idealist.bounding.extremes import ends
from idealist.bounding.ties import TieBounds, bound_ties
from idealist.bounding.unjudged_places import documents_of
from idealist.data import Scale
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import read_qrels
from idealist.measures.instrument import chosen, measured
from idealist.ranking.document_lists import decoded

__all__ = [
    "Bounds", "Judging", "Narrowing", "TieBounds", "bounds", "bounds_by", "bounds_of_all",
    "bounds_of_difference", "difference_by", "tie_bounds",
]  # fmt: skip

#: Which unjudged documents of two runs are judged.
PAIRED_REACHES = ("retrieved", "list")


def bounds(
    qrels: Any, run: Any, measure: Any, *, reach: str = "list", documents: int | None = None,
    scale: Any = None, **options: Any,
) -> Bounds:  # fmt: skip
    """Compute the least and the greatest value if unjudged documents were judged.

    `reach` says which ones: ``list``, those of the run down to the measure's cutoff, or all
    retrieved where it has none; ``collection``, also those that were not retrieved: as many as a
    collection of `documents` has, or any number. Each could get any grade of the declared scale
    (`scale` declares one), or else any grade observed, and 0 or 1. The `options` are those of
    `evaluate`: convention, queries, weights and axes.

    >>> found = bounds({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "AP")
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
    (0.5, 0.5, 0.75)
    >>> found.highest
    {'q': {'x': 1, 'y': 1}}
    """
    evaluator, label = _evaluator(qrels, measure, scale, **options)
    return bounds_by(evaluator, label, run, reach, documents)


def bounds_of_difference(
    qrels: Any, baseline: Any, run: Any, measure: Any, *, reach: str = "retrieved",
    scale: Any = None, **options: Any,
) -> Bounds:  # fmt: skip
    """Bound the difference of two runs, run - baseline, where a document has one grade for both.

    `reach` says which unjudged documents are judged: ``retrieved``, all that one of the runs
    retrieved, also those below the cutoff, which raise the ideal, or R; ``list``, only those down
    to the cutoff. The result says ``collection`` where the bounds hold whatever other documents
    are judged too.

    The bounds are exact for CG, DCG, P, RBP, Judged, and for nDCG with an ideal list of judged
    documents. For other measures they are outer bounds: the difference of the runs' own bounds.
    The `options` are those of `evaluate`.

    >>> found = bounds_of_difference({"q": {"d": 0}}, {"q": ["x", "y"]}, {"q": ["x", "z"]}, "P@2")
    >>> found.value, found.low, found.high
    (0.0, -0.5, 0.5)
    """
    evaluator, label = _evaluator(qrels, measure, scale, **options)
    return difference_by(evaluator, label, baseline, run, reach)


def tie_bounds(qrels: Any, run: Any, measure: Any, **options: Any) -> TieBounds:
    """Bound a value over all orders of tied documents: worst, best, and their mean.

    The `options` are those of `evaluate`.

    >>> found = tie_bounds({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "RR")
    >>> found.low, found.high, found.expected
    (0.5, 1.0, 0.75)
    """
    evaluator, label = _evaluator(qrels, measure, None, **options)
    return bound_ties(evaluator, label, evaluator.ranked(run))


def bounds_by(
    evaluator: Evaluator, label: str, run: Any, reach: str = "list", documents: int | None = None
) -> Bounds:
    """Bound one of an evaluator's measures, for a run that may be ranked already."""
    instrument, ranked = evaluator.instruments[label], evaluator.ranked(run)
    case = BoundCase.of(instrument, ranked, reach, documents)
    now = measured(instrument, case.placements)
    found, kind = ends(case), "exact"
    unlimited = reach == "collection" and documents is None
    if unlimited and most_elsewhere(instrument.measure, case.placements) is None:
        if instrument.measure.bounds(0.0)[1] > 1:
            hint = "give the size of the collection: documents=N"
            raise UsageError(f"{instrument.measure} has no highest value over a collection", hint)
        found, kind = found._replace(low=np.where(np.isnan(found.high), np.nan, 0.0)), "limit"
    written = grades_of(evaluator.qrels, instrument)
    named = partial(documents_of, case.unjudged, ranked, instrument.protocol)
    low, high, counted = found.together(instrument, case.queries)
    source = Source(case.queries, case.spans, found, written, counted, named, case)
    return _bounds(
        evaluator, label, source, run=ranked.run.name, reach=reach, kind=kind, low=low, high=high,
        lows=found.low, highs=found.high, value=now.aggregate, values=now.values,
        unjudged=case.unjudged.counts(case.size),
    )  # fmt: skip


def bounds_of_all(
    evaluator: Evaluator, run: Any, reach: str = "list"
) -> dict[str, Bounds | UsageError]:
    """Bound all measures of an evaluator; where one is refused, return why."""
    ranked, found = evaluator.ranked(run), dict[str, Bounds | UsageError]()
    for label in evaluator.measures:
        try:
            found[label] = bounds_by(evaluator, label, ranked, reach)
        except UsageError as error:
            found[label] = error
    return found


def difference_by(
    evaluator: Evaluator, label: str, baseline: Any, run: Any, reach: str = "retrieved"
) -> Bounds:
    """Bound the difference of two runs, run - baseline, by one of an evaluator's measures."""
    instrument, queries = evaluator.instruments[label], evaluator.qrels.queries
    aggregate = instrument.aggregate
    if reach not in PAIRED_REACHES:
        raise UsageError(f"there is no reach {reach!r}", f"choose {' or '.join(PAIRED_REACHES)}")
    if aggregate.weights is None and aggregate.aggregate not in ("mean", "sum"):
        hint = "use aggregate=mean"
        raise UsageError("only a mean of differences is the difference of means", hint)
    naming = {instrument.protocol: names_ahead(instrument)}
    before, after = evaluator.ranked(baseline, naming), evaluator.ranked(run, naming)
    pair = CasePair.of(instrument, after, before, reach)
    a, b = (measured(instrument, case.placements) for case in pair.cases)
    values, counting = a.values - b.values, a.counted & b.counted
    found = pair.ends()
    written, spans = grades_of(evaluator.qrels, instrument), pair.spans if pair.exact else []
    low, high, counted = found.together(instrument, queries)
    given = found if pair.exact else pair.attained()
    source = Source(
        queries, spans, given, written, counted, lambda: [decoded(name) for name in pair.names]
    )
    value = aggregate.of(values[counting], chosen(queries, counting))
    whole = bool(pair.closed[found.must | found.free].all())
    return _bounds(
        evaluator, label, source, run=f"{after.run.name} - {before.run.name}",
        reach="collection" if whole else reach, kind="exact" if pair.exact else "outer",
        low=low, high=high, lows=found.low, highs=found.high,
        value=value, values=values, unjudged=pair.counts - pair.below,
    )  # fmt: skip


def _bounds(evaluator: Evaluator, label: str, source: Source, **facts: Any) -> Bounds:
    """Fill in what the bounds of a value and those of a difference have alike."""
    return Bounds(
        measure=label, convention=evaluator.convention.name, signature=evaluator.signatures[label],
        queries=source.queries, source=source, **facts,
    )  # fmt: skip


def _evaluator(qrels: Any, measure: Any, scale: Any, **options: Any) -> tuple[Evaluator, str]:
    table = read_qrels(qrels)
    table = table if scale is None else table.on(Scale.of(scale))
    evaluator = Evaluator(table, measure, **options)
    return evaluator, next(iter(evaluator.measures))
