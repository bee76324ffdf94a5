"""The game whose players are axes: the aggregate under every subset of the changes from A to B."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np

from idealist.data.columns import Bools, Floats, Ints
from idealist.errors import IdealistError, UsageError
from idealist.measures import Measure
from idealist.measures.instrument import Aggregate, Instrument, Measured, measured
from idealist.notation import text
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked

#: The parts of an instrument that have axes.
Part = Literal["measure", "protocol", "aggregate"]
#: Fields that only mean something together: the limit and whether it is itself relevant, a
#: collapse and its map, a weighted mean and its weights.
TOGETHER = {"rel": ("rel", "rel_op"), "collapse": ("collapse", "mapping")}
TOGETHER |= {"aggregate": ("aggregate", "weights")}


@dataclass(frozen=True)
class Axis:
    """One rule: its name as signatures have it, the part of an instrument and the fields it is."""

    name: str
    part: Part
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
    found = [Axis("cutoff", "measure", ("cutoff",))]
    parts: dict[Part, Any] = {"measure": measure, "protocol": Protocol(), "aggregate": Aggregate()}
    for part, settings in parts.items():
        for name in settings.parameters():
            fields = [one for one in TOGETHER.get(name, (name,)) if hasattr(settings, one)]
            prefix = f"{measure.name}." if part == "measure" else ""
            found.append(Axis(prefix + name, part, tuple(fields)))
    return tuple(axis for axis in found if axis.fields[0] not in ("rel_op", "round"))


def differing(a: Instrument, b: Instrument) -> tuple[Axis, ...]:
    """Return the axes in which two instruments differ."""
    return tuple(axis for axis in registry(a.measure) if axis.of(a) != axis.of(b))


def changed(a: Instrument, b: Instrument, axes: Iterable[Axis]) -> Instrument:
    """Build A with some axes as B has them."""
    parts: dict[str, dict[str, Any]] = {"measure": {}, "protocol": {}, "aggregate": {}}
    for axis in axes:
        parts[axis.part] |= axis.of(b)
    return Instrument(**{name: replace(getattr(a, name), **own) for name, own in parts.items()})


T = TypeVar("T")
#: What a subset of the changes gives: its instrument and values, or why there are none.
Outcome = tuple[Instrument, Measured] | IdealistError


@dataclass(frozen=True)
class Game:
    """Every subset of the changes, as a number: bit i says that axis i is as in B.

    `held` fixes axes, by their index, on A's side (0) or B's (1).
    """

    axes: tuple[Axis, ...]
    outcomes: Sequence[Outcome]
    held: Mapping[int, int]

    @classmethod
    def of(cls, ranked: Ranked, a: Instrument, b: Instrument, axes: tuple[Axis, ...]) -> Game:
        """Measure under every subset of the changes; hold the axes that make some impossible."""
        a, b = (replace(one, aggregate=replace(one.aggregate, round="none")) for one in (a, b))
        subsets = [
            [axis for i, axis in enumerate(axes) if subset >> i & 1]
            for subset in range(1 << len(axes))
        ]
        made = [_tried(changed, a, b, subset) for subset in subsets]
        placed = ranked.tried(one.protocol for one in made if isinstance(one, Instrument))
        outcomes = [_tried(_measured, one, placed) for one in made]
        refused = np.array([isinstance(one, IdealistError) for one in outcomes])
        if refused.all() and isinstance(outcomes[0], IdealistError):
            raise outcomes[0]
        return cls(axes, outcomes, _holding(refused, axes, a, b))

    @cached_property
    def players(self) -> tuple[Axis, ...]:
        """The axes that are played, in their order."""
        return tuple(axis for i, axis in enumerate(self.axes) if i not in self.held)

    @cached_property
    def subsets(self) -> Ints:
        """The subsets that are played, counted by the players."""
        fixed = sum(side << i for i, side in self.held.items())
        free = [1 << i for i in range(len(self.axes)) if i not in self.held]
        masks = np.full(1 << len(free), fixed)
        for i, bit in enumerate(free):
            masks += bit * (np.arange(len(masks)) >> i & 1)
        return masks

    def found(self, subset: int) -> tuple[Instrument, Measured]:
        """Return the instrument of a subset and its values; raise the error if it has none."""
        return _good(self.outcomes[subset])

    @cached_property
    def values(self) -> Floats:
        """The aggregate of each subset that is played."""
        return np.array([self.found(subset)[1].aggregate for subset in self.subsets.tolist()])

    @cached_property
    def queries(self) -> Floats:
        """The value of every query in each subset that is played.

        A query that does not count gets the aggregate as its value, so that the mean over all
        queries is the aggregate if that is a mean; in a sum it gets 0.
        """
        return np.array([_standing(*self.found(subset)) for subset in self.subsets.tolist()])

    def refusal(self, i: int) -> str:
        """Say why an axis is held: the error that it raises otherwise."""
        side = self.held[i]
        wrong = (
            one
            for subset, one in enumerate(self.outcomes)
            if subset >> i & 1 != side and isinstance(one, IdealistError)
        )
        return next(wrong).message.splitlines()[0]


def shapley(values: Floats) -> Floats:
    """Compute each player's Shapley value: what it adds, averaged over all orders of the players.

    Formula: φ_i = Σ_S |S|! (d-|S|-1)! / d! (v(S ∪ i) - v(S)) over the subsets S without i

    `values` has a row for each subset, whose bits say which of the d players are in it, and a
    column for each game that is played at once.

    >>> shapley(np.array([[0.0], [1.0], [3.0], [6.0]])).tolist()
    [[2.0], [4.0]]

    Reference: Shapley 1953, doi:10.1515/9781400881970-018
    """
    count = len(values).bit_length() - 1
    subsets = np.arange(len(values))
    sizes = np.array([subset.bit_count() for subset in subsets.tolist()])
    weight = np.array([1.0 / (count * math.comb(count - 1, size)) for size in range(count)])
    shares = np.zeros((count, values.shape[1]))
    for i in range(count):
        without = subsets[subsets >> i & 1 == 0]
        added = weight[sizes[without], None] * (values[without | 1 << i] - values[without])
        shares[i] = (added + added[::-1]).sum(axis=0) / 2  # the same, but for the sign, from B to A
    return shares


def _tried(make: Callable[..., T], *given: Any) -> T | IdealistError:
    """Return what a function makes, or the error that it raises."""
    try:
        return make(*given)
    except IdealistError as error:
        return error


def _good(found: T | IdealistError) -> T:
    """Return what was made; raise the error if it was not."""
    if isinstance(found, IdealistError):
        raise found
    return found


def _measured(
    made: Instrument | IdealistError, placed: Mapping[Protocol, Placements | IdealistError]
) -> tuple[Instrument, Measured]:
    instrument = _good(made)
    found = measured(instrument, _good(placed[instrument.protocol]))
    if math.isnan(found.aggregate):
        raise UsageError(f"{instrument.measure.name} has no value for some query, or no query")
    return instrument, found


def _standing(instrument: Instrument, found: Measured) -> Floats:
    nowhere = 0.0 if instrument.aggregate.aggregate == "sum" else found.aggregate
    return np.where(found.counted, found.values, nowhere)


def _holding(refused: Bools, axes: Sequence[Axis], a: Instrument, b: Instrument) -> dict[int, int]:
    """Choose axes to hold until no subset is refused, each where it costs the least.

    The choice does not depend on which of the two is A: it leaves the side with most refusals, then
    keeps most subsets, then follows the order of the axes and that of the values as text.
    """
    held: dict[int, int] = {}
    subsets, left = np.arange(len(refused)), np.ones(len(refused), dtype=bool)
    while (refused & left).any():
        choices = []
        for i, axis in enumerate(axes):
            for side, one in enumerate((a, b)):
                kept = left & (subsets >> i & 1 == side)
                if i not in held and (kept & ~refused).any():
                    wrong, fine = (kept & refused).sum(), (kept & ~refused).sum()
                    choices.append((wrong, -fine, i, axis.written(one), side))
        *_, i, _, side = min(choices)
        held[i] = side
        left &= subsets >> i & 1 == side
    return held
