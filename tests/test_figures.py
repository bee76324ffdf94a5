"""Figures as SVG: positions computed from the data, hostile text, colours for every reader."""

from __future__ import annotations

import math
import re
import struct
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idealist.errors import UsageError
from idealist.rendering import html
from idealist.rendering.document import COUNT, SHARE, SIGNED, Document, Drawing, Table
from idealist.rendering.drawing import lettering, palette, svg
from idealist.rendering.drawing.arrangement import Arrangement
from idealist.rendering.drawing.ruler import ticks
from idealist.rendering.drawing.shapes import DASHES
from idealist.rendering.figure import (
    Area,
    Axis,
    Box,
    Dot,
    Figure,
    Key,
    Line,
    Look,
    Mark,
    Note,
    Span,
)
from idealist.rendering.figures.curve_figures import TONES

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
ROWS = Table.of(["query"], ["difference"], [["q1", 0.5], ["q2", -0.25]], SIGNED)
HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</title></svg><b>", "]]>", "&#0;",
    "\x00\x01\x0b\x1b\x7f\x85", "\ud800", "\udfff\ufffe\uffff", "\u202egnp.exe", "a\nb\tc\r\n", "😀" * 300,
    "javascript:alert(1)", "--><!--", "' onload='x", "", " ", "x" * 5000, "\u0300" * 50,
]  # fmt: skip


def a_figure(*marks: Mark, x: Axis | None = None, y: Axis | None = None, **others: Any) -> Figure:
    usual = {"kind": "differences", "title": "A title", "says": "It says so.", "rows": ROWS}
    return Figure(x=x or Axis("x"), y=y or Axis("y"), marks=marks, **{**usual, **others})


def drawn(figure: Figure, **options: Any) -> ElementTree.Element:
    return ElementTree.fromstring(svg.draw(figure, **options))


def paths(root: ElementTree.Element, shape: str) -> list[str]:
    """Return the paths of all marks of one shape, in their order."""
    groups = [one for one in root.iter(f"{SVG}g") if shape in one.get("class", "").split()]
    return [path.get("d", "") for group in groups for path in group.iter(f"{SVG}path")]


def numbers(path: str) -> list[float]:
    return [float(text) for text in NUMBER.findall(path)]


def places(root: ElementTree.Element, upright: bool = False) -> dict[str, float]:
    """Return where the words at an axis stand: x of those below the plot, y of those beside it."""
    side, at = ("il-end", "y") if upright else ("il-middle", "x")
    words = [one for one in root.iter(f"{SVG}text") if one.get("class") == side]
    return {words_of(one): float(one.get(at, "")) - 4.2 * upright for one in words}


def words_of(element: ElementTree.Element) -> str:
    title = element.find(f"{SVG}title")
    return (element.text or "") + ((title.tail or "") if title is not None else "")


def texts(root: ElementTree.Element) -> list[str]:
    return [words_of(one) for one in root.iter(f"{SVG}text")]


def between(places: dict[str, float], low: str, high: str, share: float) -> float:
    """Return the place that lies so far between those of two numbers at the axis."""
    return places[low] + share * (places[high] - places[low])


def test_a_bar_begins_at_zero_and_ends_at_its_value() -> None:
    bars = [Box(0.1, 0.9, 0, 0.5, tone="win"), Box(1.1, 1.9, 0, -0.25, tone="loss")]
    root = drawn(a_figure(*bars, x=Axis("query", names=("q1", "q2")), y=Axis("difference", -1, 1)))
    names, level = places(root), places(root, upright=True)
    (x, top, wide, high, *_), (x2, top2, _, high2, *_) = map(numbers, paths(root, "il-box"))
    band = names["q2"] - names["q1"]
    assert x + wide / 2 == pytest.approx(names["q1"], abs=0.02)
    assert wide == pytest.approx(0.8 * band, abs=0.02)
    assert x2 - x == pytest.approx(band, abs=0.02)
    assert top == pytest.approx(between(level, "0.0", "1.0", 0.5), abs=0.02)
    assert top + high == pytest.approx(level["0.0"], abs=0.02)
    assert top2 == pytest.approx(level["0.0"], abs=0.02)
    assert top2 + high2 == pytest.approx(between(level, "0.0", "-1.0", 0.25), abs=0.02)


