"""Shapes: each mark of a figure as an SVG path, grouped, with what is said of it and its link."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from idealist.rendering.drawing.lettering import safe, width
from idealist.rendering.drawing.palette import ink
from idealist.rendering.drawing.ruler import Ruler
from idealist.rendering.figure import Area, Box, Dot, Line, Look, Mark, Note, Shape, Span, Tone

#: A mark narrower than this cannot be pointed at, and among more than so many none can be found:
#: such marks have neither tooltip nor link, and a table says what they are.
POINTABLE, MOST = 0.5, 2500

#: Half the size of a dot, and of the ends of an interval.
RADIUS, END = 3.5, 3.5

#: Lines of runs differ in their dashes as well as in their colours.
DASHES = {"2": "7 3", "3": "2 3", "4": "8 3 2 3", "6": "4 3", "7": "1 4", "8": "9 3 2 3 2 3"}

Link = Callable[[str], str]


def number(value: float) -> str:
    """Write a coordinate with as few characters as it needs."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text.replace("0.", ".", 1) if abs(value) < 1 else text


def place(*values: float) -> str:
    """Write coordinates, with a blank between them where it is needed."""
    first, *rest = map(number, values)
    return first + "".join(text if text.startswith("-") else f" {text}" for text in rest)


@dataclass(frozen=True)
class Pen:
    """Draws the marks of one figure on its two rulers; `link` gives the address of a query."""

    x: Ruler
    y: Ruler
    link: Link

    def draw(self, marks: Sequence[Mark]) -> str:
        """Draw marks in their order; neighbours that look alike share a group."""
        many = sum(1 for mark in marks if mark.label or mark.query) > MOST
        drawn = [(mark, self.path(mark)) for mark in marks if not isinstance(mark, Note)]
        told = [
            (looks(mark), not many and self.pointable(mark), mark, path)
            for mark, path in drawn
            if path
        ]
        groups = groupby(told, key=lambda one: one[:2])
        return "".join(
            self.group(look, pointed, [(mark, path) for *_, mark, path in group])
            for (look, pointed), group in groups
        )

    def group(self, look: str, pointed: bool, marks: Iterable[tuple[Mark, str]]) -> str:
        """Draw marks that look alike: one by one, or as one path where none is pointed at."""
        if pointed:
            inner = "".join(self.pointed(mark, path) for mark, path in marks)
        else:
            inner = f'<path d="{"".join(path for _, path in marks)}"/>'
        return f"<g {look}>{inner}</g>"

    def pointable(self, mark: Mark) -> bool:
        """Tell whether a mark says something or leads somewhere, and can be pointed at."""
        if isinstance(mark, Box):
            wide = abs(self.x(mark.x1) - self.x(mark.x0))
            return bool(mark.label or self.address(mark)) and wide >= POINTABLE
        return bool(mark.label or self.address(mark))

    def address(self, mark: Mark) -> str:
        """Return where a mark leads, if anywhere."""
        return self.link(mark.query) if mark.query else ""

    def pointed(self, mark: Mark, path: str) -> str:
        """Draw a mark that can be pointed at or followed."""
        title = f"<title>{safe(mark.label or mark.query)}</title>"
        address = self.address(mark)
        if address:
            return f'<a href="{safe(address)}">{title}<path d="{path}"/></a>'
        return f'<path d="{path}">{title}</path>'

    def path(self, mark: Mark) -> str:
        """Return the path of a mark; one without a place has none."""
        match mark:
            case Box():
                return self.box(mark)
            case Dot():
                return dot(self.x(mark.x), self.y(mark.y), mark.shape, mark.size)
            case Line():
                return "".join(map(joined, self.pieces(mark.points)))
            case Area():
                return self.area(mark)
            case Span():
                return self.span(mark)
        return ""

    def box(self, box: Box) -> str:
        """Return the path of a rectangle."""
        left, right = sorted((self.x(box.x0), self.x(box.x1)))
        top, bottom = sorted((self.y(box.y0), self.y(box.y1)))
        if any(map(math.isnan, (left, right, top, bottom))):
            return ""
        wide, high = number(right - left), number(bottom - top)
        return f"M{place(left, top)}h{wide}v{high}h{number(left - right)}z"

    def pieces(self, points: Iterable[tuple[float, float]]) -> Iterator[list[tuple[float, float]]]:
        """Place the points of a line, in pieces between those that have no place."""
        placed = [(self.x(x), self.y(y)) for x, y in points]
        for lost, piece in groupby(placed, key=lambda at: math.isnan(at[0]) or math.isnan(at[1])):
            if not lost:
                yield list(piece)

    def area(self, area: Area) -> str:
        """Return the path of an area: along its upper line, and back along its lower one."""
        points = [point for point in area.points if not any(map(math.isnan, point))]
        upper = [(self.x(x), self.y(high)) for x, _, high in points]
        lower = [(self.x(x), self.y(low)) for x, low, _ in reversed(points)]
        return f"{joined(upper + lower)}z" if points else ""

    def span(self, span: Span) -> str:
        """Return the path of an interval; an end that lies beyond the axis has no stop."""
        x0, x1, y0, y1 = self.x(span.x0), self.x(span.x1), self.y(span.y0), self.y(span.y1)
        if any(map(math.isnan, (x0, x1, y0, y1))):
            return ""
        path = f"M{place(x0, y0)}L{place(x1, y1)}"
        if span.y0 == span.y1:
            ends = [x for x, value in ((x0, span.x0), (x1, span.x1)) if self.x.holds(value)]
            return path + "".join(f"M{place(x, y0 - END)}v{number(2 * END)}" for x in ends)
        ends = [y for y, value in ((y0, span.y0), (y1, span.y1)) if self.y.holds(value)]
        return path + "".join(f"M{place(x0 - END, y)}h{number(2 * END)}" for y in ends)


