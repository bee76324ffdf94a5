"""Figures as PDF and PNG, converted by typst."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from idealist.rendering.document import Table
from idealist.rendering.figure import Axis, Box, Dot, Figure, Key, Line

ROWS = Table.of(["run"], ["AP"], [["bm25", 0.25]])
MARKS = (Box(0, 0.5, 0, 0.5, tone="win"), Dot(0.5, 0.5), Line(((0, 0), (1, 1)), name="<bm25>"))


def a_figure(title: str = "A title") -> Figure:
    keys = (Key("a & b", "win"),)
    return Figure("depth", title, "It says so.", Axis("x"), Axis("y"), MARKS, ROWS, keys)


@pytest.mark.parametrize("width", [60.0, 84.0, 174.0])
@pytest.mark.parametrize("serif", [False, True])
def test_a_page_is_exactly_so_wide_with_fonts_and_words(
    tmp_path: Path, width: float, serif: bool
) -> None:
    a_figure().printed(width, serif=serif).save(tmp_path / "a.pdf")
    page = (tmp_path / "a.pdf").read_bytes()
    found = re.search(rb"/MediaBox\[0 0 ([\d.]+) ([\d.]+)\]", page)
    assert found
    assert float(found[1]) == pytest.approx(width / 25.4 * 72, abs=0.01)
    assert b"/FontFile" in page, "fonts are embedded"
    assert b"/Subtype/Image" not in page, "nothing is made of dots"
    assert b"/Alt(It says so.)" in page


def test_a_page_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a.pdf", "b.pdf", "a.png", "b.png"):
        a_figure().save(tmp_path / name)
    for suffix in (".pdf", ".png"):
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_dots_are_as_many_as_printers_want(tmp_path: Path) -> None:
    a_figure().printed(84).save(tmp_path / "a.png")
    wide = int.from_bytes((tmp_path / "a.png").read_bytes()[16:20], "big")
    assert wide == pytest.approx(84 / 25.4 * 300, abs=1)


@pytest.mark.parametrize("text", ["\ud800", "\x00", "#panic()", "$x$", "😀" * 100, ""])
def test_hostile_words_are_converted(tmp_path: Path, text: str) -> None:
    a_figure(text).save(tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