def test_rows_go_down_and_spans_have_ends() -> None:
    rows = Axis("", names=("bm25", "rerank"))
    marks = [Span(0.2, 0.5, 0.4, 0.5), Span(0.6, 1.5, 3.0, 1.5)]
    root = drawn(a_figure(*marks, x=Axis("nDCG@10"), y=rows))
    level, below = places(root, upright=True), places(root)
    assert level["bm25"] < level["rerank"]
    path = paths(root, "il-span")[0]
    assert path.count("v7") == 3, "an end beyond the axis has no stop"
    x0, y0, x1, y1 = numbers(path)[:4]
    assert (x0, x1) == pytest.approx((below["0.2"], below["0.4"]), abs=0.02)
    assert (y0, y1) == pytest.approx((level["bm25"], level["bm25"]), abs=0.02)


@pytest.mark.parametrize("shape", ["circle", "up", "down", "square", "diamond"])
def test_a_dot_stands_at_its_place(shape: Any) -> None:
    root = drawn(a_figure(Dot(0.2, 0.6, shape), aspect=1.0))
    x, y, *rest = numbers(paths(root, "il-dot")[0])
    middle = {
        "circle": (3.5, 0),
        "up": (0, 4),
        "down": (0, -4),
        "square": (3, 3),
        "diamond": (0, 4.5),
    }
    across, down = middle[shape]
    assert x + across == pytest.approx(places(root)["0.2"], abs=0.02)
    assert y + down == pytest.approx(places(root, upright=True)["0.6"], abs=0.02)
    assert rest


def test_a_line_follows_its_points_and_nan_interrupts_it() -> None:
    cutoffs = Axis("k", 1, 1000, log=True, format=COUNT)
    points = ((1, 0.0), (10, 0.2), (50, math.nan), (100, 0.4), (1000, 1.0))
    root = drawn(a_figure(Line(points, name="bm25"), x=cutoffs))
    x, y = places(root), places(root, upright=True)
    path = paths(root, "il-line")[0]
    assert path.count("M") == 2
    expected = [x["1"], y["0.0"], x["10"], y["0.2"], x["100"], y["0.4"], x["1000"], y["1.0"]]
    assert numbers(path) == pytest.approx(expected, abs=0.02)
    assert x["100"] - x["10"] == pytest.approx(x["10"] - x["1"], abs=0.02)
    assert "bm25" in texts(root)


def test_an_area_goes_there_and_back() -> None:
    root = drawn(a_figure(Area(((0, 0.2, 0.4), (1, 0.0, 1.0)))))
    x, y = places(root), places(root, upright=True)
    corners = [x["0.0"], y["0.4"], x["1.0"], y["1.0"], x["1.0"], y["0.0"], x["0.0"], y["0.2"]]
    assert numbers(paths(root, "il-box")[0]) == pytest.approx(corners, abs=0.02)


def test_cells_are_shaded_by_their_value_and_say_it() -> None:
    names = Axis("", names=("a", "b", "c"))
    shades = (-0.5, 0.25, math.nan)
    cells = [
        Box(at, at + 1, 0, 1, shade=shade, text="x", tone="win") for at, shade in enumerate(shades)
    ]
    root = drawn(a_figure(*cells, x=names, y=Axis("", names=("r",))))
    looks = [(one.get("class"), one.get("fill-opacity")) for one in root.iter(f"{SVG}g")]
    assert looks == [
        ("il-box il-loss", ".5"), ("il-box il-win", ".25"), ("il-none il-quiet", None)
    ]  # fmt: skip
    assert texts(root).count("x") == 3


