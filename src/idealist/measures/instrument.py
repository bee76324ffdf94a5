"""Instruments: a measure with every parameter set, its protocol and its aggregate."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.data.queries import Weights
from idealist.errors import Faults, UsageError, nearest
from idealist.measures import MEASURES, Measure
from idealist.measures.base import Asked
from idealist.notation import Kind, Settings, Value, Written, axis, call, text, to_number
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked, limited
from idealist.significance.means import mean


def _check_aggregate(value: Any) -> Value:
    name, arguments = call(str(value))
    if name == "geometric":
        (floor,) = map(to_number, arguments or ["1e-5"])
        if floor <= 0:
            raise ValueError(value)
        return f"geometric({text(floor)})"
    if name == "weighted":
        (digits,) = arguments
        return f"weighted({digits})"
    if name not in ("mean", "median", "min", "max", "sum") or arguments:
        raise ValueError(value)
    return name


def _check_round(value: Any) -> Value:
    name, arguments = call(str(value))
    if name == "query":
        (digits,) = arguments
        return f"query({int(digits)})"
    if arguments:
        raise ValueError(value)
    return name if name == "none" else int(name)


AGGREGATE = Kind(
    "mean, median, min, max, sum or geometric(FLOOR); with weights, weighted(HASH)",
    _check_aggregate,
)
ROUND = Kind("none, a number of digits, or query(DIGITS) to round each query", _check_round)


_FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": mean, "sum": math.fsum, "min": min, "max": max,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Aggregate(Settings):
    """How values are aggregated. Means are exactly rounded, so the order of queries never matters.

    With `weights` this is the weighted mean; its text identifies the weights by a content hash.

    >>> Aggregate().of([0.25, 0.75, 0.5])
    0.5
    >>> round(Aggregate(aggregate="geometric(1e-5)").of([0.0, 0.1]), 6)
    0.001
    """

    aggregate: str = axis("mean", AGGREGATE, "how the values of queries are aggregated")
    round: Written = axis(
        "none", ROUND, "the digits to round to, of the aggregate or of each query"
    )
    weights: Weights | None = field(default=None, repr=False, hash=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        weighted = self.aggregate.startswith("weighted(")
        if self.weights is None and weighted:
            message = f"aggregate={self.aggregate} refers to weights that were not given"
            hint = "pass the weights themselves: weights={query: weight, …}, or --weights FILE"
            raise UsageError(message, hint)
        if self.weights is not None and not weighted and self.aggregate != "mean":
            hint = f"leave out either the weights or aggregate={self.aggregate}"
            raise UsageError(f"weights need a mean, not aggregate={self.aggregate}", hint)
        if self.weights is not None:
            object.__setattr__(self, "aggregate", f"weighted({self.weights.hash})")

    def each(self, values: Floats) -> Floats:
        """Round the values of single queries if asked to."""
        name, arguments = call(str(self.round))
        if name != "query":
            return values
        digits = int(arguments[0])
        return np.array([x if math.isnan(x) else round(x, digits) for x in values.tolist()])

    def of(self, values: Sequence[float] | Floats, queries: Sequence[str] = ()) -> float:
        """Aggregate values; NaN if there are none, except for a sum.

        `queries` names the query of each value, which matters if queries have weights.
        """
        array = np.asarray(values, dtype=np.float64)
        nothing = not len(array) and self.aggregate != "sum"
        if nothing or np.count_nonzero(np.isnan(array)):
            return math.nan
        listed: list[float] = array.tolist()
        value = self._of(listed) if self.weights is None else mean(listed, self.weights.of(queries))
        return round(value, self.round) if isinstance(self.round, int) else value

    def _of(self, values: Sequence[float]) -> float:
        name, arguments = call(self.aggregate)
        if name == "geometric":
            floor = float(arguments[0])
            return math.exp(mean([math.log(max(value, floor)) for value in values]))
        if name == "median":
            from statistics import median  # slow to import, and seldom asked for

            return median(values)
        return _FUNCTIONS[name](values)


@dataclass(frozen=True)
class Instrument:
    """Everything that determines a number, apart from the judgments and the run."""

    measure: Measure
    protocol: Protocol
    aggregate: Aggregate

    @classmethod
    def of(cls, measure: Measure, *layers: Mapping[str, Any]) -> Instrument:
        """Set up a measure under layers of axes: later layers win, and the measure itself wins."""
        own, protocol, aggregate = route(type(measure), *layers)
        aggregate = {"aggregate": measure.aggregate} | aggregate
        return cls(measure.filled(own), Protocol(**protocol), Aggregate(**aggregate))

    def weighted(self, weights: Weights | None) -> Instrument:
        """Weigh the queries if the aggregate is a mean; a sum or a median stays as it is."""
        if weights is None or self.aggregate.aggregate != "mean":
            return self
        return replace(self, aggregate=replace(self.aggregate, weights=weights))


def route(
    cls: type[Measure], *layers: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Divide axes among a measure, a protocol and an aggregate; later layers win.

    Axes of other measures are dropped. An axis name that two of them share goes where its value is
    valid: ``negative=keep`` belongs to a measure, ``negative=drop`` to a protocol.
    """
    own: dict[str, Any] = {}
    protocol: dict[str, Any] = {}
    aggregate: dict[str, Any] = {}
    for name, value in chain.from_iterable(axes.items() for axes in layers):
        if cls.accepts(name, value):
            own[name] = value
        elif Protocol.accepts(name, value):
            protocol[name] = value
        elif Aggregate.accepts(name, value):
            aggregate[name] = value
        elif not any(other.accepts(name, value) for other in MEASURES.values()):
            message = f"no measure or protocol accepts {name}={value}"
            raise UsageError(message, "see the list of axes")
    return own, protocol, aggregate


