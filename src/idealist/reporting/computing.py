"""What a report is made of: one ranking of each run, and what every verb finds in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from idealist.auditing import Audit, audit
from idealist.auditing.audit_case import HELD_BYTES, named_runs, ranked_once
from idealist.auditing.remembered import bytes_held
from idealist.bounding import Bounds, bounds_of_all
from idealist.comparing import COMPARED, Comparison, compare, naming
from idealist.data import Queries, Run
from idealist.diagnosing import DIAGNOSED, Diagnosis, diagnose
from idealist.errors import UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluations import Evaluations
from idealist.evaluating.evaluator import DEFAULT_MEASURES, Evaluator
from idealist.evaluating.latencies import Latencies
from idealist.formats import read_qrels
from idealist.measures.instrument import Aggregate
from idealist.notation import Settings
from idealist.protocol import Protocol
from idealist.ranking.ranked import Ranked
from idealist.reporting import stages


@dataclass(frozen=True, eq=False)
class Findings:
    """What `eval`, `compare`, `audit` and `diagnose` find; one run is compared with nothing.

    `main` is the run that the report is about: the only one, or the best of those that are not the
    baseline. `diagnosis` is of the best of all, or of `main` where there are two. `texts` are those
    of the queries, if given. Measures that have no losses give no diagnosis, but the reason.
    """

    evaluator: Evaluator
    ranked: Mapping[str, Ranked]
    evaluations: Evaluations
    comparison: Comparison | None
    audit: Audit
    diagnosis: Diagnosis | UsageError
    main: str
    texts: Queries | None = None

    @property
    def label(self) -> str:
        """The measure that decides: the first."""
        return next(iter(self.evaluator.measures))

    @property
    def baseline(self) -> str:
        """The run that others are compared with; empty where there is one run."""
        return self.comparison.baseline if self.comparison else ""

    @property
    def runs(self) -> list[str]:
        """The names of the runs, in the order given."""
        return [one.run for one in self.evaluations.runs]

    @property
    def shown(self) -> list[str]:
        """The runs whose lists are shown: the baseline and `main`, or the only one."""
        return [run for run in (self.baseline, self.main) if run]

    @property
    def diagnosed(self) -> str:
        """The run that is diagnosed; empty where none can be."""
        return "" if isinstance(self.diagnosis, UsageError) else self.diagnosis.run

    @property
    def sense(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return self.evaluator.measures[self.label].direction or 1

    @cached_property
    def alone(self) -> Evaluator:
        """The first measure alone by the same rules."""
        return first_alone(self.evaluator)

    @cached_property
    def bounds(self) -> Bounds | None:
        """How far the first measure of a single run could move if more were judged."""
        if self.comparison is not None or self.evaluator.qrels.gold != "pooled":
            return None
        (found,) = bounds_of_all(self.alone, self.ranked[self.main], "list").values()
        return None if isinstance(found, UsageError) else found

    def evaluation(self, run: str) -> Evaluation:
        """Return the values of a run."""
        return next(one for one in self.evaluations.runs if one.run == run)


def first_alone(whole: Evaluator) -> Evaluator:
    """Prepare the first measure alone by the same rules, less those that only others have."""
    label, measure = next(iter(whole.measures.items()))
    parts: list[type[Settings]] = [Protocol, Aggregate, type(measure)]
    axes = {
        name: value
        for name, value in whole.axes.items()
        if any(part.accepts(name, value) for part in parts)
    }
    typed = measure if str(measure) == label else label
    return Evaluator(
        whole.qrels, [typed], queries=whole.queries, convention=whole.convention, **axes
    )


def compute(
    qrels: Any, runs: Any, measures: Any, *, baseline: str | int | None,
    queries: Iterable[Any] | None, texts: Queries | None, slices: Mapping[Any, Any] | None,
    latency: bool, **rules: Any,
) -> Findings:  # fmt: skip
    """Find all that a report says; every run is read and ranked once, for all verbs.

    Where measures are not given, each verb has its usual ones. `rules` are convention and axes. The
    audit gets no documents: those of a report are there to be read, and need not be all.
    """
    judged = read_qrels(qrels)
    evaluator = Evaluator(judged, measures or DEFAULT_MEASURES, queries=queries, **rules)
    stages.enter("reading and measuring")
    ranked = _ranked(evaluator, runs)
    times = Latencies.of(map(_run, named_runs(runs).values())) if latency else None
    found = Evaluations(tuple(map(evaluator, ranked)), latencies=times)
    stages.enter("auditing")
    audited = audit(
        judged, ranked, measures or DEFAULT_MEASURES, queries=queries, texts=texts, **rules
    )
    which = {"queries": queries, "slices": slices, **rules}
    compared = None
    stages.enter("comparing")
    if len(ranked) > 1:
        compared = compare(judged, ranked, measures or COMPARED, baseline=baseline, **which)
        compared = replace(compared, latencies=times)
    elif baseline not in (None, 0, ranked[0].run.name):
        raise UsageError(f"there is no run {baseline!r} beside the one given", "give two runs")
    others = [one for one in found.runs if compared is None or one.run != compared.baseline]
    main = _best(evaluator, others)
    named = {one.run.name: one for one in ranked}
    diagnosed = named[main if len(ranked) == 2 else _best(evaluator, found.runs)]
    diagnosis: Diagnosis | UsageError
    try:
        diagnosis = diagnose(judged, diagnosed, measures or DIAGNOSED, texts=texts, **which)
    except UsageError as refusal:  # a median has no losses that add up
        diagnosis = refusal
    return Findings(
        evaluator=evaluator,
        ranked=named,
        evaluations=found,
        comparison=compared,
        audit=audited,
        diagnosis=diagnosis,
        main=main,
        texts=texts,
    )


def _run(given: Run | Ranked) -> Run:
    return given.run if isinstance(given, Ranked) else given


def _ranked(evaluator: Evaluator, runs: Any) -> list[Ranked]:
    """Rank every run under all rules that a verb will ask for; small files stay in memory."""
    ranked, left = [], HELD_BYTES
    for run in named_runs(runs).values():
        one = ranked_once(evaluator, run, left, naming(evaluator))
        left -= bytes_held(one.run)
        ranked.append(one)
    return ranked


def _best(evaluator: Evaluator, evaluations: Sequence[Evaluation]) -> str:
    """Name the run with the best value of the first measure."""
    label, measure = next(iter(evaluator.measures.items()))

    def rank(one: Evaluation) -> tuple[bool, float]:
        return not math.isnan(one[label]), one[label] * (measure.direction or 1)

    return max(evaluations, key=rank).run
