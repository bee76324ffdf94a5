"""Rates of many things at once: a prior fitted to all of them, and an interval for each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Fewer rates than this show no prior.
FEWEST = 20
#: How many rates a prior is fitted to at most, evenly spaced among all.
MOST = 20_000
#: The least and the greatest weight of a fitted prior, in trials.
LIGHTEST, HEAVIEST = 0.1, 1e5


class Beta(NamedTuple):
    """A Beta prior: so many successes and failures are added to those that were seen.

    >>> Beta(1, 3).mean
    0.25
    """

    successes: float
    failures: float

    @property
    def weight(self) -> float:
        """How many trials it counts for."""
        return self.successes + self.failures

    @property
    def mean(self) -> float:
        """The rate of what nothing is known of; ½ where there is no prior."""
        return self.successes / self.weight if self.weight else 0.5


#: What says the least of a rate (Jeffreys), and no prior at all.
JEFFREYS, NO_PRIOR = Beta(0.5, 0.5), Beta(0.0, 0.0)


def fitted_beta(successes: Floats, trials: Floats) -> Beta:
    """Find the prior under which these rates are the most likely; Jeffreys' where they are few.

    Formula: max Σ log B(s + a, n - s + b) / B(a, b)

    Trials may be expected ones, and need not be whole.

    >>> rates = np.repeat([0.1, 0.2, 0.3, 0.4], 50)
    >>> prior = fitted_beta(rates * 100, np.full(200, 100.0))
    >>> round(prior.mean, 2), 10 < prior.weight < 30
    (0.25, True)

    Reference: Griffiths 1973, doi:10.2307/2529131 (maximum likelihood of the beta-binomial)
    """
    from scipy.optimize import minimize
    from scipy.special import betaln

    some = trials > 0
    step = max(1, -(-int(some.sum()) // MOST))
    s, n = successes[some][::step], trials[some][::step]
    f = np.maximum(n - s, 0.0)
    if len(s) < FEWEST or not (s.any() and f.any()):
        return JEFFREYS

    def cost(logs: Floats) -> float:
        a, b = np.exp(logs)
        return -float(np.mean(betaln(s + a, f + b) - betaln(a, b)))

    mean = float(s.sum() / (s.sum() + f.sum()))
    low, high = np.log(LIGHTEST * mean), np.log(HEAVIEST)
    start = np.log([8 * mean, 8 * (1 - mean)])
    bounds = [(min(low, start[0]), high), (np.log(LIGHTEST * (1 - mean)), high)]
    found = minimize(cost, start, method="L-BFGS-B", bounds=bounds)
    return Beta(*map(float, np.exp(found.x)))


def beta_of_likelihoods(likelihoods: Floats) -> Beta:
    """Find the prior under which what is known of rates is the most likely, as `fitted_beta` does.

    A row is a rate, a column the log-likelihood in the middle of one of equal parts of 0 to 1.

    >>> middle = (np.arange(40) + 0.5) / 40
    >>> own = [5 * r * np.log(middle) + (5 - 5 * r) * np.log1p(-middle) for r in (0.2, 0.4, 0.6)]
    >>> round(beta_of_likelihoods(np.array(own * 20)).mean, 2)
    0.4
    """
    from scipy.optimize import minimize
    from scipy.special import betainc

    if len(likelihoods) < FEWEST:
        return JEFFREYS
    edges = np.linspace(0, 1, likelihoods.shape[1] + 1)
    scaled = np.exp(likelihoods - likelihoods.max(axis=1, keepdims=True))

    def cost(logs: Floats) -> float:
        a, b = np.exp(logs)
        return -float(np.mean(np.log(scaled @ np.diff(betainc(a, b, edges)) + 1e-300)))

    ends = (np.log(LIGHTEST / 2), np.log(HEAVIEST))
    found = minimize(cost, np.log([2.0, 2.0]), method="L-BFGS-B", bounds=[ends, ends])
    return Beta(*map(float, np.exp(found.x)))


def beta_interval(rate: Floats, weight: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Give the interval of each rate whose posterior is Beta with this mean and so many trials.

    >>> low, high = beta_interval(np.array([0.25]), np.array([100.0]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.171], [0.339])
    """
    from scipy.special import betaincinv

    a, b = np.maximum(rate * weight, 1e-9), np.maximum((1 - rate) * weight, 1e-9)
    tail = (1 - level) / 2
    return betaincinv(a, b, tail), betaincinv(a, b, 1 - tail)


def weight_of(rate: Floats, variance: Floats) -> Floats:
    """Return how many trials make a Beta of this mean and variance.

    Formula: m (1 - m) / v - 1

    >>> weight_of(np.array([0.5]), np.array([0.25 / 100])).tolist()
    [99.0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = rate * (1 - rate) / variance - 1
    return np.maximum(np.nan_to_num(found, nan=0.0, posinf=1e12), 1e-6)


def fitted_gamma(counts: Floats, expected: Floats) -> float:
    """Find the weight k of the prior Gamma(k, k), of mean 1, for ratios of counts to expected ones.

    Formula: max Σ log Γ(c + k) / Γ(k) + k log k - (c + k) log(e + k)

    >>> 2 < fitted_gamma(np.tile([5.0, 10, 15], 20), np.full(60, 10.0)) < 20
    True
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    some = expected > 0
    step = max(1, -(-int(some.sum()) // MOST))
    c, e = counts[some][::step], expected[some][::step]
    if len(c) < FEWEST:
        return 0.5

    def cost(log: float) -> float:
        k = np.exp(log)
        own = gammaln(c + k) - gammaln(k) + k * log - (c + k) * np.log(e + k)
        return -float(np.mean(own))

    found = minimize_scalar(cost, bounds=(np.log(LIGHTEST), np.log(HEAVIEST)), method="bounded")
    return float(np.exp(found.x))


def gamma_interval(counts: Floats, expected: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Give the interval of each ratio whose posterior is Gamma with this shape and rate.

    Where nothing was expected, nothing is known.

    >>> [float(end[0].round(3)) for end in gamma_interval(np.array([4.0]), np.array([2.0]))]
    [0.545, 4.384]
    """
    from scipy.special import gammaincinv

    tail, rate = (1 - level) / 2, np.maximum(expected, 1e-300)
    low, high = (gammaincinv(np.maximum(counts, 1e-9), end) / rate for end in (tail, 1 - tail))
    return np.where(expected > 0, low, 0.0), np.where(expected > 0, high, np.inf)
