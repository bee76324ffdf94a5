"""The palette: what each tone looks like in each theme, and the style sheet that says so.

Blue wins and vermilion loses, after Okabe and Ito; the colours of runs keep apart for readers who
confuse red and green. Tests compute all of that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from idealist.rendering.figure import Look


@dataclass(frozen=True)
class Colours:
    """The colours of a theme."""

    back: str
    text: str
    faint: str
    tones: dict[str, str]


LIGHT = Colours(
    back="#ffffff", text="#1f2328", faint="#d8dce1",
    tones={
        "win": "#0072b2", "loss": "#d55e00", "same": "#757575", "accent": "#5b2a86",
        "quiet": "#6b7280", "1": "#0062e2", "2": "#f26000", "3": "#2da486", "4": "#9d3e8f",
        "5": "#731c0f", "6": "#2f99de", "7": "#4a2760", "8": "#b43b00",
    },
)  # fmt: skip
DARK = Colours(
    back="#14181d", text="#e6e8eb", faint="#343a42",
    tones={
        "win": "#56b4e9", "loss": "#f58a3c", "same": "#9a9a9a", "accent": "#c9a6f5",
        "quiet": "#98a1ad", "1": "#5b8cff", "2": "#ff9a3c", "3": "#8fe3c4", "4": "#c0509a",
        "5": "#ffe14d", "6": "#b4cdff", "7": "#93999f", "8": "#b0623a",
    },
)  # fmt: skip
PRINT = Colours("#ffffff", "#000000", "#cccccc", {**LIGHT.tones, "quiet": "#404040"})
THEMES = {"auto": LIGHT, "light": LIGHT, "dark": DARK, "print": PRINT}

_SERIF = "'Times New Roman',Times,'Liberation Serif','Nimbus Roman','DejaVu Serif',serif"
_SANS = "Helvetica,Arial,'Liberation Sans','Nimbus Sans','DejaVu Sans',sans-serif"
_SCREEN_SANS = f"system-ui,-apple-system,'Segoe UI','Helvetica Neue',{_SANS}"

#: The size of words, and of those of a title, in the units of a drawing; on a phone they are
#: larger, and layouts leave room for that.
SIZE, TITLE, PHONE = 12, 14, 14.5

#: The least contrast of words, as WCAG asks for.
READABLE = 4.5

#: Rules by what they are for: elements, and classes without their `il-`.
_SHAPES = {
    "text": f"font-size:{SIZE}px",
    ".title": f"font-size:{TITLE}px;font-weight:bold",
    ".halo": "paint-order:stroke;stroke-width:3px;stroke-linejoin:round",
    ".black": "fill:#000000",
    ".white": "fill:#ffffff",
    ".end": "text-anchor:end",
    ".middle": "text-anchor:middle",
    ".box,.dot": "fill:currentColor",
    ".band": "fill-opacity:.22",
    ".dot": "fill-opacity:.7",
    ".line,.span,.dot,.none,.leader": "stroke:currentColor",
    ".line,.span,.none,.leader": "fill:none",
    ".line": "stroke-width:2;stroke-linecap:round;stroke-linejoin:round",
    ".span": "stroke-width:1.6",
    ".none": "stroke-opacity:.5",
    ".line.quiet": "stroke-width:1.2;stroke-opacity:.6",
    ".dashed": "stroke-dasharray:5 4;stroke-width:1.5",
    ".dashed.quiet": "stroke-width:1.5;stroke-opacity:1",
}
_LINKS = {
    "a": "color:inherit;cursor:pointer",
    "a:hover": "opacity:.6",
    "a:focus-visible": "outline:2px solid",
}
_PHONE = {"text": f"font-size:{PHONE}px", ".title": f"font-size:{PHONE + 1}px"}


def class_of(look: Look) -> str:
    """Return the class of figures of a look, so that several looks can share a page.

    >>> class_of(Look()), class_of(Look("print", 84, serif=True))
    ('il-auto', 'il-print-serif-fixed')
    """
    return f"il-{look.theme}{'-serif' * look.serif}{'-fixed' * (look.width_mm is not None)}"


def style(look: Look | None = None) -> str:
    """Return the style sheet of all figures of a look, by default one that follows the theme."""
    look = Look() if look is None else look
    root = f".{class_of(look)}"
    sans = _SANS if look.theme == "print" else _SCREEN_SANS
    family = {"text": f"font-family:{_SERIF if look.serif else sans}"}
    sheet = "".join(_rules(root, one) for one in (_painted(THEMES[look.theme]), family, _SHAPES))
    if look.width_mm is None:
        sheet += f"{root}{{display:block;width:100%;height:auto;max-width:50rem}}"
    if look.theme != "print":
        phone = _rules(root, _PHONE)
        sheet += _rules(root, _LINKS) + f"@media (max-width:30rem){{{phone}}}"
    if look.theme == "auto":
        night = _rules(root, _painted(DARK))
        sheet += f"@media (prefers-color-scheme:dark){{{night}}}"
    return sheet


def _rules(root: str, rules: Mapping[str, str]) -> str:
    """Write rules for what is below the root."""
    return "".join(
        ",".join(f"{root} {one.replace('.', '.il-')}" for one in what.split(",")) + f"{{{how}}}"
        for what, how in rules.items()
    )


def _painted(colours: Colours) -> dict[str, str]:
    """Return the rules of a theme."""
    quiet = colours.tones["quiet"]
    rules = {
        "text": f"fill:{colours.text}",
        ".back": f"fill:{colours.back}",
        ".halo": f"stroke:{colours.back}",
        ".ink": f"fill:{_readable(colours.back)}",
        ".note": f"fill:{quiet}",
        ".grid": f"stroke:{colours.faint}",
        ".axis": f"stroke:{quiet}",
    }
    for tone, colour in colours.tones.items():
        rules |= {f".{tone}": f"color:{colour}", f".on-{tone}": f"fill:{_readable(colour)}"}
    return rules


def ink(look: Look, tone: str, shade: float) -> str:
    """Return the class of words on a cell of so strong a tone, in every theme the look may have.

    They are written as all words are, or stronger, or as on the full tone, or in black or white;
    where none stands out in all themes, with a halo.
    """
    themes = (LIGHT, DARK) if look.theme == "auto" else (THEMES[look.theme],)
    cells = [mixed(theme.tones[tone], theme.back, shade) for theme in themes]
    inks = {
        "": [theme.text for theme in themes],
        "il-ink": [_readable(theme.back) for theme in themes],
        f"il-on-{tone}": [_readable(theme.tones[tone]) for theme in themes],
        "il-black": ["#000000"] * len(themes),
        "il-white": ["#ffffff"] * len(themes),
    }
    clear = (
        name
        for name, own in inks.items()
        if all(contrast(*both) >= READABLE for both in zip(own, cells, strict=True))
    )
    return next(clear, "il-halo")


def mixed(colour: str, back: str, share: float) -> str:
    """Return what a colour looks like that lies over another with so much strength.

    >>> mixed("#000000", "#ffffff", 0.2)
    '#cccccc'
    """
    both = [[int(one[at : at + 2], 16) for at in (1, 3, 5)] for one in (colour, back)]
    parts = [round(share * a + (1 - share) * b) for a, b in zip(*both, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in parts)


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
