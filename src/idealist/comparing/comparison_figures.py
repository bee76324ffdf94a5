"""Figures of comparisons: what their builders need, taken from pairs of runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from idealist.comparing.pair import Pair
from idealist.comparing.verdict_words import who
from idealist.evaluating.evaluation_figures import heat, query_texts
from idealist.report import query_figures, value_figures
from idealist.report.figure import Figure
from idealist.report.query_figures import BeforeAfter
from idealist.report.value_figures import QueryValues

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison


def figures_of(comparison: Comparison) -> dict[str, Callable[..., Figure]]:
    """Return the figures that a comparison can make, by kind."""
    return {
        "differences": partial(differences, comparison),
        "scatter": partial(scatter, comparison),
        "spread": partial(spread, comparison),
        "heat": partial(heat, comparison.evaluations),
    }


def differences(
    comparison: Comparison, measure: Any = None, *, texts: Any = None, **names: str
) -> Figure:
    """Draw the difference of each query, from best to worst: of a `run` from a `baseline`."""
    return query_figures.differences(_before_after(chosen(comparison, measure, **names), texts))


def scatter(
    comparison: Comparison, measure: Any = None, *, texts: Any = None, **names: str
) -> Figure:
    """Draw the values of a `run` against those of a `baseline`, a dot a query."""
    return query_figures.scatter(_before_after(chosen(comparison, measure, **names), texts))


def spread(comparison: Comparison, measure: Any = None, *, texts: Any = None) -> Figure:
    """Draw how the differences spread over queries, a row a pair."""
    pairs = comparison[comparison.primary if measure is None else measure]
    baselines = {pair.baseline for pair in pairs}
    given = QueryValues(
        measure=pairs[0].measure,
        runs=tuple(map(who, pairs)),
        queries=pairs[0].queries,
        values=[pair.differences.tolist() for pair in pairs],
        sense=pairs[0].sense,
        baseline=baselines.pop() if len(baselines) == 1 else "the other run",
        texts=query_texts(texts),
    )
    return value_figures.spread(given)


def chosen(
    comparison: Comparison, measure: Any = None, run: str | None = None, baseline: str | None = None
) -> Pair:
    """Choose a pair: the first of the primary measure, unless told."""
    label = comparison.primary if measure is None else measure
    if run is None:
        pairs = [one for one in comparison[label] if baseline in (None, one.baseline)]
        if pairs:
            return pairs[0]
        run = next(one.run for one in comparison.evaluations if one.run != baseline)
    return comparison.pair(run, baseline, label)


def _before_after(pair: Pair, texts: Any) -> BeforeAfter:
    return BeforeAfter(
        measure=pair.measure,
        baseline=pair.baseline,
        run=pair.run,
        queries=pair.queries,
        before=pair.base.tolist(),
        after=pair.new.tolist(),
        differences=pair.differences.tolist(),
        sense=pair.sense,
        mean=pair.difference,
        interval=pair.ci,
        confidence=1 - pair.options.alpha,
        rope=pair.rope,
        weighted=pair.weights is not None,
        undefined=pair.undefined,
        texts=query_texts(texts),
    )
