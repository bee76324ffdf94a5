"""How long queries took, beside what they found: percentiles, and paired differences of runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from idealist.data import Run
from idealist.formats.run_times import times_of
from idealist.notation import many
from idealist.rendering.document import COUNT, MILLISECONDS, TEXT, Column, Format, Interval, Table
from idealist.rendering.wording import number, signed
from idealist.significance.means import FEWEST, mean_interval
from idealist.significance.percentiles import PERCENTILES, percentiles

#: How differences of latencies are written.
SIGNED_MS = Format(lambda cell: signed(cell, 1))


class Slower(NamedTuple):
    """How much slower a run is than another: the mean over the queries that both answered.

    `low` and `high` are the ends of its 95 % interval, and so many `queries` of `n` took longer.
    """

    difference: float
    low: float
    high: float
    queries: int
    n: int


@dataclass(frozen=True)
class Latencies:
    """The milliseconds of each query, by run.

    >>> found = Latencies({"old": {"q1": 10.0, "q2": 20.0}, "new": {"q1": 12.0, "q2": 26.0}})
    >>> found.percentiles("new")["p50"], found.slower("old", "new").difference
    (19.0, 4.0)
    """

    by_run: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, runs: Iterable[Run]) -> Latencies:
        """Read them from the files of runs."""
        return cls({run.name: times_of(run) for run in runs})

    def percentiles(self, run: str) -> dict[str, float]:
        """Return the percentiles of a run."""
        return percentiles(list(self.by_run[run].values()))

    def slower(self, baseline: str, run: str) -> Slower:
        """Compare the queries that two runs answered, one by one."""
        base, other = self.by_run[baseline], self.by_run[run]
        gaps = [other[query] - base[query] for query in base if query in other]
        if not gaps:
            return Slower(math.nan, math.nan, math.nan, 0, 0)
        enough = len(gaps) >= FEWEST
        low, high = mean_interval(gaps, None, 0.95) if enough else (math.nan, math.nan)
        longer = sum(gap > 0 for gap in gaps)
        return Slower(math.fsum(gaps) / len(gaps), low, high, longer, len(gaps))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of percentiles."""
        return tuple(Column(f"p{p} ms", MILLISECONDS) for p in PERCENTILES)

    def cells(self, run: str) -> tuple[float, ...]:
        """Return a run's cells of these columns."""
        return tuple(self.percentiles(run).values())

    def table(self, baseline: str) -> Table:
        """Set the runs beside a baseline: percentiles, and paired differences."""
        columns = (
            Column("latency", TEXT), *self.columns, Column("difference", SIGNED_MS),
            Column("95 % interval", SIGNED_MS), Column("slower", COUNT), Column("of", COUNT),
        )  # fmt: skip
        return Table(columns, tuple(self._row(baseline, run) for run in self.by_run))

    def _row(self, baseline: str, run: str) -> tuple[Any, ...]:
        if run == baseline:
            nothing = Interval(math.nan, math.nan)
            return run, *self.cells(run), math.nan, nothing, None, None
        found = self.slower(baseline, run)
        ends = Interval(found.low, found.high)
        return run, *self.cells(run), found.difference, ends, found.queries, found.n

    def words(self, baseline: str) -> str:
        """Say how much slower the others are, in a sentence.

        >>> Latencies({"a": {"q": 10.0}, "b": {"q": 12.5}}).words("a")
        'b takes 2.5 ms longer than a, in the mean of 1 query.'
        """
        said = []
        for run in self.by_run:
            found = self.slower(baseline, run)
            if run != baseline and found.n:
                gap, how = found.difference, "longer" if found.difference >= 0 else "less"
                queries = many(found.n, "query", "queries")
                of = f"{number(abs(gap), 1)} ms {how} than {baseline}"
                said.append(f"{run} takes {of}, in the mean of {queries}.")
        return " ".join(said)

    def data(self, baseline: str = "") -> dict[str, Any]:
        """Return percentiles by run, and differences from a baseline, as plain data."""
        return {
            run: {
                "queries": len(self.by_run[run]),
                **self.percentiles(run),
                **(self.slower(baseline, run)._asdict() if baseline and run != baseline else {}),
            }
            for run in self.by_run
        }
