"""Which further number would decide between conventions that print the same one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from idealist.conventions import convention
from idealist.errors import IdealistError
from idealist.measures import Measure, parse
from idealist.measures.instrument import Instrument, measured
from idealist.ranking.ranked import Ranked
from idealist.reconciling.classes import Answer

#: A further number is looked for among so many classes, the simplest ones.
LOOKED_AT = 40
#: What is asked for, if another cutoff or another measure can be had.
CUTOFFS = (5, 10, 20, 1, 3, 100, 1000)
MEASURES = ("nDCG@10", "AP", "RR@10", "P@10", "R@100")


@dataclass(frozen=True)
class Question:
    """A further number, and which classes, counted from 0, print what for it."""

    asked: str
    prints: dict[str, tuple[int, ...]]

    @property
    def largest(self) -> int:
        """How many classes are left at worst, once it is known."""
        return max(map(len, self.prints.values()))

    @property
    def left(self) -> int:
        """How many pairs of classes it does not tell apart, a class and itself included."""
        return sum(len(some) ** 2 for some in self.prints.values())


class Asker(NamedTuple):
    """Computes further numbers of conventions: for the run itself, and for those after it."""

    runs: Sequence[Ranked]
    digits: int

    def best(self, measure: Measure, answers: Sequence[Answer]) -> Question | None:
        """Find the number that leaves the fewest pairs of classes together."""
        some = answers[:LOOKED_AT]
        if len(some) < 2:
            return None
        found = min(self.questions(measure, some), key=lambda one: one.left)
        return found if len(found.prints) > 1 else None

    def questions(self, measure: Measure, answers: Sequence[Answer]) -> Iterator[Question]:
        """Ask for other cutoffs, other runs, other measures, and single queries."""
        if measure.takes_cutoff:
            for cutoff in CUTOFFS:
                if cutoff != measure.cutoff:
                    yield self._asked(str(measure @ cutoff), answers, _at(cutoff))
        for other in self.runs[1:]:
            name = f"{measure} of {other.run.name}"
            yield self._asked(name, answers, lambda one: one.instrument, other)
        for name in MEASURES:
            if parse(name) != measure:
                yield self._asked(name, answers, _other(parse(name)))
        values = [one.rounded for one in answers]
        for query in dict.fromkeys(query for one in answers for query in one.values):
            known = [rounded.get(query) for rounded in values]
            shown = ["nothing" if v is None else self._shown(v) for v in known]
            yield _question(f"{measure} of query {query}", shown)

    def _asked(
        self,
        name: str,
        answers: Sequence[Answer],
        of: Callable[[Answer], Instrument],
        run: Ranked | None = None,
    ) -> Question:
        return _question(name, [self._number(one, of, run or self.runs[0]) for one in answers])

    def _number(self, answer: Answer, of: Callable[[Answer], Instrument], run: Ranked) -> str:
        with suppress(IdealistError):
            instrument = of(answer)
            return self._shown(measured(instrument, run[instrument.protocol]).aggregate)
        return "an error"

    def _shown(self, value: float) -> str:
        return f"{value:.{max(self.digits, 4)}f}"


def _question(asked: str, shown: Sequence[str]) -> Question:
    groups: dict[str, tuple[int, ...]] = {}
    for i, number in enumerate(shown):
        groups[number] = (*groups.get(number, ()), i)
    return Question(asked, groups)


def _at(cutoff: int) -> Callable[[Answer], Instrument]:
    return lambda one: replace(one.instrument, measure=one.instrument.measure @ cutoff)


def _other(measure: Measure) -> Callable[[Answer], Instrument]:
    """Measure something else by the same rules, as far as they apply to it."""

    def instrument(one: Answer) -> Instrument:
        named = [convention(name) for name in one.names if convention(name).has(measure)]
        if named:
            return named[0].instrument(measure)
        changes: Mapping[str, object] = {k: v for k, v in one.changes.items() if k != "cutoff"}
        return Instrument.of(measure, changes)

    return instrument
