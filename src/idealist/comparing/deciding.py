"""Deciding which differences are significant: one declared family, in which one measure decides.

The pairs of the first measure are a family of their own: MaxT against a baseline, Tukey's test for
all pairs. The pairs of all other measures are a second family, and none of them is significant
unless the first measure's pair is. So adding a measure never weakens the verdict, and where nothing
differs any mark at all is as rare as alpha says. Slices are decided likewise, apart from the whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from idealist.comparing.compare_options import Options
from idealist.comparing.pair import Pair
from idealist.comparing.pairing import Places, ValueTable, pair_of
from idealist.data.columns import Floats, Ints
from idealist.significance.families import max_t, t_of, tukey
from idealist.significance.power_analysis import ENOUGH
from idealist.significance.resampling import all_pairs, randomisation


def pairs_of(
    tables: Sequence[ValueTable], places: Sequence[Places], options: Options
) -> list[Pair]:
    """Compare pairs of runs, measure by measure."""
    first, *rest = _tested(tables, places, options)
    if options.correction != "tukey":
        return _gated(_by_max_t(first), _by_max_t([pair for own in rest for pair in own]))
    return _gated(
        _by_tukey([first], tables[:1], places), _by_tukey(rest, tables[1:], places)
    )  # fmt: skip


def sliced(
    tables: Sequence[ValueTable],
    places: Sequence[Places],
    options: Options,
    slices: Mapping[Any, Any],
) -> list[Pair]:
    """Compare pairs slice by slice: the first measure's slices are one family, corrected by MaxT.

    A slice of fewer than ten queries is shown, but not tested.
    """
    options = replace(options, correction="maxt")
    first, *rest = (
        [
            replace(pair, slice=name) if pair.n >= ENOUGH else _untested(pair, slice=name)
            for name, part in table.parts(slices).items()
            for pair in _tested([part], places, options)[0]
        ]
        for table in tables
    )
    return _gated(_by_max_t(first), _by_max_t([pair for own in rest for pair in own]))


def without_unmet(pairs: Iterable[Pair], unmet: Sequence[str]) -> tuple[Pair, ...]:
    """Take back what tests say of runs that no judgment meets: nothing was measured."""
    found = []
    for pair in pairs:
        runs = tuple(run for run in (pair.baseline, pair.run) if run in unmet)
        found.append(_untested(pair, unmeasured=runs) if runs else pair)
    return tuple(found)


def _untested(pair: Pair, **others: Any) -> Pair:
    nothing: dict[str, Any] = {"tested": False, "p_randomisation": math.nan, "p_adjusted": math.nan}
    return replace(pair, **nothing, **others)


# --- one difference at a time


def _tested(
    tables: Sequence[ValueTable], places: Sequence[Places], options: Options
) -> list[list[Pair]]:
    """Pair the runs of each table, and test each pair alone, where there are queries.

    All pairs are tested from sums of the systems, which is quicker, but rounds all systems on one
    scale: only where that scale is [0, 1] can no system change what the test says of two others.
    """
    pairs = [[pair_of(table, a, b, options) for a, b in places] for table in tables]
    rows = [np.array([pair.differences for pair in own]) for own in pairs]
    known = [i for i, table in enumerate(tables) if table.queries]
    able = [i for i in known if tables[i].in_unit and tables[i].weights is None]
    quick = able if options.all_pairs else []
    found = _randomised(tables, rows, [i for i in known if i not in quick], options)
    first, second = np.array(places).T
    for i in quick:
        found[i] = all_pairs(tables[i].values, seed=options.seed)[first, second]
    for i, p in found.items():
        alone = zip(pairs[i], p.tolist(), strict=True)
        pairs[i] = [replace(pair, p_randomisation=each) for pair, each in alone]
    return pairs


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


# --- all that are decided together


def _by_max_t(pairs: Sequence[Pair]) -> list[Pair]:
    """Correct p-values by MaxT, over runs, measures and slices alike; one alone stays as it is."""
    some = [i for i, pair in enumerate(pairs) if not math.isnan(pair.p_randomisation)]
    found = [_corrected(pair, pair.p_randomisation, 0.0, "none") for pair in pairs]
    if len(some) < 2:
        return found
    places, size = _places([pairs[i].queries for i in some])
    rows, rest = np.zeros((2, len(some), size))
    for j, (place, i) in enumerate(zip(places, some, strict=True)):
        apart = pairs[i].differences
        rows[j, place] = _or_one(pairs[i].weights) * apart
        rest[j, place] = apart - apart.mean()  # they vary alike, whatever their weights
    options = pairs[0].options
    p, limits = max_t(rows, rest, seed=options.seed, alpha=options.alpha)
    for i, each, limit in zip(some, p.tolist(), limits.tolist(), strict=True):
        beyond = t_of(limit, pairs[i].statistics.df)
        found[i] = _corrected(pairs[i], each, beyond, "maxt")
    return found


def _by_tukey(
    pairs: Sequence[Sequence[Pair]], tables: Sequence[ValueTable], places: Sequence[Places]
) -> list[Pair]:
    """Correct p-values by Tukey's test, over all pairs of runs and over measures."""
    some = [i for i, table in enumerate(tables) if table.queries]
    if not some:
        return [pair for own in pairs for pair in own]
    within, size = _places([tables[i].queries for i in some])
    parts = np.zeros((len(some), len(tables[0].runs), size))
    for part, place, i in zip(parts, within, some, strict=True):
        weights = _or_one(tables[i].weights) * np.ones(len(place))
        part[:, place] = tables[i].values * (weights / weights.sum())
    options = pairs[0][0].options
    found = tukey(parts, seed=options.seed, alpha=options.alpha)
    corrected = [list(own) for own in pairs]
    for i, p, limit in zip(some, found.p, found.limits.tolist(), strict=True):
        for j, (pair, (a, b)) in enumerate(zip(pairs[i], places, strict=True)):
            beyond = limit / pair.statistics.se if pair.statistics.se > 0 else 0.0
            corrected[i][j] = _corrected(pair, float(p[a, b]), beyond, "tukey")
    return [pair for own in corrected for pair in own]


