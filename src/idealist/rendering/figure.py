"""Figures: pictures as values. Results make them, `svg` draws them; nothing is computed here.

A figure is two axes and marks in the units of the data. What a mark means is said by a `tone`, a
name that each theme has a colour for, and never by that alone: shape, place or words say it too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from idealist import files
from idealist.rendering import document as doc
from idealist.rendering.document import VALUE, Document, Format, Table
from idealist.rendering.plain_data import flat, record
from idealist.rendering.result import Result

#: What a mark says by its colour: how a query ended; a reference; or the place in a row of runs.
Tone = Literal[
    "win", "loss", "same", "accent", "quiet", "1", "2", "3", "4", "5", "6", "7", "8"
]  # fmt: skip
#: The shapes of dots, which say again what their tone says.
Shape = Literal["circle", "up", "down", "square", "diamond"]


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, or with a band for each of its `names`: the first is 0 to 1.

    Bands of an upright axis go from the top down, as rows do.
    """

    label: str
    low: float = 0.0
    high: float = 1.0
    names: tuple[str, ...] = ()
    log: bool = False
    format: Format = VALUE


@dataclass(frozen=True)
class Mark:
    """A mark: its tone, what is said of it where it is pointed at, and the query that it is."""

    tone: Tone = field(default="accent", kw_only=True)
    label: str = field(default="", kw_only=True)
    query: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class Box(Mark):
    """A rectangle: a bar, a part of a stack, a band behind other marks, a cell; pale if quiet.

    A cell has a `shade`, from 0 (none) to 1 (full), or from -1 where 0 is the middle; `text` is
    written into it, or its last word, where there is room.
    """

    x0: float
    x1: float
    y0: float
    y1: float
    shade: float | None = None
    text: str = ""


@dataclass(frozen=True)
class Dot(Mark):
    """A dot; one that stands for several is so many times as wide, by `size`."""

    x: float
    y: float
    shape: Shape = "circle"
    size: float = 1.0


@dataclass(frozen=True)
class Line(Mark):
    """A line through points; its end may carry its name, where there is room. NaN interrupts it."""

    points: tuple[tuple[float, float], ...]
    dashed: bool = False
    name: str = ""


@dataclass(frozen=True)
class Area(Mark):
    """What lies between two lines over the same places: (x, low, high).

    It is pale, unless its tone says how queries ended: then it outlines bars.
    """

    points: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Span(Mark):
    """An interval with ends: horizontal where both `y` are the same, upright where both `x` are."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True)
class Note(Mark):
    """Words at a place; `side` says on which side of it they stand."""

    x: float
    y: float
    text: str
    side: Literal["left", "right", "middle"] = "right"


@dataclass(frozen=True)
class Key:
    """A line of the legend: what it says, of which tone, and how its sample looks."""

    text: str
    tone: Tone
    sample: Literal["box", "ramp", "line", "dashed", Shape] = "box"


@dataclass(frozen=True)
class Look:
    """How a figure is drawn: for a screen, `auto` follows its theme; for print, so wide in mm."""

    theme: Literal["auto", "light", "dark", "print"] = "auto"
    width_mm: float | None = None
    serif: bool = False


@dataclass(frozen=True, repr=False)
class Figure(Result):
    """A picture of a result: it shows itself in a notebook, and `save` writes it to a file.

    `says` tells in one sentence what it shows, `note` what was binned or left out; `rows` is the
    same for those who read tables, and programs. `aspect` is height over width of the plot.
    """

    kind: str
    title: str
    says: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    rows: Table
    keys: tuple[Key, ...] = ()
    note: str = ""
    aspect: float = 0.5
    look: Look = Look()

    @property
    def summary(self) -> str:
        """What it shows, in one sentence."""
        return self.says

    def report(self) -> Document:
        """Describe it: the picture, what it shows, and the numbers behind it."""
        return Document((doc.Drawing(self), doc.Details("The numbers", (self.rows,))))

    def table(self) -> Table:
        """Return the numbers that it shows."""
        return self.rows

    def data(self) -> dict[str, Any]:
        """Return what it shows as plain data."""
        headers, rows = flat(self.rows)
        named = [record(dict(zip(headers, row, strict=True))) for row in rows]
        facts = {"kind": self.kind, "title": self.title, "says": self.says, "note": self.note}
        return {**facts, "rows": named}

    def save(self, path: str | Path) -> None:
        """Write it to a file: a picture as .svg, .pdf or .png, or in any form of other results."""
        from idealist.rendering.drawing.pictures import picture

        drawn = picture(self, path)
        if drawn is None:
            super().save(path)
        else:
            files.write(path, drawn)

    def printed(self, width_mm: float = 84.0, *, serif: bool = False) -> Figure:
        """Prepare it for paper: black on white, exactly so wide, 84 mm for a column of two."""
        return replace(self, look=Look("print", width_mm, serif))
