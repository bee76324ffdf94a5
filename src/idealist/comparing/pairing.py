"""Making pairs of runs, and testing them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from idealist.comparing.aligned import Table
from idealist.comparing.options import Options
from idealist.comparing.pair import Pair
from idealist.statistics.families import benjamini_hochberg, holm, max_t, permutations_for, tukey
from idealist.statistics.flips import EXACT, all_pairs, flips_for, randomisation
from idealist.tables.columns import Floats

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


def pairs_of(tables: Sequence[Table], places: Sequence[Places], options: Options) -> list[Pair]:
    """Compare pairs of runs, measure by measure."""
    pairs = [[_pair(table, a, b, options) for a, b in places] for table in tables]
    rows = [np.array([pair.differences for pair in own]) for own in pairs]
    for i, p in _tested(tables, places, rows, options).items():
        q = _adjusted(tables[i], places, rows[i], p, options)
        found = zip(pairs[i], p.tolist(), q.tolist(), strict=True)
        pairs[i] = [replace(pair, p_randomisation=p, p_adjusted=q) for pair, p, q in found]
    return [pair for own in pairs for pair in own]


def without_unmet(pairs: Iterable[Pair], unmet: Sequence[str]) -> tuple[Pair, ...]:
    """Take back what tests say of runs that no judgment meets: nothing was measured."""
    found = [(pair, tuple(r for r in (pair.baseline, pair.run) if r in unmet)) for pair in pairs]
    return tuple(
        replace(pair, unmeasured=runs, tested=False, p_randomisation=np.nan, p_adjusted=np.nan)
        if runs
        else pair
        for pair, runs in found
    )


def _tested(
    tables: Sequence[Table], places: Sequence[Places], rows: Sequence[Floats], options: Options
) -> dict[int, Floats]:
    """Test each table that has queries.

    All pairs are tested from sums of the systems, which is quicker, but rounds all systems on one
    scale: only where that scale is [0, 1] can no system change what the test says of two others.
    """
    known = [i for i, table in enumerate(tables) if table.queries]
    quick = [i for i in known if options.all_pairs and tables[i].in_unit and not tables[i].weighted]
    found = _randomised(tables, rows, [i for i in known if i not in quick], options)
    first, second = np.array(places).T
    for i in quick:
        found[i] = all_pairs(tables[i].values, seed=options.seed)[first, second]
    return found


def _randomised(
    tables: Sequence[Table], rows: Sequence[Floats], known: Sequence[int], options: Options
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


def _pair(table: Table, a: int, b: int, options: Options) -> Pair:
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
    )


def _adjusted(
    table: Table, places: Sequence[Places], rows: Floats, raw: Floats, options: Options
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


def draws_of(table: Table, options: Options) -> int:
    """Give the random draws that p-values rest on; 0 where all sign flips are tried."""
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


def name_of_correction(table: Table, options: Options) -> str:
    """Name the correction, with the permutations of Tukey's test."""
    drawn = f"({draws_of(table, options)})" if options.correction == "tukey" else ""
    return options.correction + drawn
