"""Sample sizes: how many queries show a difference, and which difference so many show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from idealist.comparing.compare_options import POWER, whole_number
from idealist.comparing.pair import Pair
from idealist.conventions import DEFAULT, Convention
from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.measures import Measure, as_measure
from idealist.notation import many
from idealist.rendering.document import Column, Document, Format, Interval, Table, Text
from idealist.rendering.figure import Figure
from idealist.rendering.figures import curve_figures
from idealist.rendering.figures.curve_figures import Shown, none_shown
from idealist.rendering.plain_data import record, records_table
from idealist.rendering.result import Figures, Result
from idealist.rendering.wording import number
from idealist.significance.families import level_of_best
from idealist.significance.means import effective
from idealist.significance.paired import checked_alpha
from idealist.significance.power_analysis import TYPICAL, Typical, detectable, needed

#: Differences and numbers of queries that are shown where none is asked for.
DIFFERENCES, NUMBERS = (0.01, 0.02, 0.03, 0.05, 0.1), (25, 50, 100, 200, 500, 1000)
#: How many numbers of queries the line of a figure goes through.
POINTS = 41
#: What a measure without a cutoff looks at, for the nearest one.
WHOLE_LIST = 1000
#: Deviations that are smaller parts of the largest value are of rounding.
NO_SPREAD = 1e-12
#: Numbers of queries.
WHOLE = Format(lambda cell: f"{cell:,}")


@dataclass(frozen=True)
class Size:
    """A difference and the queries that show it; one of the two was asked for, the other found.

    `low` and `high` are the range of what is found; see `Sizes.sds`.
    """

    asked: str
    difference: float
    queries: int
    low: float
    high: float

    def data(self) -> dict[str, Any]:
        """Return it as plain data; undefined numbers are None."""
        return record(asdict(self))


@dataclass(frozen=True, repr=False)
class Sizes(Result):
    """What the paired t-test can show of a measure whose differences have a standard deviation.

    `pilot` is the number of queries that it was estimated on, with so many degrees of `freedom`,
    n - 1 unless said; where it is a typical one, 8 of 10 pairs of runs had one between those of
    `usual`. Where the run is to be chosen as the `best_of` several, all tested against one
    baseline, each is tested at a smaller `level`. `most` is the largest difference there can be.
    The report is about some `differences` and `numbers` of queries.

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
    freedom: float | None = None
    usual: tuple[float, float] = (math.nan, math.nan)
    best_of: int = 1
    differences: tuple[float, ...] = DIFFERENCES
    numbers: tuple[int, ...] = NUMBERS

    def __post_init__(self) -> None:
        checked_alpha(self.alpha)
        if whole_number("best_of", self.best_of) < 1:
            raise UsageError("best_of cannot be 0", "give the number of runs to choose from")

    @property
    def level(self) -> float:
        """The alpha that one run is tested at."""
        return self.alpha if self.best_of == 1 else level_of_best(self.best_of, self.alpha)

    def asking(self, differences: Iterable[float], numbers: Iterable[int]) -> Sizes:
        """Ask about other differences and numbers of queries; none at all ask the usual."""
        some = tuple(differences), tuple(numbers)
        asked = some if any(some) else (DIFFERENCES, NUMBERS)
        list(map(self.needed, asked[0]))  # refuses what cannot be
        return replace(self, differences=asked[0], numbers=asked[1])

    def needed(self, difference: float, sd: float | None = None) -> int:
        """Compute the number of queries that shows a difference; another `sd` may be tried."""
        if difference > self.most:
            hint = f"give at most {self.most:g}"
            raise UsageError(f"{self.measure} cannot differ by {difference:g}", hint)
        return needed(difference / (self.sd if sd is None else sd), self.level, self.power)

    def detectable(self, queries: int) -> float:
        """Compute the smallest difference that a number of queries shows.

        One beyond `most` says that they show no difference there can be.
        """
        return detectable(queries, self.level, self.power) * self.sd

    @property
    def sds(self) -> tuple[float, float]:
        """The 95 % interval of a pilot's standard deviation, or the usual ones of real runs.

        Formula: sd √(df / χ²), χ² the quantiles at .975 and .025 with df degrees of freedom
        """
        if self.pilot is None:
            return self.usual
        from scipy.special import chdtri

        df = self.pilot - 1 if self.freedom is None else self.freedom
        low, high = (self.sd * math.sqrt(df / chdtri(df, tail)) for tail in (0.025, 0.975))
        return low, high

    def of_difference(self, difference: float) -> Size:
        """Find how many queries show a difference."""
        low, high = (x if math.isnan(x) else self.needed(difference, x) for x in self.sds)
        return Size("difference", difference, self.needed(difference), low, high)

    def of_queries(self, queries: int) -> Size:
        """Find which difference a number of queries shows."""
        found = self.detectable(queries)
        low, high = (found * sd / self.sd for sd in self.sds)
        return Size("queries", found, queries, low, high)

    @property
    def sizes(self) -> list[Size]:
        """What is asked, with the answers."""
        by_difference = map(self.of_difference, self.differences)
        return [*by_difference, *map(self.of_queries, self.numbers)]

    @property
    def summary(self) -> str:
        """What the first number that is asked for comes to."""
        one = self.sizes[0]
        if one.difference > self.most:
            return none_shown(one.queries, self.measure)
        shown = f"a difference of {number(one.difference)}"
        shows = f"{one.queries:,} queries show {shown} in {self.measure}"
        chosen = f", chosen as the best of {self.best_of} runs" if self.best_of > 1 else ""
        return f"{shows} in {100 * self.power:g} % of cases{chosen}"

    def report(self) -> Document:
        """Describe what was asked, one table a question, and what the numbers rest on."""
        name = f"difference of {self.measure}"
        shown = Format(lambda x: f"more than {self.most:g}" if x > self.most else number(x))
        tables = (
            self._table("difference", Column(name), Column("queries needed", WHOLE)),
            self._table("queries", Column("queries", WHOLE), Column(f"{name} shown", shown)),
        )
        notes = (Text(line) for line in self._notes())
        return Document((Text(f"{self.summary}.", strong=True), *tables), tuple(notes))

    @property
    def figures(self) -> Figures:
        """The figure of what is found against the number of queries."""
        return Figures({"power": self._power})

    def _power(self, queries: int | None = None) -> Figure:
        """Show the smallest difference found; `queries`, or those of the pilot, are marked."""
        marked = self.pilot if queries is None else whole_number("queries", queries)
        if marked is not None and marked < 2:
            raise UsageError(f"queries cannot be {marked}", "give the number of queries, 2 or more")
        least, most = min(10, marked or 10), max(1000, 4 * (marked or 0))
        numbers = {round(x) for x in np.geomspace(least, most, POINTS)} | {marked or least}
        note = " ".join(f"{one[0].upper()}{one[1:]}." for one in self._notes())
        shown = {n: Shown(n, *_numbers(self.of_queries(n))) for n in sorted(numbers)}
        return curve_figures.power(
            self.measure, [*shown.values()], present=shown.get(marked or 0), share=self.share,
            power=self.power, most=self.most, note=note,
        )  # fmt: skip

    @property
    def share(self) -> str:
        """What the range of an answer is."""
        return "80 % range" if self.pilot is None else "95 % range"

    def _table(self, asked: str, first: Column, found: Column) -> Table:
        """Tabulate the answers to one question."""
        other = "queries" if asked == "difference" else "difference"
        rows = [
            (getattr(one, asked), getattr(one, other), Interval(one.low, one.high))
            for one in self.sizes
            if one.asked == asked
        ]
        return Table((first, found, Column(self.share, found.format)), tuple(rows))

    def _notes(self) -> Iterator[str]:
        """Say what the numbers rest on, and how far to trust them."""
        yield f"paired t-test, two-sided alpha {self.alpha:.3g}, power {self.power:g}"
        if self.best_of > 1:
            yield f"each of {self.best_of} runs is tested at {self.level:.2g} (Dunnett)"
        yield f"standard deviation of a difference: {number(self.sd)}, from {self.source}"
        if self.pilot is None:
            ends = " and ".join(map(number, self.usual))
            yield f"8 of 10 pairs of real runs had one between {ends}: a pilot would tell"
        else:
            yield "runs that differ more need more queries: choose a pilot like the runs to come"

    def table(self) -> Table:
        """Return one table of all that was asked, with every digit."""
        return records_table([one.data() for one in self.sizes])

    def data(self) -> dict[str, Any]:
        """Return the contract of ``power -f json``."""
        return {
            "measure": self.measure, "sd": self.sd, "source": self.source, "pilot": self.pilot,
            "alpha": self.alpha, "power": self.power, "best_of": self.best_of, "level": self.level,
            "sizes": [one.data() for one in self.sizes],
        }  # fmt: skip


