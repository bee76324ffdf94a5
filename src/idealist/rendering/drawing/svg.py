"""Figures as SVG: the one place that draws them, whatever they show.

A drawing holds classes and presentation attributes only: no script, no handler and no style
attribute, so that the strictest content policy shows it. `palette` has the style sheet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

from idealist.rendering.drawing import lettering
from idealist.rendering.drawing.arrangement import GAP, STEP, STEPS, Arrangement, sample_room
from idealist.rendering.drawing.labels import labelled
from idealist.rendering.drawing.lettering import fitted, safe
from idealist.rendering.drawing.palette import SIZE, TITLE, class_of, style
from idealist.rendering.drawing.ruler import Tick
from idealist.rendering.drawing.shapes import (
    Link,
    Pen,
    dot,
    filled,
    inscribed,
    looks,
    number,
    place,
    stroked,
    written,
)
from idealist.rendering.figure import Box, Figure, Key, Tone

__all__ = ["draw", "style"]


def draw(figure: Figure, *, styled: bool = True, link: Link | None = None) -> str:
    """Draw a figure; `styled` puts its style sheet into it.

    `link` gives the address of a query, or nothing: a mark of that query then leads there.
    """
    picture = _Picture(figure)
    body = "".join(picture.parts(link or (lambda _: "")))
    name = f"il-{crc32(safe(figure.title + body).encode()):08x}"
    sheet = f"<style>{style(figure.look)}</style>" if styled else ""
    told = "\n".join(filter(None, (figure.says, figure.note)))
    words = (
        f'<title id="{name}">{safe(figure.title)}</title><desc id="{name}-says">{safe(told)}</desc>'
    )
    role = "group" if "<a href" in body else "img"  # pictures have no parts that can be followed
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="il-figure {class_of(figure.look)}" '
        f'role="{role}" aria-labelledby="{name}" aria-describedby="{name}-says" {picture.extent}>'
        f"{words}{sheet}{body}</svg>"
    )


@dataclass(frozen=True)
class _Picture(Arrangement):
    """Draws what stands where, from the back to the front."""

    def parts(self, link: Link) -> Iterator[str]:
        """Draw everything."""
        pen = Pen(self.x, self.y, link)
        yield f'<path class="il-back" d="M0 0h{number(self.width)}v{number(self.height)}H0z"/>'
        yield from self.words()
        yield from self.keys()
        yield from self.grid()
        yield from self.tick_words()
        yield pen.draw(self.figure.marks)
        for mark in self.figure.marks:
            if isinstance(mark, Box) and mark.text:
                yield inscribed(mark, pen, self.em, self.figure.look)
        yield from labelled(self)

    def words(self) -> Iterator[str]:
        """Write the title, the names of the axes, and the note."""
        high = self.line * TITLE / SIZE
        for at, text in enumerate(self.title):
            yield written(text, GAP, GAP + (at + 0.8) * high, "il-title", self.figure.title)
        x, y = self.figure.x.label, self.figure.y.label
        if y:
            room = self.width - 2 * GAP
            yield written(fitted(y, self.em, room), GAP, self.top - GAP - 0.25 * self.line, "", y)
        if x:
            text = fitted(x, self.em, self.width - 2 * GAP)
            half = lettering.width(text, self.em) / 2 + GAP
            middle = min(max((self.left + self.right) / 2, half), self.width - half)
            yield written(text, middle, self.below + 0.8 * self.line, "il-middle", x)
        for below, text in zip(reversed(range(len(self.foot))), self.foot, strict=True):
            yield written(text, GAP, self.height - GAP - below * self.line, "il-note")

    def keys(self) -> Iterator[str]:
        """Draw the legend."""
        top = self.heading - len(self.legend) * self.line - GAP / 2
        for row, keys in enumerate(self.legend):
            y = top + (row + 0.5) * self.line
            for x, key in keys:
                text = fitted(key.text, self.em, self.key_room)
                at = x + sample_room(key)
                yield sample(key, x, y) + written(text, at, y + 0.35 * SIZE, "", key.text)

    def grid(self) -> Iterator[str]:
        """Draw lines at the numbers of an axis, and a stronger one where it is zero."""
        upright = [self.x(tick.value) for tick in self.x_ticks if not self.figure.x.names]
        level = [self.y(tick.value) for tick in self.y_ticks if not self.figure.y.names]
        high, wide = self.bottom - self.top, self.right - self.left
        paths = [f"M{place(at, self.top)}v{number(high)}" for at in upright]
        paths += [f"M{place(self.left, at)}h{number(wide)}" for at in level]
        if paths:
            yield f'<path class="il-grid" d="{"".join(paths)}"/>'
        zero = ""
        if not self.figure.x.names and not self.x.log and self.x.holds(0):
            zero += f"M{place(self.x(0), self.top)}v{number(high)}"
        if not self.figure.y.names and not self.y.log and self.y.holds(0):
            zero += f"M{place(self.left, self.y(0))}h{number(wide)}"
        if zero:
            yield f'<path class="il-axis" d="{zero}"/>'

    def tick_words(self) -> Iterator[str]:
        """Write what stands at the axes."""
        room = self.left - 2 * GAP
        for tick in self.y_ticks:
            text, y = fitted(tick.text, self.em, room), self.y(tick.value) + 0.35 * SIZE
            yield written(text, self.left - GAP, y, "il-end", tick.text)
        for tick in self.x_ticks:
            x = self.x(tick.value)
            yield self.rising(tick, x) if self.slanted else self.upright(tick, x)

    def upright(self, tick: Tick, x: float) -> str:
        """Write a name or a number below the plot."""
        room = self.name_room if self.figure.x.names else self.width / 2
        text, y = fitted(tick.text, self.em, room), self.bottom + GAP / 2 + 0.8 * self.line
        return written(text, x, y, "il-middle", tick.text)

    def rising(self, tick: Tick, x: float) -> str:
        """Write a name below the plot, rising towards its place."""
        words = written(self.slanting(tick), 0, 0, "il-end", tick.text)
        corner = place(x + 0.3 * SIZE, self.bottom + GAP + 0.3 * SIZE)
        return f'<g transform="translate({corner}) rotate(-45)">{words}</g>'


def sample(key: Key, x: float, y: float) -> str:
    """Draw the sample of a key."""
    match key.sample:
        case "box":
            return f'<path {filled(key.tone)} d="M{place(x, y - 5)}h14v10h-14z"/>'
        case "ramp":
            return ramp(key.tone, x, y - 5)
        case "line" | "dashed":
            look = stroked(key.tone, key.sample == "dashed")
            return f'<path {look} d="M{place(x, y)}h16"/>'
    return f'<path class="il-dot il-{key.tone}" d="{dot(x + 8, y, key.sample)}"/>'


def ramp(tone: Tone, x: float, y: float) -> str:
    """Draw cells of a tone from none to full, within a frame."""
    cells = [Box(0, 0, 0, 0, at / (STEPS - 1), tone=tone) for at in range(STEPS)]
    drawn = [
        f'<path {looks(cell)} d="M{place(x + STEP * at, y)}h{STEP}v10h-{STEP}z"/>'
        for at, cell in enumerate(cells)
    ]
    frame = f"M{place(x, y)}h{STEP * STEPS}v10h-{STEP * STEPS}z"
    return f'{"".join(drawn)}<path class="il-none il-quiet" d="{frame}"/>'
