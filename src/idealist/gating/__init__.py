"""The gate: whether a new run may replace a base run, for those who build and test."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from idealist.conventions import DEFAULT, Convention
from idealist.data.queries import NONE, slice_names
from idealist.errors import IdealistError, UsageError
from idealist.evaluating.evaluation import Evaluation, label_of
from idealist.evaluating.evaluator import Evaluator
from idealist.evaluating.summary import doubt_lines
from idealist.gating.baseline import Baseline, check_run, find_baseline
from idealist.gating.build_reports import github_annotations, junit, summary
from idealist.gating.checks import MAX_DROP, Check, Rule, Values, adjusted, paired_values
from idealist.gating.gate_result import Gate
from idealist.notation import text
from idealist.ranking.placements import Placements
from idealist.significance.paired import checked_alpha

__all__ = [
    "Gate", "assert_not_worse", "check_run", "check_target", "find_baseline", "gate",
    "github_annotations", "junit", "save_baseline", "summary",
]  # fmt: skip

#: What is measured where nobody says what: one measure, as each further one costs power.
MEASURES = ("nDCG@10",)


def gate(
    qrels: Any,
    base: Any,
    new: Any,
    measures: Any = None,
    *,
    max_drop: float | Mapping[Any, float] = MAX_DROP,
    alpha: float = 0.05,
    slices: Mapping[Any, Any] | None = None,
    queries: Iterable[Any] | None = None,
    floors: float | Mapping[Any, float] | None = None,
    max_empty: int = 0,
    rescore: bool = False,
    weights: Any = None,
    convention: str | Convention | None = None,
    **axes: Any,
) -> Gate:
    """Say whether a new run may replace a base run: PASS, FAIL or INCONCLUSIVE.

    By the one-sided bounds (level `alpha`) of the mean difference d of a measure, new less base:
    FAIL where the upper bound is below 0 and the mean below ``-max_drop``; PASS where the lower
    bound is not below ``-max_drop``; INCONCLUSIVE otherwise. Where all queries change by the same,
    t says nothing and sign flips decide. The p-values of a drop are corrected by Holm, over the
    measures and apart from them over the slices. One that fails fails all; all measures must pass.
    Where no id of a run is judged nothing was measured, which fails too.

    `base` is a run, or a file that `save_baseline` wrote; `measures` and `convention` are then
    the file's where they are not given, and `rescore` measures it anew under grown judgments.
    `slices`, {query: slice}, of ten queries or more are checked too. `floors` are the least means
    that pass, of all queries and of each such slice; they and `max_drop` are numbers, or
    {measure: number}. More than `max_empty` queries that the base
    run has documents for and the new one has not fail.

    >>> qrels = {f"q{i}": {"d1": 1} for i in range(20)}
    >>> base = {query: ["d1", "d2"] for query in qrels}
    >>> gate(qrels, base, base).verdict
    'PASS'
    >>> gate(qrels, base, {query: ["d2", "d1"] for query in qrels}, "RR").verdict
    'FAIL'
    """
    check_run(new)
    allowed, stored = count_of(max_empty), find_baseline(base)
    evaluator, _ = _prepared(qrels, stored, measures, convention, queries, weights, axes)
    rules = rules_of(max_drop, alpha, evaluator.measures)
    if stored is not None:
        stored.check(evaluator, rescore)
    elif rescore:
        raise UsageError("only a baseline can be rescored", "a run is measured anew anyway")
    runs = [evaluator.ranked(base if stored is None else stored.run), evaluator.ranked(new)]
    before, after = map(evaluator, runs)
    unmet, dropped = _unmet(before) or _unmet(after), stored.dropped(before) if stored else ()
    if stored is not None and not rescore:
        stored.check_values(before)
        before = stored.evaluation
    had, has = map(_answered, map(evaluator.placed, runs))
    checks = _checks(before, after, rules, floors_of(floors, evaluator.measures), slices)
    return Gate(
        before.run, after.run, tuple(replace(check, unmet=unmet) for check in checks),
        tuple(sorted(had - has)), allowed,
        {label: after.short_signature(label) for label in after},
        tuple(doubt_lines([after])), rescore, dropped,
    )  # fmt: skip


def save_baseline(
    qrels: Any,
    run: Any,
    path: str | Path,
    measures: Any = None,
    *,
    like: Any = None,
    queries: Iterable[Any] | None = None,
    weights: Any = None,
    convention: str | Convention | None = None,
    **axes: Any,
) -> None:
    """Write a run's values per query to a file that `gate` takes as base.

    The file holds the top of each ranking too, down to the deepest cutoff, or all of it where a
    measure looks at whole lists, so that it can be rescored when judgments have grown. Measures
    and convention that are not given are those of the baseline `like`, where there is one.
    """
    check_run(run)
    check_target(path, [qrels, run])
    stored = None if like is None else find_baseline(like)
    evaluator, axes = _prepared(qrels, stored, measures, convention, queries, weights, axes)
    made = Baseline.of(evaluator, run, axes)
    if unmet := _unmet(made.evaluation):
        raise UsageError(unmet)
    made.save(path)


def assert_not_worse(
    qrels: Any, base: Any, new: Any, measures: Any = None, *, strict: bool = False, **rules: Any
) -> Gate:
    """Raise AssertionError where a new run fails the gate; else give what the gate found.

    `rules` are those of `gate`; `strict` refuses INCONCLUSIVE too.
    """
    __tracebackhide__ = True  # pytest then shows the caller's line, not ours
    try:
        found = gate(qrels, base, new, measures, **rules)
    except IdealistError as error:  # whose words say all, and how we came to them is ours
        raise error.with_traceback(None) from None
    if found.failed(strict):
        raise AssertionError(str(found))
    return found


def _prepared(
    qrels: Any,
    stored: Baseline | None,
    measures: Any,
    convention: str | Convention | None,
    queries: Iterable[Any] | None,
    weights: Any,
    axes: dict[str, Any],
) -> tuple[Evaluator, dict[str, Any]]:
    """Set up an evaluator; what is not given is as a baseline has it."""
    if stored is not None and convention is None:
        convention, axes = stored.evaluation.convention, {**stored.axes, **axes}
    if measures is None:
        measures = MEASURES if stored is None else list(stored.evaluation)
    chosen = convention or DEFAULT
    evaluator = Evaluator(
        qrels, measures, convention=chosen, queries=queries, weights=weights, **axes
    )
    check_measures(evaluator)
    return evaluator, axes


def _checks(
    before: Evaluation,
    after: Evaluation,
    rules: Mapping[str, Rule],
    floors: Mapping[str, float],
    slices: Mapping[Any, Any] | None,
) -> tuple[Check, ...]:
    found = []
    for label in after:
        values, floor = paired_values(before, after, label), floors.get(label)
        if not values.queries:
            raise UsageError(f"no query has a value of {label} in both runs", "see idealist eval")
        found.append(Check.of(label, values, rules[label], floor))
        if slices is not None:
            sliced = _sliced(values, slices)
            found += [Check.of(label, own, rules[label], floor, part) for part, own in sliced]
    return adjusted(found)


def _sliced(values: Values, slices: Mapping[Any, Any]) -> Iterator[tuple[str, Values]]:
    names = slice_names(slices, values.queries)
    for part in sorted(set(names), key=lambda name: (name == NONE, name)):
        yield part, values.at(np.array([name == part for name in names]))


def _unmet(evaluation: Evaluation) -> str:
    """Say that no id of a run is judged, where a doubt says so."""
    if all(doubt.code != "nothing-matches" for doubt in evaluation.doubts):
        return ""
    why = "idealist audit QRELS RUN says why"
    return f"no id of {evaluation.run} is judged, so nothing was measured; {why}"


def _answered(placed: Mapping[str, Placements]) -> set[str]:
    """Give the judged queries that a run has documents for."""
    one = next(iter(placed.values()))
    retrieved = zip(one.qrels.queries, one.retrieved.tolist(), strict=True)
    return {query for query, documents in retrieved if documents}


def rules_of(max_drop: Any, alpha: Any, labels: Iterable[str]) -> dict[str, Rule]:
    """Check the largest drop that passes, one for all measures or by measure, and the level."""
    known, level = list(labels), checked_alpha(alpha)
    drops = dict.fromkeys(known, MAX_DROP) | _by_measure("max_drop", max_drop, known)
    for label, drop in drops.items():
        if drop < 0:
            raise UsageError(f"max_drop of {label} cannot be {drop:g}", "give 0 or more")
    return {label: Rule(drop, level) for label, drop in drops.items()}


def count_of(max_empty: Any) -> int:
    """Check how many queries may become empty."""
    whole = isinstance(max_empty, Integral) and not isinstance(max_empty, bool)
    if not whole or max_empty < 0:
        raise UsageError(f"max_empty cannot be {max_empty!r:.60}", "give a whole number from 0 on")
    return int(max_empty)


def floors_of(given: Any, labels: Iterable[str]) -> dict[str, float]:
    """Give the least mean that passes, by measure."""
    return {} if given is None else _by_measure("floors", given, list(labels))


def _by_measure(name: str, given: Any, labels: list[str]) -> dict[str, float]:
    """Read a number for all measures, or one for each that is named."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(labels, _number(name, given))
    found: dict[str, float] = {}
    for measure, number in given.items():
        label = label_of(measure, labels)
        if label in found:
            raise UsageError(f"{label} has two {name}", "give each measure one")
        found[label] = _number(f"{name} of {label}", number)
    return found


