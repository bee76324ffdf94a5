"""Figures of evaluations: what their builders need, taken from the values of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from idealist.conventions.signature import Signature
from idealist.errors import UsageError, nearest
from idealist.evaluating.evaluation import Evaluation, range_of
from idealist.formats import read_queries
from idealist.measures import parse
from idealist.notation import many
from idealist.rendering.figure import Figure
from idealist.rendering.figures import run_figures, value_figures
from idealist.rendering.figures.run_figures import Mean
from idealist.rendering.figures.value_figures import QueryValues
from idealist.rendering.result import Figures
from idealist.significance.means import FEWEST


def figures_of(runs: Sequence[Evaluation]) -> Figures:
    """Return the figures that evaluations can make, by kind."""
    makers = {
        "spread": partial(spread, runs),
        "heat": partial(heat, runs),
        "intervals": partial(intervals, runs),
    }
    return Figures(makers)


def spread(
    runs: Sequence[Evaluation], measure: Any = None, *, run: str | None = None, texts: Any = None
) -> Figure:
    """Draw how the values of queries spread, a row a run, or those of one `run`."""
    chosen = runs if run is None else [evaluation_of(runs, run)]
    return value_figures.spread(query_values(chosen, measure, texts))


def heat(
    runs: Sequence[Evaluation], measure: Any = None, *, texts: Any = None, page: int | None = None
) -> Figure:
    """Draw queries by runs, the hardest query first; a `page` shows those of many one by one."""
    return value_figures.heat(query_values(runs, measure, texts), page)


def intervals(runs: Sequence[Evaluation], measure: Any = None, baseline: str = "") -> Figure:
    """Draw the means of a measure with their intervals, a row a run; each for itself."""
    label = runs[0].label(next(iter(runs[0])) if measure is None else measure)
    means = [Mean(one.run, *_mean(one, label)) for one in runs]
    counts = {int(one.counted[label].sum()) for one in runs}
    about = many(max(counts), "query", "queries") if len(counts) == 1 else ""
    signature = runs[0].signatures[label]
    return run_figures.intervals(
        label,
        means,
        sense=sense_of(signature),
        about=about,
        baseline=baseline,
        how=_made(signature),
        note=too_few(list(counts)),
    )


def too_few(counts: Sequence[int]) -> str:
    """Say why there is no interval, where some have too few queries for one."""
    return f"Intervals need at least {FEWEST} queries." if min(counts, default=0) < FEWEST else ""


def _made(signature: Signature) -> str:
    """Say how a value was made of those of queries, where it is no plain mean."""
    made = dict(signature.settings)["aggregate"]
    return "sum over queries" if made == "sum" else "weighted mean" * made.startswith("weighted(")


def _mean(evaluation: Evaluation, label: str) -> tuple[float, float, float]:
    """Return a value and its interval, NaN where too few queries carry one."""
    if evaluation.unmatched:  # which is not 0
        return math.nan, math.nan, math.nan
    few = evaluation.counted[label].sum() < FEWEST
    return evaluation[label], *((math.nan, math.nan) if few else evaluation.interval(label))


def query_values(runs: Sequence[Evaluation], measure: Any, texts: Any) -> QueryValues:
    """Put the values of runs side by side: the first measure's, unless one is named."""
    label = runs[0].label(next(iter(runs[0])) if measure is None else measure)
    known = [one.by_query(label) for one in runs]
    met = [{} if one.unmatched else own for one, own in zip(runs, known, strict=True)]
    queries = tuple(dict.fromkeys(query for values in known for query in values))
    signature = runs[0].signatures[label]
    return QueryValues(
        measure=label,
        runs=tuple(one.run for one in runs),
        queries=queries,
        values=[[values.get(query, math.nan) for query in queries] for values in met],
        sense=sense_of(signature),
        limits=range_of(signature),
        weighted=bool(runs[0].weights),
        texts=query_texts(texts),
    )


def sense_of(signature: Signature) -> int:
    """Return 1 where higher is better, -1 where lower is, 0 where neither or not known."""
    with suppress(UsageError):  # a user's own measure is known by its name only
        measure = parse(signature.measure)
        return measure.direction if measure.judges else 0
    return 0


def query_texts(texts: Any) -> Mapping[str, str]:
    """Read the texts of queries, if there are any, in any form that `read_queries` takes."""
    return {} if texts is None else read_queries(texts).text


def evaluation_of(runs: Sequence[Evaluation], name: str) -> Evaluation:
    """Find the evaluation of a run."""
    for one in runs:
        if one.run == name:
            return one
    raise UsageError(f"there is no run {name!r}", nearest(name, [one.run for one in runs]))
