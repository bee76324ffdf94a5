"""The search: which conventions of a space print a number.

Lists are ranked once for each protocol and measured once for each formula. What follows from the
values of queries (which of them count, their aggregate, its rounding) is computed for thousands of
vectors of values at once. Vectors that agree to twelve digits count as one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from idealist.data.columns import Bools, Floats, Ints
from idealist.errors import IdealistError
from idealist.measures import Measure
from idealist.measures.instrument import Instrument
from idealist.notation import Value, call
from idealist.protocol import Protocol
from idealist.reconciling.chance import Neighbourhood
from idealist.reconciling.rankings import Stack
from idealist.reconciling.space import Space
from idealist.reconciling.target import FINEST, Target


class Settled(NamedTuple):
    """Values under two rules that are applied after a list is measured.

    `rows` are those of the vectors, `counted` says which queries count.
    """

    no_relevant: str
    missing: str
    rows: Ints
    values: Floats
    counted: Bools


def settled(space: Space, values: Floats, empty: Bools, in_run: Bools) -> Iterator[Settled]:
    """Settle vectors, NaN where there is no value, under all rules that can change them."""
    gaps = np.isnan(values)
    some = np.flatnonzero(gaps.any(axis=1))
    for i, no_relevant in enumerate(space.no_relevant):
        rows = some if i else np.arange(len(values))
        if not len(rows):
            continue
        fills: dict[str, Any] = {"0": 0.0, "1": 1.0, "empty": empty[rows].astype(np.float64)}
        filled = np.where(gaps[rows], fills.get(no_relevant, math.nan), values[rows])
        for missing in space.missing:
            counted = np.broadcast_to(in_run | (missing != "skip"), filled.shape)
            if no_relevant == "skip":
                counted = counted & ~gaps[rows]
            yield Settled(no_relevant, missing, rows, filled, counted)


def rounded(values: Floats, digits: int) -> Floats:
    """Round as Python does: by the decimals of a number, not by a product."""
    with np.errstate(invalid="ignore"):
        result = np.round(values, digits)
        scaled = values * 10.0**digits
        halves = np.flatnonzero(np.abs(np.abs(scaled - np.trunc(scaled)) - 0.5) < 1e-6)
    flat = result.reshape(-1)
    for i in halves.tolist():
        flat[i] = round(float(values.reshape(-1)[i]), digits)
    return flat.reshape(values.shape)


def split_rounding(rounding: Value) -> tuple[int | None, int | None]:
    """Return the digits that queries are rounded to, and those of their aggregate.

    >>> split_rounding("query(2)"), split_rounding(4), split_rounding("none")
    ((2, None), (None, 4), (None, None))
    """
    name, arguments = call(str(rounding))
    if name == "query":
        return int(arguments[0]), None
    return None, None if name == "none" else int(name)


def aggregated(aggregate: str, values: Floats, counted: Bools) -> Floats:
    """Aggregate the counted values of each row; NaN where one of them is."""
    name, arguments = call(aggregate)
    if name == "geometric":
        floor = float(arguments[0])
        logs = np.log(np.where(values > floor, values, floor))
        return np.exp(aggregated("mean", np.where(np.isnan(values), np.nan, logs), counted))
    result = _MANY[name](values, counted)
    undefined = (counted & np.isnan(values)).any(axis=1)
    if name != "sum":
        undefined |= ~counted.any(axis=1)
    return np.where(undefined, np.nan, result)


def _median(values: Floats, counted: Bools) -> Floats:
    """Take the middle of what counts, or the mean of the two; the rest is sorted last."""
    ordered = np.sort(np.where(counted, values, np.inf), axis=1)
    size = counted.sum(axis=1)
    low = np.maximum(size - 1, 0) // 2
    high = np.minimum(size // 2, max(values.shape[1] - 1, 0))
    rows = np.arange(len(values))
    with np.errstate(invalid="ignore"):
        return (ordered[rows, low] + ordered[rows, high]) / 2.0  # type: ignore[no-any-return]


def _sum(values: Floats, counted: Bools) -> Floats:
    return np.where(counted, values, 0.0).sum(axis=1)  # type: ignore[no-any-return]


_MANY: dict[str, Callable[[Floats, Bools], Floats]] = {
    "mean": lambda values, counted: _sum(values, counted) / np.maximum(counted.sum(axis=1), 1),
    "median": _median,
    "sum": _sum,
    "min": lambda values, counted: np.where(counted, values, np.inf).min(axis=1),
    "max": lambda values, counted: np.where(counted, values, -np.inf).max(axis=1),
}


#: How many vectors are looked at together.
CHUNK = 4096

Tick = Callable[[int, int], None]


class Hit(NamedTuple):
    """A convention that prints the number, or comes near it; `name` is its tool's, if any.

    `values` are those of all judged queries before any rounding, `roundings` those under which it
    prints the number, `exact` whether it counts just the queries whose values are known.
    """

    instrument: Instrument
    cost: int
    values: Floats
    counted: Bools
    aggregate: float
    roundings: tuple[Value, ...]
    exact: bool
    name: str


class Trace(NamedTuple):
    """A hit while the search goes on: a vector, its row when settled, and how it was aggregated."""

    key: int
    part: Settled
    row: int
    aggregate: str
    roundings: tuple[Value, ...]


class Near(NamedTuple):
    """The nearest miss: how many known queries it does not fit, and how far its number is off."""

    misfits: float = math.inf
    off: float = math.inf
    trace: Trace | None = None


class Source(NamedTuple):
    """Where a vector comes from, by the fewest changes."""

    cost: int
    measure: Measure
    protocol: Protocol


@dataclass
class Search:
    """A search under way: vectors seen, hits, and the nearest miss."""

    space: Space
    target: Target
    queries: Sequence[str]
    in_run: Bools
    sources: dict[int, Source] = field(default_factory=dict)
    hits: list[Trace] = field(default_factory=list)
    nearest: Near = field(default_factory=Near)
    waiting: list[tuple[int, Floats, Bools]] = field(default_factory=list)
    around: Neighbourhood | None = None

    def __post_init__(self) -> None:
        asked = self.target.per_query
        self.known = np.array([asked.get(query, math.nan) for query in self.queries])
        self.given = np.array([query in asked for query in self.queries], dtype=bool)
        self.fitting: Bools = ~self.given
        own = self.space.base.aggregate.aggregate
        self.aggregates = [own] if self.target.value is None else self.space.aggregates
        self.roundings: dict[int | None, list[tuple[int | None, Value]]] = {}
        for rounding in self.space.roundings:
            digits, more = split_rounding(rounding)
            self.roundings.setdefault(digits, []).append((more, rounding))

    def run(self, stacks: Sequence[Stack], tick: Tick) -> None:
        """Measure every list and look at every vector of values."""
        stacked = [(stack, [self._cost(one) for one in stack.protocols]) for stack in stacks]
        steps = list(product(self.space.measures, stacked))
        for done, (measure, (stack, costs)) in enumerate(steps):
            tick(done, len(steps))
            with suppress(IdealistError):  # a formula that refuses such data prints nothing
                self._take(measure, stack, costs)
        self._look()
        tick(len(steps), len(steps))

    def _take(self, measure: Measure, stack: Stack, costs: Sequence[int]) -> None:
        """Remember where each vector comes from, and queue new ones."""
        values = stack.values(measure)
        values = np.where(np.isnan(values), math.nan, values + 0.0)
        keys = np.round(values, FINEST) + 0.0
        gaps: Bools = np.any(np.isnan(values), axis=1)
        own = self._cost(measure)
        for i, (protocol, _, empty) in enumerate(stack.rankings.values()):
            key = hash(keys[i].tobytes() + (empty.tobytes() if gaps[i] else b""))
            known = self.sources.get(key)
            if known is None:
                self.waiting.append((key, values[i], empty))
            if known is None or own + costs[i] < known.cost:
                self.sources[key] = Source(own + costs[i], measure, protocol)
        if len(self.waiting) >= CHUNK:
            self._look()

    def _cost(self, part: Measure | Protocol) -> int:
        """Count the differences from the default, without those that are decided later."""
        base = self.space.base
        other = base.measure if isinstance(part, Measure) else base.protocol
        mine, theirs = part.written(), other.written()
        later = ("no_relevant", "missing")
        changed = sum(mine[name] != theirs[name] for name in mine if name not in later)
        return changed + (isinstance(part, Measure) and part.cutoff != base.measure.cutoff)

    def _look(self) -> None:
        """Look at the queued vectors."""
        if not self.waiting:
            return
        keys, values, empty = zip(*self.waiting, strict=True)
        self.waiting.clear()
        for part in settled(self.space, np.stack(values), np.stack(empty), self.in_run):
            self._match(keys, part)

    def _match(self, keys: Sequence[int], part: Settled) -> None:
        """Find the vectors that print the number under some aggregate and rounding."""
        found: dict[tuple[int, str], list[Value]] = {}
        plain: dict[str, Floats] = {}
        around, rows = self._around(part), np.array(keys, dtype=np.int64)[part.rows]
        for digits, ends in self.roundings.items():
            values = part.values if digits is None else rounded(part.values, digits)
            fits = self._fits(values, part.counted)
            misfits = np.count_nonzero(~fits, axis=1)
            for aggregate in self.aggregates:
                numbers = aggregated(aggregate, values, part.counted)
                full = plain.setdefault(aggregate, numbers)
                if digits is None:
                    self._remember(keys, part, misfits, numbers, aggregate)
                for more, rounding in ends:
                    final = numbers if more is None else rounded(numbers, more)
                    around.add(full, final, rows, self._later(part, aggregate, rounding))
                    for i in np.flatnonzero((misfits == 0) & self.target.prints(final)).tolist():
                        found.setdefault((i, aggregate), []).append(rounding)
        self.hits += [
            Trace(keys[part.rows[i]], part, i, aggregate, tuple(roundings))
            for (i, aggregate), roundings in found.items()
        ]

    def _around(self, part: Settled) -> Neighbourhood:
        """Return the neighbourhood of the number, laid out by the first vector there is."""
        if self.around is None:
            values = part.values[0][part.counted[0]]
            own = self.space.base.aggregate.aggregate
            self.around = Neighbourhood.of(self.target, values[~np.isnan(values)], own)
        return self.around

    def _later(self, part: Settled, aggregate: str, rounding: Value) -> int:
        """Count the differences from the default among what is decided after measuring."""
        base = self.space.base
        own = getattr(base.measure, "no_relevant", part.no_relevant), base.protocol.missing
        ends = base.aggregate.aggregate, base.aggregate.round
        mine = part.no_relevant, part.missing, aggregate, rounding
        return sum(one != other for one, other in zip(mine, (*own, *ends), strict=True))

    def _fits(self, values: Floats, counted: Bools) -> Bools:
        """Whether values fit the known ones of queries; a known query must count."""
        fits: Bools = (self.target.fits(values, self.known) & counted) | ~self.given
        self.fitting |= fits.any(axis=0)
        return fits

    def _remember(
        self, keys: Sequence[int], part: Settled, misfits: Ints, numbers: Floats, aggregate: str
    ) -> None:
        """Keep the nearest miss: the fewest queries that do not fit, then the nearest number."""
        goal = self.target.value
        off = np.zeros(len(numbers)) if goal is None else np.abs(numbers - goal)
        off = np.where(np.isnan(off), math.inf, off)
        best = int(np.lexsort((off, misfits))[0])
        if (misfits[best], off[best]) < self.nearest[:2]:
            rounding = (self.space.base.aggregate.round,)
            trace = Trace(keys[part.rows[best]], part, best, aggregate, rounding)
            self.nearest = Near(float(misfits[best]), float(off[best]), trace)

    def agrees(self, values: Floats, counted: Bools, aggregate: float) -> bool:
        """Whether values and their aggregate, as printed, are those that are known."""
        return bool(self._fits(values[None], counted[None]).all() and self.target.prints(aggregate))

    def made(self, trace: Trace) -> Hit:
        """Build the instrument that was found, by the fewest changes."""
        key, part, row, aggregate, roundings = trace
        source, base = self.sources[key], self.space.base.aggregate
        measure, protocol = source.measure, replace(source.protocol, missing=part.missing)
        if "no_relevant" in measure.parameters():
            measure = replace(measure, no_relevant=part.no_relevant)  # type: ignore[call-arg]
        plain = replace(base, aggregate=aggregate, round="none")
        instrument = Instrument(measure, protocol, replace(plain, round=roundings[0]))
        values, counted = part.values[row], part.counted[row]
        return self.hit(instrument, values, counted, plain.of(values[counted]), roundings)

    def hit(
        self, instrument: Instrument, values: Floats, counted: Bools, aggregate: float,
        roundings: tuple[Value, ...], name: str = "",
    ) -> Hit:  # fmt: skip
        """Build a hit."""
        exact = bool(self.given.any() and np.array_equal(counted, self.given))
        cost = len(self.space.changes(instrument))
        values = np.where(counted, values, math.nan)
        return Hit(instrument, cost, values, counted, aggregate, roundings, exact, name)
