"""Holes: whether judging what is unjudged could overturn the difference of two runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from idealist.bounding import difference_by
from idealist.bounding.bound_case import unjudged_of
from idealist.data import Run
from idealist.data.columns import Bools
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import borrowed_run
from idealist.measures.aggregate import Aggregate
from idealist.measures.instrument import Instrument, chosen, measured
from idealist.measures.judged import Judged
from idealist.notation import many
from idealist.report.plain_data import finite
from idealist.significance.paired import ROUNDING

#: Where one run's share of judged documents is greater by this, the judgments favour it.
UNEQUAL = 0.05


@dataclass(frozen=True)
class Holes:
    """What unjudged documents could make of a difference, new - base.

    `unjudged` counts the unjudged documents in reach of the baseline and of the run: those above
    the cutoff, or all retrieved, of the queries that count. `judged` is the mean share of judged
    documents there, weighted as the queries are. `low` and `high` are the ends of the difference
    over all judgments of them, `together` counts each document once, `kind` is ``exact``, or
    ``outer`` where the truth may be narrower; without bounds `refusal` says why.
    """

    measure: str
    baseline: str
    run: str
    depth: int | None
    unjudged: tuple[int, int]
    judged: tuple[float, float]
    together: int | None = None
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    kind: str = "none"
    refusal: str = ""

    @property
    def overturns(self) -> bool | None:
        """Whether some judgments would reverse the sign; None where that is not known.

        Outer bounds that stay on one side know that it is not so; beyond, they know nothing. Runs
        that are level, or have no value, have no sign to reverse.
        """
        if not any(self.unjudged):
            return False
        if self.kind == "none" or not self._apart:
            return None
        beyond = self.low < -ROUNDING if self.value > 0 else self.high > ROUNDING
        return None if beyond and self.kind == "outer" else beyond

    @property
    def _apart(self) -> bool:
        return abs(self.value) > ROUNDING

    @property
    def unequal(self) -> bool:
        """Whether the judgments know one run much better than the other."""
        return abs(self.judged[0] - self.judged[1]) >= UNEQUAL

    def __str__(self) -> str:
        return f"Unjudged: {self._reach()}; {self._could()}."

    def _reach(self) -> str:
        if not any(self.unjudged):
            return "no document in reach"
        own = zip((self.baseline, self.run), self.unjudged, self.judged, strict=True)
        shown = ", ".join(f"{name} {n} ({100 * share:.0f} % judged)" for name, n, share in own)
        if self.together is None:
            return f"documents in reach, {shown}"
        return f"{many(self.together, 'document', 'documents')} in reach, {shown}"

    def _could(self) -> str:
        if not any(self.unjudged):
            return "judging more cannot change the difference"
        if self.kind == "none":
            return f"what they could change is not known: {self.refusal}"
        if math.isnan(self.value):
            return "there is no difference that they could change"
        within = f"within {self.low:+.4f} and {self.high:+.4f}"
        if not self._apart:
            return f"judged, they leave the difference {within}; now the runs are level"
        if self.overturns is False:
            return f"judged, they leave the difference {within}: they cannot reverse it"
        known = "they could reverse it"
        if self.overturns is None:
            known = "the truth may be narrower, so whether they could reverse it is not known"
        return f"judged, they leave the difference {within}: {known}"

    def data(self) -> dict[str, Any]:
        """Give it as plain data; undefined values are None."""
        data: dict[str, Any] = finite({
            "unjudged": {"baseline": self.unjudged[0], "run": self.unjudged[1]},
            "together": self.together,
            "judged": {"baseline": self.judged[0], "run": self.judged[1]},
            "low": self.low,
            "high": self.high,
            "kind": self.kind,
            "overturns": self.overturns,
        })  # fmt: skip
        return data


class Coverage(NamedTuple):
    """A run, the queries that count, its unjudged documents there, and the share of judged ones."""

    run: Run
    counted: Bools
    unjudged: int
    judged: float


def coverage(evaluator: Evaluator, label: str, run: Run) -> Coverage:
    """Count the unjudged documents in reach of a measure, and give the share of judged ones."""
    instrument, queries = evaluator.instruments[label], evaluator.qrels.queries
    ranked = evaluator.ranked(run)
    placements, unjudged = ranked[instrument.protocol], unjudged_of(instrument, ranked)
    counted = measured(instrument, placements).counted
    share = Judged(cutoff=instrument.measure.cutoff).filled()
    mean = Aggregate(weights=instrument.aggregate.weights)
    values = measured(Instrument(share, instrument.protocol, Aggregate()), placements).values
    count = int(unjudged.counts(len(queries))[counted].sum())
    return Coverage(run, counted, count, mean.of(values[counted], chosen(queries, counted)))


def holes(evaluator: Evaluator, label: str, base: Any, new: Any) -> Holes:
    """Say what the unjudged documents of two runs could make of their difference.

    >>> evaluator = Evaluator({"q": {"a": 1}}, "P@2")
    >>> found = holes(evaluator, "P@2", {"q": ["x", "y"]}, {"q": ["a", "x"]})
    >>> found.unjudged, found.judged, found.low, found.high, found.overturns
    ((2, 1), (0.0, 0.5), 0.0, 0.5, False)
    """
    runs = borrowed_run(base).held(), borrowed_run(new).held()
    before, after = (coverage(evaluator, label, run) for run in runs)
    return holes_between(evaluator, label, before, after)


def holes_between(
    evaluator: Evaluator, label: str, base: Coverage, new: Coverage, refusal: str = ""
) -> Holes:
    """Say it of two runs whose coverage is known; with a `refusal`, bounds are not looked for."""
    known = Holes(
        label, base.run.name, new.run.name, evaluator.instruments[label].measure.cutoff,
        (base.unjudged, new.unjudged), (base.judged, new.judged), refusal=refusal,
    )  # fmt: skip
    if not any(known.unjudged):
        return replace(known, together=0)
    if refusal:
        return known
    try:
        found = difference_by(evaluator, label, base.run, new.run)
    except UsageError as error:
        return replace(known, refusal=error.message)
    together = int(found.unjudged[base.counted & new.counted].sum())
    return replace(
        known, together=together, value=found.value, low=found.low, high=found.high,
        kind=found.kind,
    )  # fmt: skip
