"""Values of many runs side by side: the same instrument, the same queries, or no comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from idealist.doubts.case import few
from idealist.errors import UsageError
from idealist.evaluation import Evaluation
from idealist.measures import Measure, parse
from idealist.signature import Signature
from idealist.tables.columns import Bools, Floats
from idealist.weights import Weights


@dataclass(frozen=True, eq=False)
class Table:
    """One measure's values, runs x queries, for the queries that count and have a value for all.

    `undefined` names the queries left out, because a run has no value for them.
    """

    label: str
    signature: Signature
    measure: Measure | None
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    weights: Floats | None
    undefined: tuple[str, ...] = ()

    @property
    def sense(self) -> int:
        """1 where higher is better, -1 where lower is, 0 where it is not a matter of good."""
        known = self.measure is not None and self.measure.judges
        return self.measure.direction if known and self.measure is not None else 0

    @property
    def in_unit(self) -> bool:
        """Whether values are between 0 and 1."""
        low, high = (-1.0, 1.0) if self.measure is None else self.measure.bounds(0.0)
        return low >= 0 and high <= 1

    @property
    def weighted(self) -> bool:
        """Whether queries have weights."""
        return self.weights is not None

    @property
    def aggregate(self) -> str:
        """How the values of queries become one."""
        return dict(self.signature.settings)["aggregate"]

    def only(self, mask: Bools) -> Table:
        """Keep some queries."""
        return replace(
            self,
            queries=tuple(compress(self.queries, mask.tolist())),
            values=self.values[:, mask],
            weights=None if self.weights is None else self.weights[mask],
            undefined=(),
        )


def aligned(
    evaluations: Sequence[Evaluation], labels: Sequence[str], measures: Mapping[str, Measure]
) -> list[Table]:
    """Put the evaluations' values side by side, measure by measure."""
    for label in labels:
        for one in evaluations:
            if label not in one:
                hint = f"it has {', '.join(one)}; name the measures to compare"
                raise UsageError(f"{one.run} was not measured with {label}", hint)
            _check_alike(label, evaluations[0], one)
    return [_table(evaluations, label, measures.get(label)) for label in labels]


def _check_alike(label: str, first: Evaluation, other: Evaluation) -> None:
    """Refuse two numbers that were not made in the same way."""
    differing = first.signatures[label].diff(other.signatures[label])
    if differing:
        axes = "; ".join(f"{axis}: {a}, {b}" for axis, (a, b) in differing.items())
        hint = "measure both with the same judgments, queries, weights, convention and rules"
        message = f"{first.run} and {other.run} were not measured alike: {label} differs in {axes}"
        raise UsageError(message, hint)
    if dict(first.signatures[label].settings)["missing"] == "skip":
        _check_queries(label, first, other)


def _check_queries(label: str, first: Evaluation, other: Evaluation) -> None:
    apart = sorted(first.by_query(label).keys() ^ other.by_query(label).keys())
    if apart:
        message = f"{first.run} and {other.run} were measured on different queries: only one of"
        hint = "let a missing query count with missing=zero, or give the queries that all runs have"
        raise UsageError(f"{message} them has {few(tuple(apart))}, and missing=skip", hint)


def _table(evaluations: Sequence[Evaluation], label: str, measure: Measure | None) -> Table:
    known = [one.by_query(label) for one in evaluations]
    every = list(dict.fromkeys(query for values in known for query in values))
    values = np.array([[each.get(query, np.nan) for query in every] for each in known])
    whole = ~np.isnan(values).any(axis=0)
    signature, weights = evaluations[0].signatures[label], evaluations[0].weights
    weighted = dict(signature.settings)["aggregate"].startswith("weighted(")
    if measure is None:
        with suppress(UsageError):  # a user's own measure is known by its name only
            measure = parse(signature.measure)
    table = Table(
        label=label,
        signature=signature,
        measure=measure,
        runs=tuple(one.run for one in evaluations),
        queries=tuple(every),
        values=values,
        weights=np.array(Weights(weights).of(every)) if weighted else None,
    )
    return replace(table.only(whole), undefined=tuple(compress(every, (~whole).tolist())))
