"""Bounds: how far a value could move if what is unjudged were judged, or ties ordered otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from idealist.bounding import ties
from idealist.bounding.bounds_result import Bounds, Judging, Narrowing, OneRun
from idealist.bounding.differences import TwoRuns, exact_difference, joint_ends, outer_ends, pair_of
from idealist.bounding.extremes import ends, together
from idealist.bounding.setting import grades_of, most_elsewhere, set_up
from idealist.bounding.ties import TieBounds
from idealist.conventions import DEFAULT, Convention
from idealist.data import Run, Scale
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import borrowed_run, read_qrels
from idealist.measures.instrument import chosen, measured

__all__ = [
    "Bounds", "Judging", "Narrowing", "TieBounds", "bounds", "bounds_by", "bounds_of_all",
    "bounds_of_difference", "difference_by", "tie_bounds",
]  # fmt: skip


def bounds(
    qrels: Any,
    run: Any,
    measure: Any,
    *,
    reach: str = "list",
    documents: int | None = None,
    convention: str | Convention = DEFAULT,
    scale: Any = None,
    **axes: Any,
) -> Bounds:
    """Bound a value: the least and the greatest it could be if unjudged documents were judged.

    `reach` is which ones: ``list``, those of the run above the measure's cutoff, or all retrieved
    where it has none; ``collection``, those that were not retrieved besides, as many as a
    collection of `documents` has, or any number. Each could have any grade of the declared scale
    (`scale` declares one), or else any grade observed, and 0 or 1.

    >>> found = bounds({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "AP")
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
    (0.5, 0.5, 0.75)
    >>> found.highest
    {'q': {'x': 1, 'y': 1}}
    """
    evaluator, label = _evaluator(qrels, measure, convention, scale, axes)
    return bounds_by(evaluator, label, borrowed_run(run).held(), reach, documents)


def bounds_by(
    evaluator: Evaluator, label: str, run: Run, reach: str = "list", documents: int | None = None
) -> Bounds:
    """Bound one of an evaluator's measures."""
    instrument, qrels = evaluator.instruments[label], evaluator.qrels
    case = set_up(instrument, qrels, run, reach, documents)
    now = measured(instrument, case.placements)
    found, kind = ends(case), "exact"
    unlimited = reach == "collection" and documents is None
    if unlimited and most_elsewhere(instrument.measure, case.placements) is None:
        if instrument.measure.bounds(0.0)[1] > 1:
            hint = "give the size of the collection: documents=N"
            raise UsageError(f"{instrument.measure} has no highest value over a collection", hint)
        found, kind = found._replace(low=np.where(np.isnan(found.high), np.nan, 0.0)), "limit"
    low, in_low = together(instrument, qrels.queries, found, high=False)
    high, in_high = together(instrument, qrels.queries, found, high=True)
    return Bounds(
        run=run.name,
        measure=label,
        signature=str(evaluator.signatures[label]),
        reach=reach,
        kind=kind,
        value=now.aggregate,
        low=low,
        high=high,
        queries=qrels.queries,
        values=now.values,
        lows=found.low,
        highs=found.high,
        holes=case.holes.counts(case.size),
        source=OneRun(case, run, found, grades_of(qrels, instrument), (in_low, in_high)),
    )


def bounds_of_all(
    evaluator: Evaluator, run: Any, reach: str = "list"
) -> dict[str, Bounds | UsageError]:
    """Bound all measures of an evaluator; where one is refused, say why."""
    held, found = borrowed_run(run).held(), dict[str, Bounds | UsageError]()
    for label in evaluator.measures:
        try:
            found[label] = bounds_by(evaluator, label, held, reach)
        except UsageError as error:
            found[label] = error
    return found


def bounds_of_difference(
    qrels: Any,
    baseline: Any,
    run: Any,
    measure: Any,
    *,
    convention: str | Convention = DEFAULT,
    scale: Any = None,
    **axes: Any,
) -> Bounds:
    """Bound the difference of two runs, run - baseline, where a document has one grade for both.

    Exact for CG, DCG, P, RBP, Judged, and for nDCG whose ideal list is of judged documents. Other
    measures have an outer bound: the difference of their own bounds.

    >>> found = bounds_of_difference({"q": {"d": 0}}, {"q": ["x", "y"]}, {"q": ["x", "z"]}, "P@2")
    >>> found.value, found.low, found.high
    (0.0, -0.5, 0.5)
    """
    evaluator, label = _evaluator(qrels, measure, convention, scale, axes)
    return difference_by(evaluator, label, borrowed_run(baseline).held(), borrowed_run(run).held())


def difference_by(evaluator: Evaluator, label: str, baseline: Run, run: Run) -> Bounds:
    """Bound the difference of two runs by one of an evaluator's measures."""
    instrument, table = evaluator.instruments[label], evaluator.qrels
    aggregate = instrument.aggregate
    if aggregate.weights is None and aggregate.aggregate not in ("mean", "sum"):
        hint = "use aggregate=mean"
        raise UsageError("only a mean of differences is the difference of means", hint)
    runs = run, baseline
    cases = (set_up(instrument, table, runs[0]), set_up(instrument, table, runs[1]))
    pair, grades = pair_of(table, runs, cases), grades_of(table, instrument)
    a, b = (measured(instrument, case.placements) for case in cases)
    counted = a.counted & b.counted
    exact = exact_difference(pair)
    found, tried = joint_ends(pair, grades) if exact else (outer_ends(pair), [])
    low, in_low = together(instrument, table.queries, found, high=False)
    high, in_high = together(instrument, table.queries, found, high=True)
    return Bounds(
        run=f"{runs[0].name} - {runs[1].name}",
        measure=label,
        signature=str(evaluator.signatures[label]),
        reach="list",
        kind="exact" if exact else "outer",
        value=aggregate.of((a.values - b.values)[counted], chosen(table.queries, counted)),
        low=low,
        high=high,
        queries=table.queries,
        values=a.values - b.values,
        lows=found.low,
        highs=found.high,
        holes=np.array([len(pair.holes.get(query, ())) for query in table.queries]),
        source=TwoRuns.of(pair, found, tried, (in_low, in_high)),
    )


def tie_bounds(
    qrels: Any, run: Any, measure: Any, *, convention: str | Convention = DEFAULT, **axes: Any
) -> TieBounds:
    """Bound a value over all orders of tied documents: worst, best, and their mean.

    >>> found = tie_bounds({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "RR")
    >>> found.low, found.high, found.expected
    (0.5, 1.0, 0.75)
    """
    evaluator, label = _evaluator(qrels, measure, convention, None, axes)
    held = borrowed_run(run).held()
    return ties.bounded(evaluator.instruments[label], label, evaluator.qrels, held)


def _evaluator(
    qrels: Any, measure: Any, convention: str | Convention, scale: Any, axes: dict[str, Any]
) -> tuple[Evaluator, str]:
    table = read_qrels(qrels)
    table = table if scale is None else table.on(Scale.of(scale))
    evaluator = Evaluator(table, measure, convention=convention, **axes)
    return evaluator, next(iter(evaluator.measures))
