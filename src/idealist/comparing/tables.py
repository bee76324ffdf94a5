"""A comparison drawn as tables: systems with superscripts, pairs with their statistics, rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from idealist.comparing.plain import flat, pair_data, queries_data
from idealist.draw import SUPERSCRIPTS, Grid, short
from idealist.summary import number, p_words

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison
    from idealist.comparing.pair import Pair

#: The letters that name systems, each with its form behind a number.
LETTERS = {letter: high for high, letter in SUPERSCRIPTS.items()}
#: The longest name of a run in a table.
LONGEST = 24


def runs_grid(comparison: Comparison, caption: str = "") -> Grid:
    """Tabulate the systems, as papers do: each value with the letters of those it beats.

    More systems than there are letters have none.
    """
    labels, runs = comparison.measures, [one.run for one in comparison.evaluations]
    lettered = len(runs) <= len(LETTERS)
    letters = dict(zip(runs, LETTERS, strict=False)) if lettered else {}
    rows = []
    for one in comparison.evaluations:
        cells = [number(one[label]) + _beaten(comparison, one.run, label) for label in labels]
        rows.append([letters.get(one.run, ""), one.run, *cells] if letters else [one.run, *cells])
    headers = ["", "run", *labels] if letters else ["run", *labels]
    return Grid(headers, rows, caption, words=len(headers) - len(labels))


def _beaten(comparison: Comparison, run: str, label: str) -> str:
    """Give the letters of the systems that a run is significantly better than."""
    runs = [one.run for one in comparison.evaluations]
    if len(runs) > len(LETTERS):
        return ""
    places = sorted(map(runs.index, comparison.beaten(run, label)))
    return "".join(list(LETTERS.values())[place] for place in places)


def pairs_grid(pairs: Sequence[Pair], all_pairs: bool = False) -> Grid:
    """Tabulate differences with intervals, p-values, effect sizes, and wins, ties and losses."""
    columns = [_columns(pair, all_pairs) for pair in pairs]
    names = list(columns[0])
    rows = [list(cells.values()) for cells in columns]
    return Grid(names, rows, words=names.index("difference"))


def _columns(pair: Pair, all_pairs: bool) -> dict[str, str]:
    """Give the cells of a pair; what makes a row too long is left to the data."""
    options, low, high = pair.options, *pair.ci
    ends = "-" if math.isnan(low) else f"{low:+.4f} to {high:+.4f}"
    share = "-" if math.isnan(pair.relative) else f"{100 * pair.relative:+.1f} %"
    short_of_room = all_pairs or pair.slice
    return {
        "measure": pair.measure,
        **({"slice": pair.slice, "n": str(pair.n)} if pair.slice else {}),
        **({"baseline": short(pair.baseline, LONGEST)} if all_pairs else {}),
        "run": short(pair.run, LONGEST),
        "difference": "-" if math.isnan(pair.difference) else f"{pair.difference:+.4f}",
        f"{options.confidence} interval": ends,
        **({} if short_of_room else {"relative": share}),
        "p t": _p(pair.p_t),
        "p rand.": _p(pair.p_randomisation),
        **({} if options.correction == "none" else {"p adj.": _p(pair.p_adjusted)}),
        **{f"p {name}": _p(p) for name, p in pair.tests.items()},
        "d_z": number(pair.d_z, 2),
        "W/T/L": f"{pair.wins}/{pair.ties}/{pair.losses}",
    }


def _p(p: float) -> str:
    return "-" if math.isnan(p) else p_words(p).removeprefix("p").removeprefix("=")


def rows_grid(pairs: Sequence[Pair]) -> Grid:
    """Tabulate for programs: a row for each pair, all numbers in full."""
    rows = [flat(pair_data(pair)) for pair in pairs]
    headers = list(dict.fromkeys(key for row in rows for key in row))
    return Grid(headers, [[row.get(key, "") for key in headers] for row in rows], words=3)


def queries_grid(pairs: Sequence[Pair], full: bool = False) -> Grid:
    """Tabulate both values of every query and the difference."""
    write = repr if full else number
    rows = [
        [pair.measure, pair.baseline, pair.run, query, *map(write, values.values())]
        for pair in pairs
        for query, values in queries_data(pair).items()
    ]
    headers = ["measure", "baseline", "run", "query", "baseline's", "run's", "difference"]
    return Grid(headers, rows, words=4)