def _numbers(size: Size) -> tuple[float, float, float]:
    return size.difference, size.low, size.high


def plan_queries(
    measure: Any = "nDCG@10",
    qrels: Any = None,
    runs: Sequence[Any] = (),
    *,
    differences: Iterable[float] = (),
    numbers: Iterable[int] = (),
    alpha: float = 0.05,
    power: float = 0.8,
    best_of: int = 1,
    queries: Iterable[Any] | None = None,
    weights: Any = None,
    convention: str | Convention = DEFAULT,
    **axes: Any,
) -> Sizes:
    """Plan how many queries to judge: with the spread of a pilot's runs, or of typical ones.

    `differences` and numbers of queries (`numbers`) are what is asked. If you will try several runs
    and report the best, say `best_of` how many. `queries` and `weights` are those of the pilot, as
    in `evaluate`.

    >>> plan_queries("AP").needed(0.05), plan_queries("AP", best_of=10).needed(0.05)
    (82, 132)
    """
    if qrels is None:
        found = typical_sizes(measure, alpha, power)
    else:
        evaluator = Evaluator(
            qrels, measure, convention=convention, queries=queries, weights=weights, **axes
        )
        found = pilot_sizes(evaluator, runs, alpha, power)
    return replace(found, best_of=best_of).asking(differences, numbers)


