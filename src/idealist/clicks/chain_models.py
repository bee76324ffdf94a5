"""Models of users who look from the top down: SDBN and DBN.

A user looks at the first document, clicks it if it is attractive (a), and is satisfied by what was
clicked (s) or looks on. In DBN users who are not satisfied give up at each step with 1 - γ. SDBN
has γ = 1 and takes the last click of a page as one that satisfied, so that it can be counted.
Relevance is a · s: how likely the document attracts and satisfies.

Reference: Chapelle and Zhang 2009, doi:10.1145/1526709.1526711
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from idealist.clicks.click_counts import ClickCounts
from idealist.clicks.estimates import (
    EDGE,
    Climb,
    Curve,
    Estimates,
    PairRates,
    Rates,
    as_beta,
    climbed,
)
from idealist.data.columns import Floats, Ints
from idealist.significance.beta_rates import JEFFREYS, MOST, Beta, beta_of_likelihoods, fitted_beta

#: How often priors are fitted anew to what they led to.
REFITS = 2
#: On how many rates the likelihood of each satisfaction is computed, to fit the prior.
GRID = 40


@dataclass(frozen=True, eq=False)
class Chains:
    """The places of lists in the order of their ranks: all first ones, all second ones, and so on.

    Longer lists come first, so that the places of one rank that go on are the first of their
    `slices`. `order` finds the places in the counts, and `lists` the list of each first one.
    """

    order: Ints
    lists: Ints
    slices: tuple[slice, ...]

    @classmethod
    def of(cls, counts: ClickCounts) -> Chains:
        """Bring the places of lists in order."""
        sizes = np.diff(counts.starts)
        lists = np.argsort(-sizes, kind="stable")
        longer = np.searchsorted(-sizes[lists], -np.arange(sizes.max(initial=0)), side="left")
        ends = np.concatenate([[0], np.cumsum(longer)])
        order = [counts.starts[lists[:many]] + rank for rank, many in enumerate(longer)]
        slices = (slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
        return cls(np.concatenate([*order, np.zeros(0, np.int64)]), lists, tuple(slices))

    def steps(self) -> Iterator[tuple[slice, slice, slice]]:
        """Yield each rank, its places that go on, and the places of the next rank."""
        for here, after in zip(self.slices, self.slices[1:], strict=False):
            yield here, slice(here.start, here.start + after.stop - after.start), after


@dataclass(frozen=True, eq=False)
class Walk:
    """What follows from a, s and γ at each place, as `Chains` has them.

    `silent` is how likely there is no click from a place on, once it is looked at; `ended` how
    likely that is below a click there; `tail` the same if the click may have satisfied.
    """

    a: Floats
    s: Floats
    gamma: float
    silent: Floats
    ended: Floats
    tail: Floats

    @classmethod
    def of(cls, chains: Chains, a: Floats, s: Floats, gamma: float) -> Walk:
        """Walk from the ends of the lists up.

        ended_k = 1 - γ + γ silent_{k+1}, 1 at the end; silent_k = (1 - a_k) ended_k
        """
        ended, silent = np.ones_like(a), np.empty_like(a)
        last = chains.slices[-1]
        silent[last] = 1 - a[last]
        for here, on, after in reversed(list(chains.steps())):
            ended[on] = 1 - gamma + gamma * silent[after]
            silent[here] = (1 - a[here]) * ended[here]
        return cls(a, s, gamma, silent, ended, s + (1 - s) * ended)


@dataclass(frozen=True, eq=False)
class Seen:
    """What was counted, place by place as `Chains` has them: clicks, last clicks, and so on.

    `above` counts looks that are sure: at or above a last click. `known_on` is how often users are
    known to have gone on, and `is_end` marks the last place of each list.
    """

    counts: ClickCounts
    chains: Chains
    pair: Ints
    clicks: Floats
    lasts: Floats
    above: Floats
    unclicked: Floats
    is_end: Floats
    known_on: float

    @classmethod
    def of(cls, counts: ClickCounts) -> Seen:
        """Take it from the counts."""
        chains = Chains.of(counts)
        above = counts.reached - counts.unclicked[counts.owner]
        ends = np.zeros(len(counts.document))
        ends[counts.starts[1:] - 1] = 1.0
        clicks, lasts, above = (
            one[chains.order].astype(float) for one in (counts.clicks, counts.lasts, above)
        )
        return cls(
            counts, chains, counts.pair[chains.order], clicks, lasts, above,
            counts.unclicked[chains.lists].astype(float), ends[chains.order],
            float(np.sum(counts.lasts * counts.offset)),
        )  # fmt: skip

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return len(self.counts.pair_keys[0])

    def by_pair(self, values: Floats) -> Floats:
        """Sum a value of each place by pair."""
        return np.bincount(self.pair, values, self.pairs).astype(float)

    def carried(self, walk: Walk, start: Floats, at_click: Floats, power: int = 1) -> Floats:
        """Carry weights down the lists: `start` from above, and what a click adds at each place.

        F_{k+1} = γ ((1 - a_k) F_k + (1 - s_k) / tail_k · w_k), every factor to a `power`
        """
        found = np.zeros_like(walk.a)
        if len(found):
            found[self.chains.slices[0]] = start
        for _, on, after in self.chains.steps():
            found[after] = walk.gamma**power * (
                (1 - walk.a[on]) ** power * found[on]
                + ((1 - walk.s[on]) / walk.tail[on]) ** power * at_click[on]
            )
        return found


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
        own[seen.chains.order] = _place_likelihoods(seen, walk)
        found: Floats = counts.sums(own)
        found += counts.sums(counts.lasts * counts.offset) * np.log(walk.gamma)
        found[seen.chains.lists] += seen.unclicked * np.log(walk.silent[seen.chains.slices[0]])
        return found


def looks(chains: Chains, walk: Walk) -> Floats:
    """Return how likely each place is looked at, before any click is known."""
    found = np.ones_like(walk.a)
    for _, on, after in chains.steps():
        found[after] = found[on] * walk.gamma * (1 - walk.a[on] * walk.s[on])
    return found


def _place_likelihoods(seen: Seen, walk: Walk) -> Floats:
    """Return what places add to the log-likelihood, but for γ and pages without a click."""
    known = seen.clicks * np.log(walk.a) + (seen.above - seen.clicks) * np.log1p(-walk.a)
    known += (seen.clicks - seen.lasts) * np.log1p(-walk.s) + seen.lasts * np.log(walk.tail)
    return known


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
        curve = _curve(seen, _walk_of(seen, np.concatenate([*means, [1.0]])))
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
            used = _refitted(seen, climb.parameters, used[0])
            climb = climbed(partial(_step, seen, used), climb.parameters)
        a, s, gamma, covariance = _informed(seen, climb.parameters, used)
        pairs, curve = counts.pair_keys[0], _curve(seen, _walk_of(seen, climb.parameters))
        each = PairRates(pairs, a, used[0]), PairRates(pairs, s, used[1])
        return cls(*each, gamma, _relevance(a, s, covariance), curve, climb)


def _walk_of(seen: Seen, parameters: Floats) -> Walk:
    a, s = parameters[: seen.pairs][seen.pair], parameters[seen.pairs : -1][seen.pair]
    return Walk.of(seen.chains, a, s, float(parameters[-1]))


def _expected(
    seen: Seen, parameters: Floats
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats], tuple[float, float], float]:
    """Return expected successes and trials of a, of s and of γ; and the likelihood.

    What is known is counted; below the last click of a page, and on one without a click, looks and
    satisfaction are as likely as the parameters say (forward and backward along the list).
    """
    walk = _walk_of(seen, parameters)
    top = walk.silent[seen.chains.slices[0]]
    carried = seen.carried(walk, seen.unclicked / top, seen.lasts)
    looked = carried * walk.silent
    goes = (1 - walk.a) * carried + (1 - walk.s) / walk.tail * seen.lasts
    stopped = float(np.sum(goes * (1 - seen.is_end))) * (1 - walk.gamma)
    went = seen.known_on + float(np.sum(looked[seen.chains.slices[0].stop :]))
    inner = seen.lasts * (1 - seen.is_end)
    satisfied = inner * walk.s / walk.tail
    height = float(np.sum(_place_likelihoods(seen, walk)) + np.sum(seen.unclicked * np.log(top)))
    height += seen.known_on * np.log(walk.gamma)
    return (
        (seen.by_pair(seen.clicks), seen.by_pair(seen.above + looked)),
        (seen.by_pair(satisfied), seen.by_pair(seen.clicks - seen.lasts * seen.is_end)),
        (went, went + stopped),
        height,
    )


def _step(seen: Seen, priors: tuple[Beta, Beta], parameters: Floats) -> tuple[Floats, float]:
    """Make a step of EM."""
    *rates, (went, steps), height = _expected(seen, parameters)
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


def _refitted(seen: Seen, parameters: Floats, prior: Beta) -> tuple[Beta, Beta]:
    """Fit the priors of a and s to what the data say of each, given all others."""
    walk = _walk_of(seen, parameters)
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
    is the square of its score. What the pairs of a list say of each other is left out.
    """
    walk = _walk_of(seen, parameters)
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


