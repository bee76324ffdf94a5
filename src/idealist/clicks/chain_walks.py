"""Lists as users go down them: what is known of each place, and what follows below the last click.

Up to the last click of a page everything is known: all places were looked at, and users went on
from all clicks but the last. What follows it, or fills a page without a click, depends on the list
alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from idealist.clicks.click_counts import ClickCounts
from idealist.data.columns import Bools, Floats, Ints


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
    is_end: Bools
    known_on: float

    @classmethod
    def of(cls, counts: ClickCounts) -> Seen:
        """Take it from the counts."""
        chains = Chains.of(counts)
        above = counts.reached - counts.unclicked[counts.owner]
        ends = np.zeros(len(counts.document), bool)
        ends[counts.starts[1:] - 1] = True
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


def walk_of(seen: Seen, parameters: Floats) -> Walk:
    """Walk with the parameters in a row: each a, each s, and γ."""
    a, s = parameters[: seen.pairs][seen.pair], parameters[seen.pairs : -1][seen.pair]
    return Walk.of(seen.chains, a, s, float(parameters[-1]))


def looks(chains: Chains, walk: Walk) -> Floats:
    """Return how likely each place is looked at, before any click is known."""
    found = np.ones_like(walk.a)
    for _, on, after in chains.steps():
        found[after] = found[on] * walk.gamma * (1 - walk.a[on] * walk.s[on])
    return found


def place_likelihoods(seen: Seen, walk: Walk) -> Floats:
    """Return what places add to the log-likelihood, but for γ and pages without a click."""
    known = seen.clicks * np.log(walk.a) + (seen.above - seen.clicks) * np.log1p(-walk.a)
    known += (seen.clicks - seen.lasts) * np.log1p(-walk.s) + seen.lasts * np.log(walk.tail)
    return known


def expected(
    seen: Seen, parameters: Floats
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats], tuple[float, float], float]:
    """Return expected successes and trials of a, of s and of γ; and the likelihood.

    What is known is counted; below the last click of a page, and on one without a click, looks and
    satisfaction are as likely as the parameters say (forward and backward along the list).
    """
    walk = walk_of(seen, parameters)
    top = walk.silent[seen.chains.slices[0]]
    carried = seen.carried(walk, seen.unclicked / top, seen.lasts)
    looked = carried * walk.silent
    goes = (1 - walk.a) * carried + (1 - walk.s) / walk.tail * seen.lasts
    stopped = float(np.sum(goes[~seen.is_end])) * (1 - walk.gamma)
    went = seen.known_on + float(np.sum(looked[seen.chains.slices[0].stop :]))
    inner = seen.lasts * ~seen.is_end
    satisfied = inner * walk.s / walk.tail
    height = float(np.sum(place_likelihoods(seen, walk)) + np.sum(seen.unclicked * np.log(top)))
    height += seen.known_on * np.log(walk.gamma)
    return (
        (seen.by_pair(seen.clicks), seen.by_pair(seen.above + looked)),
        (seen.by_pair(satisfied), seen.by_pair(seen.clicks - seen.lasts * seen.is_end)),
        (went, went + stopped),
        height,
    )
