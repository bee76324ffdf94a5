"""Models of users who look from the top down: SDBN and DBN.

A user looks at the first document, clicks it if it is attractive (a), and is satisfied by what was
clicked (s) or looks on. In DBN users who are not satisfied give up at each step with 1 - γ. SDBN
has γ = 1 and takes the last click of a page as one that satisfied, so that it can be counted.
Relevance is a · s: how likely the document attracts and satisfies.

Reference: Chapelle and Zhang 2009, doi:10.1145/1526709.1526711
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from idealist.clicks.chain_information import informed, refitted_priors
from idealist.clicks.chain_walks import Seen, Walk, expected, looks, place_likelihoods, walk_of
from idealist.clicks.click_counts import ClickCounts
from idealist.clicks.estimates import (
    EDGE,
    Climb,
    Curve,
    Estimates,
    PairRates,
    Rates,
    climbed,
)
from idealist.data.columns import Floats
from idealist.significance.beta_rates import JEFFREYS, Beta, fitted_beta

#: How often priors are fitted anew to what they led to.
REFITS = 2


@dataclass(frozen=True, eq=False)
class ChainModel:
    """What SDBN and DBN share: how attractive and how satisfying each pair is, and γ."""

    estimate: ClassVar = "attractiveness x satisfaction"

    attractiveness: PairRates
    satisfaction: PairRates
    gamma: Estimates
    relevance: Estimates
    curve: Curve

    @property
    def rates(self) -> PairRates:
        """How attractive each pair is."""
        return self.attractiveness

    def _walk(self, counts: ClickCounts) -> tuple[Seen, Walk]:
        seen = Seen.of(counts)
        a, s = (
            one.of(counts)[seen.chains.order] for one in (self.attractiveness, self.satisfaction)
        )
        return seen, Walk.of(seen.chains, a, s, float(self.gamma.value[0]))

    def chances(self, counts: ClickCounts) -> Floats:
        """Return how likely a click is at each place."""
        seen, walk = self._walk(counts)
        found = np.empty_like(walk.a)
        found[seen.chains.order] = looks(seen.chains, walk) * walk.a
        return found

    def likelihoods(self, counts: ClickCounts) -> Floats:
        """Return the log-likelihood of the pages of each list."""
        seen, walk = self._walk(counts)
        own = np.empty_like(walk.a)
        own[seen.chains.order] = place_likelihoods(seen, walk)
        found: Floats = counts.sums(own)
        found += counts.sums(counts.lasts * counts.offset) * np.log(walk.gamma)
        found[seen.chains.lists] += seen.unclicked * np.log(walk.silent[seen.chains.slices[0]])
        return found


def _curve(seen: Seen, walk: Walk) -> Curve:
    """Return how likely each position is looked at, in the mean over the pages that have it."""
    positions, place = np.unique(seen.counts.position[seen.chains.order], return_inverse=True)
    pages = seen.counts.shown[seen.chains.order]
    many = np.bincount(place, pages)
    mean = np.bincount(place, pages * looks(seen.chains, walk)) / many
    unknown = np.full(len(mean), np.nan)
    return Curve(positions.astype(np.int64), Estimates(mean, unknown, unknown))


@dataclass(frozen=True, eq=False)
class SimplifiedDBN(ChainModel):
    """SDBN: what is at or above the last click was looked at, and the last click satisfied.

    Formula: a = clicks / looks; s = last clicks / clicks; relevance = a · s

    A page without a click was looked at to its end.
    """

    called: ClassVar = "the simplified dynamic Bayesian network"

    @classmethod
    def fitted(cls, counts: ClickCounts, prior: Beta | None = None) -> SimplifiedDBN:
        """Count it, with priors that are fitted unless one is given for both rates."""
        columns = (counts.reached, counts.clicks, counts.lasts)
        reached, clicks, lasts = map(counts.by_pair, columns)
        found, means = [], []
        for successes, trials in ((clicks, reached), (lasts, clicks)):
            used = fitted_beta(successes, trials) if prior is None else prior
            found.append(
                PairRates(counts.pair_keys[0], Rates.counted(successes, trials, used), used)
            )
            means.append(found[-1].rates.mean)
        seen, sure = Seen.of(counts), Estimates(*np.ones((3, 1)))
        curve = _curve(seen, walk_of(seen, np.concatenate([*means, [1.0]])))
        a, s = found
        return cls(a, s, sure, _relevance(a.rates, s.rates), curve)


def _relevance(a: Rates, s: Rates, covariance: Floats | float = 0.0) -> Estimates:
    """Multiply both rates; what never attracts is not relevant, whatever it would satisfy."""
    found = a.times(s, covariance).estimates
    return found._replace(value=np.where(a.value == 0, 0.0, found.value))


@dataclass(frozen=True, eq=False)
class DynamicModel(ChainModel):
    """DBN, estimated by EM: attractiveness and satisfaction of each pair, and γ.

    Formula: after a skip users look on with γ, after a click with γ (1 - s)
    """

    called: ClassVar = "the dynamic Bayesian network"

    climb: Climb

    @classmethod
    def fitted(cls, counts: ClickCounts, prior: Beta | None = None) -> DynamicModel:
        """Estimate it, with priors that are fitted unless one is given for both rates."""
        seen = Seen.of(counts)
        used, start = (prior or JEFFREYS,) * 2, np.full(2 * seen.pairs + 1, 0.5)
        climb = climbed(partial(_step, seen, used), start)
        for _ in range(0 if prior else REFITS):
            used = refitted_priors(seen, climb.parameters, used[0])
            climb = climbed(partial(_step, seen, used), climb.parameters)
        a, s, gamma, covariance = informed(seen, climb.parameters, used)
        pairs, curve = counts.pair_keys[0], _curve(seen, walk_of(seen, climb.parameters))
        each = PairRates(pairs, a, used[0]), PairRates(pairs, s, used[1])
        return cls(*each, gamma, _relevance(a, s, covariance), curve, climb)


def _step(seen: Seen, priors: tuple[Beta, Beta], parameters: Floats) -> tuple[Floats, float]:
    """Make a step of EM."""
    *rates, (went, steps), height = expected(seen, parameters)
    found, size = np.empty_like(parameters), seen.pairs
    for number, (prior, (successes, trials)) in enumerate(zip(priors, rates, strict=True)):
        own = slice(number * size, (number + 1) * size)
        now = parameters[own]
        height += float(np.sum(prior.successes * np.log(now) + prior.failures * np.log1p(-now)))
        some = trials + prior.weight > 0
        found[own] = now  # of which nothing is known
        found[own][some] = (successes + prior.successes)[some] / (trials + prior.weight)[some]
    found[-1] = went / steps if steps else parameters[-1]
    return np.clip(found, EDGE, 1 - EDGE), height
