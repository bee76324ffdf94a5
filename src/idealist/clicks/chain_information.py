"""What a log says of each parameter of DBN: its information, fitted priors, and variances."""

from __future__ import annotations

import numpy as np

from idealist.clicks.chain_walks import Chains, Seen, Walk, expected, walk_of
from idealist.clicks.estimates import EDGE, Estimates, Rates, as_beta
from idealist.data.columns import Floats
from idealist.significance.beta_rates import (
    JEFFREYS,
    MOST,
    Beta,
    beta_of_likelihoods,
    fitted_beta,
)

#: On how many rates the likelihood of each satisfaction is computed.
GRID = 40
#: How many standard deviations around an estimate the integral over it goes.
REACH = 6


def refitted_priors(seen: Seen, parameters: Floats, prior: Beta) -> tuple[Beta, Beta]:
    """Fit the priors of a and s to what the data say of each, given all others."""
    walk = walk_of(seen, parameters)
    trials, rate = _own_attraction(seen, parameters, prior)
    step = -(-seen.pairs // MOST)
    some = np.flatnonzero(seen.lasts * (seen.pair % step == 0))
    middle = (np.arange(GRID) + 0.5) / GRID
    unsatisfied = seen.by_pair(seen.clicks - seen.lasts)[::step]
    found = np.empty((len(unsatisfied), GRID))
    for number, s in enumerate(middle):
        own = seen.lasts[some] * np.log(s + (1 - s) * walk.ended[some])
        sums = np.bincount(seen.pair[some] // step, own, len(unsatisfied))
        found[:, number] = sums + unsatisfied * np.log1p(-s)
    return fitted_beta(rate * trials, trials), beta_of_likelihoods(found)


def _own_attraction(seen: Seen, parameters: Floats, prior: Beta) -> tuple[Floats, Floats]:
    """Return what the data alone say of each a: as many trials as that is worth, and the rate.

    The rate is one step of Newton's away from the estimate. Expected trials would also count looks
    that are only imputed.
    """
    rate = parameters[: seen.pairs]
    worth = _information(seen, parameters)[0][0]
    pull = prior.successes / rate - prior.failures / (1 - rate)
    return rate * (1 - rate) * worth, np.clip(rate - pull / np.maximum(worth, EDGE), 0.0, 1.0)


def _information(seen: Seen, parameters: Floats) -> tuple[list[Floats], list[Floats], float]:
    """Return the information on each a and s, what they share with γ, and that on γ.

    The likelihood of what follows the last click is linear in each a and s, so that its information
    is the square of its score.
    """
    walk = walk_of(seen, parameters)
    first = seen.chains.slices[0]
    top = walk.silent[first]
    at_click, at_top = _gamma_scores(seen.chains, walk)
    satisfied = (1 - walk.ended) / walk.tail
    of_s = (seen.clicks - seen.lasts) / (1 - walk.s) ** 2 + seen.lasts * satisfied**2
    looked = seen.carried(walk, seen.unclicked / top**2, seen.lasts, 2) * walk.silent**2
    of_a = (seen.above - seen.clicks + looked) / (1 - walk.a) ** 2 + seen.clicks / walk.a**2
    information = [seen.by_pair(of_a), seen.by_pair(of_s)]
    del looked, of_a, of_s
    moved = seen.carried(walk, seen.unclicked / top * at_top, seen.lasts * at_click)
    moved *= walk.silent / (walk.a - 1)
    cross = [seen.by_pair(moved), seen.by_pair(seen.lasts * satisfied * at_click)]
    own = seen.known_on / walk.gamma**2
    own += float(np.sum(seen.lasts * at_click**2) + np.sum(seen.unclicked * at_top**2))
    return information, cross, own


def _gamma_scores(chains: Chains, walk: Walk) -> tuple[Floats, Floats]:
    """Return the scores of γ: of no click below one at each place, and of none on a page."""
    slope, below = np.zeros_like(walk.a), np.zeros_like(walk.a)
    for _, on, after in reversed(list(chains.steps())):
        below[on] = walk.silent[after] - 1 + walk.gamma * slope[after]
        slope[on] = (1 - walk.a[on]) * below[on]
    first = chains.slices[0]
    return (1 - walk.s) * below / walk.tail, slope[first] / walk.silent[first]


def _posterior(seen: Seen, walk: Walk, prior: Beta, near: Floats, sd: Floats) -> Rates:
    """Integrate over each s, given all else: the mean and the variance of its posterior.

    Where little is known of satisfaction, the top of its likelihood is no good estimate: whether a
    last click satisfied is seldom seen.
    """
    low = np.clip(near - REACH * sd, 0.0, 1.0)
    width = np.clip(near + REACH * sd, 0.0, 1.0) - low
    some = np.flatnonzero(seen.lasts)
    pair, lasts, ended = seen.pair[some], seen.lasts[some], walk.ended[some]
    unsatisfied = seen.by_pair(seen.clicks - seen.lasts) + prior.failures - 1
    places, logs = (np.arange(GRID) + 0.5) / GRID, np.empty((GRID, seen.pairs))
    for number, place in enumerate(places):
        rate = low + width * place
        own = rate[pair]
        logs[number] = np.bincount(pair, lasts * np.log(own + (1 - own) * ended), seen.pairs)
        logs[number] += unsatisfied * np.log1p(-rate) + (prior.successes - 1) * np.log(rate)
    logs -= logs.max(axis=0)
    weights = np.exp(logs, out=logs)
    weights /= weights.sum(axis=0)
    mean = places @ weights
    spread = places**2 @ weights - mean**2
    return Rates(low + width * mean, low + width * mean, width**2 * np.maximum(spread, 1e-12))


def informed(
    seen: Seen, parameters: Floats, priors: tuple[Beta, Beta]
) -> tuple[Rates, Rates, Estimates, Floats]:
    """Give estimates the variances that follow from the information; and how a and s vary together.

    It is diagonal, but for its last row and column, which are γ's. What satisfies is integrated.
    """
    information, cross, own = _information(seen, parameters)
    worth, moves, means = expected(seen, parameters), list[Floats](), list[Floats]()
    for number, prior in enumerate(priors):
        value = parameters[number * seen.pairs : (number + 1) * seen.pairs]
        also, trials = prior if prior.weight else JEFFREYS, worth[number][1]  # type: ignore[index]
        mean = (value * (trials + prior.weight) + also.successes) / (trials + also.weight)
        mean = value if prior.weight else mean
        information[number] += also.successes / mean**2 + also.failures / (1 - mean) ** 2
        moves.append(cross[number] / information[number])
        own -= float(np.sum(cross[number] * moves[number]))
        means.append(mean)
    spread = 1 / max(own, EDGE)
    with_gamma = [move**2 * min(spread, 1.0) for move in moves]
    a = Rates(
        parameters[: seen.pairs], means[0], as_beta(means[0], 1 / information[0] + with_gamma[0])
    )
    used = priors[1] if priors[1].weight else JEFFREYS
    s = _posterior(seen, walk_of(seen, parameters), used, means[1], information[1] ** -0.5)
    value = s.value if priors[1].weight else parameters[seen.pairs : -1]
    s = Rates(value, s.mean, s.variance + with_gamma[1])
    gamma = np.clip(parameters[-1:], 1e-6, 1 - 1e-6)
    sure = Rates(gamma, gamma, as_beta(gamma, np.array([spread])))
    return a, s, sure.estimates, moves[0] * moves[1] * min(spread, 1.0)
