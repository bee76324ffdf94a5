"""Selection: which runs are worth fusing, chosen on some queries and measured on the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.comparing.compare_options import Options
from idealist.comparing.pair import Pair
from idealist.conventions import DEFAULT, Convention
from idealist.data import Run
from idealist.data.columns import Bools, Floats
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.fusing.fusing import checked_size
from idealist.fusing.fusion import Fusion
from idealist.fusing.methods import as_fusion
from idealist.fusing.tuning.looks import Look, Looks
from idealist.fusing.tuning.preparing import (
    MEASURE,
    checked_runs,
    prepared_evaluator,
    prepared_trials,
)
from idealist.fusing.tuning.sources import FusionSource, Measuring, RunsToFuse
from idealist.fusing.tuning.trials import Tick, Trials
from idealist.fusing.tuning.tuning_report import tested_cells
from idealist.fusing.tuning.tuning_result import Tuning, rows_table
from idealist.rendering import document as doc
from idealist.rendering.document import Column, Document, Interval, Table, Text
from idealist.rendering.plain_data import record
from idealist.rendering.result import Result
from idealist.rendering.wording import few
from idealist.significance.means import mean

#: Subsets grow to so many runs.
LARGEST = 8
#: What a run does among all.
EARNS, HARMS = "earns its place", "harms"


@dataclass(frozen=True)
class Subset:
    """Some of the runs, in their order, out of so many."""

    runs: tuple[str, ...]
    of: int

    def __str__(self) -> str:
        if len(self.runs) == self.of:
            return "both runs" if self.of == 2 else f"all {self.of} runs"
        return " + ".join(self.runs)

    @property
    def single(self) -> bool:
        """Whether it is one run, which is not fused."""
        return len(self.runs) == 1


class SubsetSource(Measuring):
    """Some of several runs, fused by one method; a setting is a subset."""

    noun, parallel = "sets of runs", True

    def __init__(self, evaluator: Evaluator, given: RunsToFuse, method: Fusion) -> None:
        super().__init__(evaluator)
        self.given, self.method = given, method
        self.ranked = given.ranked(evaluator.qrels.queries)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return self.ranked.names

    def subset(self, runs: Iterable[str]) -> Subset:
        """Put some runs into their order."""
        some = set(runs)
        return Subset(tuple(one for one in self.names if one in some), len(self.names))

    def learns(self, setting: Subset) -> bool:
        """Whether the method learns; a run alone does not."""
        return self.method.learns and not setting.single

    def run(self, setting: Subset, some: Bools | None = None) -> Run:
        """Fuse the judged queries of a subset."""
        own = self.ranked.only(setting.runs)
        if setting.single:
            return self.given.only(setting.runs).singles(own)[0]
        return FusionSource(self.evaluator, self.given.only(setting.runs), own).run(
            self.method, some
        )

    def is_fused(self, setting: Subset) -> bool:
        """Whether several runs are fused."""
        return not setting.single

    def command(self, setting: Subset) -> str:
        """Write the command that fuses a subset."""
        return "" if setting.single else self.given.only(setting.runs).command(self.method)

    def final(self, setting: Subset) -> Run:
        """Fuse all queries of a subset."""
        if setting.single:
            return self.run(setting)
        qrels = self.evaluator.qrels if self.method.learns else None
        return self.given.only(setting.runs).fused(self.method, qrels)

    def keep(self, settings: Iterable[Subset]) -> None:
        """Fusing again takes no time: no run is held."""


@dataclass(frozen=True, eq=False, repr=False)
class RunSelection(Result):
    """Which runs are worth fusing: ``print(selection)`` says it, with intervals.

    `tuning` has the verdict, the best subset, and what it is worth on new queries. `grown` are the
    subsets of one run, two, and so on that look best on all queries, and `estimates` what subsets
    of such a size are worth on new ones; `method` is how they are fused.
    """

    tuning: Tuning
    method: Fusion
    grown: tuple[Subset, ...]
    unseen: tuple[Floats, ...]

    @property
    def estimates(self) -> list[float]:
        """What subsets of each size are worth on queries that they were not chosen on."""
        return [mean(values.tolist()) for values in self.unseen]

    @property
    def every(self) -> Subset:
        """All runs."""
        return Subset(self.runs, len(self.runs))

    def alone(self, run: str) -> float:
        """Return the mean of a run that is not fused."""
        return self.tuning.looks.whole.means[Subset((run,), len(self.runs))]

    @property
    def choice(self) -> tuple[str, ...]:
        """The runs to fuse."""
        chosen: Subset = self.tuning.choice
        return chosen.runs

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of all runs."""
        return self.tuning.source.names

    def without(self, run: str) -> Pair | None:
        """Return all runs but one against all of them."""
        others = Subset(tuple(one for one in self.runs if one != run), len(self.runs))
        return self.tuning.family.pairs.get(others)

    def earns(self, run: str) -> str:
        """Say whether a run earns its place among all, harms, or neither can be told."""
        pair = self.without(run)
        if pair is None or not pair.significant:
            return "cannot be told"
        return HARMS if pair.better else EARNS

    @property
    def summary(self) -> str:
        """The verdict, and which runs earn their place or harm."""
        earning = [run for run in self.runs if self.earns(run) == EARNS]
        harming = [run for run in self.runs if self.earns(run) == HARMS]
        said = [f"worse without {_any(earning)}"] if earning else []
        said += [f"better without {_any(harming)}"] if harming else []
        if not said:
            return f"{self.tuning.verdict} Leaving out any one run makes no significant difference."
        return f"{self.tuning.verdict} Fusing {self.every} gets {', '.join(said)}."

    def report(self) -> Document:
        """Describe the verdict, each run, and subsets as they grow."""
        below = self.tuning.report()
        at = 1 + next(i for i, block in enumerate(below.blocks) if isinstance(block, Table))
        answer = Text(self.summary, strong=True)
        notes = (Text(f"fused by {self.method}"), *below.notes)
        return Document(
            (answer, self._runs_table(), self._grown_table(), *below.blocks[at:]), notes
        )

    def _runs_table(self) -> Table:
        rows = [
            (run, self.alone(run), *tested_cells(self.without(run)), self.earns(run))
            for run in self.runs
        ]
        columns = (
            Column("run", doc.TEXT, shortens=True), Column("alone"),
            Column("without it", doc.SIGNED), Column("corrected interval", doc.SIGNED),
            Column("p adj.", doc.P_VALUE), Column("among all", doc.TEXT),
        )  # fmt: skip
        return Table(columns, tuple(rows))

    def _grown_table(self) -> Table:
        rows = []
        before: set[str] = set()
        for one in self._sizes():
            [added] = set(one["runs"]) - before
            before |= {added}
            rows.append(
                (len(before), f"+ {added}", one["in_sample"], one["estimate"], Interval(*one["ci"]))
            )
        columns = (
            Column("runs", doc.COUNT), Column("added", doc.TEXT, shortens=True), Column("seen"),
            Column("not seen"), Column(f"{self.tuning.family.options.confidence} interval"),
        )  # fmt: skip
        title = f"{self.tuning.measure} as runs are added, the best first"
        if (left := len(self.runs) - len(rows)) > 0:
            title = f"{title}; the last {left} are not tried"
        return Table(columns, tuple(rows), title)

    def _sizes(self) -> Iterator[dict[str, Any]]:
        """Describe the subset of each size, and what such subsets are worth on new queries."""
        for one, values, estimate in zip(self.grown, self.unseen, self.estimates, strict=True):
            in_sample = self.tuning.looks.whole.means[one]
            yield {
                "runs": list(one.runs), "in_sample": in_sample, "estimate": estimate,
                "ci": self.tuning.family.interval(values),
            }  # fmt: skip

    def data(self) -> dict[str, Any]:
        """Return it as plain data; undefined values are None."""
        return record({
            "choice": list(self.choice), "method": str(self.method),
            "runs": [self._of_run(run) for run in self.runs], "grown": [*self._sizes()],
            "tuning": self.tuning.data(),
        })  # fmt: skip

    def _of_run(self, run: str) -> dict[str, Any]:
        pair = self.without(run)
        alone = self.alone(run)
        own: Mapping[str, Any] = {} if pair is None else {
            "without": pair.difference, "ci": pair.ci, "p_adjusted": pair.p_adjusted
        }  # fmt: skip
        return record({"run": run, "alone": alone, **own, "among_all": self.earns(run)})

    def table(self) -> Table:
        """Return a row for each run."""
        return rows_table(self._of_run(run) for run in self.runs)


