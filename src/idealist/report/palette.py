"""The palette: what each tone looks like in each theme, and the style sheet that says so.

Blue wins and vermilion loses, after Okabe and Ito; the colours of runs keep apart for readers who
confuse red and green. Tests compute all of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from idealist.report.figure import Look


@dataclass(frozen=True)
class Colours:
    """The colours of a theme; `cells` is how strongly full cells are painted, to be written on."""

    back: str
    text: str
    faint: str
    tones: dict[str, str]
    cells: float


LIGHT = Colours(
    back="#ffffff", text="#1f2328", faint="#d8dce1", cells=0.58,
    tones={
        "win": "#0072b2", "loss": "#d55e00", "same": "#757575", "accent": "#5b2a86",
        "quiet": "#6b7280", "1": "#0062e2", "2": "#f26000", "3": "#2da486", "4": "#9d3e8f",
        "5": "#731c0f", "6": "#2f99de", "7": "#4a2760", "8": "#b43b00",
    },
)  # fmt: skip
DARK = Colours(
    back="#14181d", text="#e6e8eb", faint="#343a42", cells=0.43,
    tones={
        "win": "#56b4e9", "loss": "#f58a3c", "same": "#9a9a9a", "accent": "#c9a6f5",
        "quiet": "#98a1ad", "1": "#5b8cff", "2": "#ff9a3c", "3": "#8fe3c4", "4": "#c0509a",
        "5": "#ffe14d", "6": "#b4cdff", "7": "#93999f", "8": "#b0623a",
    },
)  # fmt: skip
PRINT = Colours("#ffffff", "#000000", "#cccccc", LIGHT.tones, LIGHT.cells)

_SANS = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
_PRINT_SANS = "Helvetica, Arial, 'Liberation Sans', 'Nimbus Sans', 'DejaVu Sans', sans-serif"
_PRINT_SERIF = "'Times New Roman', Times, 'Liberation Serif', 'Nimbus Roman', 'DejaVu Serif', serif"

#: The size of words, and of those of a title, in the units of a drawing; on a phone they are
#: larger, and layouts leave room for that.
SIZE, TITLE, PHONE = 12, 14, 14.5

_SHAPES = (
    f".il-figure text{{font-size:{SIZE}px}}"
    f".il-figure .il-title{{font-size:{TITLE}px;font-weight:bold}}"
    ".il-halo{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}"
    ".il-end{text-anchor:end}.il-middle{text-anchor:middle}"
    ".il-box,.il-dot{fill:currentColor}"
    ".il-band{fill-opacity:.22}.il-dot{fill-opacity:.7}"
    ".il-line,.il-span,.il-dot,.il-none,.il-leader{stroke:currentColor}"
    ".il-line,.il-span,.il-none,.il-leader{fill:none}"
    ".il-line{stroke-width:2;stroke-linecap:round;stroke-linejoin:round}"
    ".il-span{stroke-width:1.6}.il-none{stroke-opacity:.5}"
    ".il-line.il-quiet{stroke-width:1.2;stroke-opacity:.6}"
    ".il-dashed{stroke-dasharray:5 4;stroke-width:1.5}"
)
_SCREEN = (
    ".il-figure{display:block;width:100%;height:auto;max-width:50rem}"
    ".il-figure a{color:inherit;cursor:pointer}.il-figure a:hover{opacity:.6}"
    ".il-figure a:focus-visible{outline:2px solid}"
    f"@media (max-width:30rem){{.il-figure text{{font-size:{PHONE}px}}"
    f".il-figure .il-title{{font-size:{PHONE + 1}px}}}}"
)


def style(look: Look | None = None) -> str:
    """Return the style sheet of all figures of a look, by default one that follows the theme."""
    look = Look() if look is None else look
    fonts = (_PRINT_SERIF if look.serif else _PRINT_SANS) if look.theme == "print" else _SANS
    colours = {"auto": LIGHT, "light": LIGHT, "dark": DARK, "print": PRINT}[look.theme]
    family = f".il-figure text{{font-family:{fonts}}}"
    sheet = "".join(_painted(colours)) + family + _SHAPES
    if look.theme == "print":
        return sheet
    night = "@media (prefers-color-scheme:dark){" + "".join(_painted(DARK)) + "}"
    return sheet + _SCREEN + (night if look.theme == "auto" else "")


def _painted(colours: Colours) -> Iterator[str]:
    yield f".il-back{{fill:{colours.back}}}.il-figure text{{fill:{colours.text}}}"
    yield f".il-halo{{stroke:{colours.back}}}"
    yield f".il-figure .il-note{{fill:{colours.tones['quiet']}}}"
    yield f".il-grid{{stroke:{colours.faint}}}.il-axis{{stroke:{colours.tones['quiet']}}}"
    for tone, colour in colours.tones.items():
        yield f".il-{tone}{{color:{colour}}}"
        yield f".il-figure .il-on-{tone}{{fill:{_readable(colour)}}}"
    yield f".il-cell{{opacity:{colours.cells}}}"


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG defines it, from 1 to 21.

    >>> contrast("#ffffff", "#000000")
    21.0
    """
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _readable(colour: str) -> str:
    return max("#ffffff", "#000000", key=lambda ink: contrast(ink, colour))
