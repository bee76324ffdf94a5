"""What runs lose of one measure, side by side, without the whole diagnosis of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from idealist.conventions.signature import Signature
from idealist.diagnosing.diagnosis import Diagnosis
from idealist.diagnosing.fixes import FIXES, Fixes, fixes
from idealist.diagnosing.losses import ALL, after, losses
from idealist.diagnosing.measured_run import MeasuredRun
from idealist.evaluating.evaluation import label_of, range_of
from idealist.evaluating.evaluator import Evaluator
from idealist.ranking.ranked import Ranked
from idealist.report import loss_figures
from idealist.report.document import Document, Signatures, Table, Text
from idealist.report.figure import Figure
from idealist.report.loss_figures import Stack
from idealist.report.plain_data import record
from idealist.report.result import Result

#: The fixes in the order of a bar: what a perfect reranker would win back comes first.
STACKED = ("rerank", "break ties", "judge", "shorten", "retrieve", "answer")
WORDS = {fix: FIXES[fix] for fix in STACKED}


@dataclass(frozen=True, eq=False, repr=False)
class RunLosses(Result):
    """What runs lose of one measure, with the parts of `diagnose`: a bar each."""

    bars: tuple[Stack, ...]
    signature: Signature
    convention: str

    @property
    def summary(self) -> str:
        """What the first run loses most to, and how many others do."""
        return self.figure("losses").says

    @property
    def figures(self) -> Mapping[str, Callable[..., Figure]]:
        """The bars as a figure."""
        most = range_of(self.signature)[1]
        return {"losses": partial(loss_figures.losses, self.bars, WORDS, most=most)}

    def report(self) -> Document:
        """Describe what each run loses, a row a run."""
        signed = Signatures((self.signature.by(self.convention),))
        return Document((Text(self.summary, strong=True), self.table()), (signed,))

    def table(self) -> Table:
        """Return the value of each run, what it loses by cause, and what it could reach."""
        return self.figure("losses").rows

    def data(self) -> list[dict[str, Any]]:
        """Return the bars as plain data."""
        return [record(one._asdict()) for one in self.bars]


def losses_of_runs(evaluator: Evaluator, runs: Any, measure: Any = None) -> RunLosses:
    """Find what each of many runs loses of a measure, by default the first of the evaluator's.

    `runs` are one run, several, runs by name, or a list of `Ranked`. `diagnose` says more of one.
    """
    known = evaluator.instruments
    label = next(iter(known)) if measure is None else label_of(measure, known)
    bars = tuple(_of(evaluator, run, label) for run in evaluator.several(runs))
    return RunLosses(bars, evaluator.signatures[label], evaluator.convention.name)


def _of(evaluator: Evaluator, ranked: Ranked, label: str) -> Stack:
    run = MeasuredRun(evaluator, evaluator.axes, ranked)
    won = fixes(run, losses(run, label), None)
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
