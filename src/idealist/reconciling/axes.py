"""The registry of axes: every rule in which two instruments for one measure can differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from idealist.measures import Measure
from idealist.measures.aggregate import Aggregate
from idealist.measures.instrument import Instrument
from idealist.notation import text
from idealist.protocol import Protocol

#: Fields that only mean something together: the limit and whether it is itself relevant, a
#: collapse and its map, a weighted mean and its weights.
TOGETHER = {"rel": ("rel", "rel_op"), "collapse": ("collapse", "mapping")}
TOGETHER |= {"aggregate": ("aggregate", "weights")}


@dataclass(frozen=True)
class Axis:
    """One rule: its name as signatures have it, the part of an instrument and the fields it is."""

    name: str
    part: Literal["measure", "protocol", "aggregate"]
    fields: tuple[str, ...]

    def of(self, instrument: Instrument) -> dict[str, Any]:
        """Return the fields of an instrument that are this rule."""
        part = getattr(instrument, self.part)
        return {name: getattr(part, name) for name in self.fields}

    def written(self, instrument: Instrument) -> str:
        """Write the rule of an instrument.

        >>> from idealist.conventions import convention
        >>> from idealist.measures import parse
        >>> Axis("AP.rel", "measure", ("rel", "rel_op")).written(
        ...     convention("lightgbm").instrument(parse("AP"))
        ... )
        '>0.5'
        """
        values = self.of(instrument)
        value = values[self.fields[0]]
        return f"{values.get('rel_op', '')}{'none' if value is None else text(value)}"


def registry(measure: Measure) -> tuple[Axis, ...]:
    """Return the axes of a measure in their fixed order: its own, the protocol's, the aggregate's.

    Rounding is not an axis: it comes last, and what it does depends on everything before it.

    >>> from idealist.measures import parse
    >>> [axis.name for axis in registry(parse("ERR"))][:4]
    ['cutoff', 'ERR.max_grade', 'ERR.probability', 'ERR.no_relevant']
    """
    own = [name for name in measure.parameters() if name != "rel_op"]
    graded = "rel_op" in measure.parameters()
    return (
        Axis("cutoff", "measure", ("cutoff",)),
        *(
            Axis(f"{measure.name}.{name}", "measure", _fields(name) if graded else (name,))
            for name in own
        ),
        *(Axis(name, "protocol", _fields(name)) for name in Protocol.parameters()),
        *(
            Axis(name, "aggregate", _fields(name))
            for name in Aggregate.parameters()
            if name != "round"
        ),
    )


def _fields(name: str) -> tuple[str, ...]:
    return TOGETHER.get(name, (name,))


def differing(a: Instrument, b: Instrument) -> tuple[Axis, ...]:
    """Return the axes in which two instruments differ."""
    return tuple(axis for axis in registry(a.measure) if axis.of(a) != axis.of(b))


def changed(a: Instrument, b: Instrument, axes: Iterable[Axis]) -> Instrument:
    """Build A with some axes as B has them."""
    parts: dict[str, dict[str, Any]] = {"measure": {}, "protocol": {}, "aggregate": {}}
    for axis in axes:
        parts[axis.part] |= axis.of(b)
    return Instrument(
        replace(a.measure, **parts["measure"]),
        replace(a.protocol, **parts["protocol"]),
        replace(a.aggregate, **parts["aggregate"]),
    )
