"""The gate: whether a new run may replace a base run, for those who build and test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from idealist.conventions import DEFAULT, Convention
from idealist.errors import UsageError
from idealist.evaluation import Evaluation, label_of
from idealist.evaluator import Evaluator
from idealist.formats import borrowed_run
from idealist.gating.baseline import Baseline, check_run, find_baseline
from idealist.gating.checks import Check, Rule, adjusted
from idealist.gating.reports import github_annotations, junit, summary
from idealist.gating.result import Gate
from idealist.gating.values import paired_values
from idealist.notation import text
from idealist.placements import Placements
from idealist.summary import doubt_lines
from idealist.tables.columns import to_id

__all__ = [
    "Gate", "assert_not_worse", "check_run", "find_baseline", "gate", "github_annotations", "junit",
    "save_baseline", "summary",
]  # fmt: skip

#: What is measured where nobody says what: one measure, as each further one costs power.
MEASURES = ("nDCG@10",)


def gate(
    qrels: Any,
    base: Any,
    new: Any,
    measures: Any = None,
    *,
    max_drop: float = 0.01,
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
    bound is not below ``-max_drop``; INCONCLUSIVE otherwise. With several measures or slices the
    p-values of a drop are corrected by Holm. One measure that fails fails all; all must pass.

    `base` is a run, or a file that `save_baseline` wrote; `measures` and `convention` are then
    the file's where they are not given, and `rescore` measures it anew under grown judgments.
    `slices`, {query: slice}, of ten queries or more are checked too. `floors` are the least means
    that pass, of all queries and of each slice. More than `max_empty` queries that the base run
    has documents for and the new one has not fail.

    >>> qrels = {f"q{i}": {"d1": 1} for i in range(20)}
    >>> base = {query: ["d1", "d2"] for query in qrels}
    >>> gate(qrels, base, base).verdict
    'PASS'
    >>> gate(qrels, base, {query: ["d2", "d1"] for query in qrels}, "RR").verdict
    'FAIL'
    """
    check_run(new)
    rule, stored = _rule(max_drop, alpha), find_baseline(base)
    evaluator, _ = _prepared(qrels, stored, measures, convention, queries, weights, axes)
    if stored is not None:
        stored.check(evaluator, rescore)
    elif rescore:
        raise UsageError("only a baseline can be rescored", "a run is measured anew anyway")
    runs = [borrowed_run(base).held() if stored is None else stored.run, borrowed_run(new).held()]
    placed = [evaluator.placed(run) for run in runs]
    before, after = map(evaluator.evaluated, runs, placed)
    if stored is not None and not rescore:
        before = stored.evaluation
    checks = _checks(before, after, rule, _floors(floors, evaluator), _parts(slices or {}))
    had, has = map(_answered, placed)
    return Gate(
        before.run, after.run, checks, tuple(sorted(had - has)), max_empty,
        {label: after.short_signature(label) for label in after},
        tuple(doubt_lines([after])), rescore,
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
    stored = None if like is None else find_baseline(like)
    evaluator, axes = _prepared(qrels, stored, measures, convention, queries, weights, axes)
    Baseline.of(evaluator, run, axes).save(path)


def assert_not_worse(
    qrels: Any, base: Any, new: Any, measures: Any = None, *, strict: bool = False, **rules: Any
) -> Gate:
    """Raise AssertionError where a new run fails the gate; else give what the gate found.

    `rules` are those of `gate`; `strict` refuses INCONCLUSIVE too.
    """
    __tracebackhide__ = True  # pytest then shows the caller's line, not ours
    found = gate(qrels, base, new, measures, **rules)
    if found.failed(strict):
        raise AssertionError(str(found))
    return found


def _rule(max_drop: float, alpha: float) -> Rule:
    if not 0 <= max_drop < float("inf"):
        raise UsageError(f"max_drop cannot be {max_drop}", "give 0 or more, such as 0.01")
    if not 0 < alpha < 0.5:
        raise UsageError(f"alpha cannot be {alpha}", "give a level such as 0.05")
    return Rule(max_drop, alpha)


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
    _check_measures(evaluator)
    return evaluator, axes


def _check_measures(evaluator: Evaluator) -> None:
    """Refuse what a mean difference says nothing of."""
    for label, one in evaluator.instruments.items():
        if one.measure.direction != 1:
            hint = "gate on a measure of which more is better, such as nDCG@10"
            raise UsageError(f"{label} does not say how good a run is", hint)
        name = text(one.aggregate.aggregate)
        if name != "mean" and not name.startswith("weighted("):
            hint = "leave out --set aggregate, or gate on another measure"
            raise UsageError(f"the gate compares means, and {label} is a {name}", hint)


def _floors(given: float | Mapping[Any, float] | None, evaluator: Evaluator) -> dict[str, float]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return dict.fromkeys(evaluator.measures, float(given))
    return {label_of(one, evaluator.measures): float(floor) for one, floor in given.items()}


def _parts(slices: Mapping[Any, Any]) -> dict[str, set[str]]:
    """Give the queries of each slice."""
    parts: dict[str, set[str]] = {}
    for query, value in slices.items():
        parts.setdefault(str(value), set()).add(to_id(query))
    return dict(sorted(parts.items()))


def _checks(
    before: Evaluation,
    after: Evaluation,
    rule: Rule,
    floors: Mapping[str, float],
    parts: Mapping[str, set[str]],
) -> tuple[Check, ...]:
    found = []
    for label in after:
        values, floor = paired_values(before, after, label), floors.get(label)
        if not values.queries:
            raise UsageError(f"no query has a value of {label} in both runs", "see idealist eval")
        found.append(Check.of(label, values, rule, floor))
        sliced = [(part, values.of(queries)) for part, queries in parts.items()]
        found += [Check.of(label, own, rule, floor, part) for part, own in sliced if own.queries]
    return adjusted(found)


def _answered(placed: Mapping[str, Placements]) -> set[str]:
    """Give the judged queries that a run has documents for."""
    one = next(iter(placed.values()))
    retrieved = zip(one.qrels.queries, one.retrieved.tolist(), strict=True)
    return {query for query, documents in retrieved if documents}
