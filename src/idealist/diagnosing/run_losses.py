"""What runs lose of one measure, side by side, without the whole diagnosis of each."""

from __future__ import annotations

from math import nan
from typing import Any

from idealist.diagnosing.diagnosis import Diagnosis
from idealist.diagnosing.fixes import FIXES, Fixes, fixes
from idealist.diagnosing.losses import ALL, after, losses
from idealist.diagnosing.measured_run import MeasuredRun
from idealist.evaluating.evaluation import label_of, range_of
from idealist.evaluating.evaluator import Evaluator
from idealist.ranking.ranked import Ranked
from idealist.rendering.figure import Figure
from idealist.rendering.figures import loss_figures
from idealist.rendering.figures.loss_figures import Stack

#: The fixes in the order of a bar: what a perfect reranker would win back comes first.
STACKED = ("rerank", "break ties", "judge", "shorten", "retrieve", "answer")
WORDS = {fix: FIXES[fix] for fix in STACKED}


def losses_of_runs(evaluator: Evaluator, runs: Any, measure: Any = None) -> Figure:
    """Show what each of many runs loses of a measure, by default the first of the evaluator's.

    `runs` are one run, several, runs by name, or a list of `Ranked`. `diagnose` says more of one.
    """
    known = evaluator.instruments
    label = next(iter(known)) if measure is None else label_of(measure, known)
    bars = tuple(_of(evaluator, run, label) for run in evaluator.several(runs))
    most = range_of(evaluator.signatures[label])[1]
    return loss_figures.losses(bars, WORDS, most=most)


def _of(evaluator: Evaluator, ranked: Ranked, label: str) -> Stack:
    run = MeasuredRun(evaluator, evaluator.axes, ranked)
    won = fixes(run, losses(run, label), None)
    if not run.matches:  # then nothing was measured, and 0 is not the value
        return Stack(run.name, label, nan, nan, dict.fromkeys(WORDS, nan))
    return _stack(run.name, won, won.losses.mean(after(run, label)))


def losses_of_measures(diagnosis: Diagnosis, measure: Any = None) -> Figure:
    """Show what a run loses of each measure that has values from 0 to 1, or of one measure."""
    known = list(diagnosis.fixes) if measure is None else [label_of(measure, diagnosis.fixes)]
    ends = {label: range_of(diagnosis.signatures[label])[1] for label in known}
    better = [label for label in known if diagnosis.losses[label].ladder.direction > 0]
    drawn = [label for label in better if ends[label] == 1] or known[:1]
    rooms = {label: diagnosis.headroom[label].means[ALL] for label in drawn}
    stacks = [_stack(diagnosis.run, diagnosis.fixes[label], rooms[label]) for label in drawn]
    rest = [label for label in known if label not in drawn]
    why = "on another range, or better when lower"
    left = f"Not drawn, as they are {why}: {', '.join(rest)}." if rest else ""
    wrong = f"{diagnosis.summary}." if diagnosis.errors else ""
    note = " ".join(filter(None, [wrong, left]))
    return loss_figures.losses(stacks, WORDS, most=ends[drawn[0]], note=note)


def _stack(run: str, won: Fixes, reach: float) -> Stack:
    own = won.losses
    return Stack(run, own.measure, own.value, own.ideal, won.means, reach)
