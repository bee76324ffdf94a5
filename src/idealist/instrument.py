"""An instrument: a measure with every parameter set, with its protocol and aggregate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from idealist.aggregate import Aggregate
from idealist.measures import Measure
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
        elif name in Protocol.parameters() and (
            name not in cls.parameters() or Protocol.accepts(name, value)
        ):
            protocol[name] = value
        elif name in Aggregate.parameters():
            aggregate[name] = value
        elif name in cls.parameters():
            own[name] = value  # the measure will say why it cannot take it
    return own, protocol, aggregate
