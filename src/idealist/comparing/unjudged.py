"""Unjudged documents: whether judging them could overturn the difference of two runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from idealist.bounding import difference_by
from idealist.bounding.bound_case import unjudged_of
from idealist.data.columns import Bools
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.measures.instrument import Aggregate, Instrument, chosen, measured
from idealist.measures.judged import Judged
from idealist.ranking.ranked import Ranked
from idealist.report.plain_data import record
from idealist.report.wording import signed
from idealist.significance.paired import ROUNDING

#: Where one run's share of judged documents is greater by this, the judgments favour it.
UNEQUAL = 0.05


@dataclass(frozen=True)
class UnjudgedEffect:
    """What unjudged documents could make of a difference, run - baseline.

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
        among = "retrieved" if self.depth is None else f"in the first {self.depth}"
        if not any(self.unjudged):
            return f"none of the documents {among}"
        own = zip((self.baseline, self.run), self.unjudged, self.judged, strict=True)
        shown = ", ".join(f"{name} {n} ({100 * share:.0f} % judged)" for name, n, share in own)
        count = "" if self.together is None else f"{self.together} "
        return f"{count}{'document' if self.together == 1 else 'documents'} {among}, {shown}"

    def _could(self) -> str:
        if not any(self.unjudged):
            return "more judgments cannot change the difference"
        if self.kind == "none":
            return f"what they could change is not known: {self.refusal}"
        if math.isnan(self.value):
            return "there is no difference that they could change"
        between = f"between {signed(self.low)} and {signed(self.high)}"
        stays = f"however they are judged, the difference stays {between}"
        if not self._apart:
            return f"{stays}; now the runs are level"
        if self.overturns is None:
            return f"{stays}, perhaps well inside: whether its sign can flip is not known"
        return f"{stays}: its sign {'could' if self.overturns else 'cannot'} flip"

    def data(self) -> dict[str, Any]:
        """Return it as plain data; undefined values are None."""
        return record({
            "unjudged": {"baseline": self.unjudged[0], "run": self.unjudged[1]},
            "together": self.together,
            "judged": {"baseline": self.judged[0], "run": self.judged[1]},
            "low": self.low, "high": self.high, "kind": self.kind, "overturns": self.overturns,
        })  # fmt: skip


class Coverage(NamedTuple):
    """A run, the queries that count, its unjudged documents there, and the share of judged ones."""

    ranked: Ranked
    counted: Bools
    unjudged: int
    judged: float


def coverage(evaluator: Evaluator, label: str, run: Any) -> Coverage:
    """Count the unjudged documents in reach of a measure, and compute the share of judged ones."""
    instrument, queries = evaluator.instruments[label], evaluator.qrels.queries
    ranked = evaluator.ranked(run)
    placements, unjudged = ranked[instrument.protocol], unjudged_of(instrument, ranked)
    counted = measured(instrument, placements).counted
    share = Judged(cutoff=instrument.measure.cutoff).filled()
    mean = Aggregate(weights=instrument.aggregate.weights)
    values = measured(Instrument(share, instrument.protocol, Aggregate()), placements).values
    count = int(unjudged.counts(len(queries))[counted].sum())
    return Coverage(ranked, counted, count, mean.of(values[counted], chosen(queries, counted)))


def effect_between(
    evaluator: Evaluator, baseline: Coverage, run: Coverage, measure: str, refusal: str = ""
) -> UnjudgedEffect:
    """Find what the unjudged documents of two runs could make of their difference.

    With a `refusal`, bounds are not computed.

    >>> evaluator = Evaluator({"q": {"a": 1}}, "P@2")
    >>> runs = {"q": ["x", "y"]}, {"q": ["a", "x"]}
    >>> found = effect_between(evaluator, *(coverage(evaluator, "P@2", r) for r in runs), "P@2")
    >>> found.unjudged, found.judged, found.low, found.high, found.overturns
    ((2, 1), (0.0, 0.5), 0.0, 0.5, False)
    """
    cutoff = evaluator.instruments[measure].measure.cutoff
    known = UnjudgedEffect(
        measure, baseline.ranked.run.name, run.ranked.run.name, cutoff,
        (baseline.unjudged, run.unjudged), (baseline.judged, run.judged), refusal=refusal,
    )  # fmt: skip
    if not any(known.unjudged):
        return replace(known, together=0)
    if refusal:
        return known
    try:
        found = difference_by(evaluator, measure, baseline.ranked, run.ranked)
    except UsageError as error:
        return replace(known, refusal=error.message)
    together = int(found.unjudged[baseline.counted & run.counted].sum())
    return replace(
        known, together=together, value=found.value, low=found.low, high=found.high,
        kind=found.kind,
    )  # fmt: skip
