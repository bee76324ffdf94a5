"""A comparison drawn as tables: systems with superscripts, pairs with their statistics, rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from idealist.comparing.pair import flat, pair_data, queries_data
from idealist.comparing.words import signed
from idealist.evaluating.summary import number, p_words
from idealist.report.draw import SUPERSCRIPTS, Grid, short

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison
    from idealist.comparing.pair import Pair


#: The letters that name systems, each with its form behind a number.
LETTERS = {letter: high for high, letter in SUPERSCRIPTS.items()}
#: The columns that are left out, one after the other, where there is no room.
SPARED = ("relative", "d_z", "p t")
#: The longest name of a run in a table, and in a matrix.
LONGEST, SHORTER = 24, 20
#: The most systems that a matrix has room for.
MOST = 12


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


def matrix_grid(comparison: Comparison, label: str) -> Grid:
    """Tabulate all pairs: by how much the row's run is better than the column's, best first."""
    pairs = comparison[label]
    sign = -1 if pairs[0].sense < 0 else 1
    ends = {pair.run: pair.run_mean for pair in pairs} | {p.baseline: p.base_mean for p in pairs}
    runs = sorted(ends, key=lambda run: -sign * ends[run])
    letters = dict(zip((one.run for one in comparison.evaluations), LETTERS, strict=False))
    cells = {frozenset((pair.run, pair.baseline)): _apart(pair) for pair in pairs}
    rows = [
        [letters[run], short(run, SHORTER), number(ends[run])]
        + [cells[frozenset((run, other))] if i < j else "" for j, other in enumerate(runs) if j]
        for i, run in enumerate(runs)
    ]
    return Grid(["", label, "mean", *(letters[run] for run in runs[1:])], rows, words=2)


def _apart(pair: Pair) -> str:
    """Write a size with a star where it is significant, as short as columns need it."""
    if math.isnan(pair.difference):
        return "- "
    size = f"{abs(pair.difference):.3f}"
    return size.removeprefix("0") + ("*" if pair.significant else " ")


def pairs_grid(pairs: Sequence[Pair], all_pairs: bool = False, width: int | None = None) -> Grid:
    """Tabulate differences with intervals, p-values, effect sizes, and wins, ties and losses.

    Where that is too wide, columns are left out that verdicts or the data have.
    """
    columns = [_columns(pair, all_pairs) for pair in pairs]
    left = ["measure"] if len({pair.measure for pair in pairs}) == 1 else []
    for spared in ("", *SPARED):
        left.append(spared)
        names = [name for name in columns[0] if name not in left]
        rows = [[cells[name] for name in names] for cells in columns]
        grid = Grid(names, rows, words=names.index("n" if "n" in names else "difference"))
        if width is None or grid.width - len(names) <= width:  # columns stand two apart
            break
    return grid


def _columns(pair: Pair, all_pairs: bool) -> dict[str, str]:
    """Give the cells of a pair."""
    options, low, high = pair.options, *pair.ci
    ends = "-" if math.isnan(low) else f"{signed(low)} to {signed(high)}"
    share = "-" if math.isnan(pair.relative) else f"{100 * pair.relative:+.1f} %"
    return {
        "measure": pair.measure,
        **({"slice": pair.slice} if pair.slice else {}),
        **({"baseline": short(pair.baseline, LONGEST)} if all_pairs else {}),
        "run": short(pair.run, LONGEST),
        **({"n": str(pair.n)} if pair.slice else {}),
        "difference": "-" if math.isnan(pair.difference) else signed(pair.difference),
        f"{options.confidence} interval": ends,
        "relative": share,
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
