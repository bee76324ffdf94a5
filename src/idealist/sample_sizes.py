"""Sample sizes: how many queries show a difference, and which difference so many show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.draw import Grid
from idealist.errors import UsageError
from idealist.evaluator import Evaluator
from idealist.measures import as_measure
from idealist.notation import many
from idealist.statistics.paired import checked_alpha
from idealist.statistics.power import TYPICAL, detectable, needed
from idealist.tables.columns import Floats

#: Differences and numbers of queries that are shown where none is asked for.
DIFFERENCES, NUMBERS = (0.01, 0.02, 0.03, 0.05, 0.1), (25, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Sizes:
    """What the paired t-test can show of a measure whose differences have a standard deviation.

    >>> sizes = Sizes("AP", 0.165, "a pilot")
    >>> sizes.needed(0.05), round(sizes.detectable(50), 4)
    (88, 0.0667)

    Reference: Sakai 2016, doi:10.1007/s10791-015-9273-z
    """

    measure: str
    sd: float
    source: str
    alpha: float = 0.05
    power: float = 0.8

    def __post_init__(self) -> None:
        checked_alpha(self.alpha)

    def needed(self, difference: float) -> int:
        """Give the number of queries that shows a difference."""
        return needed(difference / self.sd, self.alpha, self.power)

    def detectable(self, queries: int) -> float:
        """Give the smallest difference that a number of queries shows."""
        return detectable(queries, self.alpha, self.power) * self.sd

    def rows(self, differences: Sequence[float], numbers: Sequence[int]) -> list[tuple[float, int]]:
        """Pair each difference with the queries it needs, each number with what it shows."""
        asked = [(one, self.needed(one)) for one in differences]
        return asked + [(self.detectable(n), n) for n in numbers]

    def grid(self, rows: Sequence[tuple[float, int]], full: bool = False) -> Grid:
        """Tabulate differences and the queries that show them; `full` is with every digit."""
        cells = [[repr(one) if full else f"{one:.4f}", str(n)] for one, n in rows]
        return Grid([f"difference of {self.measure}", "queries"], cells)

    @property
    def lines(self) -> list[str]:
        """Say what the numbers are made of."""
        level = f"Paired t-test, two-sided alpha {self.alpha:g}, power {self.power:g}."
        return [level, f"Standard deviation of a difference: {self.sd:.4f}, from {self.source}."]

    def to_json(self, rows: Sequence[tuple[float, int]]) -> dict[str, Any]:
        """Give it as plain data."""
        pairs = [{"difference": difference, "queries": n} for difference, n in rows]
        return {
            "measure": self.measure, "sd": self.sd, "source": self.source,
            "alpha": self.alpha, "power": self.power, "sizes": pairs,
        }  # fmt: skip


def typical_sizes(measure: Any, alpha: float = 0.05, power: float = 0.8) -> Sizes:
    """Plan with the variances of real runs, where there is no pilot."""
    name = as_measure(measure).name
    if name not in TYPICAL:
        hint = f"give judgments and runs of a pilot, or take one of {', '.join(TYPICAL)}"
        raise UsageError(f"no typical variance of {measure} is known", hint)
    found = TYPICAL[name]
    source = f"the variance of {found.measure} in {found.source}"
    return Sizes(str(measure), found.sd, source, alpha, power)


def pilot_sizes(
    evaluator: Evaluator, runs: Sequence[Any], alpha: float = 0.05, power: float = 0.8
) -> Sizes:
    """Plan with the variance of runs that were measured on some queries.

    Formula: two runs: the standard deviation of their differences. More: √(2 V), V the residual
    variance of queries x runs. One: √2 times the standard deviation of its values, as if another
    run had nothing in common with it, which is more than runs usually differ.
    """
    (label,) = evaluator.measures
    found = [evaluator(run) for run in runs]
    columns = [one.by_query(label) for one in found]
    shared = [query for query in columns[0] if all(query in one for one in columns)]
    values = np.array([[one[query] for query in shared] for one in columns])
    values = values[:, ~np.isnan(values).any(axis=0)]
    sd = math.sqrt(2 * _variance(values)) if values.shape[1] > 1 else math.nan
    queries = many(values.shape[1], "query", "queries")
    if not sd > 0:
        hint = "give more queries, or runs that differ"
        raise UsageError(f"{label} does not vary in this pilot of {queries}", hint)
    words = " and ".join(one.run for one in found) if len(found) < 3 else f"{len(found)} runs"
    alone = ", as if other runs had nothing in common with it" if len(found) == 1 else ""
    return Sizes(label, sd, f"{words} on {queries}{alone}", alpha, power)


def _variance(values: Floats) -> float:
    """Give the variance of a run's values over queries, less what runs share where there are two.

    Formula: Σ (x_ij - x_i. - x_.j + x_..)² / ((runs - 1)(queries - 1))
    """
    runs, n = values.shape
    apart = values - values.mean(axis=1, keepdims=True)
    if runs > 1:
        apart = apart - apart.mean(axis=0)
    return float((apart**2).sum() / (max(runs - 1, 1) * (n - 1)))