def joined(points: Sequence[tuple[float, float]]) -> str:
    """Return the path through points; a single one is a point."""
    first, *rest = [place(x, y) for x, y in points]
    return f"M{first}" + ("L" + " ".join(rest) if rest else "h0")


def dot(x: float, y: float, shape: Shape, size: float = 1.0) -> str:
    """Return the path of a dot, so many times as wide as usual."""
    if math.isnan(x) or math.isnan(y):
        return ""
    r = RADIUS * size
    match shape:
        case "up":
            return f"M{place(x, y - 4 * size)}l{place(4 * size, 7 * size)}h{number(-8 * size)}z"
        case "down":
            return f"M{place(x, y + 4 * size)}l{place(4 * size, -7 * size)}h{number(-8 * size)}z"
        case "square":
            side = number(6 * size)
            return f"M{place(x - 3 * size, y - 3 * size)}h{side}v{side}h-{side}z"
        case "diamond":
            d = 4.5 * size
            return f"M{place(x, y - d)}l{place(d, d)} {place(-d, d)} {place(-d, -d)}z"
    turn = f"a{number(r)} {number(r)} 0 1 0"
    return f"M{place(x - r, y)}{turn} {number(2 * r)} 0{turn}{number(-2 * r)} 0z"


def looks(mark: Mark) -> str:
    """Return the attributes that marks which look alike share."""
    match mark:
        case Box(shade=float() | int() as shade):
            return _shaded(mark.tone, shade)
        case Box() | Area(tone="win" | "loss" | "same"):
            return filled(mark.tone)
        case Area():
            return f'class="il-box il-{mark.tone} il-band"'
        case Line():
            return stroked(mark.tone, mark.dashed)
    return f'class="il-{type(mark).__name__.lower()} il-{mark.tone}"'


def _shaded(tone: Tone, shade: float) -> str:
    """Return the attributes of a cell, which is empty where nothing is known."""
    if math.isnan(shade):
        return 'class="il-none il-quiet"'
    shown, strength = shaded(tone, shade)
    return f'class="il-box il-{shown}" fill-opacity="{number(strength)}"'


def shaded(tone: Tone, shade: float) -> tuple[Tone, float]:
    """Return the tone of a cell, and how strong it is."""
    return "loss" if shade < 0 else tone, min(1.0, abs(shade))


def filled(tone: Tone) -> str:
    """Return the attributes of what is filled; if it is quiet it is pale."""
    return f'class="il-box il-{tone}{" il-band" if tone == "quiet" else ""}"'


def stroked(tone: Tone, dashed: bool) -> str:
    """Return the attributes of a line; those of runs have dashes of their own."""
    if dashed or tone not in DASHES:
        return f'class="il-line il-{tone}{" il-dashed" if dashed else ""}"'
    return f'class="il-line il-{tone}" stroke-dasharray="{DASHES[tone]}"'


def written(text: str, x: float, y: float, look: str = "", full: str = "") -> str:
    """Write words at a place; `full` is said where they are shortened."""
    title = f"<title>{safe(full)}</title>" if full and full != text else ""
    classes = f' class="{look}"' if look else ""
    return f'<text x="{number(x)}" y="{number(y)}"{classes}>{title}{safe(text)}</text>'


def inscribed(box: Box, pen: Pen, size: float, look: Look) -> str:
    """Write the words of a box into it: all of them, or the last, or none, as there is room."""
    left, right = sorted((pen.x(box.x0), pen.x(box.x1)))
    top, bottom = sorted((pen.y(box.y0), pen.y(box.y1)))
    room = right - left + 0.25 * size if bottom - top >= 0.85 * size else 0.0
    texts = (box.text, box.text.rpartition(" ")[2])
    text = next((one for one in texts if width(one, size) <= room), "")
    if not text:
        return ""
    words = f"il-middle {_ink(box, look)}".rstrip()
    return written(text, (left + right) / 2, (top + bottom) / 2 + size * 0.35, words)


def _ink(box: Box, look: Look) -> str:
    """Return the class of words in a box."""
    if box.shade is not None and not math.isnan(box.shade):
        return ink(look, *shaded(box.tone, box.shade))
    return "" if box.tone == "quiet" else f"il-on-{box.tone}"
