"""Which transformation makes ids meet that do not, guessed from those of some queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import NamedTuple

from idealist.auditing.affixes import affixes
from idealist.auditing.thresholds import (
    REPAIRED_EASILY,
    REPAIRED_LEAST,
    REPAIRED_ODDS,
    REPAIRED_RATE,
    REPAIRED_SHARE,
    TRIED_IDS,
)
from idealist.auditing.transformations import STEPS, Chain, Step


class Lists(NamedTuple):
    """The ids of both sides for one query: those retrieved and those judged."""

    found: frozenset[str]
    wanted: frozenset[str]


NOTHING = Chain(())


@dataclass(frozen=True)
class Repair:
    """What is done to the ids found and to those wanted so that they meet."""

    found: Chain = NOTHING
    wanted: Chain = NOTHING

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, each once."""
        return tuple(dict.fromkeys((*self.found.steps, *self.wanted.steps)))

    @property
    def words(self) -> str:
        """What differs, in words."""
        return Chain(self.steps).words

    @property
    def gentle(self) -> bool:
        """Whether two different ids hardly ever become equal."""
        return all(step.gentle for step in self.steps)

    def allows(self, step: Step, sides: str) -> bool:
        """Whether a step may come next: only what is constant replaces something constant."""
        own, other = self.found.steps, self.wanted.steps
        if sides == "wanted":
            own, other = other, own
        if sides == "both":
            return True
        opposite = [one for one in other if one.end and one.end == step.end]
        return not (step.chunk and any(one.chunk for one in own)) and all(
            step.replaces(one) or one.replaces(step) for one in opposite
        )

    def with_step(self, step: Step, sides: str) -> Repair:
        """Add a step to ``found``, ``wanted`` or ``both``."""
        chains = {"found": self.found, "wanted": self.wanted}
        new = {
            side: Chain((*chain.steps, step))
            for side, chain in chains.items()
            if sides in (side, "both")
        }
        return replace(self, **new)


@dataclass(frozen=True)
class Trial:
    """A repair, and the ids looked at as it makes them, by what they were."""

    repair: Repair
    lists: Sequence[Lists]
    found: Mapping[str, str]
    wanted: Mapping[str, str]

    def then(self, step: Step, sides: str) -> Trial:
        """Try one more step on ``found``, ``wanted`` or ``both``."""
        found, wanted = (
            {name: step.apply(key) or key for name, key in keys.items()}
            if sides in (side, "both")
            else keys
            for side, keys in (("found", self.found), ("wanted", self.wanted))
        )
        return Trial(self.repair.with_step(step, sides), self.lists, found, wanted)

    @cached_property
    def unmet(self) -> list[tuple[set[str], set[str]]]:
        """The ids of each query that do not meet as they are, as the repair makes them."""
        return [
            (
                {self.found[name] for name in one.found - one.wanted},
                {self.wanted[name] for name in one.wanted - one.found},
            )
            for one in self.lists
        ]

    @cached_property
    def met(self) -> int:
        """How many pairs meet as they are."""
        return sum(len(one.found & one.wanted) for one in self.lists)

    @cached_property
    def repaired(self) -> int:
        """How many pairs meet with the repair only."""
        return sum(len(found & wanted) for found, wanted in self.unmet)

    @cached_property
    def merged(self) -> int:
        """How many ids of a query become equal to another one; chunks of a document are to."""
        chunks = any(step.chunk for step in self.repair.steps)
        wanted = sum(len(x.wanted) - len({self.wanted[n] for n in x.wanted}) for x in self.lists)
        found = sum(len(x.found) - len({self.found[n] for n in x.found}) for x in self.lists)
        return wanted if chunks else wanted + found

    @property
    def score(self) -> float:
        """What the repair does less what it may break: the higher, the better."""
        steps = sum(0.5 if step.gentle else 2 for step in self.repair.steps)
        return self.repaired - steps - (0 if self.repair.gentle else self.merged)

    def convinces(self, few: bool) -> bool:
        """Whether so many pairs would hardly meet by chance; `few` lets one for each guess do."""
        some = REPAIRED_LEAST if self.repair.gentle else REPAIRED_EASILY
        guesses = sum(step.learned for step in self.repair.steps)
        least = max(1, guesses) if few else some[not self.met]
        return (
            self.repaired >= max(least, REPAIRED_SHARE * (self.met + self.repaired))
            and self.repaired >= REPAIRED_ODDS * self.merged
            and (self.repair.gentle or (self._often and self._much and self._strange))
        )

    @property
    def _strange(self) -> bool:
        """Whether a constant in place of folders or of an extension is unknown to the other side.

        Else it is one of the folders, and a file of that name in another one is another file.
        """
        chains = {"found": self.repair.found.steps, "wanted": self.repair.wanted.steps}
        for (_, steps), (other, theirs) in permutations(chains.items()):
            ends = {step.end for step in theirs if not step.learned and not step.chunk}
            constants = [step for step in steps if step.learned and step.end in ends]
            if any(step.changes(getattr(self, other)) for step in constants):
                return False
        return True

    @property
    def _much(self) -> bool:
        """Whether it is a good share of all ids, on the side that has fewer."""
        ids = min(sum(len(one[side]) for one in self.lists) for side in (0, 1))
        return self.repaired >= REPAIRED_SHARE * ids

    @property
    def _often(self) -> bool:
        """Whether the ids that change meet about as often as those that do not."""
        found = [self.found[name] != name for one in self.lists for name in one.found]
        wanted = [self.wanted[name] != name for one in self.lists for name in one.wanted]
        sides = [(sum(side), len(side)) for side in (found, wanted) if any(side) and not all(side)]
        return not sides or any(
            self.repaired / changed >= REPAIRED_RATE * self.met / (total - changed)
            for changed, total in sides
        )


def best_repair(lists: Sequence[Lists], few: bool = False) -> Repair | None:
    """Guess what makes the ids meet: one step or two, the simplest that does most.

    `few` takes a repair that makes a single pair meet, to be confirmed otherwise.
    """
    found, wanted = ({name: name for one in lists for name in one[side]} for side in (0, 1))
    plain = Trial(Repair(), lists, found, wanted)
    if not any(left and right for left, right in plain.unmet):
        return None
    once = [plain.then(*option) for option in _options(plain, few)]
    twice = [one.then(*option) for one in once for option in _options(one, few)]
    convincing = [trial for trial in (*once, *twice) if trial.convinces(few)]
    return max(convincing, key=lambda trial: trial.score).repair if convincing else None


def _options(trial: Trial, few: bool) -> Iterator[tuple[Step, str]]:
    """List the steps that change some of the ids, each with the side that it is for."""
    left, right = (_some(set().union(*side)) for side in zip(*trial.unmet, strict=True))
    for step, sides in (*_fixed(), *affixes([(a - b, b - a) for a, b in trial.unmet], few)):
        names = {"found": left, "wanted": right}.get(sides, [*left, *right])
        if trial.repair.allows(step, sides) and step.changes(names):
            yield step, sides


def _fixed() -> Iterator[tuple[Step, str]]:
    """List the steps that need not be learned; ``lower`` does for ``upper`` where both sides do."""
    for step in STEPS:
        if step.gentle and step.name != "upper":
            yield step, "both"
        elif not step.gentle:
            yield from ((step, side) for side in (("found",) if step.chunk else Lists._fields))


def _some(names: set[str]) -> list[str]:
    """Take some of the ids, evenly."""
    ordered = sorted(names)
    return ordered[:: len(ordered) // TRIED_IDS + 1]