def _informed(
    seen: Seen, parameters: Floats, priors: tuple[Beta, Beta]
) -> tuple[Rates, Rates, Estimates, Floats]:
    """Give estimates the variances that follow from the information; and how a and s vary together.

    It is diagonal, but for its last row and column, which are γ's.
    """
    information, cross, own = _information(seen, parameters)
    expected, moves, found = _expected(seen, parameters), list[Floats](), list[Rates]()
    means = []
    for number, prior in enumerate(priors):
        value = parameters[number * seen.pairs : (number + 1) * seen.pairs]
        also, trials = prior if prior.weight else JEFFREYS, expected[number][1]  # type: ignore[index]
        mean = (value * (trials + prior.weight) + also.successes) / (trials + also.weight)
        mean = value if prior.weight else mean
        information[number] += also.successes / mean**2 + also.failures / (1 - mean) ** 2
        moves.append(cross[number] / information[number])
        own -= float(np.sum(cross[number] * moves[number]))
        means.append((value, mean))
    spread = 1 / max(own, EDGE)
    for (value, mean), one, move in zip(means, information, moves, strict=True):
        found.append(Rates(value, mean, as_beta(mean, 1 / one + move**2 * min(spread, 1.0))))
    gamma = np.clip(parameters[-1:], 1e-6, 1 - 1e-6)
    sure = Rates(gamma, gamma, as_beta(gamma, np.array([spread])))
    return found[0], found[1], sure.estimates, moves[0] * moves[1] * min(spread, 1.0)
