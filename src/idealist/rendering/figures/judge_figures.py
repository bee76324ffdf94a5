"""Figures of two judges: the grades of one by those of the other, and the means of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter

from idealist.rendering.document import COUNT, SHARE, SIGNED, TEXT, VALUE, Column, Table
from idealist.rendering.figure import Axis, Box, Dot, Figure, Key, Line
from idealist.rendering.scales import axis_ends
from idealist.rendering.wording import counted, number, signed, told

#: The room around the dots, as a share of the axis.
MARGIN = 0.04


def confusion(
    judges: tuple[str, str], grades: Sequence[str], counts: Sequence[Sequence[int]]
) -> Figure:
    """Draw how often two judges gave each two grades: a row is a grade of the first.

    The shade of a cell is its share of the row, so that rare grades can be seen too.
    """
    a, b = map(told, judges)
    totals = [sum(row) for row in counts]
    cells, rows = [], []
    for y, row in enumerate(counts):
        for x, count in enumerate(row):
            share = count / totals[y] if totals[y] else 0.0
            label = (
                f"{a} {grades[y]}, {b} {grades[x]}: {count:,} ({share:.0%} of {a}'s {grades[y]})"
            )
            ends = x + 0.02, x + 0.98, y + 0.02, y + 0.98
            cells.append(Box(*ends, share, f"{count:,}", label=label))
            rows.append((grades[y], grades[x], count, share))
    columns = (
        Column(a, TEXT),
        Column(b, TEXT),
        Column("pairs", COUNT),
        Column(f"share of {a}'s", SHARE),
    )
    return Figure(
        kind="confusion",
        title=f"Grades of {a} and of {b}",
        says=_confusion_said(a, b, grades, counts),
        x=Axis(f"grade of {b}", names=tuple(grades)),
        y=Axis(f"grade of {a}", names=tuple(grades)),
        marks=tuple(cells),
        rows=Table(columns, tuple(rows)),
        keys=(Key(f"share of the pairs that {a} gave this grade, 0 to 1", "accent", "ramp"),),
        aspect=max(0.3, min(0.8, 0.12 * len(grades))),
    )


def _confusion_said(a: str, b: str, grades: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    total = sum(map(sum, counts))
    if not total:
        return f"{a} and {b} have judged no pair in common."
    places = [(x, y) for y in range(len(grades)) for x in range(len(grades)) if x != y]
    same = sum(counts[i][i] for i in range(len(grades)))
    pairs = counted(total, "pair", "pairs")
    said = f"{a} and {b} give the same grade to {same / total:.0%} of {pairs}"
    if same == total:
        return f"{said}."
    x, y = max(places, key=lambda place: counts[place[1]][place[0]])
    most = f"{a} says {grades[y]} and {b} {grades[x]} ({counts[y][x]:,})"
    return f"{said}; most often they differ where {most}."


def systems(
    measure: str, judges: tuple[str, str], means: Sequence[tuple[str, float, float]],
    *, tau: float, sense: int = 1,
) -> Figure:  # fmt: skip
    """Draw the mean of each run by the second judge against that by the first."""
    a, b = map(told, judges)
    known = [row for row in means if math.isfinite(row[1]) and math.isfinite(row[2])]
    ends = axis_ends((value for _, *both in known for value in both), zero=False)
    room = MARGIN * (ends[1] - ends[0])
    low, high = ends[0] - room, ends[1] + room
    dots = [
        Dot(x, y, label=f"{told(run)}: {number(x)} by {a}, {number(y)} by {b} ({signed(y - x)})")
        for run, x, y in known
    ]
    diagonal = Line(((low, low), (high, high)), True, tone="quiet", label="the same by both")
    names = ("run", TEXT), (f"by {a}", VALUE), (f"by {b}", VALUE), ("difference", SIGNED)
    rows = tuple((run, x, y, y - x) for run, x, y in means)
    return Figure(
        kind="systems",
        title=f"{measure} of the systems by {a} and by {b}",
        says=_systems_said(measure, (a, b), known, tau, sense),
        x=Axis(f"{measure} by {a}", low, high),
        y=Axis(f"{measure} by {b}", low, high),
        marks=(diagonal, *dots),
        rows=Table(tuple(Column(*one) for one in names), rows),
        keys=(Key("system", "accent", "circle"), Key("the same by both", "quiet", "dashed")),
        aspect=0.8,
    )


def _systems_said(
    measure: str, judges: tuple[str, str], known: Sequence[tuple[str, float, float]], tau: float,
    sense: int,
) -> str:  # fmt: skip
    if not known:
        return f"No run has a mean {measure}."
    (a, b), best = judges, max if sense >= 0 else min
    first, second = (best(known, key=itemgetter(place))[0] for place in (1, 2))
    who = f"{told(first)} is best by both"
    if first != second:
        who = f"{told(first)} is best by {a}, {told(second)} by {b}"
    apart = math.fsum(y - x for _, x, y in known) / len(known)
    word = "lower" if apart < 0 else "higher"
    order = "" if math.isnan(tau) else f"tau {number(tau, 2)}; "
    runs = counted(len(known), "system", "systems")
    means = f"means are {number(abs(apart))} {word} by {b} on average"
    return f"{runs}, {measure}: {order}{who}; {means}."