def check_axes(axes: Mapping[str, Any], measures: Collection[Measure]) -> None:
    """Refuse unknown axes, and values that nothing in the call accepts."""
    for name, value in axes.items():
        users: list[type[Settings]] = [Protocol, Aggregate, *map(type, measures)]
        if any(part.accepts(name, value) for part in users):
            continue
        others = [cls for cls in MEASURES.values() if name in cls.parameters()]
        kinds = [part.parameters()[name].kind for part in users if name in part.parameters()]
        if kinds:
            hint = f"{name} is " + ", or ".join(dict.fromkeys(kind.words for kind in kinds))
            raise UsageError(f"{name} cannot be {value!r} here", hint)
        if others:
            names = ", ".join(cls.__name__ for cls in others)
            hint = f"add a measure that has it ({names}), or leave it out"
            raise UsageError(f"none of these measures has the axis {name!r}", hint)
        raise no_axis(name)


def axis_names() -> dict[str, None]:
    """Return the name of every axis."""
    own = (key for cls in MEASURES.values() for key in cls.parameters())
    return dict.fromkeys([*Protocol.parameters(), *Aggregate.parameters(), *own])


def no_axis(name: str) -> UsageError:
    """Report an unknown axis and suggest the nearest name."""
    return UsageError(f"there is no axis {name!r}", nearest(name, axis_names()))


class Measured(NamedTuple):
    """A measure's value for every judged query, which of them count, and the aggregate.

    `gaps` marks the queries for which the formula is undefined, whatever replaces the value.
    """

    values: Floats
    counted: Bools
    gaps: Bools
    aggregate: float


def measured(instrument: Instrument, placements: Placements) -> Measured:
    """Apply an instrument to placements."""
    computed = instrument.measure.computed(placements)
    return settled(instrument, computed, placements.counting, Asked.of(placements))


def settled(instrument: Instrument, computed: Floats, counted: Bools, asked: Asked) -> Measured:
    """Make values of what a formula computed, and aggregate those that count."""
    measure, aggregate = instrument.measure, instrument.aggregate
    gaps, values = np.isnan(computed), aggregate.each(measure.settled(computed, asked))
    if measure.if_undefined == "skip":
        counted = counted & ~gaps
    if aggregate.weights is None:
        return Measured(values, counted, gaps, aggregate.of(values[counted]))
    counted = _weighing(aggregate.weights, asked.queries, counted)
    named = chosen(asked.queries, counted)
    return Measured(values, counted, gaps, aggregate.of(values[counted], named))


#: Placements with ties in another order, by protocol, order, and what documents are worth.
Retied = dict[tuple[Protocol, str, bytes], Placements]


def retied(instrument: Instrument, ranked: Ranked, how: str, known: Retied) -> Measured:
    """Measure with every tie ordered by what the measure rewards: ``best`` or ``worst`` first.

    Whole lists are ordered, and then cut: a depth may divide a tie, and what a protocol takes out
    may stand in one. A budget is spent before anything is ordered, so it stays. Measures that
    reward the same share placements: those that are `known`.
    """
    protocol = instrument.protocol
    whole = protocol.whole()
    if protocol.ties in ("error", "expected"):  # which need, or refuse, an order of their own
        whole = replace(whole, ties="docid-desc")
    if protocol.budget is not None:
        whole = replace(whole, depth=protocol.depth)
    placements = ranked[whole]
    worth = instrument.measure.worth(placements)
    key = protocol, how, worth.tobytes()
    if key not in known:
        ordered = replace(placements.retied(how, worth), protocol=protocol)
        known[key] = limited(ordered, protocol)
    return measured(instrument, known[key])


def chosen(queries: Sequence[str], mask: Bools) -> tuple[str, ...]:
    """Return the queries that a mask selects."""
    return tuple(compress(queries, mask.tolist()))


def _weighing(weights: Weights, queries: Sequence[str], counted: Bools) -> Bools:
    """Mark the counted queries whose weight is above 0."""
    weighing = counted.copy()
    weighing[counted] = np.greater(weights.of(chosen(queries, counted)), 0)
    if counted.any() and not weighing.any():
        hint = "give at least one judged query of the run a weight above 0"
        Faults(weights.name).fail("bad-weight", "all queries that count have weight 0", hint)
    return weighing


def typed_axes(settings: Iterable[str]) -> dict[str, str]:
    """Read ``AXIS=VALUE`` words, as people type them.

    >>> typed_axes(["ties=docid-asc", "gain=exp2"])
    {'ties': 'docid-asc', 'gain': 'exp2'}
    """
    axes: dict[str, str] = {}
    for word in settings:
        name, sign, value = word.partition("=")
        if not sign or not name or not value:
            raise UsageError(f"--set {word!r} cannot be read", "write --set AXIS=VALUE")
        if name in axes:
            raise UsageError(f"--set {name} is given twice", "give each axis once")
        if name not in axis_names():  # before it is taken for an argument with that name
            raise no_axis(name)
        axes[name] = value
    return axes
