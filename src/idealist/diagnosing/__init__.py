"""Diagnosing: where a run loses its points, which stage could win them back, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from idealist.auditing import audit
from idealist.auditing.audit_case import ranked_once
from idealist.conventions import DEFAULT, Convention
from idealist.data.queries import slice_names
from idealist.diagnosing.context import Context
from idealist.diagnosing.diagnosis import Diagnosis
from idealist.diagnosing.fixes import fixes
from idealist.diagnosing.losses import headroom, losses, stages
from idealist.diagnosing.measured_run import Inputs, MeasuredRun, belong, doubts
from idealist.diagnosing.rules import RULES
from idealist.diagnosing.ruling import ruled
from idealist.diagnosing.slices import sliced
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import read_queries
from idealist.rendering.doubt import Doubt

__all__ = ["DIAGNOSED", "Diagnosis", "diagnose"]

#: What is taken apart unless the caller says otherwise.
DIAGNOSED = ("nDCG@10", "AP", "RR@10", "R@100")


def diagnose(
    qrels: Any,
    run: Any,
    measures: Any = DIAGNOSED,
    *,
    first_stage: Any = None,
    baseline: Any = None,
    context: int | None = None,
    queries: Iterable[Any] | None = None,
    texts: Any = None,
    slices: Any = None,
    weights: Any = None,
    convention: str | Convention = DEFAULT,
    **axes: Any,
) -> Diagnosis:
    """Say where a run loses its points, which stage could win them back, and what to do.

    `first_stage` is the run whose documents this one put in order, `baseline` a run to compare with
    (the first stage, if there is no other), `context` the number of passages that a language model
    reads. `queries` are the ids of the queries to keep, `texts` are their texts, and `slices`,
    {query: slice}, divides them. The rest is as in `evaluate`, but `weights` are refused.

    >>> qrels = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
    >>> found = diagnose(qrels, {"q1": ["x", "b", "a"], "q2": ["y"]}, "nDCG@10")
    >>> found.summary
    'run loses 0.6900 of nDCG@10, 0.5000 of it to documents not retrieved'
    >>> found.advice
    'retrieve'
    >>> {stage: round(value, 4) for stage, value in found.headroom["nDCG@10"].means.items()}
    {'all': 0.5, 'first stage': 1.0}
    """
    _check(context, weights)
    axes = {name: value for name, value in axes.items() if value is not None}
    evaluator = Evaluator(qrels, measures, convention=convention, queries=queries, **axes)
    mine = MeasuredRun(evaluator, axes, ranked_once(evaluator, run))
    first, other = (
        None if one is None else MeasuredRun(evaluator, axes, one)
        for one in (first_stage, baseline)
    )
    inputs = Inputs(
        run=mine,
        measures=tuple(evaluator.instruments),
        first_stage=first,
        baseline=other or first,
        context=context,
        texts=None if texts is None else read_queries(texts),
        slices=() if slices is None else tuple(slice_names(slices, evaluator.qrels.queries)),
    )
    asked = tuple(evaluator.measures.values())
    audited = audit(evaluator.qrels, mine.ranked, asked, convention=convention, **axes)
    errors = tuple(one for one in audited.findings if one.severity == "error")
    return _diagnosed(inputs, evaluator, errors or mine.apart)


def _diagnosed(inputs: Inputs, evaluator: Evaluator, errors: tuple[Doubt, ...]) -> Diagnosis:
    run, lost = inputs.run, {label: losses(inputs.run, label) for label in inputs.measures}
    first = inputs.first_stage if belong(inputs) else None
    room = {label: headroom(run, one) for label, one in lost.items()}
    two = {label: stages(first, one) for label, one in lost.items()} if first else {}
    won = {label: fixes(run, one, two.get(label)) for label, one in lost.items()}
    return Diagnosis(
        run=run.name,
        convention=evaluator.convention.name,
        signatures=evaluator.signatures,
        losses=lost,
        fixes=won,
        headroom=room,
        stages=two,
        slices={label: sliced(inputs, one) for label, one in won.items()} if inputs.slices else {},
        context=None if inputs.context is None else Context(inputs, inputs.context).computed(),
        rulings=tuple(ruled(rule, inputs) for rule in RULES),
        errors=errors,
        doubts=doubts(inputs),
        matches=run.matches,
        audit=run.audit if errors else "",
    )


def _check(context: Any, weights: Any) -> None:
    if weights is not None:
        hint = "leave out weights=; evaluate, compare and gate take them"
        raise UsageError("diagnose cannot weigh queries: losses are shown as plain means", hint)
    whole = isinstance(context, int) and not isinstance(context, bool)
    if context is not None and not (whole and context >= 1):
        hint = "give the number of passages that are read, such as context=5"
        raise UsageError(f"context={context!r} is no number of passages", hint)
