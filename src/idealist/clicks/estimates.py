"""What click models share: rates with intervals, pairs looked up, and climbing a likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from idealist.clicks.click_counts import ClickCounts
from idealist.data.columns import Floats, Ints
from idealist.significance.beta_rates import JEFFREYS, Beta, beta_interval, weight_of

#: Estimates are kept so far from 0 and 1 while a likelihood is climbed, and so are the
#: probabilities of clicks: none is impossible.
EDGE = 1e-9
#: A likelihood has been climbed when no parameter moves farther than this in a step; and how many
#: leaps are made at most.
STILL, MOST_LEAPS = 1e-7, 2000


class Estimates(NamedTuple):
    """Estimates of many things, with the ends of their 95 % intervals."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Rates:
    """Estimated rates: each `value`, and mean and variance of the Beta that says how sure it is.

    The mean is the value, unless there is no prior: then half a click and half a skip are added.
    """

    value: Floats
    mean: Floats
    variance: Floats

    @classmethod
    def counted(cls, successes: Floats, trials: Floats, prior: Beta) -> Rates:
        """Estimate rates of what was counted; their intervals are those of the Beta posterior.

        Formula: (s + a) / (n + a + b)

        >>> Rates.counted(np.array([3.0]), np.array([10.0]), Beta(1, 1)).value.round(4).tolist()
        [0.3333]
        """
        also = prior if prior.weight else JEFFREYS
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (successes + prior.successes) / (trials + prior.weight)
        mean = (successes + also.successes) / (trials + also.weight)
        return cls(value, mean, mean * (1 - mean) / (trials + also.weight + 1))

    @cached_property
    def estimates(self) -> Estimates:
        """The values with the intervals of their Betas."""
        return Estimates(self.value, *beta_interval(self.mean, weight_of(self.mean, self.variance)))

    def times(self, other: Rates, covariance: Floats | float = 0.0) -> Rates:
        """Return the rates of both together."""
        mean = self.mean * other.mean
        variance = (
            self.mean**2 * other.variance + other.mean**2 * self.variance
            + self.variance * other.variance + 2 * mean * covariance
        )  # fmt: skip
        return Rates(self.value * other.value, mean, variance)


def as_beta(mean: Floats, variance: Floats) -> Floats:
    """Turn the inverse of an information, m (1 - m) / n, into the variance of that Beta."""
    top = mean * (1 - mean)
    return top * variance / (top + variance)


@dataclass(frozen=True, eq=False)
class PairRates:
    """A rate of each pair of query and document, known by its number; and the prior of all."""

    pairs: Ints
    rates: Rates
    prior: Beta

    def of(self, counts: ClickCounts) -> Floats:
        """Look up the rate of each place; that of a pair never seen is the mean of the prior."""
        asked, place = counts.pair_keys
        at = np.minimum(np.searchsorted(self.pairs, asked), len(self.pairs) - 1)
        known = (self.pairs[at] == asked) & np.isfinite(self.rates.value[at])
        found = np.where(known, self.rates.value[at], self.prior.mean)
        each: Floats = np.clip(found, EDGE, 1 - EDGE)[place]
        return each


class Curve(NamedTuple):
    """How likely each position is looked at, with intervals where there are any (else NaN)."""

    positions: Ints
    examined: Estimates

    def at(self, position: Ints) -> Floats:
        """Look up positions; one that is not known is as the one above it."""
        found = np.searchsorted(self.positions, position, side="right") - 1
        return self.examined.value[np.maximum(found, 0)]


class Climb(NamedTuple):
    """Where climbing a likelihood ended, what it was at each step, and whether it came to rest."""

    parameters: Floats
    likelihoods: list[float]
    is_still: bool


def climbed(step: Callable[[Floats], tuple[Floats, float]], start: Floats) -> Climb:
    """Climb a likelihood by EM, in leaps that are taken back where they do not lead higher.

    `step` makes a step of EM, and returns the likelihood where it began. Likelihoods never fall.

    Reference: Varadhan and Roland 2008, doi:10.1111/j.1467-9469.2007.00585.x (SQUAREM)
    """
    here, seen = np.clip(start, EDGE, 1 - EDGE), list[float]()
    for _ in range(MOST_LEAPS):
        first, height = step(here)
        second, higher = step(first)
        seen += [height, higher]
        if float(np.max(np.abs(second - first), initial=0.0)) < STILL:
            return Climb(second, seen, True)
        move, bend = first - here, second - 2 * first + here
        size = float(np.linalg.norm(bend))
        length = float(np.linalg.norm(move)) / size if size else 1.0
        leap = np.clip(here + 2 * length * move + length**2 * bend, EDGE, 1 - EDGE)
        after, reached = step(leap) if length > 1 else (second, -np.inf)
        if reached >= higher:
            seen.append(reached)
            here = after
        else:
            here = second
    return Climb(here, seen, False)
