"""Holes: whether judging what is unjudged could overturn the difference of two runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from idealist.aggregate import Aggregate
from idealist.bounding import difference_by
from idealist.bounding.setting import placed_holes
from idealist.errors import UsageError
from idealist.evaluator import Evaluator
from idealist.formats import borrowed_run
from idealist.instrument import Instrument
from idealist.measures.judged import Judged
from idealist.measuring import measured
from idealist.notation import many
from idealist.tables import Run

#: A bound beyond 0 by less than this is at 0.
ROUNDING = 1e-12
#: Where one run's share of judged documents is greater by this, the judgments favour it.
UNEQUAL = 0.05


@dataclass(frozen=True)
class Holes:
    """What unjudged documents could make of a difference, new - base.

    `unjudged` counts the unjudged documents in reach of the baseline and of the run: those above
    the cutoff, or all retrieved; `together` counts each document once. `judged` is the mean share
    of judged documents there. `low` and `high` are the ends of the difference over all judgments
    of them, `kind` is ``exact``, or ``outer`` where the truth may be narrower; they are NaN, and
    `refusal` says why, where the measure has no bounds.
    """

    measure: str
    baseline: str
    run: str
    depth: int | None
    unjudged: tuple[int, int]
    together: int
    judged: tuple[float, float]
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    kind: str = "none"
    refusal: str = ""

    @property
    def overturns(self) -> bool | None:
        """Whether some judgments would reverse the sign; None where that is not known.

        Outer bounds that stay on one side know that it is not so; beyond, they know nothing.
        """
        if not self.together:
            return False
        if self.kind == "none":
            return None
        beyond = self.low < -ROUNDING if self.value > 0 else self.high > ROUNDING
        return None if beyond and self.kind == "outer" else beyond

    @property
    def unequal(self) -> bool:
        """Whether the judgments know one run much better than the other."""
        return abs(self.judged[0] - self.judged[1]) >= UNEQUAL

    def __str__(self) -> str:
        return f"Unjudged: {self._reach()}; {self._could()}."

    def _reach(self) -> str:
        if not self.together:
            return "no document in reach"
        own = zip((self.baseline, self.run), self.unjudged, self.judged, strict=True)
        shown = ", ".join(f"{name} {n} ({100 * share:.0f} % judged)" for name, n, share in own)
        return f"{many(self.together, 'document', 'documents')} in reach, {shown}"

    def _could(self) -> str:
        if not self.together:
            return "judging more cannot change the difference"
        if self.kind == "none":
            return f"what they could change is not known: {self.refusal}"
        within = f"within {self.low:+.4f} and {self.high:+.4f}"
        if self.overturns is False:
            return f"judged, they leave the difference {within}: they cannot reverse it"
        known = "could" if self.overturns else "might"
        return f"judged, they leave the difference {within}: they {known} reverse it"

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data; undefined values are None."""
        return {
            "unjudged": {"baseline": self.unjudged[0], "run": self.unjudged[1]},
            "together": self.together,
            "judged": {"baseline": _plain(self.judged[0]), "run": _plain(self.judged[1])},
            "low": _plain(self.low),
            "high": _plain(self.high),
            "kind": self.kind,
            "overturns": self.overturns,
        }


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value


def holes(evaluator: Evaluator, label: str, base: Any, new: Any) -> Holes:
    """Say what the unjudged documents of two runs could make of their difference.

    >>> evaluator = Evaluator({"q": {"a": 1}}, "P@2")
    >>> found = holes(evaluator, "P@2", {"q": ["x", "y"]}, {"q": ["a", "x"]})
    >>> found.unjudged, found.judged, found.low, found.high, found.overturns
    ((2, 1), (0.0, 0.5), 0.0, 0.5, False)
    """
    runs = borrowed_run(base).held(), borrowed_run(new).held()
    instrument = evaluator.instruments[label]
    names, depth = (label, runs[0].name, runs[1].name), instrument.measure.cutoff
    (few, before), (more, after) = (_coverage(evaluator, instrument, run) for run in runs)
    counts, judged = (few, more), (before, after)
    if not few + more:
        return Holes(*names, depth, counts, 0, judged)
    try:
        found = difference_by(evaluator, label, runs[1], runs[0])
    except UsageError as error:
        return Holes(*names, depth, counts, few + more, judged, refusal=error.message)
    ends = found.value, found.low, found.high
    return Holes(*names, depth, counts, int(found.holes.sum()), judged, *ends, found.kind)


def _coverage(evaluator: Evaluator, instrument: Instrument, run: Run) -> tuple[int, float]:
    """Count the unjudged documents in reach, and give the share of judged ones."""
    placements, unjudged = placed_holes(instrument, evaluator.qrels, run)
    share = Judged(cutoff=instrument.measure.cutoff).filled()
    whole = Instrument(share, instrument.protocol, Aggregate())
    return len(unjudged), measured(whole, placements).aggregate
