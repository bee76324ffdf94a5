"""Sample sizes: how many queries show a difference, and which difference so many show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.conventions import DEFAULT, Convention
from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.measures import Measure, as_measure
from idealist.notation import many
from idealist.report.draw import Grid
from idealist.significance.paired import checked_alpha
from idealist.significance.power_analysis import TYPICAL, detectable, needed

#: Differences and numbers of queries that are shown where none is asked for.
DIFFERENCES, NUMBERS = (0.01, 0.02, 0.03, 0.05, 0.1), (25, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Size:
    """A difference and the queries that show it; one of the two was asked for, the other found.

    `low` and `high` are the 95 % range of what is found, NaN without a pilot.
    """

    asked: str
    difference: float
    queries: int
    low: float
    high: float

    @property
    def cells(self) -> list[str]:
        """What was asked, what is found, and its range, for people."""
        if self.asked == "queries":
            shown = f"{self.low:.4f} to {self.high:.4f}"
            return [f"{self.queries:,}", f"{self.difference:.4f}", shown]
        return [f"{self.difference:.4f}", f"{self.queries:,}", f"{self.low:,} to {self.high:,}"]

    def data(self) -> dict[str, Any]:
        """Give it as plain data; undefined numbers are None."""
        ends = {end: None if math.isnan(x := getattr(self, end)) else x for end in ("low", "high")}
        return {"asked": self.asked, "difference": self.difference, "queries": self.queries, **ends}


@dataclass(frozen=True)
class Sizes:
    """What the paired t-test can show of a measure whose differences have a standard deviation.

    `pilot` is the number of queries that it was estimated on, None where it is a typical one;
    `most` is the largest difference there can be.

    >>> sizes = Sizes("AP", 0.165, "a pilot", pilot=30)
    >>> sizes.needed(0.05), round(sizes.detectable(50), 4)
    (88, 0.0667)
    >>> sizes.of_difference(0.05)
    Size(asked='difference', difference=0.05, queries=88, low=57, high=157)

    Reference: Sakai 2016, doi:10.1007/s10791-015-9273-z
    """

    measure: str
    sd: float
    source: str
    alpha: float = 0.05
    power: float = 0.8
    pilot: int | None = None
    most: float = math.inf

    def __post_init__(self) -> None:
        checked_alpha(self.alpha)

    def needed(self, difference: float) -> int:
        """Give the number of queries that shows a difference."""
        return self._needed(difference, self.sd)

    def _needed(self, difference: float, sd: float) -> int:
        if difference > self.most:
            hint = f"give at most {self.most:g}"
            raise UsageError(f"{self.measure} cannot differ by {difference:g}", hint)
        return needed(difference / sd, self.alpha, self.power)

    def detectable(self, queries: int) -> float:
        """Give the smallest difference that a number of queries shows."""
        return detectable(queries, self.alpha, self.power) * self.sd

    @property
    def sds(self) -> tuple[float, float]:
        """The 95 % interval of the standard deviation; NaN without a pilot.

        Formula: sd √((n-1) / χ²), χ² the quantiles at .975 and .025 with n-1 degrees of freedom
        """
        if self.pilot is None:
            return math.nan, math.nan
        from scipy.special import chdtri

        df = self.pilot - 1
        low, high = (self.sd * math.sqrt(df / chdtri(df, tail)) for tail in (0.025, 0.975))
        return low, high

    def of_difference(self, difference: float) -> Size:
        """Say how many queries show a difference."""
        low, high = (x if math.isnan(x) else self._needed(difference, x) for x in self.sds)
        return Size("difference", difference, self.needed(difference), low, high)

    def of_queries(self, queries: int) -> Size:
        """Say which difference a number of queries shows."""
        found = self.detectable(queries)
        low, high = (found * sd / self.sd for sd in self.sds)
        return Size("queries", found, queries, low, high)

    def grids(self, sizes: Sequence[Size]) -> list[Grid]:
        """Tabulate for people what was asked, one table a question."""
        ranged = [] if self.pilot is None else ["95 % range"]
        name = f"difference of {self.measure}"
        heads = {"difference": [name, "queries needed"], "queries": ["queries", f"{name} shown"]}
        rows = {asked: [one.cells for one in sizes if one.asked == asked] for asked in heads}
        return [
            Grid(head + ranged, [row[: len(head + ranged)] for row in rows[asked]], words=0)
            for asked, head in heads.items()
            if rows[asked]
        ]

    def long_grid(self, sizes: Sequence[Size]) -> Grid:
        """Tabulate for programs, in one table with every digit."""
        names = ["asked", "difference", "queries", "low", "high"]
        cells = [one.data() for one in sizes]
        rows = [["" if one[name] is None else str(one[name]) for name in names] for one in cells]
        return Grid(names, rows)

    @property
    def lines(self) -> list[str]:
        """Say what the numbers are made of, and how far to trust them."""
        level = f"Paired t-test, two-sided alpha {self.alpha:g}, power {self.power:g}."
        spread = f"Standard deviation of a difference: {self.sd:.4f}, from {self.source}."
        if self.pilot is None:
            trust = "Yours may need twice as many, or half: a pilot knows better."
        else:
            trust = "The more two runs differ, the more queries: take a pilot like those to come."
        return [level, spread, trust]

    def data(self, sizes: Sequence[Size]) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "measure": self.measure, "sd": self.sd, "source": self.source, "pilot": self.pilot,
            "alpha": self.alpha, "power": self.power, "sizes": [one.data() for one in sizes],
        }  # fmt: skip


def plan_queries(
    measure: Any = "nDCG@10",
    qrels: Any = None,
    runs: Sequence[Any] = (),
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    convention: str | Convention = DEFAULT,
    **axes: Any,
) -> Sizes:
    """Plan how many queries to judge: with the spread of a pilot's runs, or of typical ones.

    >>> plan_queries("AP").needed(0.05)
    88
    """
    if qrels is None:
        return typical_sizes(measure, alpha, power)
    evaluator = Evaluator(qrels, measure, convention=convention, **axes)
    return pilot_sizes(evaluator, runs, alpha, power)


def typical_sizes(measure: Any, alpha: float = 0.05, power: float = 0.8) -> Sizes:
    """Plan with the variances of real runs, where there is no pilot."""
    made = as_measure(measure)
    if made.name not in TYPICAL:
        hint = f"give judgments and runs of a pilot, or take one of {', '.join(TYPICAL)}"
        raise UsageError(f"no typical variance of {measure} is known", hint)
    found = TYPICAL[made.name]
    source = f"the variance of {found.measure} in {found.source}"
    return Sizes(str(measure), found.sd, source, alpha, power, most=_widest(made))


def pilot_sizes(
    evaluator: Evaluator, runs: Sequence[Any], alpha: float = 0.05, power: float = 0.8
) -> Sizes:
    """Plan with the variance of runs that were measured on some queries.

    Formula: two runs: the standard deviation of their differences. More: √(2 V), V the residual
    variance of queries x runs. One: √2 times the standard deviation of its values, as if another
    run had nothing in common with it, which is more than runs usually differ.
    """
    (label,) = evaluator.measures
    if not runs:
        raise UsageError("the pilot has no runs", "give at least one run, better two")
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
    most = _widest(evaluator.instruments[label].measure)
    return Sizes(label, sd, f"{words} on {queries}{alone}", alpha, power, values.shape[1], most)


def _widest(measure: Measure) -> float:
    """Give the largest difference of two values, where no grade is below 0."""
    low, high = measure.bounds(0.0)
    return high - low


def _variance(values: Floats) -> float:
    """Give the variance of a run's values over queries, less what runs share where there are two.

    Formula: Σ (x_ij - x_i. - x_.j + x_..)² / ((runs - 1)(queries - 1))
    """
    runs, n = values.shape
    apart = values - values.mean(axis=1, keepdims=True)
    if runs > 1:
        apart = apart - apart.mean(axis=0)
    return float((apart**2).sum() / (max(runs - 1, 1) * (n - 1)))
