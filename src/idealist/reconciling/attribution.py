"""Attribution: the gap between two conventions, divided among the axes in which they differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from idealist.conventions import Convention
from idealist.conventions import convention as find_convention
from idealist.conventions.axis_words import meaning
from idealist.conventions.signature import Signature
from idealist.data import Qrels, Run
from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.formats import borrowed_run, read_qrels
from idealist.measures import Measure, as_measure
from idealist.measures.instrument import Instrument, check_axes
from idealist.notation import text
from idealist.reconciling.attributed import Attribution, LeftOut, Share, Side
from idealist.reconciling.axes import Axis, differing, registry
from idealist.reconciling.axis_facts import Facts
from idealist.reconciling.game import Game, rounded, shapley

__all__ = ["Attribution", "attribute"]

#: Every axis doubles the work.
MOST_AXES = 12
#: How many queries are named for an axis, and the effect that is one.
NAMED, SOME = 3, 1e-12


def attribute(
    qrels: Any,
    run: Any,
    measure: Any,
    a: str | Convention | Instrument,
    b: str | Convention | Instrument,
    **axes: Any,
) -> Attribution:
    """Say why two conventions give one run different values.

    The gap is divided among the axes in which they differ, by exact Shapley values: what each
    change adds, averaged over all orders in which A's rules can be changed to B's. Beside it stand
    the effect of the change alone, from A, and as the last one, to B. `axes` set single rules for
    both. An axis that cannot matter on this data has exactly 0; one that refuses to measure it is
    left out, and reported. Rounding is no axis; it has what remains.

    >>> qrels = {"q1": {"d1": 3, "d2": 1, "d3": 2}}
    >>> found = attribute(qrels, {"q1": ["d2", "d1"]}, "nDCG@10", "trec_eval", "lightgbm")
    >>> {one.axis: round(one.shapley, 4) for one in found.shares if one.shapley}
    {'nDCG.gain': -0.0589, 'nDCG.ideal': 0.1612}
    """
    asked = as_measure(measure)
    check_axes(axes, [asked])
    instruments = [_instrument(one, asked, axes) for one in (a, b)]
    judged, ranked = read_qrels(qrels), borrowed_run(run).held()
    names = [_name(one, side) for one, side in ((a, "A"), (b, "B"))]
    return _attributed(judged, ranked, asked, instruments, names, _notes([a, b], asked))


def _instrument(
    given: str | Convention | Instrument, measure: Measure, axes: dict[str, Any]
) -> Instrument:
    if not isinstance(given, Instrument):
        return find_convention(given).instrument(measure, axes)
    if axes:
        raise UsageError("an instrument has every axis set", "leave out " + ", ".join(axes))
    if type(given.measure) is not type(measure):
        hint = "give instruments of the measure that is asked for"
        raise UsageError(f"an instrument is for {given.measure.name}, not {measure.name}", hint)
    return given


def _name(given: str | Convention | Instrument, side: str) -> str:
    return side if isinstance(given, Instrument) else find_convention(given).name


def _notes(given: list[Any], measure: Measure) -> tuple[str, ...]:
    found = [find_convention(one) for one in given if not isinstance(one, Instrument)]
    return tuple(
        f"{one.tool} does not compute {measure.name}; these would be its rules"
        for one in found
        if not one.has(measure)
    )


def _attributed(
    qrels: Qrels,
    run: Run,
    measure: Measure,
    instruments: list[Instrument],
    names: list[str],
    notes: tuple[str, ...],
) -> Attribution:
    a, b = instruments
    found, facts = differing(a, b), Facts(qrels, run, a, b)
    reasons = {axis.name: reason for axis in found if (reason := facts.reason(axis))}
    game = Game.of(qrels, run, a, b, _tried(found, reasons))
    shares = _played(game, qrels, a, b) | {
        axis.name: Share(*_sides(axis, a, b), 0.0, 0.0, 0.0, meaning(axis.name), reason=why)
        for axis in found
        if (why := reasons.get(axis.name))
    }
    ends = [_end(game, one, side, qrels) for side, one in enumerate((a, b))]
    values, exact, refuses = zip(*ends, strict=True)
    signatures = [Signature.of(one, qrels.hash) for one in (a, b)]
    sides = list(map(Side, names, values, signatures, refuses))
    return Attribution(
        run=run.name,
        measure=str(measure),
        a=sides[0],
        b=sides[1],
        shares=tuple(shares[axis.name] for axis in found if axis.name in shares),
        left_out=tuple(
            LeftOut(*_sides(game.axes[i], a, b), "ab"[side], game.refusal(i))
            for i, side in sorted(game.held.items())
        ),
        rest=(exact[1] - exact[0]) - float(game.values[-1] - game.values[0]),
        rounding=(values[1] - exact[1]) - (values[0] - exact[0]),
        rounds=(text(a.aggregate.round), text(b.aggregate.round)),
        registry=tuple(axis.name for axis in registry(a.measure)),
        queries=len(qrels.queries),
        notes=notes,
    )


def _tried(found: tuple[Axis, ...], reasons: dict[str, str]) -> tuple[Axis, ...]:
    """Give the axes that might matter; too many are refused."""
    tried = tuple(axis for axis in found if axis.name not in reasons)
    if len(tried) > MOST_AXES:
        hint = f"at most {MOST_AXES} can be divided; set some for both, such as ties=docid-desc"
        listed = ", ".join(axis.name for axis in tried)
        raise UsageError(f"{len(tried)} axes differ: {listed}", hint)
    return tried


def _end(game: Game, instrument: Instrument, side: int, qrels: Qrels) -> tuple[float, float, bool]:
    """Give the value of a convention, the same not rounded, and whether it refuses the data.

    Where it does, the value is that of the nearest rules that do not: the end of the game.
    """
    whole, played = -side % len(game.outcomes), int(game.subsets[-side])
    refuses = isinstance(game.outcomes[whole], Exception)
    made, found = game.found(played if refuses else whole)
    aggregate = replace(made.aggregate, round=instrument.aggregate.round)
    return rounded(aggregate, found, qrels.queries), found.aggregate, refuses


def _played(game: Game, qrels: Qrels, a: Instrument, b: Instrument) -> dict[str, Share]:
    values, last = game.values, len(game.values) - 1
    totals, by_query = shapley(values[:, None]), shapley(game.queries)
    return {
        axis.name: Share(
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
    """Give the queries that are moved most."""
    most = np.argsort(-np.abs(effects), kind="stable")[:NAMED].tolist()
    return {qrels.queries[i]: float(effects[i]) for i in most if abs(effects[i]) > SOME}
