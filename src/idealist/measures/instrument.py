"""An instrument: a measure with every parameter set, its protocol and its aggregate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.data.queries import Weights
from idealist.errors import Faults, UsageError, nearest
from idealist.measures import MEASURES, Measure
from idealist.measures.aggregate import Aggregate
from idealist.notation import Settings
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements


@dataclass(frozen=True)
class Instrument:
    """All that decides a number, apart from the judgments and the run."""

    measure: Measure
    protocol: Protocol
    aggregate: Aggregate

    @classmethod
    def of(cls, measure: Measure, *layers: Mapping[str, Any]) -> Instrument:
        """Set up a measure under layers of axes: a later one wins, the measure over all."""
        own: dict[str, Any] = {}
        protocol: dict[str, Any] = {}
        aggregate: dict[str, Any] = {"aggregate": measure.aggregate}
        for axes in layers:
            for part, chosen in zip(
                (own, protocol, aggregate), route(type(measure), axes), strict=True
            ):
                part.update(chosen)
        return cls(measure.filled(own), Protocol(**protocol), Aggregate(**aggregate))

    def weighted(self, weights: Weights | None) -> Instrument:
        """Weigh the queries where their mean is taken; a sum or a median stays what it is."""
        if weights is None or self.aggregate.aggregate != "mean":
            return self
        return replace(self, aggregate=replace(self.aggregate, weights=weights))


def route(
    cls: type[Measure], axes: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Divide axes among a measure, a protocol and an aggregate; those of other measures are left.

    An axis of one name in two places goes where its value has a meaning: ``negative=keep`` is a
    measure's, ``negative=drop`` a protocol's.
    """
    own: dict[str, Any] = {}
    protocol: dict[str, Any] = {}
    aggregate: dict[str, Any] = {}
    for name, value in axes.items():
        if cls.accepts(name, value):
            own[name] = value
        elif Protocol.accepts(name, value):
            protocol[name] = value
        elif Aggregate.accepts(name, value):
            aggregate[name] = value
        elif not any(other.accepts(name, value) for other in MEASURES.values()):
            raise UsageError(f"{name}={value} is a rule of nothing", "see the reference of axes")
    return own, protocol, aggregate


def check_axes(axes: Mapping[str, Any], measures: Collection[Measure]) -> None:
    """Refuse axes that do not exist, and values that nothing in the call can take."""
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
            hint = f"ask for one that has it ({names}), or leave it out"
            raise UsageError(f"none of the measures has the axis {name!r}", hint)
        raise no_axis(name)


def axis_names() -> dict[str, None]:
    """Name every axis there is."""
    own = (key for cls in MEASURES.values() for key in cls.parameters())
    return dict.fromkeys([*Protocol.parameters(), *Aggregate.parameters(), *own])


def no_axis(name: str) -> UsageError:
    """Say that there is no such axis, and which was perhaps meant."""
    return UsageError(f"there is no axis {name!r}", nearest(name, axis_names()))


class Measured(NamedTuple):
    """A measure's value for every judged query, which of them count, and their aggregate.

    `gaps` says where the formula has no value, whatever stands for it.
    """

    values: Floats
    counted: Bools
    gaps: Bools
    aggregate: float


def measured(instrument: Instrument, placements: Placements) -> Measured:
    """Measure placements."""
    measure, aggregate = instrument.measure, instrument.aggregate
    computed = measure.computed(placements)
    gaps, counted = np.isnan(computed), placements.counting
    values = aggregate.each(measure.settled(computed, placements))
    if measure.if_undefined == "skip":
        counted = counted & ~gaps
    if aggregate.weights is None:
        return Measured(values, counted, gaps, aggregate.of(values[counted]))
    counted = _weighing(aggregate.weights, placements.qrels.queries, counted)
    named = chosen(placements.qrels.queries, counted)
    return Measured(values, counted, gaps, aggregate.of(values[counted], named))


def chosen(queries: Sequence[str], mask: Bools) -> tuple[str, ...]:
    """Name the queries of a mask."""
    return tuple(compress(queries, mask.tolist()))


def _weighing(weights: Weights, queries: Sequence[str], counted: Bools) -> Bools:
    """Say which of the counted queries weigh anything."""
    weighing = counted.copy()
    weighing[counted] = np.greater(weights.of(chosen(queries, counted)), 0)
    if counted.any() and not weighing.any():
        hint = "give a query that is judged, and in the run, a weight above 0"
        Faults(weights.name).fail("bad-weight", "all queries that count have the weight 0", hint)
    return weighing
