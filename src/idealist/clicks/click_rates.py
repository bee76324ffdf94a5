"""Two models that count: how often documents are clicked, and how much more than usual there.

CTR: clicks / impressions. COEC: clicks over expected clicks, where a document expects at each
position what all documents get there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from idealist.clicks.click_counts import ClickCounts
from idealist.clicks.estimates import EDGE, Curve, Estimates, PairRates, Rates
from idealist.data.columns import Floats, Ints
from idealist.significance.beta_rates import Beta, fitted_beta, fitted_gamma, gamma_interval


def position_rates(counts: ClickCounts) -> tuple[Ints, Floats, Floats]:
    """Return the positions, and how often a document at each was shown and clicked."""
    positions, place = np.unique(counts.position, return_inverse=True)
    shown, clicks = (
        np.bincount(place, one, len(positions)) for one in (counts.shown, counts.clicks)
    )
    return positions.astype(np.int64), shown.astype(np.float64), clicks.astype(np.float64)


def _curve(counts: ClickCounts) -> Curve:
    """Return the click rate of each position."""
    positions, shown, clicks = position_rates(counts)
    return Curve(positions, Rates.counted(clicks, shown, Beta(0.5, 0.5)).estimates)


def independent_likelihood(counts: ClickCounts, chance: Floats) -> Floats:
    """Return the log-likelihood of each list, where clicks do not depend on each other."""
    chance = np.clip(chance, EDGE, 1 - EDGE)
    own = counts.clicks * np.log(chance) + (counts.shown - counts.clicks) * np.log1p(-chance)
    found: Floats = counts.sums(own)
    return found


@dataclass(frozen=True, eq=False)
class ClickRate:
    """CTR: clicks over impressions, wherever the document was shown.

    Formula: (clicks + a) / (impressions + a + b)
    """

    called: ClassVar = "click rates"
    estimate: ClassVar = "clicks / impressions"

    rates: PairRates
    curve: Curve

    @classmethod
    def fitted(cls, counts: ClickCounts, prior: Beta | None = None) -> ClickRate:
        """Estimate it, with a prior that is given or fitted."""
        clicks, shown = counts.by_pair(counts.clicks), counts.by_pair(counts.shown)
        used = fitted_beta(clicks, shown) if prior is None else prior
        rates = Rates.counted(clicks, shown, used)
        return cls(PairRates(counts.pair_keys[0], rates, used), _curve(counts))

    @property
    def relevance(self) -> Estimates:
        """The estimate of each pair."""
        return self.rates.rates.estimates

    def chances(self, counts: ClickCounts) -> Floats:
        """Return how likely a click is at each place."""
        return self.rates.of(counts)

    def likelihoods(self, counts: ClickCounts) -> Floats:
        """Return the log-likelihood of the pages of each list."""
        return independent_likelihood(counts, self.chances(counts))


@dataclass(frozen=True, eq=False)
class ClicksOverExpected:
    """COEC: clicks over those that documents get at the same positions; 1 is as many.

    Formula: (clicks + k) / (Σ impressions at position · CTR of position + k)

    Clicks are taken as Poisson, so that the interval is that of the Gamma posterior.

    Reference: Zhang and Jones 2007, "Comparing click logs and editorial labels for training query
    rewriting"
    """

    called: ClassVar = "clicks over expected clicks"
    estimate: ClassVar = "clicks / expected clicks"

    pairs: Ints
    relevance: Estimates
    weight: float
    curve: Curve

    @classmethod
    def fitted(cls, counts: ClickCounts, prior: Beta | None = None) -> ClicksOverExpected:
        """Estimate it; of a prior that is given, the first number is its weight in clicks."""
        positions, shown, clicked = position_rates(counts)
        rate = (clicked / shown)[np.searchsorted(positions, counts.position)]
        clicks, expected = counts.by_pair(counts.clicks), counts.by_pair(counts.shown * rate)
        weight = fitted_gamma(clicks, expected) if prior is None else prior.successes
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (clicks + weight) / (expected + weight)
        also = weight or 0.5  # Jeffreys' prior of a rate
        low, high = gamma_interval(clicks + also, expected + (also if weight else 0.0))
        return cls(counts.pair_keys[0], Estimates(value, low, high), weight, _curve(counts))

    def chances(self, counts: ClickCounts) -> Floats:
        """Return how likely a click is at each place."""
        value = np.nan_to_num(self.relevance.value, nan=1.0)
        asked, place = counts.pair_keys
        at = np.minimum(np.searchsorted(self.pairs, asked), len(self.pairs) - 1)
        found = np.where(self.pairs[at] == asked, value[at], 1.0)[place]
        chance: Floats = np.minimum(found * self.curve.at(counts.position), 1 - EDGE)
        return chance

    def likelihoods(self, counts: ClickCounts) -> Floats:
        """Return the log-likelihood of the pages of each list."""
        return independent_likelihood(counts, self.chances(counts))
