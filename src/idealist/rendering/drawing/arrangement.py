"""Arrangement: where title, legend, axes and words of a figure stand, so that nothing overlaps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from idealist.rendering.drawing import lettering
from idealist.rendering.drawing.lettering import fitted, lines
from idealist.rendering.drawing.palette import PHONE, SIZE, TITLE
from idealist.rendering.drawing.ruler import Ruler, Tick, ticks
from idealist.rendering.drawing.shapes import number
from idealist.rendering.figure import Figure, Key, Line

#: The width of a drawing for a screen. Words have 12 of these units, and 8 pt on paper.
WIDTH = 520.0
_UNITS_A_MM = SIZE / 8 * 72 / 25.4

#: Space between things; the room of a sample in the legend; what a name that rises by 45° needs in
#: height and width of its length.
GAP, SAMPLE, SLANT = 8.0, 22.0, math.sqrt(0.5)

#: The sample of a line beside its name: as long as the longest pattern of dashes.
DASH = 22.0

#: The width and number of the cells of a ramp in the legend.
STEP, STEPS = 10, 6

#: About so many numbers are written at an axis at most.
MOST_TICKS = 8

#: A band so many times as wide as letters are high has room for a shortened name.
ROOMY = 6

#: The height of a plot on a page of paper, in mm, that leaves room for what is around it.
PAGE_MM = 180.0

#: Up to so many rows each have room for their name, however low the plot would be otherwise.
MOST_ROWS = 120


def sample_room(key: Key) -> float:
    """Return the room of a key's sample."""
    return STEP * STEPS + GAP if key.sample == "ramp" else SAMPLE


