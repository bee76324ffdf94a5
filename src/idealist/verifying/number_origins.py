"""Where a number may be from that does not hold: other rules, cutoffs, measures, runs, digits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from idealist.conventions import CONVENTIONS
from idealist.errors import IdealistError
from idealist.evaluating.evaluator import Evaluator
from idealist.measures import Measure
from idealist.measures.instrument import Instrument, measured
from idealist.notation import many
from idealist.ranking.ranked import Ranked
from idealist.reconciling import reconcile
from idealist.reconciling.chance import OF_TOOLS, Neighbourhood
from idealist.reconciling.classes import CUTOFFS
from idealist.reconciling.target import Target
from idealist.rendering.wording import few

#: How many steps up and down other cutoffs are tried, and in which all of these.
STEPS = (-1, 1, -2, 2)
USUAL = (*CUTOFFS, 15, 30, 50, 200, 500)
#: The most numbers for which every combination of rules is tried.
SEARCHED = 20


@dataclass(frozen=True)
class NumberOrigin:
    """One thing that a number is equal to at its digits.

    `kind` is convention, cutoff, measure, run, rules or digits. `chance` says that as many things
    were looked at as would print a number that has nothing to do with them.
    """

    kind: str
    words: str
    convention: str | None = None
    chance: bool = False

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


class Tried(NamedTuple):
    """Something that was measured: its name in words, and the number."""

    name: str
    value: float


@dataclass
class OriginFinder:
    """Looks for a number among what other rules, cutoffs, measures and runs give.

    Everything is measured once. `searched` counts the numbers for which every combination of
    rules was to be tried; only the first are.
    """

    evaluator: Evaluator
    runs: Mapping[str, Ranked]
    known: dict[tuple[str, str, Measure], list[Tried]] = field(default_factory=dict)
    searched: int = 0

    def origins(
        self, run: str, measure: Measure, target: Target, value: float
    ) -> list[NumberOrigin]:
        """Say what else a number of a run is, most plausible first."""
        ranked = self.runs[run]
        around = self._around(ranked, measure, target)
        found = []
        for kind, words, tried in self._tried(run, measure):
            names = list(dict.fromkeys(one.name for one in tried if target.prints(one.value)))
            if names:
                chance = _could_be_chance(around, [one.value for one in tried])
                said = words.format(few(names)) + ("; that could be chance" if chance else "")
                found.append(
                    NumberOrigin(kind, said, names[0] if kind == "convention" else None, chance)
                )
        if swapped(target, value):
            found.append(NumberOrigin("digits", "two neighbouring digits are swapped"))
        return found or list(self._by_rules(ranked, measure, target))

    @property
    def unread(self) -> list[str]:
        """Say for how many numbers not all rules were tried."""
        rest = self.searched - SEARCHED
        if rest <= 0:
            return []
        words = f"for {many(rest, 'number', 'numbers')}, single rules were not tried"
        return [f"{words}: idealist reconcile does that"]

    def _tried(self, run: str, measure: Measure) -> Iterator[tuple[str, str, list[Tried]]]:
        """Give what is tried, by kind, with the words for it."""
        rules, value = "printed by the rules of {}", "the value of {}"
        yield "convention", rules, self._once("tools", run, measure, self._tools)
        yield "cutoff", value, self._once("cutoffs", run, measure, self._cutoffs)
        yield "measure", value, self._once("measures", run, measure, self._measures)
        others = {name: each for name, each in self.runs.items() if name != run}
        yield "run", value, [
            Tried(name, one) for name, each in others.items() for one in self._number(each, measure)
        ]  # fmt: skip

    def _once(self, kind: str, run: str, measure: Measure, compute: Any) -> list[Tried]:
        key = kind, run, measure
        if key not in self.known:
            self.known[key] = list(compute(self.runs[run], measure))
        return self.known[key]

    def _tools(self, ranked: Ranked, measure: Measure) -> Iterator[Tried]:
        """Measure as each tool does, with the rules that were given and without them."""
        for tool in CONVENTIONS.values():
            for axes in [self.evaluator.axes, {}] if self.evaluator.axes else [{}]:
                if tool.has(measure):
                    with suppress(IdealistError):  # a tool that refuses such data prints nothing
                        one = tool.instrument(measure, axes, self.evaluator.qrels)
                        value = self._measured(ranked, one)
                        yield Tried(tool.name, value)

    def _cutoffs(self, ranked: Ranked, measure: Measure) -> Iterator[Tried]:
        """Measure at other cutoffs, the nearest first; and without one."""
        if not measure.takes_cutoff:
            return
        own = measure.cutoff
        steps = [] if own is None else [own + step for step in STEPS if own + step > 0]
        others: list[int | None] = [k for k in dict.fromkeys([*steps, *USUAL]) if k != own]
        for cutoff in [*others, *([] if own is None else [None])]:
            other = replace(measure, cutoff=cutoff)
            yield from (Tried(str(other), value) for value in self._number(ranked, other))

    def _measures(self, ranked: Ranked, measure: Measure) -> Iterator[Tried]:
        """Measure what else the table has."""
        for other in self.evaluator.measures.values():
            if other != measure:
                yield from (Tried(str(other), value) for value in self._number(ranked, other))

    def _number(self, ranked: Ranked, measure: Measure) -> list[float]:
        with suppress(IdealistError):
            rules = self.evaluator.convention, self.evaluator.axes, self.evaluator.qrels
            return [self._measured(ranked, rules[0].instrument(measure, *rules[1:]))]
        return []

    def _measured(self, ranked: Ranked, instrument: Instrument) -> float:
        one = instrument.weighted(self.evaluator.weights)
        return measured(one, ranked[one.protocol]).aggregate

    def _around(self, ranked: Ranked, measure: Measure, target: Target) -> Neighbourhood:
        one = self.evaluator.convention.instrument(
            measure, self.evaluator.axes, self.evaluator.qrels
        )
        found = measured(one, ranked[one.protocol])
        values = found.values[found.counted]
        return Neighbourhood.of(target, values[~np.isnan(values)], one.aggregate.aggregate)

    def _by_rules(self, ranked: Ranked, measure: Measure, target: Target) -> Iterator[NumberOrigin]:
        """Try every combination of rules that can matter, as `idealist reconcile` does."""
        self.searched += 1
        if self.searched > SEARCHED or self.evaluator.weights is not None:
            return
        with suppress(IdealistError):  # where nothing can be measured
            found = reconcile(
                self.evaluator.qrels, ranked.run, measure, target.value, target.digits
            )
            if found:
                rules = ", ".join(
                    f"{name}={value}" for name, value in found.answers[0].written.items()
                )
                yield NumberOrigin("rules", f"printed by trec_eval with {rules}")


def _could_be_chance(around: Neighbourhood, tried: Sequence[float]) -> bool:
    """Whether so many different numbers are near that one of them may be any number."""
    near = [one for one in tried if abs(one - (around.target.value or 0.0)) <= around.width / 2]
    different = {around.target.shown(one) for one in near}
    share = min(1.0, around.step / around.width) if around.width else 1.0
    return len(different) * share > OF_TOOLS


def swapped(target: Target, value: float) -> bool:
    """Whether two neighbouring digits of the value, swapped, give the number.

    >>> swapped(Target.of("0.4321"), 0.43121), swapped(Target.of("0.4321"), 0.4331)
    (True, False)
    """
    if target.value is None:
        return False
    ours, theirs = target.shown(value), target.shown(target.value)
    return theirs != ours and theirs in set(_swaps(ours))


def _swaps(digits: str) -> Iterable[str]:
    for i in range(len(digits) - 1):
        a, b = digits[i], digits[i + 1]
        if a.isdigit() and b.isdigit():
            yield f"{digits[:i]}{b}{a}{digits[i + 2 :]}"
