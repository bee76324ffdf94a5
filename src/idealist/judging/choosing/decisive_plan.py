"""Which documents could still change a verdict, how much each matters, and how many it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from idealist.comparing.unjudged import UnjudgedEffect, coverage, effect_between
from idealist.data.columns import Bools, Floats, Ints
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.judging.choosing.decisive_effects import Effects
from idealist.ranking.ranked import Ranked
from idealist.significance.paired import ROUNDING

#: Times that grades are drawn to count how many judgments a verdict still takes, and how many
#: documents are followed in each. Suggested.
DRAWS, FOLLOWED = 100, 4000
#: What a verdict that is all but certain still counts for, beside one that could go either way:
#: it remains to be proven. Suggested.
PROOF = 0.01
#: Up to so many open documents, every outcome is counted, ties too; with more, chances are normal.
COUNTED = 12


@dataclass(frozen=True)
class Contest:
    """A pair of runs whose verdict is asked for, and what unjudged documents could make of it.

    The verdict is which run has the higher mean, or with `tested` also whether that is significant
    by the t-test.
    """

    effect: UnjudgedEffect
    first: int
    second: int
    tested: bool = False

    @property
    def known(self) -> bool:
        """Whether a query has a value by now; where nothing relevant is judged, none may have."""
        return not math.isnan(self.effect.value)

    @property
    def now(self) -> float:
        """The difference as it is now; 0 where no query has a value."""
        return self.effect.value if self.known else 0.0

    @property
    def sign(self) -> int | None:
        """Which run has the higher mean whatever is judged: 1, -1, 0 if neither; None if open."""
        effect = self.effect
        if not self.known:
            return None
        if effect.low > ROUNDING:
            return 1
        if effect.high < -ROUNDING:
            return -1
        return 0 if effect.fixed else None

    @property
    def significant(self) -> bool | None:
        """Whether the difference is significant whatever is judged; None if that is open."""
        if self.effect.p.least >= self.effect.alpha:
            return False
        return True if self.sign and self.effect.p.most < self.effect.alpha else None

    @property
    def decided(self) -> bool:
        """Whether no judgment can turn the verdict."""
        if not self.tested:
            return self.sign is not None
        return self.significant is not None or self.effect.fixed


def contests_of(
    evaluator: Evaluator, label: str, runs: Sequence[Ranked], tested: bool, alpha: float
) -> list[Contest]:
    """Bound the difference of every pair of runs, the second less the first."""
    known = [coverage(evaluator, label, one) for one in runs]
    found = []
    for a, b in combinations(range(len(runs)), 2):
        effect = effect_between(evaluator, known[a], known[b], label, alpha=alpha)
        if effect.kind == "none":
            raise UsageError(effect.refusal, "choose another measure, such as nDCG@10")
        found.append(Contest(effect, a, b, tested))
    return found


def ahead_of(now: float, moves: Floats, chance: Floats) -> tuple[float, float]:
    """Sum the chances of all outcomes in which a difference is above 0, and below 0.

    >>> ahead_of(0.0, np.array([0.5, -0.5]), np.array([0.5, 0.5]))
    (0.25, 0.25)
    """
    ends, weights = np.array([now]), np.ones(1)
    for move, likely in zip(moves, chance, strict=True):
        ends = np.concatenate((ends, ends + move))
        weights = np.concatenate((weights * (1 - likely), weights * likely))
    return float(weights[ends > ROUNDING].sum()), float(weights[ends < -ROUNDING].sum())


class Outlook(NamedTuple):
    """What is likely to become of an open contest.

    `moves` says by how much each document would move the difference if it were relevant, `likely`
    what the difference is expected to be, and `better` and `worse` how likely the run, or its
    baseline, comes out ahead; they may also be level.
    """

    contest: Contest
    moves: Floats
    likely: float
    spread: Floats
    better: float
    worse: float

    @property
    def level(self) -> float:
        """The chance that neither comes out ahead."""
        return max(0.0, 1 - self.better - self.worse)

    @property
    def flip(self) -> float:
        """The chance that the likely sign is wrong, where a tie is half wrong."""
        return (1 - abs(self.better - self.worse)) / 2

    @classmethod
    def of(cls, contest: Contest, effects: Effects, chance: Floats, unsure: float) -> Outlook:
        """Expect each document to be relevant with its chance.

        The odds of all that favour one run may be off together, by a factor whose logarithm has
        the deviation `unsure`.
        """
        moves = effects.moves[:, contest.second] - effects.moves[:, contest.first]
        spread, swing = chance * (1 - chance) * moves**2, chance * (1 - chance) * moves
        likely = contest.now + float(moves @ chance)
        touched = moves != 0
        if 0 < touched.sum() <= COUNTED:
            both = ahead_of(contest.now, moves[touched], chance[touched])
            return cls(contest, moves, likely, spread, *both)
        shared = unsure * math.hypot(swing[swing > 0].sum(), swing[swing < 0].sum())
        deviation = math.hypot(math.sqrt(spread.sum()), shared)
        flip = 0.5 * math.erfc(abs(likely) / (deviation * math.sqrt(2))) if deviation else 0.0
        sure = (1 - flip, flip) if likely >= 0 else (flip, 1 - flip)
        return cls(contest, moves, likely, spread, *sure)

    def matters(self, chance: Floats) -> Floats:
        """Say how much each document matters: by what it tells, and by what it proves.

        As long as the sign may be another one, that is its share of the variance. Where the sign
        is all but certain, it is how far its judgment is expected to take the bound towards 0.
        """
        tells = self.spread / max(float(self.spread.sum()), ROUNDING**2)
        ahead = self.moves if self.likely >= 0 else -self.moves
        gain = np.where(ahead > 0, chance * ahead, (chance - 1) * ahead)
        proves = gain / max(float(gain.sum()), ROUNDING)
        unsure = 2 * self.flip
        matters: Floats = (self.flip + PROOF) * (unsure * tells + (1 - unsure) * proves)
        return matters

    def needed(self, order: Ints, relevant: Bools) -> Ints:
        """Count, for each draw of what is relevant, the judgments in order that decide it.

        A bound is taken to shrink as the moves of the documents that are not yet judged do.
        """
        moves, effect, now = self.moves[order], self.contest.effect, self.contest.now
        judged = np.cumsum(np.where(relevant, moves, 0.0), axis=1)
        found = np.full(len(relevant), len(order))
        for sign, end in ((1.0, effect.low), (-1.0, effect.high)):
            against = np.minimum(sign * self.moves, 0.0)
            room = sign * (end - now)
            scale = room / total if (total := float(against.sum())) else 0.0
            left = scale * (total - np.cumsum(against[order]))
            passed = sign * (now + judged) + left > ROUNDING
            at = np.where(passed.any(axis=1), passed.argmax(axis=1) + 1, len(order))
            found = np.minimum(found, at)
        return found


@dataclass(frozen=True, eq=False)
class DecisivePlan:
    """The contests, the documents in reach of them, and the order in which they matter."""

    contests: list[Contest]
    effects: Effects
    chance: Floats
    unsure: float
    seed: int = 0

    @cached_property
    def open(self) -> list[Outlook]:
        """The contests that judgments could still turn."""
        some = (one for one in self.contests if not one.decided)
        return [Outlook.of(one, self.effects, self.chance, self.unsure) for one in some]

    @cached_property
    def matters(self) -> Floats:
        """How much each document matters to the open contests together; 0 if to none."""
        found = np.zeros(len(self.effects))
        for one in self.open:
            found += one.matters(self.chance)
        return found

    @cached_property
    def order(self) -> Ints:
        """The documents that matter, most first."""
        order = np.argsort(-self.matters, kind="stable")
        return order[self.matters[order] > 0]

    @cached_property
    def needed(self) -> float:
        """How many judgments in this order are expected to decide every contest."""
        order, rng = self.order[:FOLLOWED], np.random.default_rng(self.seed)
        if not len(order):
            return 0.0
        relevant = rng.random((DRAWS, len(order))) < self.chance[order]
        most = np.zeros(DRAWS)
        for one in self.open:
            most = np.maximum(most, one.needed(order, relevant))
        return float(most.mean())