def _any(runs: Sequence[str]) -> str:
    return few(runs) if len(runs) < 2 else f"any of {few(runs)}"


def select_runs(
    qrels: Any,
    runs: Any,
    method: Any = "rrf",
    measure: Any = MEASURE,
    *,
    folds: int = 5,
    seed: int = 0,
    groups: Mapping[Any, Any] | None = None,
    slices: Mapping[Any, Any] | None = None,
    largest: int = LARGEST,
    alpha: float = 0.05,
    window: int | None = None,
    missing: str = "error",
    queries: Iterable[Any] | None = None,
    convention: str | Convention = DEFAULT,
    tick: Tick | None = None,
    **axes: Any,
) -> RunSelection:
    """Say which runs are worth fusing: which all others miss, and which few do as well as all.

    Each run is left out of all, and subsets grow by the run that adds most, up to the `largest`.
    Subsets are chosen on some queries and measured on the others, as `tune` does, which has the
    other options.

    >>> qrels = {f"q{i}": {"a": 1} for i in range(20)}
    >>> right = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    >>> wrong = {query: {"a": 1.0, "b": 2.0} for query in qrels}
    >>> found = select_runs(qrels, {"x": right, "y": wrong, "z": wrong}, "sum", "RR")
    >>> found.choice
    ('x',)
    """
    options = Options(alpha=alpha, seed=seed)
    most = checked_size("largest", largest) or LARGEST
    given = checked_runs(runs, window, missing, axes)
    rules = {"queries": queries, "convention": convention, **axes}
    evaluator, left_out = prepared_evaluator(qrels, measure, given, **rules)
    fusion = as_fusion(method, given.names)
    if "weights" in fusion.changed():
        raise UsageError(f"{fusion} weighs all runs", "choose a method without weights")
    source = SubsetSource(evaluator, given, fusion)
    if fusion.needs_scores:
        source.ranked.check_scores()
    every = source.subset(source.names)
    trials = prepared_trials(source, every, folds, options, groups, slices, learns=fusion.learns)
    looks = [Look(trials), *(Look(trials, fold) for fold in range(trials.folds.count))]
    first = [every, *(source.subset({run}) for run in source.names)]
    first += [source.subset({*source.names} - {run}) for run in source.names]
    trials.prepare(first, tick)
    for look in looks:
        look.add(first)
    paths = [tuple(_grown(source, look, most)) for look in looks]
    found = Looks(trials, looks[0], tuple(looks[1:]))
    tuning = Tuning.of(found, {"best single run": _is_single}, every, options, left_out)
    return RunSelection(tuning, fusion, paths[0], tuple(_unseen(trials, paths[1:])))


def _is_single(setting: Subset) -> bool:
    return setting.single


def _grown(source: SubsetSource, look: Look, largest: int) -> Iterator[Subset]:
    """Add the run that helps most, again and again."""
    best = source.subset(())
    for _ in range(min(largest, len(source.names))):
        left = [run for run in source.names if run not in best.runs]
        wanted = [source.subset({*best.runs, run}) for run in left]
        look.trials.prepare(wanted)
        look.add(wanted)
        best = look.best(set(wanted).__contains__)
        yield best


def _unseen(trials: Trials, paths: Sequence[Sequence[Subset]]) -> Iterator[Floats]:
    """Measure the subsets of each size, which were chosen without a fold, on that fold."""
    fold = trials.folds.fold
    for own in zip(*paths, strict=True):
        values = trials.values(own[0]).copy()
        for number, subset in enumerate(own):
            values[fold == number] = trials.held_out(subset, number)[fold == number]
        yield values
