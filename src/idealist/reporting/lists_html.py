"""Two lists side by side, in HTML: folded up under the query, with its words marked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from idealist.explaining.difference_explanation import ADDS
from idealist.explaining.explanation import GRADE
from idealist.rendering.html import Writer, plain
from idealist.rendering.wording import clipped, number, signed
from idealist.reporting.query_lists import Place, QueryLists, Side

#: The most letters of a document's text.
SHOWN = 150
#: Words that are not marked: they are in most texts.
_COMMON = """
a an and are as at be by can do does for from has have how i in is it its me more my not of on or
than that the then this to was what when where which who why will with you your
"""
COMMON = frozenset(_COMMON.split())


def lists_html(lists: QueryLists, writer: Writer) -> str:
    """Write the lists of a query."""
    row = lists.row
    mark = marker(row.text)
    text = f" <bdi>{plain(clipped(row.text, SHOWN))}</bdi>" if row.text else ""
    first, second = (number(side.value) for side in lists.sides)
    two = f"{first} → {second} ({signed(row.difference)})"
    values = f"{first}, ideal {second}" if math.isnan(row.difference) else two
    summary = f"<summary><code>{plain(row.query)}</code>{text} <span>{values}</span></summary>"
    words = "".join(f"<li>{plain(line)}</li>" for line in lists.words)
    back = f'<p><a href="#row-{row.number}">Back to the table</a></p>'
    sides = "".join(_side(side, writer, mark) for side in lists.sides)
    inner = f'{summary}<ul>{words}</ul><div class="sides">{sides}</div>{back}'
    return f'<details class="lists" id="query-{row.number}">{inner}</details>'


def _side(side: Side, writer: Writer, mark: Callable[[str], str]) -> str:
    adds = any(place.adds is not None for place in side.places)
    heads = ["rank", "moved", "document", "grade", *(["adds"] if adds else [])]
    left = [False, True, True, False, False][: len(heads)]
    head = "".join(writer.head(name, words) for name, words in zip(heads, left, strict=True))
    body = "".join(_place(place, writer, mark, adds) for place in side.places)
    title = f"<h4>{plain(side.name)} {number(side.value)}</h4>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="side">{title}{table}</div>'


def _place(place: Place, writer: Writer, mark: Callable[[str], str], adds: bool) -> str:
    title = f"<br><b>{mark(place.title)}</b>" if place.title else ""
    text = f"<br><bdi>{mark(clipped(place.text, SHOWN))}</bdi>" if place.text else ""
    cells = [
        writer.cell(str(place.rank), False),
        f'<td class="move">{plain(place.move)}</td>',
        f"<td><code>{plain(place.document)}</code>{title}{text}</td>",
        writer.cell(f'<span class="chip">{plain(GRADE(place.grade))}</span>', False),
        *([writer.cell(ADDS(place.adds), False)] if adds else []),
    ]
    kind = "" if place.grade else ' class="off"'
    return f"<tr{kind}>{''.join(cells)}</tr>"


def marker(query: str) -> Callable[[str], str]:
    """Make a function that writes a text with the words of a query marked.

    >>> marker("sort a list")("Lists & sort")
    'Lists &amp; <mark>sort</mark>'
    """
    words = sorted({*re.findall(r"\w+", query.lower())} - COMMON, key=len)
    if not words:
        return plain
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, reversed(words)))})\b", re.IGNORECASE)

    def marked(text: str) -> str:
        parts = pattern.split(text)  # every second part is a word of the query
        return "".join(
            f"<mark>{plain(part)}</mark>" if i % 2 else plain(part) for i, part in enumerate(parts)
        )

    return marked