def test_words_stand_where_there_is_room() -> None:
    wide, narrow = Box(0, 0.9, 0, 0.9, text="90 %"), Box(0.9, 0.91, 0, 1, text="narrow")
    root = drawn(a_figure(wide, narrow, Note(0.5, 0.95, "here", side="middle")))
    assert {"90 %", "here"} <= set(texts(root))
    assert "narrow" not in texts(root)


def test_marks_lead_to_their_queries_only_where_there_is_an_address() -> None:
    marks = [
        Dot(0.1, 0.1, query="q&1", label="q&1: +0.5"),
        Dot(0.2, 0.2, query="q2"),
        Dot(0.3, 0.3),
    ]
    figure = a_figure(*marks)
    root = drawn(figure, link=lambda query: "#query-1" if query == "q&1" else "")
    links = list(root.iter(f"{SVG}a"))
    assert [link.get("href") for link in links] == ["#query-1"]
    assert links[0].findtext(f"{SVG}title") == "q&1: +0.5"
    assert root.get("role") == "group", "the parts of a picture cannot be followed"
    assert not list(drawn(figure).iter(f"{SVG}a"))
    assert drawn(figure).get("role") == "img"


def test_text_alternative_names_and_describes() -> None:
    root = drawn(a_figure(note="Binned."))
    titles = {one.get("id"): one.text for one in root}
    assert titles[root.get("aria-labelledby")] == "A title"
    assert titles[root.get("aria-describedby")] == "It says so.\nBinned."


def test_several_figures_of_a_page_have_ids_of_their_own() -> None:
    ids = [drawn(a_figure(Dot(0.1 * at, 0))).get("aria-labelledby") for at in range(10)]
    assert len(set(ids)) == 10


@pytest.mark.parametrize("count", [0, 1, 2, 30, 7000])
def test_any_number_of_bars(count: int) -> None:
    values = np.linspace(0.5, -0.5, count) if count > 1 else np.full(count, 0.25)
    bars = [
        Box(at, at + 1, 0, float(value), tone="win" if value > 0 else "loss", label=f"q{at}", query=f"q{at}")
        for at, value in enumerate(values)
    ]  # fmt: skip
    names = tuple(f"q{at}" for at in range(count)) or ("none",)
    text = svg.draw(
        a_figure(*bars, x=Axis("", names=names), y=Axis("", -0.5, 0.5)), link=lambda q: f"#{q}"
    )
    root = ElementTree.fromstring(text)
    assert sum(path.count("M") for path in paths(root, "il-box")) == count
    assert len(text) < 300_000
    assert len(list(root.iter(f"{SVG}a"))) == (count if count <= 30 else 0), (
        "too thin to be pointed at"
    )
    assert len(list(root.iter(f"{SVG}text"))) < 60


def test_seven_thousand_dots_stay_small() -> None:
    rng = np.random.default_rng(0)
    dots = [Dot(float(x), float(y), query="q", label="q: 0.1234") for x, y in rng.random((7000, 2))]
    text = svg.draw(a_figure(*dots, aspect=1.0), link=lambda _: "#query-1")
    assert len(text) < 600_000
    assert len(paths(ElementTree.fromstring(text), "il-dot")) == 1


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0])
@pytest.mark.parametrize("log", [False, True])
def test_values_without_a_place(value: float, log: bool) -> None:
    marks: list[Mark] = [
        Box(0, 1, 0, value), Dot(value, 0.5), Line(((0, value), (1, 1))), Area(((0, value, 1), (1, 0, 1))),
        Span(value, 0.5, 1, 0.5), Note(0.5, value, "words"), Box(0, 1, 0, 1, shade=value),
    ]  # fmt: skip
    assert_inside(a_figure(*marks))
    assert_inside(
        a_figure(*marks, x=Axis("", value, value, log=log), y=Axis("", value, 1, log=log))
    )
    assert_inside(a_figure(*marks, x=Axis("", -1, value, log=log), y=Axis("", 1, value, log=log)))