def _corrected(pair: Pair, p: float, beyond: float, correction: str) -> Pair:
    """Note what the family says; weighted differences must also be significant by t.

    Sign flips let heavy queries vary as they do, t takes them to vary as all others; where the two
    differ, the more careful one decides.
    """
    options = replace(pair.options, correction=correction)
    found = replace(pair, p_adjusted=p, p_own=p, beyond=beyond, options=options)
    if pair.weights is None or math.isnan(p) or math.isnan(found.p_t):
        return found
    careful = max(p, min(1.0, found.p_t * options.alpha / found.level))
    return replace(found, p_adjusted=careful, p_own=careful)


def _or_one(weights: Floats | None) -> Any:
    return 1.0 if weights is None else weights


def _places(queries: Sequence[tuple[str, ...]]) -> tuple[list[Ints], int]:
    """Place the queries of several lists among all; where a list lacks one, nothing differs."""
    if all(own is queries[0] for own in queries):
        return [np.arange(len(queries[0]))] * len(queries), len(queries[0])
    order = {query: i for i, query in enumerate(dict.fromkeys(q for own in queries for q in own))}
    return [np.array([order[query] for query in own]) for own in queries], len(order)


def _gated(first: Sequence[Pair], rest: Sequence[Pair]) -> list[Pair]:
    """Let the first measure decide: no other is significant where it is not."""
    decides = {(pair.slice, pair.baseline, pair.run): pair for pair in first}
    found = list(first)
    for pair in rest:
        own = decides[pair.slice, pair.baseline, pair.run]
        least = 1.0 if math.isnan(own.p_adjusted) else own.p_adjusted
        p = pair.p_adjusted if math.isnan(pair.p_adjusted) else max(pair.p_adjusted, least)
        held = pair.p_adjusted < pair.options.alpha <= p
        found.append(replace(pair, p_adjusted=p, primary=own.measure, held_back=held))
    return found