def typical_sizes(measure: Any, alpha: float = 0.05, power: float = 0.8) -> Sizes:
    """Plan with the deviations of real runs, where there is no pilot.

    They are those of the measure at the nearest cutoff; of several tracks, the largest counts.
    """
    made = as_measure(measure)
    same = [one for one in TYPICAL if as_measure(one.measure).name == made.name]
    if not same:
        known = dict.fromkeys(as_measure(one.measure).name for one in TYPICAL)
        hint = f"give judgments and runs of a pilot, or take one of {', '.join(known)}"
        raise UsageError(f"no typical deviation of {measure} is known", hint)
    near = min(_farness(made, one) for one in same)
    some = [one for one in same if _farness(made, one) == near]
    first = max(some, key=lambda one: one.sd)
    source = f"the median over pairs of {first.source} ({first.measure})"
    return Sizes(
        str(measure),
        first.sd,
        source,
        alpha,
        power,
        most=_widest(made),
        usual=(first.low, first.high),
    )


def _farness(measure: Measure, typical: Typical) -> float:
    """Compute how far a cutoff is from the one measured; whole lists are the deepest."""
    one, other = (m.cutoff or WHOLE_LIST for m in (measure, as_measure(typical.measure)))
    return abs(math.log(one / other))


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
    known = ~np.isnan(values).any(axis=0)
    values = values[:, known]
    weights = np.array([found[0].weights[q] for q in shared])[known] if found[0].weights else None
    most = _widest(evaluator.instruments[label].measure)
    return _sizes(label, [one.run for one in found], values, weights, alpha, power, most)


def sizes_of(pair: Pair) -> Sizes:
    """Plan with the variance of a pair of runs, at the level that its interval goes by."""
    values, runs = np.array([pair.base, pair.new]), [pair.baseline, pair.run]
    return _sizes(pair.measure, runs, values, pair.weights, pair.level, POWER, pair.widest)


def _sizes(
    label: str, runs: Sequence[str], values: Floats, weights: Floats | None, alpha: float,
    power: float, most: float,
) -> Sizes:  # fmt: skip
    """Plan with the variance of values, runs x queries."""
    parts = variance_parts(values, weights) if values.shape[1] > 1 else np.full(1, np.nan)
    sd = math.sqrt(2 * parts.sum())
    queries = many(values.shape[1], "query", "queries")
    if not sd > NO_SPREAD * np.abs(values).max(initial=1.0):
        hint = "give more queries, or runs that differ"
        raise UsageError(f"{label} does not vary in this pilot of {queries}", hint)
    words = " and ".join(runs) if len(runs) < 3 else f"{len(runs)} runs"
    alone = ", as if other runs had nothing in common with it" if len(runs) == 1 else ""
    freedom = freedom_of(parts, len(values))
    source = f"{words} on {queries}{alone}"
    return Sizes(label, sd, source, alpha, power, len(parts), most, freedom)


def _widest(measure: Measure) -> float:
    """Compute the largest difference of two values, where no grade is below 0."""
    low, high = measure.bounds(0.0)
    return high - low


def variance_parts(values: Floats, weights: Floats | None) -> Floats:
    """Compute each query's part of the variance of a run's values, less what several runs share.

    Formula: Σ_i (x_ij - x_i. - x_.j + x_..)² / ((runs - 1)(queries - 1)), times n Σ w² / (Σ w)² if
    queries have weights, so that as many queries of equal weight are as unsure
    """
    runs, n = values.shape
    apart = values - values.mean(axis=1, keepdims=True)
    if runs > 1:
        apart = apart - apart.mean(axis=0)
    parts: Floats = (apart**2).sum(axis=0) / (max(runs - 1, 1) * (n - 1))
    return parts if weights is None else parts * (n / effective(weights.tolist()))


def freedom_of(parts: Floats, runs: int) -> float:
    """Compute the degrees of freedom of a variance from how its queries' parts vary.

    Formula: 2 V² / var(V), with V = Σ v and var(V) = n s²(v), at most (runs - 1)(queries - 1)

    Normal differences have nearly the most; where a few queries differ by much there are fewer.

    Reference: Satterthwaite 1946, doi:10.2307/3002019
    """
    spread = len(parts) * float(parts.var(ddof=1))
    most = max(runs - 1, 1) * (len(parts) - 1)
    return min(2 * float(parts.sum()) ** 2 / spread, most) if spread else most
