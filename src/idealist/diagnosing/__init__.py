"""Diagnosing: where a run loses its points, which stage could win them back, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from idealist.conventions import CONVENTIONS, DEFAULT, Convention
from idealist.data.queries import slice_names
from idealist.diagnosing.advice import advice, belong, doubts
from idealist.diagnosing.context import Context
from idealist.diagnosing.diagnosis import Diagnosis
from idealist.diagnosing.losses import headroom, losses, stages
from idealist.diagnosing.query_slices import sliced
from idealist.diagnosing.rules import RULES
from idealist.diagnosing.ruling import ruled
from idealist.diagnosing.subject import Case, Subject
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import read_queries

__all__ = ["DIAGNOSED", "Diagnosis", "diagnose"]

#: What is taken apart where nobody says what.
DIAGNOSED = ("nDCG@10", "AP", "RR@10", "R@100")


def diagnose(
    qrels: Any,
    run: Any,
    measures: Any = DIAGNOSED,
    *,
    first_stage: Any = None,
    baseline: Any = None,
    context: int | None = None,
    queries: Any = None,
    slices: Any = None,
    convention: str | Convention = DEFAULT,
    **axes: Any,
) -> Diagnosis:
    """Say where a run loses its points, which stage could win them back, and what to do.

    `first_stage` is the run whose documents this one put in order, `baseline` one to compare with
    (the first stage, where there is none), `context` how many passages a language model reads,
    `queries` gives the queries' texts, and `slices`, {query: slice}, divides them. The rest is as
    in `evaluate`.

    >>> qrels = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
    >>> found = diagnose(qrels, {"q1": ["x", "b", "a"], "q2": ["y"]}, "nDCG@10")
    >>> found.verdict
    'run loses 0.6900 of nDCG@10, most of it (0.5000) to documents not retrieved'
    >>> {stage: round(value, 4) for stage, value in found.headroom["nDCG@10"].means.items()}
    {'all': 0.5, 'first stage': 1.0}
    """
    axes = {name: value for name, value in axes.items() if value is not None}
    evaluator = Evaluator(qrels, measures, convention=convention, **axes)
    others = {"first_stage": first_stage, "baseline": baseline}
    given = {"run": run} | {key: one for key, one in others.items() if one is not None}
    subjects = {key: Subject(evaluator, axes, one) for key, one in given.items()}
    case = _case(evaluator, subjects, context, queries, slices)
    return _diagnosed(case, evaluator)


def _case(
    evaluator: Evaluator, runs: Mapping[str, Subject], context: Any, queries: Any, slices: Any
) -> Case:
    _check_context(context)
    first = runs.get("first_stage")
    return Case(
        run=runs["run"],
        measures=tuple(evaluator.instruments),
        first_stage=first,
        other=runs.get("baseline", first),
        context=context,
        texts=None if queries is None else read_queries(queries),
        slices=() if slices is None else tuple(slice_names(slices, evaluator.qrels.queries)),
    )


def _diagnosed(case: Case, evaluator: Evaluator) -> Diagnosis:
    lost = {label: losses(case.run, label) for label in case.measures}
    first = case.first_stage if belong(case) else None
    rulings = tuple(ruled(rule, case) for rule in RULES)
    return Diagnosis(
        run=case.run.run.name,
        convention=evaluator.convention.name,
        signatures=_signatures(evaluator),
        losses=lost,
        headroom={label: headroom(case.run, one) for label, one in lost.items()},
        stages={label: stages(first, one) for label, one in lost.items()} if first else {},
        slices={label: sliced(case, one) for label, one in lost.items()} if case.slices else {},
        context=None if case.context is None else Context(case, case.context).computed(),
        rulings=rulings,
        doubts=doubts(case),
        first=advice(case.run, next(iter(lost.values())).cause, rulings),
        matches=case.run.matches,
    )


def _signatures(evaluator: Evaluator) -> dict[str, str]:
    known = CONVENTIONS.get(evaluator.convention.name)
    return {
        label: one.short(known) if known else str(one)
        for label, one in evaluator.signatures.items()
    }


def _check_context(context: Any) -> None:
    whole = isinstance(context, int) and not isinstance(context, bool)
    if context is not None and not (whole and context >= 1):
        hint = "give the number of passages that are read, such as context=5"
        raise UsageError(f"context={context!r} is no number of passages", hint)
