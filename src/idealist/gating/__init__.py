"""The gate: whether a new run may replace a baseline, for those who build and test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from idealist.comparing.compare_options import Options, whole_number
from idealist.comparing.comparison_doubts import heavy_vary_more
from idealist.comparing.pairing import aligned, pair_of
from idealist.comparing.unjudged import unjudged_effect
from idealist.conventions import DEFAULT, Convention
from idealist.data.queries import NONE
from idealist.errors import IdealistError, UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluator import Evaluator
from idealist.files import check_target
from idealist.gating.baseline import Baseline, check_run, find_baseline
from idealist.gating.checks import (
    ALPHA,
    FAIL,
    MAX_DROP,
    Check,
    Rule,
    adjusted,
    checked_looks,
    rules_of,
)
from idealist.gating.gate_result import Gate, github_annotations, junit
from idealist.gating.plan import GatePlan
from idealist.measures import Measure, parse
from idealist.notation import text
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked
from idealist.rendering.doubt import Doubt

__all__ = [
    "Gate", "GatePlan", "assert_not_worse", "check_run", "find_baseline", "gate",
    "gate_evaluations", "github_annotations", "junit", "save_baseline",
]  # fmt: skip

#: What is measured unless the caller says otherwise: one measure, as each further one costs power.
MEASURES = ("nDCG@10",)
#: Doubts about searches without a whole answer: a base run that lacks some is easily beaten.
UNFINISHED = ("failed-queries", "partial-queries", "unasked-queries")


def gate(
    qrels: Any,
    baseline: Any,
    run: Any,
    measures: Any = None,
    *,
    max_drop: float | Mapping[Any, float] = MAX_DROP,
    alpha: float = ALPHA,
    looks: int | None = None,
    slices: Mapping[Any, Any] | None = None,
    queries: Iterable[Any] | None = None,
    floors: float | Mapping[Any, float] | None = None,
    max_empty: int = 0,
    rescore: bool = False,
    weights: Any = None,
    convention: str | Convention | None = None,
    **axes: Any,
) -> Gate:
    """Say whether a run may replace a baseline: PASS, FAIL or INCONCLUSIVE.

    The mean difference of a measure, run minus baseline, decides. FAIL: it is below ``-max_drop``,
    and the drop is significant, one-sided at `alpha`, by exact sign flips where at most 20 queries
    change and by t where more do. PASS: the one-sided lower bound, by t, is not below
    ``-max_drop``. INCONCLUSIVE: neither. The p-values of a drop are corrected by Holm, over the
    measures and separately over the slices. One failed check fails the gate, and all measures must
    pass. A run of which no document is judged fails too: nothing was measured.

    `looks` is how many runs will be checked against this baseline, one a push. Each FAIL is then at
    alpha / looks, so that the chance of any false one is about alpha at most. Each PASS is at
    alpha.

    `baseline` is a run, or a file that `save_baseline` wrote. The file's measures and convention
    are then used unless others are given; the looks that it states cannot be overruled; and
    `rescore` measures its rankings again after the judgments have grown. `slices`, {query: slice},
    of ten queries or more are checked too. `floors` are the lowest means that pass, for all queries
    and for each such slice; they and `max_drop` are numbers, or {measure: number}. The gate also
    fails if more than `max_empty` queries have documents in the baseline and none in the run.

    >>> qrels = {f"q{i}": {"d1": 1} for i in range(20)}
    >>> main = {query: ["d1", "d2"] for query in qrels}
    >>> gate(qrels, main, main).verdict
    'PASS'
    >>> gate(qrels, main, {query: ["d2", "d1"] for query in qrels}, "RR").verdict
    'FAIL'
    """
    check_run(run)
    allowed, stored = whole_number("max_empty", max_empty), find_baseline(baseline)
    which = {"queries": queries, "weights": weights}
    evaluator, _ = _prepared(qrels, stored, measures, convention, axes, **which)
    budget = stored.budget(looks) if stored else 1 if looks is None else looks
    rules = rules_of(evaluator.measures, max_drop, alpha, floors, budget)
    if stored is not None:
        stored.check(evaluator, rescore)
    elif rescore:
        raise UsageError("only a baseline can be rescored", "a run is always measured again")
    runs = [evaluator.ranked(one) for one in (stored.run if stored else baseline, run)]
    before, after = map(evaluator, runs)
    unmet, dropped = _unmet(before) or _unmet(after), stored.dropped(before) if stored else ()
    if stored is not None and not rescore:
        stored.check_values(before)
        before = stored.evaluation
    had, has = map(_answered, map(evaluator.placed, runs))
    own = {label: one.measure for label, one in evaluator.instruments.items()}
    lowest = float(min(evaluator.qrels.grades.min(), 0))
    checks = _checks(own, lowest, before, after, rules, slices)
    checks = tuple(replace(_heard(one, evaluator, runs), unmet=unmet) for one in checks)
    spread = {doubt.message: doubt for one in checks for doubt in heavy_vary_more(one.pair)}
    return Gate(
        before.run, after.run, checks, tuple(sorted(had - has)), allowed, after.signatures,
        (*spread.values(), *_doubts(before, after)), rescore, dropped, after.convention,
    )  # fmt: skip


def save_baseline(
    qrels: Any,
    run: Any,
    path: str | Path,
    measures: Any = None,
    *,
    like: Any = None,
    looks: int | None = None,
    queries: Iterable[Any] | None = None,
    weights: Any = None,
    convention: str | Convention | None = None,
    **axes: Any,
) -> None:
    """Write a run's values per query to a file that `gate` takes as its baseline.

    The file also holds the top of each ranking, down to the deepest cutoff, or all of it where a
    measure looks at whole lists, so that it can be rescored when judgments have grown; and `looks`,
    how many runs will be checked against it: the level of the gate is shared among them. Measures,
    convention and looks that are not given are those of the baseline `like`, if there is one.
    """
    check_run(run)
    check_target(path, [qrels, run])
    stored = None if like is None else find_baseline(like)
    which = {"queries": queries, "weights": weights}
    evaluator, axes = _prepared(qrels, stored, measures, convention, axes, **which)
    usual = stored.looks if stored else 1
    made = Baseline.of(evaluator, run, axes, usual if looks is None else checked_looks(looks))
    if unmet := _unmet(made.evaluation):
        raise UsageError(unmet)
    made.save(path)


def assert_not_worse(
    qrels: Any, baseline: Any, run: Any, measures: Any = None, *, strict: bool = False, **rules: Any
) -> Gate:
    """Raise AssertionError if a run fails the gate; otherwise return what the gate found.

    `rules` are those of `gate`; `strict` refuses INCONCLUSIVE too.
    """
    __tracebackhide__ = True  # pytest then shows the caller's line, not ours
    try:
        found = gate(qrels, baseline, run, measures, **rules)
    except IdealistError as error:  # its words are enough, and our frames would only hide them
        raise error.with_traceback(None) from None
    if found.failed(strict):
        raise AssertionError(str(found))
    return found


def _prepared(
    qrels: Any, stored: Baseline | None, measures: Any, convention: Any, axes: dict[str, Any],
    **which: Any,
) -> tuple[Evaluator, dict[str, Any]]:  # fmt: skip
    """Set up an evaluator; what is not given is taken from a stored baseline."""
    if stored is not None and convention is None:
        convention, axes = stored.evaluation.convention, {**stored.axes, **axes}
    usual = MEASURES if stored is None else list(stored.evaluation)
    asked = usual if measures is None else measures
    evaluator = Evaluator(qrels, asked, convention=convention or DEFAULT, **which, **axes)
    _check_measures(evaluator)
    return evaluator, axes


def gate_evaluations(
    baseline: Any,
    evaluation: Any,
    measures: Any = None,
    *,
    max_drop: float | Mapping[Any, float] = MAX_DROP,
    alpha: float = ALPHA,
    looks: int = 1,
    slices: Mapping[Any, Any] | None = None,
    floors: float | Mapping[Any, float] | None = None,
) -> Gate:
    """Say whether an evaluation may replace another one, without the runs.

    They are evaluations, meters of `idealist.tensors`, or files that `Evaluation.save` wrote, and
    must have the same signatures. `measures` are all that the first has, or some of
    them; the other rules are those of `gate`.

    >>> from idealist import evaluate
    >>> qrels = {f"q{i}": {"d1": 1} for i in range(20)}
    >>> main = evaluate(qrels, {query: ["d1", "d2"] for query in qrels}, "RR")
    >>> gate_evaluations(main, main).verdict
    'PASS'
    """
    before, after = Evaluation.of(baseline), Evaluation.of(evaluation)
    asked = [measures] if isinstance(measures, (str, Measure)) else measures
    labels = [before.label(one) for one in asked] if asked else list(before)
    signed = {label: before.signatures[label] for label in labels}
    own = {label: parse(one.measure) for label, one in signed.items()}
    for label, one in signed.items():
        _check_measure(label, own[label], dict(one.settings)["aggregate"])
    rules = rules_of(labels, max_drop, alpha, floors, looks)
    unmet = _unmet(before) or _unmet(after)
    checks = _checks(own, -1.0, before, after, rules, slices)
    checks = tuple(replace(one, unmet=unmet) for one in checks)
    return Gate(
        before.run, after.run, checks, (), 0, signed, tuple(_doubts(before, after)), False, (),
        after.convention,
    )  # fmt: skip


def _doubts(before: Evaluation, after: Evaluation) -> list[Doubt]:
    """Say what is doubtful about the new run, and which searches of the base run are lacking."""
    lacking = [one for one in before.doubts if one.code in UNFINISHED]
    return [*(replace(one, run=before.run) for one in lacking), *after.doubts]


def _checks(
    measures: Mapping[str, Measure],
    lowest: float,
    before: Evaluation,
    after: Evaluation,
    rules: Mapping[str, Rule],
    slices: Mapping[Any, Any] | None,
) -> tuple[Check, ...]:
    """Check each measure on all queries and on slices; no change is larger than grades allow."""
    found = []
    for table in aligned((after, before), list(measures), measures):
        label = table.label
        if not table.queries:
            raise UsageError(f"no query has a value of {label} in both runs", "see idealist eval")
        parts = {} if slices is None else table.parts(slices)
        names = sorted(parts, key=lambda name: (name == NONE, name))
        for name, part in (("", table), *((name, parts[name]) for name in names)):
            pair = pair_of(part, 1, 0, Options(), slice=name, limits=measures[label].bounds(lowest))
            found.append(Check(pair, rules[label]))
    return adjusted(found)


def _heard(check: Check, evaluator: Evaluator, runs: Sequence[Ranked]) -> Check:
    """Let a failed check of all queries hear what unjudged documents could make of it."""
    if check.ruled != FAIL or check.pair.slice:
        return check
    alpha = 2 * check.rule.alpha  # the gate looks at one side only
    found = unjudged_effect(evaluator, runs[0], runs[1], check.pair.measure, alpha)
    return replace(check, pair=replace(check.pair, unjudged=found))


def _unmet(evaluation: Evaluation) -> str:
    """Say that nothing that a run retrieved is judged, if a doubt says so."""
    if not evaluation.unmatched:
        return ""
    why = next(doubt.command for doubt in evaluation.doubts if doubt.code == "nothing-matches")
    said = f"no document that {evaluation.run} retrieved is judged, so nothing was measured"
    return f"{said}; {why} says why"


def _answered(placed: Mapping[str, Placements]) -> set[str]:
    """Find the judged queries that a run has documents for."""
    one = next(iter(placed.values()))
    retrieved = zip(one.qrels.queries, one.retrieved.tolist(), strict=True)
    return {query for query, documents in retrieved if documents}


def _check_measures(evaluator: Evaluator) -> None:
    """Refuse measures for which a drop of the mean is not a loss."""
    for label, one in evaluator.instruments.items():
        _check_measure(label, one.measure, text(one.aggregate.aggregate))


def _check_measure(label: str, measure: Measure, aggregate: str) -> None:
    """Refuse a measure for which a drop of the mean is not a loss."""
    hint = "gate on a measure where higher is better, such as nDCG@10"
    if measure.direction < 0 and measure.judges:
        raise UsageError(f"lower is better in {label}, and the gate looks for drops", hint)
    if measure.direction != 1:
        raise UsageError(f"{label} does not say how good a run is", hint)
    if aggregate != "mean" and not aggregate.startswith("weighted("):
        rest = "leave out --set aggregate, or gate on another measure"
        raise UsageError(f"the gate compares means, and {label} is a {aggregate}", rest)
