"""Figures of comparisons: what their builders need, taken from pairs of runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from idealist.comparing.comparison_report import best_first
from idealist.comparing.pair import Pair
from idealist.comparing.sample_sizes import sizes_of
from idealist.comparing.verdict_words import interval, who
from idealist.errors import UsageError, nearest
from idealist.evaluating.evaluation_figures import heat, intervals, query_texts, too_few
from idealist.rendering.figure import Figure
from idealist.rendering.figures import query_figures, run_figures, value_figures
from idealist.rendering.figures.query_figures import BeforeAfter
from idealist.rendering.figures.run_figures import Difference, Outcome
from idealist.rendering.figures.value_figures import QueryValues
from idealist.rendering.result import Figures
from idealist.rendering.wording import together_words, told

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison

#: How far two measures order systems alike, with the words for it; all are symmetric.
COEFFICIENTS = {"tau_b": "Kendall's tau-b", "tau_ap_b": "tau-AP,b", "rbo": "rank-biased overlap"}


def figures_of(comparison: Comparison) -> Figures:
    """Return the figures that a comparison can make, by kind."""
    makers = {
        "differences": partial(differences, comparison),
        "scatter": partial(scatter, comparison),
        "spread": partial(spread, comparison),
        "heat": partial(heat, comparison.evaluations),
        "intervals": partial(means, comparison),
        "forest": partial(forest, comparison),
        "power": partial(power, comparison),
        "agreement": partial(agreement, comparison),
    }
    alone = len(comparison.evaluations) < 3 or len(comparison.measures) < 2
    return Figures(makers, without=["agreement"] if alone else [])


def differences(
    comparison: Comparison, measure: Any = None, *, texts: Any = None, **names: str
) -> Figure:
    """Draw the difference of each query, from best to worst: of a `run` from a `baseline`."""
    return query_figures.differences(_before_after(comparison, measure, texts, names))


def scatter(
    comparison: Comparison, measure: Any = None, *, texts: Any = None, **names: str
) -> Figure:
    """Draw the values of a `run` against those of a `baseline`, a dot a query."""
    return query_figures.scatter(_before_after(comparison, measure, texts, names))


def spread(comparison: Comparison, measure: Any = None, *, texts: Any = None) -> Figure:
    """Draw how the differences spread over queries, a row a pair."""
    pairs = comparison[comparison.primary if measure is None else measure]
    baselines = {told(pair.baseline) for pair in pairs}
    undefined = pairs[0].undefined
    given = QueryValues(
        measure=pairs[0].measure,
        runs=tuple(map(who, pairs)),
        queries=(*pairs[0].queries, *undefined),
        values=[[*_differences(pair), *(math.nan for _ in undefined)] for pair in pairs],
        sense=pairs[0].sense,
        weighted=pairs[0].weights is not None,
        baseline=baselines.pop() if len(baselines) == 1 else "the other run",
        texts=query_texts(texts),
    )
    return value_figures.spread(given)


def means(comparison: Comparison, measure: Any = None) -> Figure:
    """Draw the means of all runs with their intervals, each for itself."""
    label = comparison.primary if measure is None else measure
    baseline = "" if comparison.options.all_pairs else comparison.baseline
    return intervals(comparison.evaluations, label, baseline)


def forest(comparison: Comparison, measure: Any = None, slices: bool = True) -> Figure:
    """Draw the differences of all pairs with their intervals, and those of slices if there are."""
    pairs = best_first(comparison[comparison.primary if measure is None else measure])
    rows = [row for pair in pairs for row in _rows(comparison, pair, slices)]
    one, first = comparison.options, pairs[0]
    return run_figures.forest(
        first.measure,
        rows,
        against="" if one.all_pairs and len(pairs) > 1 else first.baseline,
        rope=first.rope,
        confidence=one.confidence,
        together=_together(comparison, first),
        sense=first.sense,
        about=_averaged(first),
        note=" ".join(_remarks(comparison, rows, first)),
    )


def _remarks(comparison: Comparison, rows: Sequence[Difference], first: Pair) -> Iterator[str]:
    """Say where intervals are missing, and that those of slices are a family of their own."""
    if few := too_few([row.queries for row in rows]):
        yield few
    if any(row.part for row in rows):
        together = _together(comparison, first, comparison.slices)
        yield f"The intervals of slices are a family of their own{together_words(together)}."


def _together(comparison: Comparison, pair: Pair, pairs: Sequence[Pair] = ()) -> int:
    """Count the intervals that hold at once with that of a pair.

    The primary measure's are one family, those of all other measures another.
    """
    primary = pair.measure == comparison.primary
    every = pairs or comparison.pairs
    family = [one for one in every if (one.measure == comparison.primary) == primary]
    return sum(not math.isnan(one.p_randomisation) for one in family)


def _averaged(pair: Pair) -> str:
    """Say what is compared, where it is no plain mean or is evaluated by something else."""
    if pair.weights is not None:
        return f"weighted mean of {pair.measure}"
    return "" if pair.aggregate == "mean" else f"mean {pair.measure} per query"


def _rows(comparison: Comparison, pair: Pair, slices: bool) -> Iterator[Difference]:
    """Give the row of a pair, and then those of its slices."""
    name = f"{pair.run} - {pair.baseline}" if comparison.options.all_pairs else pair.run
    yield _row(pair, name, False)
    for one in comparison.slices if slices else ():
        if _same(one, pair):
            yield _row(one, f"{name}: {one.slice}", True)


def _same(one: Pair, other: Pair) -> bool:
    names = ("measure", "baseline", "run")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _row(pair: Pair, name: str, part: bool) -> Difference:
    return Difference(name, *_mean(pair), _outcome(pair), pair.n, part)


def _mean(pair: Pair) -> tuple[float, float, float]:
    """Return the mean difference and its interval; NaN where nothing was measured."""
    return (math.nan,) * 3 if pair.unmeasured else (pair.difference, *interval(pair))


def _outcome(pair: Pair) -> Outcome:
    if not pair.tested or pair.n < 2:
        return "untested"
    if not pair.significant:
        return "open"
    if not pair.sense:
        return "apart"
    return "better" if pair.better else "worse"


def power(comparison: Comparison, measure: Any = None, **names: str) -> Figure:
    """Draw which difference of a `run` from a `baseline` is found with how many queries."""
    pair = chosen(comparison, measure, **names)
    figure = sizes_of(pair).figure("power")
    several = len(comparison.evaluations) > 2
    return replace(figure, says=f"{who(pair)}: {figure.says}") if several else figure


def agreement(comparison: Comparison, coefficient: str = "tau_b") -> Figure:
    """Draw how far every two measures order the systems alike."""
    if coefficient not in COEFFICIENTS:
        hint = nearest(str(coefficient), COEFFICIENTS)
        raise UsageError(f"there is no coefficient {coefficient!r}", hint)
    if len(comparison.evaluations) < 3:
        hint = "compare at least three runs"
        raise UsageError("two runs have no order that measures could agree on", hint)
    if len(comparison.measures) < 2:
        raise UsageError("one measure has nothing to agree with", "compare by two or more measures")
    found = {one.measures: getattr(one, coefficient) for one in comparison.agreement}
    what, count = COEFFICIENTS[coefficient], len(comparison.evaluations)
    title = f"How far measures order {count} runs alike: {what}"
    return run_figures.agreement(comparison.measures, found, title=title, what=what, of="measures")


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


def _differences(pair: Pair) -> list[float]:
    """Return the difference of each query; none where nothing was measured, which is not 0."""
    return [math.nan] * pair.n if pair.unmeasured else pair.differences.tolist()


def _before_after(
    comparison: Comparison, measure: Any, texts: Any, names: Mapping[str, str]
) -> BeforeAfter:
    pair = chosen(comparison, measure, **names)
    mean, *ends = _mean(pair)
    return BeforeAfter(
        measure=pair.measure,
        baseline=told(pair.baseline),
        run=told(pair.run),
        queries=pair.queries,
        before=pair.base.tolist(),
        after=pair.new.tolist(),
        differences=_differences(pair),
        sense=pair.sense,
        mean=mean,
        interval=(ends[0], ends[1]),
        confidence=pair.options.confidence,
        together=_together(comparison, pair),
        rope=pair.rope,
        weighted=pair.weights is not None,
        undefined=pair.undefined,
        texts=query_texts(texts),
        note=too_few([pair.n]),
    )
