"""The figure of a click model: how often users look at each position."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from idealist.rendering.document import COUNT, SHARE, Column, Interval, Table
from idealist.rendering.figure import Area, Axis, Dot, Figure, Key, Line
from idealist.rendering.figures.curve_figures import whole_axis


class Look(NamedTuple):
    """How likely a position is looked at, with an interval or NaN; and its click rate."""

    position: int
    looked: float
    low: float
    high: float
    clicked: float


def examination(model: str, looks: Sequence[Look]) -> Figure:
    """Show how likely each position is looked at, and its click rate over that of the first."""
    first = looks[0].clicked
    rates = [one.clicked / first if first else math.nan for one in looks]
    band = tuple(
        (float(one.position), one.low, one.high) for one in looks if not math.isnan(one.low)
    )
    line = tuple((float(one.position), one.looked) for one in looks)
    clicked = tuple((float(one.position), rate) for one, rate in zip(looks, rates, strict=True))
    top = max([1.0, *(rate for rate in rates if not math.isnan(rate))])
    columns = (
        Column("position", COUNT), Column("looked at", SHARE), Column("95 % interval", SHARE),
        Column("click rate", SHARE), Column("over that of the first", SHARE),
    )  # fmt: skip
    cells = [
        (one.position, one.looked, Interval(one.low, one.high), one.clicked, rate)
        for one, rate in zip(looks, rates, strict=True)
    ]
    keys = [
        Key("looked at", "accent", "line"),
        Key("click rate, over that of the first", "2", "dashed"),
    ]
    keys += [Key("95 % interval", "quiet")] if band else []
    return Figure(
        kind="examination",
        title=f"How often each position is looked at, by {model}",
        says=said(looks),
        x=whole_axis("position", [one.position for one in looks]),
        y=Axis("share", 0.0, min(top, 1.25), format=SHARE),
        marks=(
            *([Area(band, tone="quiet")] if len(band) > 1 else []),
            Line(tuple((x, min(y, 1.25)) for x, y in clicked), tone="2", dashed=True),
            Line(line),
            *(Dot(*point, label=f"position {point[0]:.0f}: {SHARE(point[1])}") for point in line),
        ),
        rows=Table(columns, tuple(cells)),
        keys=tuple(keys),
        note="Clicks fall faster than looks where better documents stand first."
        if len(_known(looks)) > 1
        else "",
    )


def said(looks: Sequence[Look]) -> str:
    """Say how far down users look.

    >>> said([Look(1, 1.0, 1, 1, 0.4), Look(2, 0.6, 0.5, 0.7, 0.2), Look(3, 0.3, 0.2, 0.4, 0.1)])
    'Position 1 is looked at most, position 2 60.0% as often, position 3 30.0%.'
    """
    known = _known(looks)
    if len(known) < 2:
        return "Only one position is known: nothing can be said of how far users look."
    first = known[0]
    places = [one for one in known[1:] if one.position in (2, 3, 5, 10)] or known[-1:]
    words = [f"position {one.position} {SHARE(one.looked / first.looked)}" for one in places]
    words[0] += " as often"
    most = "most" if all(one.looked <= first.looked for one in known) else "first"
    return f"Position {first.position} is looked at {most}, {', '.join(words)}."


def _known(looks: Sequence[Look]) -> list[Look]:
    return [one for one in looks if not math.isnan(one.looked) and one.looked > 0]