def coordinates(root: ElementTree.Element) -> Iterator[tuple[float, float]]:
    """Yield every place that a drawing names, following its paths."""
    for text in root.iter(f"{SVG}text"):
        yield float(text.get("x", "")), float(text.get("y", ""))
    for path in root.iter(f"{SVG}path"):
        yield from walked(path.get("d", ""))


def walked(path: str) -> Iterator[tuple[float, float]]:
    x = y = x0 = y0 = 0.0
    for letter, arguments in re.findall(r"([a-zA-Z])([^a-zA-Z]*)", path):
        found = numbers(arguments)
        pairs = list(zip(found[::2], found[1::2], strict=False))
        match letter:
            case "M" | "L":
                for x, y in pairs:
                    yield x, y
                x0, y0 = (x, y) if letter == "M" else (x0, y0)
            case "l":
                for across, down in pairs:
                    x, y = x + across, y + down
                    yield x, y
            case "h" | "H":
                x = found[0] + (x if letter == "h" else 0)
            case "v":
                y += found[0]
            case "a":
                x, y = x + found[-2], y + found[-1]
            case "z":
                x, y = x0, y0
            case _:
                raise AssertionError(letter)
        yield x, y


def assert_inside(figure: Figure) -> None:
    root = drawn(figure)
    _, _, wide, high = map(float, root.get("viewBox", "").split())
    for x, y in coordinates(root):
        assert -0.1 <= x <= wide + 0.1, (x, wide)
        assert -0.1 <= y <= high + 0.1, (y, high)