def _number(name: str, given: Any) -> float:
    real = isinstance(given, Real) and not isinstance(given, bool)
    if not real or not math.isfinite(given):
        hint = "give a number such as 0.01, or {measure: number}"
        raise UsageError(f"{name} cannot be {given!r:.60}", hint)
    return float(given)


def check_target(target: str | Path, inputs: Iterable[Any]) -> None:
    """Refuse to write over what is read."""
    paths = [one for one in inputs if isinstance(one, (str, Path)) and one != "-"]
    if Path(target).resolve() in [Path(one).resolve() for one in paths]:
        raise UsageError(f"{target} is an input, and would be overwritten", "write another file")


def check_measures(evaluator: Evaluator) -> None:
    """Refuse what a drop of the mean says nothing of."""
    hint = "gate on a measure of which more is better, such as nDCG@10"
    for label, one in evaluator.instruments.items():
        if one.measure.direction < 0 and one.measure.judges:
            raise UsageError(f"less is better of {label}, and the gate looks for drops", hint)
        if one.measure.direction != 1:
            raise UsageError(f"{label} does not say how good a run is", hint)
        name = text(one.aggregate.aggregate)
        if name != "mean" and not name.startswith("weighted("):
            rest = "leave out --set aggregate, or gate on another measure"
            raise UsageError(f"the gate compares means, and {label} is a {name}", rest)
