"""Which transformation makes ids meet that do not, guessed from those of some queries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from idealist.auditing.ids.affixes import affixes
from idealist.auditing.ids.proposal import IdSets, Repair
from idealist.formats.id_steps import KNOWN, STEPS, Step

#: Ids on which it is seen whether a transformation changes any. Suggested.
TRIED_IDS = 300
#: Share of the judged pairs that meet after a repair which it must bring about, where ids easily
#: become equal by chance. Suggested.
REPAIRED_SHARE = 0.05
#: Probability that so many pairs meet by chance, above which a repair is not proposed. Suggested.
REPAIRED_CHANCE = 1e-4
#: Share of one side's ids that did not meet which, if repaired, cannot be chance. Suggested.
REPAIRED_MOST = 0.5
#: Repaired pairs for each two documents that would become one. Suggested.
REPAIRED_ODDS = 4
#: Pairs that a repair must make meet, where some meet already and where none does; more of them
#: where ids easily become equal by chance. Suggested.
REPAIRED_LEAST, REPAIRED_EASILY = (3, 1), (3, 2)
#: Ids that a repair changes must be judged this much as often as those that it does not, and these
#: as often as those; the latter where so many are expected. Suggested.
REPAIRED_RATE, REPAIRED_EXPECTED = 0.2, 10


@dataclass(frozen=True)
class Trial:
    """A repair, and the ids looked at as it makes them, by what they were."""

    repair: Repair
    lists: Sequence[IdSets]
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
        pairs = ((one.found - one.wanted, one.wanted - one.found) for one in self.lists)
        return [({self.found[x] for x in a}, {self.wanted[y] for y in b}) for a, b in pairs]

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
        guesses = sum(step.constant for step in self.repair.steps)
        least = max(1, guesses) if few else some[not self.met]
        return (
            self.repaired >= max(least, REPAIRED_ODDS * self.merged)
            and (self.repair.gentle or self._sound)
            and self._surprises
        )

    @property
    def _sound(self) -> bool:
        """Whether a repair that easily makes ids equal does so to all that look alike."""
        share = self.repaired >= REPAIRED_SHARE * (self.met + self.repaired)
        return share and self._often and self._much and self._strange and self._rest

    @property
    def _surprises(self) -> bool:
        """Whether as many pairs would not meet by chance, by Chernoff's bound for rare events.

        Where nothing matches and one side's ids all change, it cannot be chance.
        """
        sides = (self.found, self.wanted)
        if not self.met and any(all(k != name for name, k in one.items()) for one in sides):
            return True
        unmet = min(sum(map(len, side)) for side in zip(*self.unmet, strict=True))
        n, mean = self.repaired, self._by_chance
        if not mean or n >= REPAIRED_MOST * unmet:
            return True
        return n > mean and n - mean + n * math.log(mean / n) < math.log(REPAIRED_CHANCE)

    @cached_property
    def _by_chance(self) -> float:
        """How many pairs would meet with the repair only, with the judgments of another query."""
        keys = Counter(key for _, wanted in self.unmet for key in wanted)
        names = Counter(name for one in self.lists for name in one.wanted - one.found)
        hits = 0
        for one, (_, wanted) in zip(self.lists, self.unmet, strict=True):
            for key, name in {self.found[n]: n for n in one.found - one.wanted}.items():
                same = names[name] if self.wanted.get(name) == key else 0  # meet as they are
                hits += max(0, keys[key] - (key in wanted) - same)
        return hits / max(1, len(self.lists) - 1)

    @property
    def _strange(self) -> bool:
        """Whether a constant in place of folders or of an extension is unknown to the other side.

        Else it is one of the folders, and a file of that name in another one is another file.
        """
        chains = {"found": self.repair.found.steps, "wanted": self.repair.wanted.steps}
        for (_, steps), (other, theirs) in permutations(chains.items()):
            ends = {step.end for step in theirs if not step.constant and not step.chunk}
            constants = [step for step in steps if step.constant and step.end in ends]
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

    @property
    def _rest(self) -> bool:
        """Whether the ids that do not change meet about as often as those that do.

        Else they are written in a way that the repair does not know, and it is not the answer.
        """
        found = _tally(self.found, self.wanted, self.lists)
        wanted = _tally(self.wanted, self.found, [IdSets(*one[::-1]) for one in self.lists])
        for (same, same_met), (changed, changed_met) in (found, wanted):
            expected = same * changed_met / max(1, changed)
            if expected >= REPAIRED_EXPECTED and same_met < REPAIRED_RATE * expected:
                return False
        return True


def _tally(
    own: Mapping[str, str], theirs: Mapping[str, str], lists: Sequence[IdSets]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Count the ids, and those that meet, of one side: those that stay, and those that change."""
    counts = Counter(
        (own[name] != name, name in one.wanted or own[name] in keys)
        for one in lists
        for keys in [{theirs[other] for other in one.wanted}]
        for name in one.found
    )
    same, changed = ((counts[c, False] + counts[c, True], counts[c, True]) for c in (False, True))
    return same, changed


def best_repair(lists: Sequence[IdSets], few: bool = False) -> Repair | None:
    """Guess what makes the ids meet: one step or two, or some three, the simplest that does most.

    `few` accepts a repair that makes a single pair match, to be confirmed by other means.
    """
    found, wanted = ({name: name for one in lists for name in one[side]} for side in (0, 1))
    plain = Trial(Repair(), lists, found, wanted)
    if not any(left and right for left, right in plain.unmet):
        return None
    once = [plain.then(*option) for option in _options(plain, few)]
    twice = [one.then(*option) for one in once for option in _options(one, few)]
    convincing = [trial for trial in (*once, *twice) if trial.convinces(few)]
    if not convincing:
        convincing = [trial for trial in _files(plain) if trial.convinces(few)]
    return max(convincing, key=lambda trial: trial.score).repair if convincing else None


def _files(plain: Trial) -> Iterator[Trial]:
    """Try what differs where one side has names of files and the other has names: all at once."""
    path, extension = KNOWN["path"], KNOWN["extension"]
    for side in IdSets._fields:
        names = getattr(plain, side)
        if path.changes(names) or extension.changes(names):
            yield plain.then(path, side).then(extension, side).then(KNOWN["lower"], "both")


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
            yield from ((step, side) for side in IdSets._fields)


def _some(names: set[str]) -> list[str]:
    """Take some of the ids, evenly."""
    ordered = sorted(names)
    return ordered[:: len(ordered) // TRIED_IDS + 1]
