"""Attribution: the gap between two conventions, divided among the axes in which they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from idealist.conventions import Convention
from idealist.conventions import convention as find_convention
from idealist.conventions.signature import Signature, meaning
from idealist.data import Qrels
from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.formats import borrowed_run, read_qrels
from idealist.measures import Measure, as_measure
from idealist.measures.instrument import Instrument, check_axes, chosen
from idealist.notation import text
from idealist.ranking.ranked import Ranked
from idealist.reconciling.facts import Pair
from idealist.reconciling.game import Axis, Game, differing, registry, shapley
from idealist.rendering.document import (
    SIGNED,
    TEXT,
    Column,
    Details,
    Document,
    Items,
    Signatures,
    Table,
    Text,
)
from idealist.rendering.result import Result
from idealist.rendering.wording import number, signed

__all__ = ["Attribution", "attribute"]

#: How one of the two sides can be given.
Given = str | Convention | Instrument
#: Every axis doubles the work.
MOST_AXES = 12
#: How many queries are named for an axis, and the least effect that counts as one.
NAMED, SOME = 3, 1e-12


@dataclass(frozen=True)
class Side:
    """One of the two conventions: its name, its value, rounded and `exact`, and its signature.

    One that `refuses` the data has no value; that of the nearest rules that do not is used instead.
    """

    name: str
    value: float
    exact: float
    signature: Signature
    refuses: bool = False

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "name": self.name, "value": self.value, "refuses": self.refuses,
            "signature": str(self.signature),
        }  # fmt: skip


@dataclass(frozen=True)
class Share:
    """What the change of one axis does: its share of the gap, its effect alone and as the last.

    `queries` holds those it moves most, with their own Shapley values; `reason` says why the axis
    cannot matter, if it cannot.
    """

    axis: str
    before: str
    after: str
    shapley: float
    alone: float
    last: float
    meaning: str
    queries: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""

    def __str__(self) -> str:
        moved = ", ".join(f"{query} {signed(effect)}" for query, effect in self.queries.items())
        return f"{self.axis}: {self.meaning}; moves {f'most: {moved}' if moved else 'no query'}"


@dataclass(frozen=True)
class LeftOut:
    """An axis held as A or B has it, because the data cannot be measured otherwise."""

    axis: str
    before: str
    after: str
    held: str
    reason: str

    def __str__(self) -> str:
        kept = self.before if self.held == "a" else self.after
        return f"{self.axis}: left out, {kept} on both sides, because otherwise: {self.reason}"


@dataclass(frozen=True, repr=False)
class Attribution(Result):
    """The gap between the values of two conventions, divided among the axes that differ.

    The Shapley values of the `shares`, `rest` (what axes that had to be left out do, if both
    conventions have a value all the same) and `rounding` add up to the gap. Where queries are
    averaged, the mean of the queries' Shapley values is the axis's; a query that does not count
    has the mean as its value.
    """

    run: str
    measure: str
    a: Side
    b: Side
    shares: tuple[Share, ...]
    left_out: tuple[LeftOut, ...]
    rest: float
    rounding: float
    rounds: tuple[str, str]
    registry: tuple[str, ...]
    queries: int
    notes: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """The value of B less that of A."""
        return self.b.value - self.a.value

    @property
    def summary(self) -> str:
        """Both values, the gap, and the axis with the largest share."""
        a, b = (f"{one.name} {number(one.value)}" for one in (self.a, self.b))
        moving = (one for one in self.shares if one.shapley)
        top = max(moving, key=lambda one: abs(one.shapley), default=None)
        largest = f"; largest share: {top.axis}, {signed(top.shapley)}" if top else ""
        return f"{self.measure} of {self.run}: {a}, {b}, gap {signed(self.gap)}{largest}"

    def report(self) -> Document:
        """Describe the gap: the share of each axis, what it means, and what cannot matter."""
        sides = (self.a, self.b)
        effects = ("Shapley", "alone", "last")
        rows = [row[:6] for row in self.table().rows if not row[-1]]  # those that could matter
        blocks = (
            Text(self.summary, strong=True),
            Table.of(["axis", *(one.name for one in sides)], effects, rows, SIGNED),
            Items(tuple(self._words())),
            Details("Axes", (Text(f"axes compared: {' '.join(self.registry)}; then round"),)),
        )
        signatures = Signatures(tuple(one.signature.by(one.name) for one in sides))
        return Document(blocks, (*map(Text, self.notes), signatures))

    def _words(self) -> Iterator[str]:
        """Say what each axis does, and which cannot do anything here."""
        yield from (str(one) for one in self.shares if not one.reason)
        yield from map(str, self.left_out)
        for reason in dict.fromkeys(one.reason for one in self.shares if one.reason):
            axes = ", ".join(one.axis for one in self.shares if one.reason == reason)
            yield f"{axes}: cannot matter here, as {reason}"
        for one in (self.a, self.b):
            if one.refuses:
                yield f"{one.name} refuses this data; the nearest rules that do not give its value"

    def table(self) -> Table:
        """Return a row for each axis, for what was left out, for rounding, and for the gap."""
        words = [Column(name, TEXT) for name in ("axis", "before", "after", "meaning", "reason")]
        effects = [Column(name, SIGNED) for name in ("shapley", "alone", "last")]
        columns = (*words[:3], *effects, *words[3:])
        rows: list[dict[str, Any]] = [asdict(one) for one in self.shares]
        if self.rest:
            names = ", ".join(one.axis for one in self.left_out)
            rows.append({"axis": f"left out: {names}", "shapley": self.rest})
        if set(self.rounds) != {"none"}:
            before, after = self.rounds
            rounding = {"axis": "round", "before": before, "after": after}
            rows.append(rounding | {"shapley": self.rounding, "meaning": meaning("round")})
        rows.append({"axis": "gap", "shapley": self.gap})
        return Table(columns, tuple(tuple(row.get(c.name) for c in columns) for row in rows))

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "run": self.run,
            "measure": self.measure,
            "a": self.a.data(),
            "b": self.b.data(),
            "gap": self.gap,
            "queries": self.queries,
            "axes": [asdict(one) for one in self.shares],
            "left_out": [asdict(one) for one in self.left_out],
            "rest": self.rest,
            "rounding": {"before": self.rounds[0], "after": self.rounds[1], "share": self.rounding},
            "registry": list(self.registry),
            "notes": list(self.notes),
        }


def attribute(
    qrels: Any,
    run: Any,
    measure: Any,
    a: Given,
    b: Given,
    **axes: Any,
) -> Attribution:
    """Say why two conventions give one run different values.

    The gap is divided among the axes in which they differ, by exact Shapley values: what each
    change adds, averaged over all orders in which A's rules can be changed to B's. Two more effects
    are given: of the change alone, from A, and as the last one, to B. `axes` sets single rules for
    both. An axis that cannot matter on this data has a share of exactly 0; one with which the data
    cannot be measured is left out, and reported. Rounding is not an axis; it gets what remains.

    >>> qrels = {"q1": {"d1": 3, "d2": 1, "d3": 2}}
    >>> found = attribute(qrels, {"q1": ["d2", "d1"]}, "nDCG@10", "trec_eval", "lightgbm")
    >>> {one.axis: round(one.shapley, 4) for one in found.shares if one.shapley}
    {'nDCG.gain': -0.0589, 'nDCG.ideal': 0.1612}
    """
    asked = as_measure(measure)
    check_axes(axes, [asked])
    first, second = (_instrument(one, asked, axes) for one in (a, b))
    ranked = Ranked(read_qrels(qrels), borrowed_run(run))
    found, pair = differing(first, second), Pair.of(ranked, first, second)
    reasons = {axis: reason for axis in found if (reason := pair.reason(axis))}
    game = Game.of(ranked, first, second, _tried(found, reasons))
    shares = _played(game, ranked.qrels, first, second) | {
        axis: Share(*_sides(axis, first, second), 0.0, 0.0, 0.0, meaning(axis.name), reason=why)
        for axis, why in reasons.items()
    }
    before = _side(_name(a, "A"), first, game, 0, ranked.qrels)
    after = _side(_name(b, "B"), second, game, 1, ranked.qrels)
    return Attribution(
        run=ranked.run.name,
        measure=str(asked),
        a=before,
        b=after,
        shares=tuple(shares[axis] for axis in found if axis in shares),
        left_out=tuple(
            LeftOut(*_sides(game.axes[i], first, second), "ab"[side], game.refusal(i))
            for i, side in sorted(game.held.items())
        ),
        rest=(after.exact - before.exact) - float(game.values[-1] - game.values[0]),
        rounding=(after.value - after.exact) - (before.value - before.exact),
        rounds=(text(first.aggregate.round), text(second.aggregate.round)),
        registry=tuple(axis.name for axis in registry(first.measure)),
        queries=len(ranked.qrels.queries),
        notes=tuple(_notes([a, b], asked)),
    )


def _instrument(given: Given, measure: Measure, axes: dict[str, Any]) -> Instrument:
    if not isinstance(given, Instrument):
        return find_convention(given).instrument(measure, axes)
    if axes:
        raise UsageError("an instrument has every axis set", "leave out " + ", ".join(axes))
    if type(given.measure) is not type(measure):
        hint = "give instruments for the measure that you ask for"
        raise UsageError(f"an instrument is for {given.measure.name}, not {measure.name}", hint)
    return given


def _name(given: Given, side: str) -> str:
    return side if isinstance(given, Instrument) else find_convention(given).name


def _notes(given: list[Any], measure: Measure) -> Iterator[str]:
    for one in (find_convention(one) for one in given if not isinstance(one, Instrument)):
        if not one.has(measure):
            yield f"{one.tool} does not compute {measure.name}; these would be its rules"


def _tried(found: tuple[Axis, ...], reasons: Mapping[Axis, str]) -> tuple[Axis, ...]:
    """Return the axes that might matter; refuse too many."""
    tried = tuple(axis for axis in found if axis not in reasons)
    if len(tried) > MOST_AXES:
        hint = f"at most {MOST_AXES} can differ; set some for both, such as ties=docid-desc"
        listed = ", ".join(axis.name for axis in tried)
        raise UsageError(f"{len(tried)} axes differ: {listed}", hint)
    return tried


def _side(name: str, instrument: Instrument, game: Game, side: int, qrels: Qrels) -> Side:
    """Find the value of A (0) or B (1); if it refuses the data, that of the nearest rules."""
    whole, played = -side % len(game.outcomes), int(game.subsets[-side])
    refuses = isinstance(game.outcomes[whole], Exception)
    made, found = game.found(played if refuses else whole)
    aggregate = replace(made.aggregate, round=instrument.aggregate.round)
    values, named = aggregate.each(found.values), chosen(qrels.queries, found.counted)
    value = aggregate.of(values[found.counted], named)
    return Side(name, value, found.aggregate, Signature.of(instrument, qrels.hash), refuses)


def _played(game: Game, qrels: Qrels, a: Instrument, b: Instrument) -> dict[Axis, Share]:
    values, last = game.values, len(game.values) - 1
    totals, by_query = shapley(values[:, None]), shapley(game.queries)
    return {
        axis: Share(
            *_sides(axis, a, b),
            float(totals[i, 0]),
            float(values[1 << i] - values[0]),
            float(values[last] - values[last ^ (1 << i)]),
            meaning(axis.name),
            queries=_moved(by_query[i], qrels),
        )
        for i, axis in enumerate(game.players)
    }


def _sides(axis: Axis, a: Instrument, b: Instrument) -> tuple[str, str, str]:
    return axis.name, axis.written(a), axis.written(b)


def _moved(effects: Floats, qrels: Qrels) -> dict[str, float]:
    """Return the queries that are moved most."""
    most = np.argsort(-np.abs(effects), kind="stable")[:NAMED].tolist()
    return {qrels.queries[i]: float(effects[i]) for i in most if abs(effects[i]) > SOME}
