"""Evidence: a statistic of the queries with its interval, held against a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.data.columns import Floats
from idealist.diagnosing.measured_run import Inputs
from idealist.rendering.plain_data import finite
from idealist.significance.means import FEWEST, mean, mean_interval, quantile, standard_error

#: A difference of this many half widths of a 95 % interval is found 4 times in 5.
POWER = (1.959964 + 0.841621) / 1.959964

#: A number with the ends of its interval.
WithEnds = tuple[float, float, float]


def of_mean(values: Floats, confidence: float = 0.95) -> WithEnds:
    """Compute the mean of a sample, such as differences, and its t-interval."""
    listed: list[float] = values.tolist()
    centre = mean(listed) if listed else math.nan
    if len(listed) < FEWEST:
        return centre, math.nan, math.nan
    half = quantile((1 + confidence) / 2, len(listed) - 1) * standard_error(listed)
    return centre, centre - half, centre + half


def bounded(interval: WithEnds, values: Floats, least: float, most: float) -> WithEnds:
    """Cut an interval to the possible range, widened to hold the data."""
    centre, low, high = interval
    least, most = min(least, values.min(initial=least)), max(most, values.max(initial=most))
    return centre, float(np.clip(low, least, most)), float(np.clip(high, least, most))


def of_value(values: Floats) -> WithEnds:
    """Compute the mean of a measure on [0, 1] and its 95 % interval, cut to that range.

    It is Wilson's if all values are 0 or 1, as those of Success are: ten queries of ten do not
    prove that all others are alike.

    >>> [round(end, 4) for end in of_value(np.array([1.0, 1, 1, 1, 0, 1]))]
    [0.8333, 0.4365, 0.9699]
    """
    centre, low, high = of_mean(values)
    if not math.isnan(low):
        low, high = mean_interval(values.tolist())
    return bounded((centre, low, high), values, 0.0, 1.0)


def as_it_is(values: Floats) -> WithEnds:
    """Compute the mean without an interval: a fact about this data, not an estimate."""
    centre, _, _ = of_mean(values)
    return centre, centre, centre


@dataclass(frozen=True)
class Statistic:
    """A number made of all queries: `sample` computes one for each, NaN if it has none."""

    words: str
    sample: Callable[[Inputs], Floats]
    interval: Callable[[Floats], WithEnds] = of_mean


@dataclass(frozen=True)
class Clause:
    """What must hold: a statistic lies beyond a threshold, with its whole interval.

    `side` is ``>`` or ``<``, ``within`` if it must differ from 0 by less than the threshold, or
    ``open`` if its interval must hold 0 and be wider than that to either side.
    """

    statistic: Statistic
    side: str
    threshold: float

    def weigh(self, inputs: Inputs) -> Evidence:
        """Look at the queries."""
        sample = self.statistic.sample(inputs)
        values = sample[~np.isnan(sample)]
        return Evidence(
            self.statistic.words, self.side, self.threshold, len(values),
            *self.statistic.interval(values),
        )  # fmt: skip


@dataclass(frozen=True)
class Evidence:
    """What a clause found: the statistic of `queries` queries, and its 95 % interval."""

    words: str
    side: str
    threshold: float
    queries: int
    value: float
    low: float
    high: float

    @property
    def holds(self) -> bool | None:
        """Whether it holds; None if the data cannot tell."""
        if math.isnan(self.low):
            return None
        if self.side == "open":
            return self.low <= 0 <= self.high and (self.high - self.low) / 2 > self.threshold
        inside, outside = {
            ">": (self.low > self.threshold, self.high <= self.threshold),
            "<": (self.high < self.threshold, self.low >= self.threshold),
            "within": (
                -self.threshold < self.low and self.high < self.threshold,
                self.low >= self.threshold or self.high <= -self.threshold,
            ),
        }[self.side]
        return True if inside else False if outside else None

    def __str__(self) -> str:
        shown = f"{self.words} is {self.value:.4f}"
        if math.isnan(self.low):
            return f"{shown}, from too few queries ({self.queries})"
        if self.low == self.high:
            return f"{shown}, {'' if self.holds else 'not '}{self._beyond()}"
        shown += f", 95 % interval {self.low:.4f} to {self.high:.4f}"
        if self.side == "open":
            least = POWER * (self.high - self.low) / 2
            return f"{shown}; a difference of less than {least:.4f} would often be missed"
        every = {True: "all", False: "none of it", None: "not all"}[self.holds]
        return f"{shown}, {every} {self._beyond()}"

    def _beyond(self) -> str:
        side = {">": "above", "<": "below", "within": "closer to 0 than"}[self.side]
        return f"{side} {self.threshold:.4g}"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "statistic": self.words, "queries": self.queries, "value": finite(self.value),
            "interval": [finite(self.low), finite(self.high)], "side": self.side,
            "threshold": self.threshold, "holds": self.holds,
        }  # fmt: skip
