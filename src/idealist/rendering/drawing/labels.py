"""Labels: words among the marks, at the ends of lines and at places, clear of each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from idealist.rendering.drawing import lettering
from idealist.rendering.drawing.arrangement import DASH, GAP, Arrangement
from idealist.rendering.drawing.lettering import fitted
from idealist.rendering.drawing.palette import SIZE
from idealist.rendering.drawing.shapes import Pen, number, place, stroked, written
from idealist.rendering.figure import Line, Note


class Label(NamedTuple):
    """Words that begin at `x`, with their middle at `y`; `full` is what was shortened."""

    x: float
    y: float
    text: str
    full: str
    wide: float

    def drawn(self) -> str:
        """Write them, with a halo that keeps lines away."""
        return written(self.text, self.x, self.y + 0.35 * SIZE, "il-halo", self.full)

    def covers(self, other: Label, high: float) -> bool:
        """Tell whether both share some place; each is so high."""
        beside = self.x >= other.x + other.wide or other.x >= self.x + self.wide
        return abs(self.y - other.y) < high and not beside


def labelled(at: Arrangement) -> Iterator[str]:
    """Draw all labels: names of lines with samples of these, then notes where there is room."""
    ends = sorted(_ends(at), key=lambda end: end[1])
    free = apart([y for _, y, _ in ends], 0.9 * at.line, at.top, at.bottom - 0.3 * at.size)
    taken: list[Label] = []
    for y, (x, own, line) in zip(free, ends, strict=True):
        leader = f"M{place(x, own)}L{place(x + GAP, y)}"
        yield f'<path class="il-leader il-{line.tone}" d="{leader}"/>'
        yield f'<path {stroked(line.tone, line.dashed)} d="M{place(x + GAP, y)}h{number(DASH)}"/>'
        start = x + GAP + DASH + GAP / 2
        taken.append(_label(at, start, y, line.name, at.width - start - GAP))
    for note in at.figure.marks:
        if isinstance(note, Note) and not math.isnan(at.x(note.x) + at.y(note.y)):
            choices = list(_choices(at, note))
            clear = (one for one in choices if not any(one.covers(own, at.size) for own in taken))
            taken.append(next(clear, choices[0]))
    yield from (label.drawn() for label in taken)


def _ends(at: Arrangement) -> Iterator[tuple[float, float, Line]]:
    """Yield where lines that carry a name end."""
    for line in at.lines:
        for piece in list(Pen(at.x, at.y, str).pieces(line.points))[-1:]:
            yield *piece[-1], line


def _choices(at: Arrangement, note: Note) -> Iterator[Label]:
    """Yield where a note could stand: as it asks, on another side, or a little higher or lower."""
    room = at.width - 2 * GAP
    wide = lettering.width(fitted(note.text, at.em, room), at.em)
    x, y = at.x(note.x), at.y(note.y)
    starts = {"right": x + GAP, "left": x - GAP - wide, "middle": x - wide / 2}
    for down in (0.0, at.line, -at.line):
        for start in (starts[note.side], *starts.values()):
            inside = min(max(start, GAP), at.width - GAP - wide)
            level = min(max(y + down, at.size), at.height - at.size)
            yield _label(at, inside, level, note.text, room)


def _label(at: Arrangement, x: float, y: float, full: str, room: float) -> Label:
    text = fitted(full, at.em, room)
    return Label(x, y, text, full, lettering.width(text, at.em))


def apart(wanted: Sequence[float], high: float, top: float, bottom: float) -> list[float]:
    """Move places down until they are so far apart, then up until none is below the bottom.

    >>> apart([10, 11, 50], 5, 0, 52)
    [10, 15, 50]
    """
    if not wanted:
        return []
    high = min(high, (bottom - top) / max(1, len(wanted) - 1))
    placed: list[float] = []
    for at in wanted:
        placed.append(max(at, placed[-1] + high) if placed else at)
    limit = bottom
    for at in reversed(range(len(placed))):
        placed[at] = min(placed[at], limit)
        limit = placed[at] - high
    return placed
