"""Unjudged documents: whether judging them could overturn the difference of two runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from idealist.bounding import Bounds, difference_by
from idealist.bounding.bound_case import unjudged_of
from idealist.data.columns import Bools
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.measures.instrument import Aggregate, Instrument, chosen, measured
from idealist.measures.judged import Judged
from idealist.notation import many
from idealist.ranking.ranked import Ranked
from idealist.rendering.plain_data import record
from idealist.rendering.wording import number, p_words, signed
from idealist.significance.p_extremes import UNKNOWN, PRange, attained_p, proven_p
from idealist.significance.paired import ROUNDING, paired

#: Where one run's share of judged documents is greater by this, the judgments favour it.
UNEQUAL = 0.05


@dataclass(frozen=True)
class UnjudgedEffect:
    """What unjudged documents could make of a difference, run - baseline.

    `unjudged` counts the unjudged documents of the baseline and of the run above the cutoff, or all
    retrieved, of the queries that count; `together` counts each document once. `judged` is the mean
    share of judged documents there, weighted as the queries are. `low` and `high` are the ends of
    the difference over all judgments of these documents, and of those retrieved below them where
    they could move the ideal, or R. `reach` is ``collection`` where no other document could move
    the difference further, or else ``retrieved``. `kind` is ``exact``, or ``outer`` where the truth
    may be narrower; some judgments give the ends `found`. `p` has what the p-value of the t-test
    could be; it is `p_now`. Without bounds `refusal` says why.
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
    found: tuple[float, float] = (math.nan, math.nan)
    reach: str = "retrieved"
    p_now: float = math.nan
    p: PRange = UNKNOWN
    alpha: float = 0.05
    refusal: str = ""

    @property
    def fixed(self) -> bool:
        """Whether no judgments of these documents can change the difference."""
        return self.high - self.low <= ROUNDING

    @property
    def overturns(self) -> bool | None:
        """Whether some judgments would reverse the sign; None where that is not known.

        Runs that are level, or have no value, have no sign to reverse.
        """
        if self.fixed:
            return False
        if self.kind == "none" or not self._apart:
            return None
        if self._reversed(*self.found):
            return True
        return None if self._reversed(self.low, self.high) else False

    @property
    def undoes(self) -> bool:
        """Whether no judgments reverse the sign, but some make it not significant by the t-test."""
        return self.overturns is False and self.p_now < self.alpha <= self.p.high

    def _reversed(self, low: float, high: float) -> bool:
        return low < -ROUNDING if self.value > 0 else high > ROUNDING

    @property
    def _apart(self) -> bool:
        return abs(self.value) > ROUNDING

    @property
    def unequal(self) -> bool:
        """Whether the judgments know one run much better than the other."""
        return abs(self.judged[0] - self.judged[1]) >= UNEQUAL

    def __str__(self) -> str:
        return f"Unjudged: {self._reach()}; {self._could()}."

    @property
    def among(self) -> str:
        """Where the documents are."""
        return "retrieved" if self.depth is None else f"in the first {self.depth}"

    def _reach(self) -> str:
        if not any(self.unjudged):
            return f"none of the documents {self.among}"
        own = zip((self.baseline, self.run), self.unjudged, self.judged, strict=True)
        shown = ", ".join(f"{name} {n} ({100 * share:.0f} % judged)" for name, n, share in own)
        if self.together is not None:  # what both retrieved counts once
            shown += f", together {many(self.together, 'different one', 'different ones')}"
        return f"documents {self.among}, {shown}"

    def _could(self) -> str:
        if self.fixed:
            more = "more judgments" if self.reach == "collection" else "judging all they retrieved"
            return f"{more} cannot change the difference"
        if self.kind == "none":
            return f"what more judgments could change is not known: {self.refusal}"
        if math.isnan(self.value):
            return "there is no difference that they could change"
        between = f"between {signed(self.low)} and {signed(self.high)}"
        every = self.reach == "collection"
        judged = "whatever is judged" if every else "however all that they retrieved is judged"
        stays = f"{judged}, the difference stays {between}"
        if not self._apart:
            return f"{stays}; now the runs are level"
        if self.overturns:
            return f"{stays}: its sign could flip"
        sign = "its sign cannot flip"
        if self.overturns is None:
            stays, sign = f"{stays}, perhaps well inside", "whether its sign can flip is not known"
        return f"{stays}: {sign}{self._tested()}"

    def _tested(self) -> str:
        """Say where the p-value could go: as far as some judgments take it, or can at most."""
        p, alpha = self.p, self.alpha
        if self.p_now < alpha:
            if p.most < alpha:
                return f", and p stays below {math.ceil(p.most * 1e4 + 1e-9) / 1e4:.4f} (t-test)"
            but = "but" if p.high >= alpha else "and"
            return f", {but} p can be as high as {number(p.high)} (t-test)"
        if p.low < alpha:
            return f", but {p_words(p.low).replace('p=', 'p can be as low as ')} (t-test)"
        return ", and p stays above alpha (t-test)" if p.least >= alpha else ""

    def data(self) -> dict[str, Any]:
        """Return it as plain data; undefined values are None."""
        return record({
            "unjudged": {"baseline": self.unjudged[0], "run": self.unjudged[1]},
            "together": self.together,
            "judged": {"baseline": self.judged[0], "run": self.judged[1]},
            "low": self.low, "high": self.high, "kind": self.kind, "reach": self.reach,
            "overturns": self.overturns,
            "p_t": {"low": self.p.low, "high": self.p.high, "least": self.p.least,
                    "most": self.p.most},
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
    evaluator: Evaluator, baseline: Coverage, run: Coverage, measure: str, refusal: str = "",
    alpha: float = 0.05,
) -> UnjudgedEffect:  # fmt: skip
    """Find what the unjudged documents of two runs could make of their difference.

    With a `refusal`, bounds are not computed.

    >>> evaluator = Evaluator({"q": {"a": 1}}, "P@2")
    >>> runs = {"q": ["x", "y"]}, {"q": ["a", "x"]}
    >>> found = effect_between(evaluator, *(coverage(evaluator, "P@2", r) for r in runs), "P@2")
    >>> found.unjudged, found.judged, found.low, found.high, found.overturns
    ((2, 1), (0.0, 0.5), 0.0, 0.5, False)
    """
    instrument, queries = evaluator.instruments[measure], evaluator.qrels.queries
    known = UnjudgedEffect(
        measure, baseline.ranked.run.name, run.ranked.run.name, instrument.measure.cutoff,
        (baseline.unjudged, run.unjudged), (baseline.judged, run.judged), alpha=alpha,
        refusal=refusal,
    )  # fmt: skip
    if refusal:
        return known
    try:
        found = difference_by(evaluator, measure, baseline.ranked, run.ranked)
    except UsageError as error:
        return replace(known, refusal=error.message)
    counted = baseline.counted & run.counted
    given = found.source.ends
    p_now, p = _p_values(found, counted, instrument.aggregate)
    return replace(
        known, together=int(found.unjudged[counted].sum()), value=found.value, low=found.low,
        high=found.high, kind=found.kind, reach=found.reach, p_now=p_now, p=p,
        found=given.together(instrument, queries)[:2],
    )  # fmt: skip


def unjudged_effect(
    evaluator: Evaluator, baseline: Any, run: Any, measure: str, alpha: float = 0.05
) -> UnjudgedEffect | None:
    """Find what unjudged documents could make of a difference; None where none can be counted."""
    try:
        base, new = (coverage(evaluator, measure, one) for one in (baseline, run))
    except UsageError:
        return None
    return effect_between(evaluator, base, new, measure, alpha=alpha)


def _p_values(found: Bounds, counted: Bools, aggregate: Aggregate) -> tuple[float, PRange]:
    """Find the p-value of the t-test, and what it could be; unknown where a query may not count."""
    given, weights = found.source.ends, None
    if aggregate.weights is not None:
        known = np.zeros(len(counted))
        known[counted] = aggregate.weights.of(chosen(found.queries, counted))
        counted = known > 0
        weights = known[counted]
    if given.free.any() or np.count_nonzero(counted) < 2:
        return math.nan, UNKNOWN
    now, low, high, least, most = (
        one[counted] for one in (found.values, given.low, given.high, found.lows, found.highs)
    )
    if np.isnan([now, low, high]).any():
        return math.nan, UNKNOWN
    p = attained_p(low, high, now, weights)
    if weights is None:
        least_p, most_p = proven_p(least, most)
        p = p._replace(least=least_p, most=most_p)
    return paired(now, weights).p, p
