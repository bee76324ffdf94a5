"""Evaluating: judgments, a run and measures in; values, doubts and signatures out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from idealist.conventions import DEFAULT, Convention
from idealist.conventions import convention as find_convention
from idealist.conventions.signature import signatures
from idealist.data.columns import to_id
from idealist.data.queries import Queries, Weights
from idealist.errors import Faults, UsageError
from idealist.evaluating.doubt_case import DoubtCase
from idealist.evaluating.doubts import find_doubts
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.many_runs import Job, done_with_each
from idealist.formats import borrowed_run, one_or_several, read_qrels
from idealist.formats.run_folders import gathered
from idealist.measures import Measure, as_measure
from idealist.measures.instrument import Aggregate, check_axes, measured
from idealist.notation import many
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import NOBODY, Ranked
from idealist.rendering.wording import few

#: What is measured where nobody says what.
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR@10", "R@100", "Judged@10")


class Evaluator:
    """Judgments and measures, prepared once, for any number of runs.

    >>> evaluator = Evaluator({"q1": {"d1": 1}}, ["RR@10"])
    >>> evaluator({"q1": ["d3", "d1"]})["RR@10"]
    0.5
    """

    def __init__(
        self,
        qrels: Any,
        measures: Any = DEFAULT_MEASURES,
        *,
        convention: str | Convention = DEFAULT,
        queries: Iterable[Any] | None = None,
        weights: Any = None,
        **axes: Any,
    ) -> None:
        self.qrels = read_qrels(qrels)
        self.asked = _ids(queries)
        self.queries = queries if isinstance(queries, Queries) else None  # which knows its file
        if queries is not None:
            self.qrels = self.qrels.only(self.asked)
        self.axes = axes = {key: value for key, value in axes.items() if value is not None}
        self.convention = find_convention(convention)
        self.measures = labelled(measures)
        check_axes(axes, self.measures.values())
        self.weights = None if weights is None else Weights.read(weights)
        if "aggregate" in axes:  # refuses weights of anything but a mean
            Aggregate(aggregate=axes["aggregate"], weights=self.weights)
        self.instruments = {
            label: self.convention.instrument(measure, axes, self.qrels).weighted(self.weights)
            for label, measure in self.measures.items()
        }
        self.written = {
            label: measure.written().keys() | axes.keys()
            for label, measure in self.measures.items()
        }
        self.signatures = signatures(self.instruments, self.qrels)
        self.elsewhere: frozenset[str] = frozenset()  # files of the machine that asked, if not here

    def __repr__(self) -> str:
        return f"<Evaluator {', '.join(self.measures)} over {self.qrels!r}>"

    def __call__(self, run: Any) -> Evaluation:
        """Evaluate one run, or one that is ranked already."""
        case = self.case(run)
        self._check_failed(case)
        found = case.measured
        shown = reduce(np.logical_or, (one.counting for one in set(case.placed.values())))
        queries, weights = case.named(shown), self.weights.values if self.weights else {}
        return Evaluation(
            run=case.run.name,
            queries=queries,
            values={label: one.values[shown] for label, one in found.items()},
            counted={label: one.counted[shown] for label, one in found.items()},
            aggregates={label: one.aggregate for label, one in found.items()},
            signatures=self.signatures,
            doubts=find_doubts(case),
            convention=self.convention.name,
            weights={query: weights[query] for query in queries if query in weights},
        )

    def case(self, run: Any) -> DoubtCase:
        """Measure a run, to be looked over."""
        ranked = self.ranked(run)
        placed = self.placed(ranked)
        found = {label: measured(one, placed[label]) for label, one in self.instruments.items()}
        return DoubtCase(self, ranked, placed, found)

    def _check_failed(self, case: DoubtCase) -> None:
        """Refuse a run whose failed searches would count as 0, unless somebody said that.

        Where some queries were not asked, those that the run lacks are taken to be among them.
        """
        zero = any(
            one.protocol.missing == "zero" and "missing" not in self.written[label]
            for label, one in self.instruments.items()
        )
        codes = ("failed-queries", "unasked-queries") if zero else ()
        remarks = [one for one in case.run.source.remarks if one.code in codes]
        failed = sorted({query for one in remarks for query in one.queries} & self.qrels.known)
        why = "the search failed or timed out"
        if any(one.code == "unasked-queries" for one in remarks):
            failed = sorted({*failed, *case.named(~case.first.in_run)})
            why = f"{why}, or was not made"
        if failed:
            some = many(len(failed), "judged query has", "judged queries have")
            again = next((f"{one.command}; or " for one in remarks if one.command), "")
            faults = Faults(case.run.source.name)
            faults.fail(
                "failed-search",
                f"{some} no ranking, because {why} ({few(failed)})",
                f"ask again: {again or 'collect with resume; or '}leave {_it(failed)} out with "
                f"--set missing=skip, or count {_it(failed)} as 0 with --set missing=zero",
            )

    @property
    def usual(self) -> bool:
        """Whether the measures are those that are computed where nobody says which."""
        return tuple(self.measures) == DEFAULT_MEASURES

    @property
    def usual_to_audit(self) -> bool:
        """Whether an audit finds the same with the usual measures, as it counts what is judged."""
        judging = (label for label in DEFAULT_MEASURES if not label.startswith("Judged"))
        return self.usual or tuple(self.measures) == tuple(judging)

    def ranked(self, run: Any, naming: Mapping[Protocol, int] = NOBODY) -> Ranked:
        """Rank a run under the protocols of all measures, unless it has been."""
        ranked = run if isinstance(run, Ranked) else Ranked(self.qrels, borrowed_run(run), naming)
        ranked.under(one.protocol for one in self.instruments.values())
        return ranked

    def several(self, runs: Any) -> list[Ranked]:
        """Rank one run, several in a list or several by name; or take those that are ranked."""
        given = runs if isinstance(runs, (list, tuple)) else [runs]
        if given and all(isinstance(run, Ranked) for run in given):
            return [self.ranked(run) for run in given]
        ranked = []
        for run in one_or_several(runs):
            ranked.append(self.ranked(run))
            ranked[-1].forget()  # its rows, before the next one is read
        return ranked

    def placed(self, run: Any) -> dict[str, Placements]:
        """Return the placements that each measure is computed from."""
        ranked = self.ranked(run)
        return {label: ranked[one.protocol] for label, one in self.instruments.items()}

    def each(self, runs: Iterable[Any] | Path) -> Iterator[Evaluation]:
        """Evaluate many runs in their order, each forgotten once it is measured.

        `runs` may also be a mapping from names to runs, a folder of runs, or a pattern such as
        ``runs/*.gz``. Where many are in files, several processes share the work; what an iterator
        yields is evaluated here, one after the other.
        """
        if isinstance(runs, Mapping):
            return done_with_each(self, [Job(run, str(name)) for name, run in runs.items()])
        if isinstance(runs, (str, Path)):
            runs = [runs]
        if isinstance(runs, Sequence):
            return done_with_each(self, [*map(Job, gathered(runs))])
        return (self(run) for run in runs)


def evaluate(
    qrels: Any,
    run: Any,
    measures: Any = DEFAULT_MEASURES,
    *,
    convention: str | Convention = DEFAULT,
    queries: Iterable[Any] | None = None,
    weights: Any = None,
    **axes: Any,
) -> Evaluation:
    """Evaluate a run: the value of each measure, per query and together.

    `measures` are measures or their texts, `convention` names the tool whose rules set what they
    leave open, and `axes` set single rules, such as ``ties="docid-asc"``. `queries` restricts the
    judgments to some queries. `weights`, {query: weight} or `Queries` with a column ``weight``,
    make means weighted means.

    >>> result = evaluate({"q1": {"d1": 2, "d2": 1}}, {"q1": {"d2": 1.5, "d1": 0.5}}, "nDCG@10")
    >>> round(result["nDCG@10"], 4)
    0.8597
    """
    evaluator = Evaluator(
        qrels, measures, convention=convention, queries=queries, weights=weights, **axes
    )
    return evaluator(run)


def labelled(measures: Any) -> dict[str, Measure]:
    """Give each measure the name it was typed with."""
    several = isinstance(measures, Iterable) and not isinstance(measures, (str, type, Measure))
    given = list(measures) if several else [measures]
    if not given:
        raise UsageError("there is nothing to measure", "give at least one measure")
    found: dict[str, Measure] = {}
    for one in given:
        label = one if isinstance(one, str) else str(as_measure(one))
        if found.setdefault(label, as_measure(one)) != as_measure(one):
            raise UsageError(f"two measures are called {label}", "give them different names")
    return found


def _it(queries: Sequence[str]) -> str:
    return "it" if len(queries) == 1 else "them"


def _ids(queries: Iterable[Any] | None) -> frozenset[str]:
    """Give the queries asked for, as ids."""
    if isinstance(queries, str):
        raise UsageError(f"queries={queries!r} is one text", f"give a list: queries=[{queries!r}]")
    try:
        return frozenset(to_id(query) for query in queries or ())
    except (TypeError, ValueError):
        hint = "give a list of ids: text, or whole numbers"
        raise UsageError(f"queries={queries!r:.60} holds something that is no id", hint) from None