words = st.text(max_size=30) | st.sampled_from(HOSTILE)
any_number = st.floats(-2, 2) | st.floats()
tones = st.sampled_from(list(palette.LIGHT.tones))
said: dict[str, Any] = {"tone": tones, "label": words, "query": words}
marks = st.lists(
    st.builds(Box, *[any_number] * 4, st.none() | any_number, words, **said)
    | st.builds(Dot, any_number, any_number, st.sampled_from(["circle", "up", "square"]), **said)
    | st.builds(
        Line,
        st.lists(st.tuples(any_number, any_number), max_size=4).map(tuple),
        st.booleans(),
        words,
    )
    | st.builds(Area, st.lists(st.tuples(*[any_number] * 3), max_size=4).map(tuple), **said)
    | st.builds(Span, *[any_number] * 4, **said)
    | st.builds(Note, any_number, any_number, words, st.sampled_from(["left", "right", "middle"])),
    max_size=5,
)
axes = st.builds(
    Axis, words, any_number, any_number, st.just(()) | st.lists(words, max_size=40).map(tuple), st.booleans(),
    st.sampled_from([SIGNED, COUNT, SHARE]),
)  # fmt: skip
keys = st.lists(
    st.builds(Key, words, tones, st.sampled_from(["box", "line", "dashed", "up"])), max_size=5
)
themes = st.builds(
    Look,
    st.sampled_from(["auto", "light", "dark", "print"]),
    st.none() | st.floats(40, 300),
    st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(marks, axes, axes, keys, words, words, words, st.floats(0.05, 3), themes)
def test_any_figure_is_xml_and_stays_inside(
    marks: Sequence[Mark], x: Axis, y: Axis, keys: Sequence[Key], title: str, says: str, note: str,
    aspect: float, look: Look,
) -> None:  # fmt: skip
    assert_inside(a_figure(*marks, x=x, y=y, keys=tuple(keys), title=title, says=says, note=note,
                           aspect=aspect, look=look))  # fmt: skip


def hostile(text: str) -> Figure:
    marks = [
        Box(0, 1, 0, 1, label=text, query=text, text=text), Dot(0, 0, label=text),
        Line(((0, 0), (1, 1)), name=text, label=text), Note(0, 0, text),
    ]  # fmt: skip
    axes = {"x": Axis(text, names=(text,)), "y": Axis(text)}
    keys = (Key(text, "win"),)
    return a_figure(*marks, **axes, title=text, says=text, note=text, keys=keys, kind=text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words(text: str) -> None:
    drawing = svg.draw(hostile(text), link=lambda query: f"#{query}")
    drawing.encode()  # lone surrogates cannot be written
    root = ElementTree.fromstring(drawing)
    allowed = {"svg", "title", "desc", "style", "path", "text", "g", "a"}
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= allowed
    attributes = {name for one in root.iter() for name in one.attrib}
    assert attributes <= {
        "viewBox", "width", "height", "class", "role", "aria-labelledby", "aria-describedby", "id", "d",
        "x", "y", "href", "transform", "fill-opacity", "stroke-dasharray",
    }  # fmt: skip


def test_styles_are_left_to_the_page() -> None:
    figure = a_figure()
    assert "<style>" in svg.draw(figure)
    assert "<style>" not in svg.draw(figure, styled=False)
    assert "<" not in svg.style()
    assert "&" not in svg.style()
    assert svg.style(Look("dark")).startswith(".il-dark "), "looks can share a page"
    assert "var(" not in svg.style(Look("print"))
    assert "@media" not in svg.style(Look("print"))


def test_no_words_overlap() -> None:
    """A crowded figure: long names, many rows, many lines that end at the same place."""
    runs = tuple(f"a-run-with-quite-a-long-name-{at}" for at in range(8))
    lines = [
        Line(((0, 0), (1, 0.9 + at / 1e4)), tone="1", name=name) for at, name in enumerate(runs)
    ]
    keys = tuple(Key(name, "1") for name in runs)
    figure = a_figure(
        *lines, x=Axis("k", 0, 1e6, format=COUNT), keys=keys, title="long " * 40, aspect=0.7
    )
    assert_apart(figure)
    assert_apart(figure.printed())
    notes = [Note(1e6, 0.9, "@10"), Note(1e6, 0.9, "twice"), Note(0, 0.5, "left", side="left")]
    assert_apart(a_figure(*lines[:3], *notes, x=Axis("k", 0, 1e6, format=COUNT)))
    assert_apart(
        a_figure(x=Axis("", names=runs * 20), y=Axis("", names=runs * 20), title="T", aspect=0.8)
    )


def assert_apart(figure: Figure) -> None:
    """Fail where two texts that are not slanted cover each other, by their estimated widths."""
    size = 12.0
    root = drawn(figure)
    boxes = []
    for one in root.iter(f"{SVG}text"):
        wide = lettering.width(words_of(one), size)
        x, y = float(one.get("x", "")), float(one.get("y", ""))
        shift = {"il-end": 1.0, "il-middle": 0.5}.get(one.get("class", ""), 0.0)
        if (x, y) != (0, 0):
            boxes.append(
                (x - shift * wide, y - 0.7 * size, x + (1 - shift) * wide, y, words_of(one))
            )
    for (x0, y0, x1, y1, text), (x2, y2, x3, y3, other) in combinations(boxes, 2):
        assert x1 <= x2 or x3 <= x0 or y1 <= y2 or y3 <= y0, (text, other)


def test_numbers_at_an_axis_are_round() -> None:
    def written(*arguments: Any, most: int = 6, **options: Any) -> list[str]:
        return [tick.text for tick in ticks(Axis("", *arguments, **options), most)]

    assert written(-0.25, 0.5, format=SIGNED) == ["-0.2", "0.0", "+0.2", "+0.4"]
    assert written(0, 1, format=SHARE) == ["0%", "20%", "40%", "60%", "80%", "100%"]
    assert written(1, 1000, log=True, format=COUNT, most=10) == [
        "1", "2", "5", "10", "20", "50", "100", "200", "500", "1000"
    ]  # fmt: skip
    assert written(1, 1000, log=True, format=COUNT) == ["1", "10", "100", "1000"]
    assert written(0, 3, format=COUNT, most=8) == ["0", "1", "2", "3"]
    assert written(0, 11, format=COUNT, most=5) == ["0", "5", "10"]
    assert written(0, 1e40, most=3) == ["0", "5e+39", "1e+40"]
    assert written(0.5, 0.5) != []
    assert written(names=("a", "b", "c"), most=2) == ["a", "c"]


# Colours


THEMES = {theme: colours for theme, colours in palette.THEMES.items() if theme != "auto"}
#: What people who lack one kind of cone see, in linear RGB: Machado, Oliveira and Fernandes 2009.
VISIONS = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}


def linear(colour: str) -> np.ndarray[Any, Any]:
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def oklab(colour: str, vision: str) -> np.ndarray[Any, Any]:
    """Return a colour as it is seen, in a space where distances are about those that people see."""
    cones = np.array([
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ])  # fmt: skip
    axes = np.array([
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ])  # fmt: skip
    seen = np.clip(VISIONS[vision] @ linear(colour), 0, 1)
    return np.asarray(axes @ np.cbrt(cones @ seen))


@pytest.mark.parametrize("theme", THEMES)
def test_marks_and_words_stand_out(theme: str) -> None:
    colours = THEMES[theme]
    assert palette.contrast(colours.text, colours.back) >= 7
    for tone, colour in colours.tones.items():
        assert palette.contrast(colour, colours.back) >= (4.5 if tone == "quiet" else 3), tone
        assert palette.contrast(palette._readable(colour), colour) >= 4.5, tone


@pytest.mark.parametrize("theme", ["auto", *THEMES])
def test_words_in_cells_stand_out_however_strong_these_are(theme: Any) -> None:
    themes = [palette.LIGHT, palette.DARK] if theme == "auto" else [THEMES[theme]]
    for tone, step in product(("accent", "win", "loss", "same", "1"), range(101)):
        look = palette.ink(Look(theme), tone, step / 100)
        for colours in themes:
            cell = palette.mixed(colours.tones[tone], colours.back, step / 100)
            inks = {
                "": colours.text, "il-halo": colours.back, "il-black": "#000000",
                "il-white": "#ffffff", "il-ink": palette._readable(colours.back),
                f"il-on-{tone}": palette._readable(colours.tones[tone]),
            }  # fmt: skip
            behind = colours.text if look == "il-halo" else cell
            assert look != "il-halo" or tone not in ("accent", "loss")
            assert palette.contrast(inks[look], behind) >= 4.5, (tone, step)


def test_a_full_cell_has_the_full_colour_and_the_legend_shows_all_strengths() -> None:
    cell = Box(0, 1, 0, 1, 1.0, tone="accent")
    figure = a_figure(cell)
    root = drawn(replace(figure, keys=(Key("0 to 1", "accent", "ramp"),)))
    assert "opacity:" not in palette.style().replace("fill-opacity", "").replace(
        "stroke-opacity", ""
    ).replace("a:hover{opacity:.6}", "")
    strengths = [one.get("fill-opacity") for one in root.iter(f"{SVG}path")]
    assert [one for one in strengths if one] == ["0", ".2", ".4", ".6", ".8", "1"]
    assert [one.get("fill-opacity") for one in root.iter(f"{SVG}g")] == ["1"]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", VISIONS)
def test_colours_keep_apart_for_every_reader(theme: str, vision: str) -> None:
    tones = THEMES[theme].tones

    def apart(names: Sequence[str]) -> float:
        seen = [oklab(tones[name], vision) for name in names]
        return min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2))

    assert apart(["win", "loss"]) > 0.2
    assert apart(["win", "loss", "same"]) > 0.1
    assert apart("1234") > 0.1
    assert apart("12345678") > 0.08, "lines of runs differ in their dashes, too"