@dataclass(frozen=True)
class Arrangement:
    """Where everything of a figure stands, from the top down and from the left to the right."""

    figure: Figure

    @cached_property
    def width(self) -> float:
        """The width of the drawing."""
        wide = self.figure.look.width_mm
        return WIDTH if wide is None else wide * _UNITS_A_MM

    @cached_property
    def size(self) -> float:
        """The size of words that there is room for: on a screen, that of a phone."""
        return SIZE if self.figure.look.theme == "print" else PHONE

    @cached_property
    def em(self) -> float:
        """The size that widths follow: serifs, and the fonts of paper, are narrower."""
        if self.figure.look.serif:
            return self.size * 0.83
        return self.size * (0.92 if self.figure.look.theme == "print" else 1.0)

    @cached_property
    def extent(self) -> str:
        """The attributes that say how large the drawing is."""
        wide, high = number(self.width), number(self.height)
        if self.figure.look.width_mm is None:
            size = f'width="{wide}" height="{high}"'
        else:
            high_mm = number(self.height / _UNITS_A_MM)
            size = f'width="{self.figure.look.width_mm:g}mm" height="{high_mm}mm"'
        return f'viewBox="0 0 {wide} {high}" {size}'

    # From the left to the right.

    @cached_property
    def y_ticks(self) -> list[Tick]:
        """What is written at the upright axis."""
        high = self.aspect * self.width * 0.8
        if self.figure.y.names:
            fitting = max(int(high / self.row), MOST_ROWS)
            return ticks(self.figure.y, int(min(fitting, self.tallest / self.row)))
        return ticks(self.figure.y, max(2, min(MOST_TICKS, int(high / (self.size * 2.2)))))

    @cached_property
    def tallest(self) -> float:
        """The most that a plot may be high: on paper, what a page has room for."""
        return math.inf if self.figure.look.theme != "print" else PAGE_MM * _UNITS_A_MM

    @cached_property
    def row(self) -> float:
        """The height that a row with a name needs."""
        return self.size * 1.2

    @cached_property
    def aspect(self) -> float:
        """The height of the plot over its width."""
        return min(max(self.figure.aspect, 0.05), 12.0)

    @cached_property
    def left(self) -> float:
        """Where the plot begins."""
        most = self.width * (0.36 if self.figure.y.names else 0.25)
        return GAP + min(most, self.widest(tick.text for tick in self.y_ticks)) + GAP

    @cached_property
    def right(self) -> float:
        """Where the plot ends: names of lines stand beyond it."""
        names = self.widest(line.name for line in self.lines)
        counts = [] if self.figure.x.names else range(2, MOST_TICKS + 1)  # whichever it will be
        half = self.widest(tick.text for n in counts for tick in ticks(self.figure.x, n)[-1:]) / 2
        beyond = (
            min(names, self.width * 0.3) + DASH + 2.5 * GAP
            if names
            else max(min(half + GAP / 2, self.width * 0.2), GAP)
        )
        return self.width - beyond

    def widest(self, texts: Iterable[str]) -> float:
        """Return the width of the widest of some texts."""
        return max(
            (lettering.width(lettering.one_line(text)[:80], self.em) for text in texts), default=0
        )

    @cached_property
    def lines(self) -> list[Line]:
        """The lines that carry a name."""
        return [mark for mark in self.figure.marks if isinstance(mark, Line) and mark.name.strip()]

    # From the top down.

    @cached_property
    def title(self) -> list[str]:
        """The lines of the title."""
        wide = self.width - 2 * GAP
        larger = self.em * lettering.BOLD * TITLE / SIZE
        return list(lines(self.figure.title, larger, wide, 3)) if self.figure.title else []

    @cached_property
    def legend(self) -> list[list[tuple[float, Key]]]:
        """The legend in rows, each key with where it begins."""
        rows: list[list[tuple[float, Key]]] = []
        at = math.inf
        for key in self.figure.keys:
            wide = sample_room(key) + lettering.width(
                fitted(key.text, self.em, self.key_room), self.em
            )
            if at + wide > self.width - GAP:
                rows.append([])
                at = GAP
            rows[-1].append((at, key))
            at += wide + 2 * GAP
        return rows

    @cached_property
    def key_room(self) -> float:
        """How wide the words of a key may be."""
        return self.width - 2 * GAP - max(map(sample_room, self.figure.keys), default=SAMPLE)

    @cached_property
    def line(self) -> float:
        """The height of a line of words."""
        return self.size * 1.3

    @cached_property
    def heading(self) -> float:
        """Where the title and the legend end."""
        title = len(self.title) * self.line * TITLE / SIZE
        gaps = GAP / 2 * (bool(self.title) + bool(self.legend))
        return GAP + title + len(self.legend) * self.line + gaps

    @cached_property
    def top(self) -> float:
        """Where the plot begins."""
        return self.heading + (self.line if self.figure.y.label else 0) + GAP

    @cached_property
    def bottom(self) -> float:
        """Where the plot ends."""
        rows = min(len(self.figure.y.names), MOST_ROWS)
        wanted = max(2 * self.size, (self.right - self.left) * self.aspect, rows * self.row)
        return self.top + min(wanted, self.tallest)

    @cached_property
    def x(self) -> Ruler:
        """The scale from the left to the right."""
        return Ruler(self.figure.x, self.left, self.right)

    @cached_property
    def y(self) -> Ruler:
        """The scale from the bottom up; bands go down, as rows do."""
        ends = (self.top, self.bottom) if self.figure.y.names else (self.bottom, self.top)
        return Ruler(self.figure.y, *ends)

    def x_ticks_of(self, wide: float) -> list[Tick]:
        """Return what is written below so wide a plot, where numbers stand side by side."""
        usual = ticks(self.figure.x, 6)
        room = self.widest(tick.text for tick in usual) + 2 * self.size
        return ticks(self.figure.x, max(2, int(min(MOST_TICKS, wide / room))))

    @cached_property
    def x_ticks(self) -> list[Tick]:
        """What is written below the plot."""
        wide = self.right - self.left
        if not self.figure.x.names:
            return self.x_ticks_of(wide)
        room = self.size * 1.5 if self.slanted else self.name_room + self.size / 2
        return ticks(self.figure.x, max(1, int(wide / room + 0.01)))

    @cached_property
    def band(self) -> float:
        """How wide the band of a name below the plot is."""
        return (self.right - self.left) / max(1, len(self.figure.x.names))

    @cached_property
    def name_room(self) -> float:
        """How wide names that stand side by side may be: as their bands, or all that they need."""
        need, own = self.widest(self.figure.x.names), self.band - self.size / 2
        return min(need, own) if own >= ROOMY * self.size else need

    @cached_property
    def slanted(self) -> bool:
        """Whether names below the plot are long, and their bands narrow."""
        return self.name_room > max(3 * self.size, self.band - self.size / 2)

    def slanting(self, tick: Tick) -> str:
        """Shorten a name that rises towards its place: none may leave the drawing."""
        return fitted(
            tick.text, self.em, min(self.width * 0.25, (self.x(tick.value) - GAP) / SLANT)
        )

    @cached_property
    def below(self) -> float:
        """Where the words at the lower axis end."""
        if not self.x_ticks:
            return self.bottom
        if self.slanted:
            longest = self.widest(map(self.slanting, self.x_ticks))
            return self.bottom + GAP + longest * SLANT + self.size * SLANT
        return self.bottom + GAP / 2 + self.line

    @cached_property
    def foot(self) -> list[str]:
        """The lines of the note."""
        note = " ".join(filter(None, (self.figure.note, self.unnamed)))
        return list(lines(note, self.em, self.width - 2 * GAP, 6)) if note else []

    @cached_property
    def unnamed(self) -> str:
        """Say how many rows have a name, where a page has no room for all."""
        rows, named = len(self.figure.y.names), len(self.y_ticks)
        return (
            f"{named} of {rows} rows have their name: draw fewer for all." if named < rows else ""
        )

    @cached_property
    def height(self) -> float:
        """The height of the drawing."""
        label = self.line if self.figure.x.label else 0
        return self.below + label + len(self.foot) * self.line + GAP * (1.5 if self.foot else 1)
