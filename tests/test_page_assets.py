"""Hostile strings where no browser is needed: readers refuse what is no text; the page has no way in."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

import idealist as il
from hostile import NOT_TEXT, strings
from idealist.errors import InputError

PAGE = files("idealist.reporting")


def test_there_are_two_hundred() -> None:
    assert len(set(strings())) == 200


@pytest.mark.parametrize("bad", NOT_TEXT)
def test_what_is_no_text_is_refused_with_its_place(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"q1 0 d1 1\nq1 0 d" + bad + b" 1\n")
    with pytest.raises(InputError, match=r"qrels\.txt:[12]: .*(UTF-8|binary)"):
        il.report(path, {"q1": ["d1"]}, "AP")


def test_the_script_writes_no_html_and_asks_for_nothing() -> None:
    script = PAGE.joinpath("page.js").read_text("utf-8")
    assert len(script.encode()) < 12_000
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|fetch\(|import|https?:"
    assert re.findall(ways, script) == []


def test_the_style_asks_for_nothing() -> None:
    assert re.findall(r"url\(|@import|https?:", PAGE.joinpath("page.css").read_text("utf-8")) == []
