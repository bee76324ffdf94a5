"""Evaluations of several runs under the same rules: one row a run, doubts, signatures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from idealist.errors import UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.latencies import Latencies
from idealist.notation import many
from idealist.rendering import doubt_words
from idealist.rendering.document import Block, Document, Doubts, Estimate, Signatures, Table, Text
from idealist.rendering.doubt import Doubt
from idealist.rendering.result import Figures, Result
from idealist.rendering.wording import number, shared_signatures, weights_words
from idealist.significance.means import FEWEST


@dataclass(frozen=True, eq=False, repr=False)
class Evaluations(Result):
    """Runs evaluated by the same measures: what ``idealist eval`` shows.

    With `per_query` the values of every query are shown too; `bounds` says, by run and measure, how
    far values could move, or why that cannot be said; `latencies` how long queries took.
    """

    runs: tuple[Evaluation, ...]
    per_query: bool = False
    bounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    latencies: Latencies | None = None

    @property
    def measures(self) -> list[str]:
        """The measures, as they were typed."""
        return list(self.runs[0].aggregates)

    @property
    def summary(self) -> str:
        """The run with the highest value of the first measure, in one sentence."""
        if len(self.runs) == 1:
            return self.runs[0].summary
        label = self.measures[0]
        top = max(self.runs, key=lambda one: (not math.isnan(one[label]), one[label]))
        counted = int(top.counted[label].sum())
        among = f"of {len(self.runs)} runs over {many(counted, 'query', 'queries')}"
        return f"{top.run} has the highest {label}, {number(top[label])}, {among}"

    def report(self) -> Document:
        """Describe the runs: a row each, and below what is doubtful about the numbers."""
        rows = [[one.run, *(_cell(one, label) for label in self.measures)] for one in self.runs]
        tables = [Table.of(["run"], self.measures, rows, turns=True)]
        if (times := self.latencies) is not None:
            wider = (
                row + times.cells(one.run)
                for row, one in zip(tables[0].rows, self.runs, strict=True)
            )
            tables[0] = replace(
                tables[0], columns=tables[0].columns + times.columns, rows=tuple(wider)
            )
        if self.per_query:
            values = [(one.run, *row) for one in self.runs for row in one.table().rows]
            tables.append(Table.of(["run", "query"], self.measures, values))
        bounds = (Text(f"bounds: {run}: {words}") for run, words in self._bounded())
        notes: list[Block] = [Text(self.heading), Doubts(self.doubts)]
        return Document(tuple(tables), (*notes, Signatures(self.signatures), *bounds))

    @property
    def figures(self) -> Figures:
        """The figures that can be made of it, by kind."""
        from idealist.evaluating import evaluation_figures  # seldom asked for

        return evaluation_figures.figures_of(self.runs)

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What is doubtful: first what all runs share, then what each has for itself."""
        return doubt_words.shared([(one.run, one.doubts) for one in self.runs])

    @property
    def signatures(self) -> tuple[str, ...]:
        """The signatures, short; measures that share all but the name share a line."""
        one = self.runs[0]
        return tuple(shared_signatures([one.short_signature(label) for label in one]))

    @property
    def heading(self) -> str:
        """What the numbers are made of."""
        counts = {int(counted.sum()) for one in self.runs for counted in one.counted.values()}
        least, most = min(counts), max(counts)
        words = f"{least} to {most} queries" if least < most else many(most, "query", "queries")
        weighted = weights_words(self.runs[0].alike)
        intervals = any(
            not math.isnan(one.interval(label)[0]) for one in self.runs for label in one
        )
        mean = "weighted mean" if weighted else "mean"
        plus_minus = f"; ± is the longer half of a 95 % interval of the {mean}" if intervals else ""
        if intervals and most < FEWEST:
            plus_minus = "; too few queries for an interval"
        return f"{words}{weighted}, convention {self.runs[0].convention}{plus_minus}"

    def _bounded(self) -> Iterator[tuple[str, str]]:
        for run, own in self.bounds.items():
            for one in own.values():
                yield run, one.message if isinstance(one, UsageError) else one.summary

    def data(self) -> dict[str, Any]:
        """Return the contract of ``eval -f json``."""
        runs = [one.data() if self.per_query else one.aggregate_data() for one in self.runs]
        for run in runs if self.bounds else ():
            run["bounds"] = {
                label: None if isinstance(one, UsageError) else self._bound_data(one)
                for label, one in self.bounds[run["run"]].items()
            }
        times = {} if self.latencies is None else self.latencies.data()
        runs = [{**run, "latency": times[run["run"]]} if times else run for run in runs]
        signatures = {label: str(one) for label, one in self.runs[0].signatures.items()}
        return {"runs": runs, "convention": self.runs[0].convention, "signatures": signatures}

    def _bound_data(self, bounds: Any) -> Any:
        return bounds.data() if self.per_query else bounds.aggregate_data()

    def table(self) -> Table:
        """Return run, query (``all`` for aggregates), measure and value, in full."""
        rows: list[tuple[Any, ...]] = []
        for one in self.runs:
            for label, value in one.aggregates.items():
                if self.per_query:
                    pairs = zip(one.queries, one.values[label].tolist(), strict=True)
                    rows += [(one.run, query, label, each) for query, each in pairs]
                rows.append((one.run, "all", label, value))
            if self.latencies is not None:
                cells = self.latencies.percentiles(one.run).items()
                rows += [(one.run, "all", f"{name} ms", value) for name, value in cells]
        return Table.of(["run", "query", "measure"], ["value"], rows)


def _cell(evaluation: Evaluation, label: str) -> Any:
    value = evaluation.aggregates[label]
    if evaluation.unmatched:  # which is not 0
        return math.nan
    if dict(evaluation.signatures[label].settings)["aggregate"] == "sum" and value.is_integer():
        return number(value, 0)  # a count
    if np.count_nonzero(evaluation.counted[label]) < FEWEST:
        return value
    low, high = evaluation.interval(label)
    return Estimate(value, max(high - value, value - low))  # one end may be cut to the possible
