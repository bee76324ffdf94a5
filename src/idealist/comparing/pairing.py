"""Pairs of runs: their values side by side, measure by measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from idealist.comparing.compare_options import Options
from idealist.comparing.pair import Pair
from idealist.conventions.signature import Signature
from idealist.data.columns import Bools, Floats, to_id
from idealist.data.queries import NONE, Weights, slice_names
from idealist.errors import UsageError
from idealist.evaluating.evaluation import Evaluation, range_of
from idealist.measures import Measure, parse
from idealist.notation import text
from idealist.rendering.wording import few
from idealist.significance.families import permutations_for
from idealist.significance.resampling import EXACT, flips_for


@dataclass(frozen=True, eq=False)
class ValueTable:
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
        return self.measure.direction if self.measure and self.measure.judges else 0

    @property
    def in_unit(self) -> bool:
        """Whether values are between 0 and 1."""
        low, high = (-1.0, 1.0) if self.measure is None else self.measure.bounds(0.0)
        return low >= 0 and high <= 1

    @property
    def aggregate(self) -> str:
        """How the values of queries become one."""
        return dict(self.signature.settings)["aggregate"]

    def signed(self, options: Options, several: bool) -> Signature:
        """Add the statistics to the signature: Tukey's test with its permutations.

        Where there are `several` measures, it says that the first decides.
        """
        drawn = f"({draws_of(self, options)})" if options.correction == "tukey" else ""
        drawn += ",first-decides" if several else ""
        statistics = {
            "test": name_of_test(len(self.queries)), "seed": text(options.seed),
            "alpha": text(options.alpha), "correction": options.correction + drawn,
        }  # fmt: skip
        return replace(self.signature, settings=(*self.signature.settings, *statistics.items()))

    def only(self, mask: Bools) -> ValueTable:
        """Keep some queries."""
        return replace(
            self,
            queries=tuple(compress(self.queries, mask.tolist())),
            values=self.values[:, mask],
            weights=None if self.weights is None else self.weights[mask],
            undefined=(),
        )

    def parts(self, slices: Mapping[Any, Any]) -> dict[str, ValueTable]:
        """Divide the queries into slices, in the order given; those of none come last."""
        own = slice_names(slices, self.queries)
        given = dict.fromkeys((*slice_names(slices, list(map(to_id, slices))), *own))
        names = sorted((name for name in given if name in own), key=lambda name: name == NONE)
        return {name: self.only(np.array([one == name for one in own])) for name in names}


def aligned(
    evaluations: Sequence[Evaluation], labels: Sequence[str], measures: Mapping[str, Measure]
) -> list[ValueTable]:
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


def _table(evaluations: Sequence[Evaluation], label: str, measure: Measure | None) -> ValueTable:
    known = [one.by_query(label) for one in evaluations]
    every = list(dict.fromkeys(query for values in known for query in values))
    values = np.array([[each.get(query, np.nan) for query in every] for each in known])
    whole = ~np.isnan(values).any(axis=0)
    signature, weights = evaluations[0].signatures[label], evaluations[0].weights
    weighted = dict(signature.settings)["aggregate"].startswith("weighted(")
    if measure is None:
        with suppress(UsageError):  # a user's own measure is known by its name only
            measure = parse(signature.measure)
    table = ValueTable(
        label=label,
        signature=signature,
        measure=measure,
        runs=tuple(one.run for one in evaluations),
        queries=tuple(every),
        values=values,
        weights=np.array(Weights(weights).of(every)) if weighted else None,
    )
    return replace(table.only(whole), undefined=tuple(compress(every, (~whole).tolist())))


#: Two runs by their places: the baseline's, and the other one's.
Places = tuple[int, int]


def places_of(runs: int, baseline: int, all_pairs: bool) -> list[Places]:
    """Choose the pairs: all, the later run as baseline, or every run against one.

    >>> places_of(3, 1, False), places_of(3, 1, True)
    ([(1, 0), (1, 2)], [(1, 0), (2, 0), (2, 1)])
    """
    if all_pairs:
        return [(b, a) for a in range(runs) for b in range(a + 1, runs)]
    return [(baseline, run) for run in range(runs) if run != baseline]


def pair_of(table: ValueTable, a: int, b: int, options: Options, **others: Any) -> Pair:
    """Pair two runs of a table, by their places; nothing is tested yet."""
    return Pair(
        measure=table.label,
        baseline=table.runs[a],
        run=table.runs[b],
        queries=table.queries,
        base=table.values[a],
        new=table.values[b],
        weights=table.weights,
        sense=table.sense,
        in_unit=table.in_unit,
        aggregate=table.aggregate,
        undefined=table.undefined,
        options=options,
        draws=draws_of(table, options),
        **{"limits": range_of(table.signature), **others},
    )


def draws_of(table: ValueTable, options: Options) -> int:
    """Count the random draws that p-values rest on; 0 where all sign flips are tried."""
    n = max(1, len(table.queries))
    if options.correction == "tukey":
        return permutations_for(len(table.runs), n)
    return 0 if n <= EXACT else flips_for(n)


def name_of_test(n: int) -> str:
    """Name the randomisation test of n queries.

    >>> name_of_test(12), name_of_test(50)
    ('randomisation(exact)', 'randomisation(100000)')
    """
    return f"randomisation({'exact' if n <= EXACT else flips_for(n)})"