# What a figure is as a result


def test_a_figure_is_shown_and_told(tmp_path: Path) -> None:
    figure = a_figure(Dot(0.5, 0.5), note="Binned.")
    assert "<svg" in figure._repr_html_()
    assert "It says so." in str(figure)
    assert "Binned." in str(figure)
    assert "+0.5000" in figure.render("table", details=True)
    assert "Binned." in figure.markdown()
    assert figure.data()["rows"] == [
        {"query": "q1", "difference": 0.5},
        {"query": "q2", "difference": -0.25},
    ]
    figure.save(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().startswith("query,difference")
    figure.save(tmp_path / "a.svg")
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag == f"{SVG}svg"
    page = html.render(Document((Drawing(figure),)))
    assert page.count("<svg") == 1


def test_pictures_need_a_package_and_a_known_suffix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = a_figure()
    monkeypatch.setitem(sys.modules, "typst", None)
    for suffix in (".pdf", ".PNG"):
        with pytest.raises(UsageError, match=r"pip install 'idealist\[figures\]'"):
            figure.save(tmp_path / f"a{suffix}")
    with pytest.raises(UsageError, match=r"try \.svg, \.pdf, \.png"):
        figure.save(tmp_path / "a.jpg")
    assert not list(tmp_path.iterdir())


def test_print_has_its_width() -> None:
    figure = a_figure(Dot(0.5, 0.5))
    root = drawn(figure.printed(60))
    assert root.get("width") == "60mm"
    _, _, wide, high = map(float, root.get("viewBox", "").split())
    assert 12 / wide * 60 == pytest.approx(8 * 25.4 / 72, rel=1e-4), "words have 8 pt"
    assert float(root.get("height", "").removesuffix("mm")) == pytest.approx(
        60 * high / wide, abs=0.01
    )
    assert "serif" not in svg.style(Look("print", 84)).replace("sans-serif", "")
    assert "Times" in svg.style(figure.printed(serif=True).look)


def test_a_png_says_how_many_dots_an_inch_has(tmp_path: Path) -> None:
    pytest.importorskip("typst")
    figure = a_figure(Dot(0.5, 0.5)).printed(84)
    figure.save(tmp_path / "dot.png")
    png = (tmp_path / "dot.png").read_bytes()
    at = png.index(b"pHYs")
    assert struct.unpack(">IIIB", png[at - 4 : at] + png[at + 4 : at + 13])[1:] == (11811, 11811, 1)
    assert struct.unpack(">I", png[at + 13 : at + 17])[0] == zlib.crc32(png[at : at + 13])
    (wide,) = struct.unpack(">I", png[16:20])
    assert wide / 11811 == pytest.approx(0.084, abs=0.0005)


def test_a_line_has_its_dashes_beside_its_name() -> None:
    lines = [
        Line(((0, 0.1 * i), (1, 0)), name=f"run{tone}", tone=tone) for i, tone in enumerate(TONES)
    ]
    paths = list(drawn(a_figure(*lines)).iter(f"{SVG}path"))
    for line in lines:
        look = f"il-line il-{line.tone}"
        (sample,) = [one for one in paths if one.get("class") == look]
        assert sample.get("stroke-dasharray", "") == DASHES.get(line.tone, "")


@pytest.mark.parametrize("axis", [Axis("", 0, 1), Axis("", 10, 1000, log=True, format=COUNT)])
def test_the_last_number_of_an_axis_has_room_in_the_widest_font(axis: Axis) -> None:
    for look in (Look("print", 84), Look("print", 84, serif=True), Look()):
        at = Arrangement(replace(a_figure(Dot(0.5, 0.5)), x=axis, look=look))
        last = at.x_ticks[-1]
        assert at.x(last.value) + lettering.width(last.text, 12) / 2 <= at.width


def test_many_rows_stay_on_a_page_and_the_drawing_says_which_names_it_leaves_out() -> None:
    names = Axis("", names=tuple(f"run{i}" for i in range(300)))
    for aspect in (0.5, 12.0):
        figure = replace(a_figure(Box(0, 1, 0, 300)), y=names, aspect=aspect).printed(84)
        at = Arrangement(figure)
        assert float(at.extent.split('height="')[1].split("mm")[0]) < 240
        assert "of 300 rows have their name" in " ".join(at.foot)
        assert len(at.y_ticks) * at.row <= at.bottom - at.top
    few = replace(figure, y=Axis("", names=("a", "b")), aspect=0.2)
    assert not Arrangement(few).foot
