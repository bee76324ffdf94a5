"""Words in figures as a browser sets them: all inside the drawing, and none over another."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from idealist.rendering.drawing import svg
from idealist.rendering.figure import Figure
from visits import Visit, screen

pytest_plugins = ["visits"]

#: How much of the height of a text another may share: its box is higher than its letters.
SHARED = 0.45
LOOK = """shared => [...document.querySelectorAll("svg")].flatMap(svg => {
  const edge = svg.getBoundingClientRect(), found = [];
  const texts = [...svg.querySelectorAll("text")].map(text => [text, text.getBoundingClientRect()]);
  for (const [text, box] of texts)
    if (box.left < edge.left - 1 || box.right > edge.right + 1
        || box.top < edge.top - 1 || box.bottom > edge.bottom + 1)
      found.push(`outside: ${text.textContent}`);
  const level = texts.filter(([text]) => !text.closest("g[transform]"));
  level.forEach(([one, a], i) => level.slice(i + 1).forEach(([other, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > shared * Math.min(a.height, b.height))
      found.push(`over each other: ${one.textContent} and ${other.textContent}`);
  }));
  return found.map(words => `${svg.querySelector("title").textContent}: ${words}`);
})"""

NAMES = {
    "short": "r{}", "long": "run-{}-of-the-long-kind-with-k1=0.9,b=0.4", "wide": "WWWWWWWWWWWWWWWWWWWW{}",
    "other": "検索システムの実行結果その検索システムの実行結果その{}",
}  # fmt: skip


def made(count: int, queries: int, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    draw = random.Random(count * queries)
    grades = {
        f"a-query-{q}": {f"d{d}": draw.randrange(3) for d in range(20)} for q in range(queries)
    }
    lists = {
        name.format(run): {query: draw.sample(sorted(grades[query]), 15) for query in grades}
        for run in range(count)
    }
    return grades, lists


@cache
def figures() -> list[Figure]:
    return [figure for shape in [(1, 1), (2, 2), (4, 12), (12, 30)] for figure in drawn(*shape)]


def drawn(count: int, queries: int) -> Iterator[Figure]:
    for name in NAMES.values():
        grades, lists = made(count, queries, name)
        first, measures = next(iter(lists.values())), ["nDCG@10", "AP", "RR"]
        results: list[Any] = [
            il.depth_curve(grades, lists, "nDCG"), il.precision_recall_curve(grades, lists),
            il.audit(grades, lists), il.diagnose(grades, first),
            il.compare(grades, lists, measures) if count > 1 else il.evaluate(grades, first, measures),
        ]  # fmt: skip
        for result in results:
            for kind in result.figures:
                if kind != "agreement" or (count > 2 and result is results[-1]):
                    yield result.figure(kind)


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("printed", [False, True])
def test_every_word_can_be_read(visit: Visit, tmp_path: Path, width: int, printed: bool) -> None:
    drawings = [svg.draw(one.printed() if printed else one) for one in figures()]
    page = tmp_path / "figures.html"
    page.write_text("<!doctype html><meta charset='utf-8'>" + "".join(drawings), "utf-8")
    with visit(page, **screen(width)) as opened:
        assert opened.locator("svg").count() == len(drawings) > 50
        assert opened.evaluate(LOOK, SHARED) == []
