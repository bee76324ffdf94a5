"""What tuning and selecting begin with: runs, a measure that can be tuned by, queries in folds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from idealist.comparing.compare_options import Options
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.fusing.fusing import check_runs, checked_size
from idealist.fusing.tuning.folds import Folds
from idealist.fusing.tuning.sources import RunsToFuse
from idealist.fusing.tuning.spaces import Setting
from idealist.fusing.tuning.trials import Source, Trials
from idealist.measures.instrument import chosen
from idealist.notation import text
from idealist.protocol import RULES, UNORDERED

#: What is measured where nobody says what.
MEASURE = "nDCG@10"
#: So many folds, that one is left to learn from beside one to measure on and one to choose for.
FEWEST_TO_LEARN = 3


def checked_runs(
    runs: Any, window: int | None, missing: str, axes: Mapping[str, Any]
) -> RunsToFuse:
    """Read the runs to fuse, with the rules among the axes that say how they are ranked."""
    rules = {key: axes[key] for key in RULES if key in axes and axes[key] not in UNORDERED}
    found = tuple(run.held() for run in check_runs(runs))
    return RunsToFuse(found, checked_size("window", window), missing, rules)


def prepared_evaluator(
    qrels: Any, measure: Any, given: RunsToFuse | None, queries: Any, **rules: Any
) -> tuple[Evaluator, int]:
    """Prepare judgments and measure; count queries that are left out, as some runs lack them."""
    evaluator = Evaluator(qrels, measure, queries=queries, **rules)
    if given is None or given.missing != "skip":
        return evaluator, 0
    every = evaluator.qrels.queries
    kept = given.ranked(every).queries
    left_out = len(every) - len(kept)
    return Evaluator(evaluator.qrels, measure, queries=kept, **rules), left_out


def prepared_trials(
    source: Source,
    first: Setting,
    folds: int,
    options: Options,
    groups: Mapping[Any, Any] | None = None,
    slices: Mapping[Any, Any] | None = None,
    *,
    learns: bool = False,
) -> Trials:
    """Deal the queries that count for the default, which is measured first, to folds.

    Where a setting `learns`, that is done without the queries it is measured on, and without those
    it is chosen for.
    """
    evaluator = source.evaluator
    check_measure(evaluator)
    if evaluator.qrels.grades.max(initial=0.0) <= 0:
        told = "no document is relevant: every grade of the judgments is 0 or less"
        raise UsageError(told, "`idealist audit QRELS RUN` says more")
    measured = source.measured(first, None)
    asked = chosen(evaluator.qrels.queries, measured.counted)
    if not asked:
        raise UsageError("no judged query counts", "`idealist audit QRELS RUN` says why")
    dealt = Folds.deal(asked, folds, options.seed, groups, slices)
    if learns and folds < FEWEST_TO_LEARN:
        hint = f"use at least {FEWEST_TO_LEARN} folds"
        raise UsageError(f"{folds} folds leave nothing to learn from when choosing", hint)
    [instrument] = evaluator.instruments.values()
    return Trials(source, asked, measured.counted, dealt, instrument.measure.direction)


def check_measure(evaluator: Evaluator) -> None:
    """Refuse what cannot be tuned by: several measures, one that is not good or bad, no mean."""
    [(label, one), *others] = evaluator.instruments.items()
    if others:
        raise UsageError(f"{len(others) + 1} measures cannot be tuned by at once", "choose one")
    if not one.measure.judges or not one.measure.direction:
        hint = "tune by a measure such as nDCG@10"
        raise UsageError(f"{label} does not say how good a run is", hint)
    if (aggregate := text(one.aggregate.aggregate)) != "mean":
        hint = "leave out --set aggregate"
        raise UsageError(f"tuning goes by means, and {label} is a {aggregate}", hint)
