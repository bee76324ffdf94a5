"""Pairs of runs: values side by side, tested together, for all queries and for slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from idealist.comparing.compare_options import Options
from idealist.comparing.pair import Pair
from idealist.conventions.signature import Signature
from idealist.data.columns import Bools, Floats
from idealist.data.queries import NONE, Weights, slice_names
from idealist.errors import UsageError
from idealist.evaluating.evaluation import Evaluation, range_of
from idealist.measures import Measure, parse
from idealist.notation import text
from idealist.report.wording import few
from idealist.significance.families import benjamini_hochberg, holm, max_t, permutations_for, tukey
from idealist.significance.power_analysis import ENOUGH
from idealist.significance.resampling import EXACT, all_pairs, flips_for, randomisation


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

    def signed(self, options: Options) -> Signature:
        """Add the statistics to the signature; Tukey's test with its permutations."""
        drawn = f"({draws_of(self, options)})" if options.correction == "tukey" else ""
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
        """Divide the queries into slices; those of none come last."""
        own = slice_names(slices, self.queries)
        names = sorted(dict.fromkeys(own), key=lambda name: name == NONE)
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


def pairs_of(
    tables: Sequence[ValueTable], places: Sequence[Places], options: Options
) -> list[Pair]:
    """Compare pairs of runs, measure by measure."""
    pairs = [[pair_of(table, a, b, options) for a, b in places] for table in tables]
    rows = [np.array([pair.differences for pair in own]) for own in pairs]
    for i, p in _tested(tables, places, rows, options).items():
        q = _adjusted(tables[i], places, rows[i], p, options)
        found = zip(pairs[i], p.tolist(), q.tolist(), strict=True)
        pairs[i] = [replace(pair, p_randomisation=p, p_adjusted=q) for pair, p, q in found]
    return [pair for own in pairs for pair in own]


def without_unmet(pairs: Iterable[Pair], unmet: Sequence[str]) -> tuple[Pair, ...]:
    """Take back what tests say of runs that no judgment meets: nothing was measured."""
    nothing: dict[str, Any] = {"tested": False, "p_randomisation": np.nan, "p_adjusted": np.nan}
    found = []
    for pair in pairs:
        runs = tuple(run for run in (pair.baseline, pair.run) if run in unmet)
        found.append(replace(pair, unmeasured=runs, **nothing) if runs else pair)
    return tuple(found)


def _tested(
    tables: Sequence[ValueTable], places: Sequence[Places], rows: Sequence[Floats], options: Options
) -> dict[int, Floats]:
    """Test each table that has queries.

    All pairs are tested from sums of the systems, which is quicker, but rounds all systems on one
    scale: only where that scale is [0, 1] can no system change what the test says of two others.
    """
    known = [i for i, table in enumerate(tables) if table.queries]
    able = [i for i in known if tables[i].in_unit and tables[i].weights is None]
    quick = able if options.all_pairs else []
    found = _randomised(tables, rows, [i for i in known if i not in quick], options)
    first, second = np.array(places).T
    for i in quick:
        found[i] = all_pairs(tables[i].values, seed=options.seed)[first, second]
    return found


def _randomised(
    tables: Sequence[ValueTable], rows: Sequence[Floats], known: Sequence[int], options: Options
) -> dict[int, Floats]:
    """Test the differences of some tables; the same queries share their flips."""
    sharing: dict[tuple[tuple[str, ...], bytes], list[int]] = {}
    for i in known:
        weights = tables[i].weights
        own = b"" if weights is None else weights.tobytes()
        sharing.setdefault((tables[i].queries, own), []).append(i)
    found: dict[int, Floats] = {}
    for group in sharing.values():
        together = np.concatenate([rows[i] for i in group])
        p = randomisation(together, tables[group[0]].weights, seed=options.seed)
        found |= dict(zip(group, np.split(p, len(group)), strict=True))
    return found


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


def _adjusted(
    table: ValueTable, places: Sequence[Places], rows: Floats, raw: Floats, options: Options
) -> Floats:
    """Correct p-values for the number of pairs."""
    if options.correction == "tukey":
        found = tukey(table.values, table.weights, seed=options.seed)
        return np.array([found[a, b] for a, b in places])
    if options.correction == "maxt":
        return max_t(rows, table.weights, seed=options.seed)
    if options.correction == "none":
        return raw
    return holm(raw) if options.correction == "holm" else benjamini_hochberg(raw)


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


def sliced(
    tables: Sequence[ValueTable],
    places: Sequence[Places],
    options: Options,
    slices: Mapping[Any, Any],
) -> list[Pair]:
    """Compare pairs slice by slice, each measure's p-values corrected by Holm across slices.

    A slice of fewer than ten queries is shown, but not tested.
    """
    plain, found = replace(options, correction="none"), []
    for table in tables:
        pairs = [
            replace(pair, slice=name, tested=pair.n >= ENOUGH)
            for name, part in table.parts(slices).items()
            for pair in pairs_of([part], places, plain)
        ]
        found += _corrected(pairs, options)
    return found


def _corrected(pairs: Sequence[Pair], options: Options) -> list[Pair]:
    """Correct across the slices that are tested; the others lose their p-values."""
    raw = [pair.p_randomisation for pair in pairs if pair.tested]
    how = replace(options, correction="holm" if len(raw) > 1 else "none", pairs=len(raw))
    adjusted = iter(holm(raw).tolist())
    return [
        replace(pair, p_adjusted=next(adjusted), options=how)
        if pair.tested
        else replace(pair, p_randomisation=np.nan, p_adjusted=np.nan, options=how)
        for pair in pairs
    ]
