"""An instrument: a measure with every parameter set, with its protocol and aggregate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from idealist.aggregate import Aggregate
from idealist.errors import UsageError, nearest
from idealist.measures import MEASURES, Measure
from idealist.protocol import Protocol


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
        elif name in Aggregate.parameters():
            aggregate[name] = value
        elif name in cls.parameters():
            own[name] = value  # the measure will say why it cannot take it
        elif not any(other.accepts(name, value) for other in MEASURES.values()):
            protocol[name] = value  # the protocol will
    return own, protocol, aggregate


def check_axes(axes: Mapping[str, Any], measures: Collection[Measure]) -> None:
    """Refuse axes that do not exist or that none of the measures has."""
    general = Protocol.parameters().keys() | Aggregate.parameters().keys()
    for name in axes:
        if name in general or any(name in measure.parameters() for measure in measures):
            continue
        known = {key for cls in MEASURES.values() for key in cls.parameters()}
        if name in known:
            hint = "ask for a measure that has it, or leave it out"
            raise UsageError(f"none of the measures has the axis {name!r}", hint)
        raise UsageError(f"there is no axis {name!r}", nearest(name, general | known))
