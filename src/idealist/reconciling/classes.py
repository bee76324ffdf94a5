"""Classes of conventions: those in a class agree on every query, so the data cannot tell which."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from idealist.conventions import CONVENTIONS, Convention, convention
from idealist.data.columns import Floats
from idealist.errors import IdealistError
from idealist.measures import Measure, parse
from idealist.measures.instrument import Instrument, measured
from idealist.notation import Value, text
from idealist.ranking.ranked import Ranked
from idealist.reconciling.chance import Chance
from idealist.reconciling.search import Hit, Search
from idealist.reconciling.target import FINEST

#: Values that differ by less count as equal.
SAME = 10.0**-FINEST


@dataclass(frozen=True)
class Answer:
    """Conventions that agree on this data, by the simplest of them.

    `names` are the conventions among them that print the number, `changes` the axes in which the
    simplest differs from the default, `roundings` those under which it prints the number. `values`
    holds the value of each query that counts, and `value` their aggregate, both before rounding.
    """

    names: tuple[str, ...]
    instrument: Instrument
    changes: dict[str, Value]
    value: float
    values: dict[str, float]
    roundings: tuple[Value, ...]

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "conventions": list(self.names),
            "changes": self.written,
            "roundings": [text(value) for value in self.roundings],
            "prints": self.printed,
            "value": self.value,
            "per_query": self.values,
        }

    @property
    def written(self) -> dict[str, str]:
        """The changes as text."""
        pairs = self.changes.items()
        return {name: "none" if value is None else text(value) for name, value in pairs}

    @property
    def rounded(self) -> dict[str, float]:
        """The value of each query as the simplest convention rounds it."""
        values = self.instrument.aggregate.each(np.array(list(self.values.values())))
        return dict(zip(self.values, values.tolist(), strict=True))

    @property
    def printed(self) -> float:
        """The aggregate as the simplest convention rounds it."""
        return self.instrument.aggregate.of(list(self.rounded.values()))


class Tool(NamedTuple):
    """What a tool makes of the data: its hit, the number it prints, and whether that fits."""

    hit: Hit
    printed: float
    fits: bool


def by_tools(
    search: Search, ranked: Ranked, measure: Measure, axes: Mapping[str, Any],
    tools: Iterable[Convention] = CONVENTIONS.values(),
) -> list[Tool]:  # fmt: skip
    """Measure as each tool does that has the measure."""
    found = []
    for tool in (tool for tool in tools if tool.has(measure)):
        with suppress(IdealistError):  # a tool that refuses such data prints nothing
            instrument = tool.instrument(measure, axes)
            rounding = instrument.aggregate
            plain = replace(instrument, aggregate=replace(rounding, round="none"))
            values, counted, _, aggregate = measured(plain, ranked[instrument.protocol])
            each = rounding.each(values)
            printed = rounding.of(each[counted])
            rules = (instrument, values, counted, aggregate, (rounding.round,))
            fits = search.agrees(each, counted, printed)
            found.append(Tool(search.hit(*rules, tool.name), printed, fits))
    return found


def classes_of(search: Search, named: Sequence[Hit]) -> list[Answer]:
    """Gather hits into classes, simplest first, those with a name before the others.

    Where the values of queries are known, those that count just these queries come alone.
    """
    hits = [*named, *map(search.made, search.hits)]
    if any(hit.exact for hit in hits):
        hits = [hit for hit in hits if hit.exact]
    classes = _gathered([[hit] for hit in hits], lambda hit: (hit.values, hit.aggregate))
    classes = _gathered(classes, _rounded)  # which the simplest one's rounding may make equal
    classes.sort(key=lambda some: (not any(hit.name for hit in some), _simplest(some).cost))
    return [_answer(search, some) for some in classes]


def chance_of(search: Search, tools: Iterable[Tool], answers: Sequence[Answer]) -> Chance | None:
    """Say how many results as plausible as the answers would fit by chance.

    Values of queries are too many to fit by chance; without answers there is nothing to doubt.
    """
    if not answers or search.target.per_query or search.around is None:
        return None
    costs = {key: source.cost for key, source in search.sources.items()}
    printed, first = [tool.printed for tool in tools], answers[0]
    values = list(first.values.values())
    constant = len(values) > 1 and max(values) - min(values) <= SAME
    found = search.around.chance(costs, printed, len(first.changes))
    return replace(found, constant=constant)


def nearest_miss(search: Search) -> Answer | None:
    """Return the convention that comes nearest to the number."""
    trace = search.nearest.trace
    return None if trace is None else _answer(search, [search.made(trace)])


def _answer(search: Search, hits: Sequence[Hit]) -> Answer:
    best = _simplest(hits)
    pairs = zip(search.queries, best.values.tolist(), best.counted.tolist(), strict=True)
    return Answer(
        names=tuple(hit.name for hit in hits if hit.name),
        instrument=best.instrument,
        changes=search.space.changes(best.instrument),
        value=best.aggregate,
        values={query: value for query, value, counts in pairs if counts},
        roundings=tuple(dict.fromkeys(one for hit in hits for one in hit.roundings)),
    )


def _simplest(hits: Sequence[Hit]) -> Hit:
    return min(hits, key=lambda hit: hit.cost)


def _rounded(hit: Hit) -> tuple[Floats, float]:
    """Return the values and the aggregate under the simplest rounding."""
    aggregate = hit.instrument.aggregate
    values = aggregate.each(hit.values)
    return values, aggregate.of(values[hit.counted])


def _gathered(
    classes: Sequence[list[Hit]], numbers: Callable[[Hit], tuple[Floats, float]]
) -> list[list[Hit]]:
    """Join classes whose simplest members have the same numbers.

    They are projected onto a line on which almost no two different ones meet, and neighbours on it
    are compared in full.
    """
    if not classes:
        return []
    best = [_simplest(some) for some in classes]
    table = np.stack([_row(hit, *numbers(hit)) for hit in best])
    line = table @ np.random.default_rng(0).uniform(1.0, 2.0, table.shape[1])
    order = np.argsort(line, kind="stable")
    apart = np.abs(np.diff(table[order], axis=0)) > SAME * np.maximum(1.0, np.abs(table[order][1:]))
    number = np.empty(len(best), dtype=np.int64)
    number[order] = np.concatenate(([0], np.cumsum(apart.any(axis=1))))
    joined: dict[int, list[Hit]] = {}
    for one, some in zip(number.tolist(), classes, strict=True):
        joined.setdefault(one, []).extend(some)
    return list(joined.values())


def _row(hit: Hit, values: Floats, aggregate: float) -> Floats:
    """Put numbers into a row; a query without a value, or that does not count, has its own mark."""
    values = np.where(np.isnan(values), -2e3, values)
    aggregate = -1e3 if math.isnan(aggregate) else aggregate
    return np.append(np.where(hit.counted, values, -1e3), aggregate)


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

    def data(self) -> dict[str, Any]:
        """Return it as plain data, with the classes counted from 1."""
        prints = {number: [i + 1 for i in some] for number, some in self.prints.items()}
        return {"number": self.asked, "prints": prints}

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
        run, *others = self.runs
        cutoffs = [k for k in CUTOFFS if measure.takes_cutoff and k != measure.cutoff]
        asked = [(str(measure @ k), _at(k), run) for k in cutoffs]
        asked += [
            (f"{measure} of {one.run.name}", lambda answer: answer.instrument, one)
            for one in others
        ]
        asked += [(name, _other(parse(name)), run) for name in MEASURES if parse(name) != measure]
        for name, of, ranked in asked:
            yield _question(name, [self._number(one, of, ranked) for one in answers])
        values = [one.rounded for one in answers]
        for query in dict.fromkeys(query for one in answers for query in one.values):
            known = [rounded.get(query) for rounded in values]
            shown = ["nothing" if v is None else self._shown(v) for v in known]
            yield _question(f"{measure} of query {query}", shown)

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
