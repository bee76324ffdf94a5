"""Notes of the author: plain Markdown as blocks, and nothing that a page could execute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from idealist.rendering.document import Block, Heading, Items, Text

_ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(.*)")


def notes_of(written: str) -> tuple[Block, ...]:
    """Read headings, lists and paragraphs; everything else stays as it was typed.

    >>> notes_of("# Why\\n\\nA *new* analyser.\\n- stems\\n- stop words")
    (Heading(text='Why'), Text(text='A *new* analyser.', strong=False), \
Items(items=('stems', 'stop words'), numbered=False))
    """
    return tuple(_blocks(written))


def _blocks(written: str) -> Iterator[Block]:
    for kind, own in groupby(written.splitlines(), _kind):
        lines = list(own)
        if kind == "heading":
            yield from (Heading(line.strip("# ")) for line in lines)
        elif kind in ("item", "numbered"):
            items = tuple(_ITEM.sub(r"\1\2", line).rstrip() for line in lines)
            yield Items(items, kind == "numbered")
        elif kind == "text":
            yield Text("\n".join(line.strip() for line in lines))


def _kind(line: str) -> str:
    if not line.strip():
        return ""
    if re.match(r"#{1,6} ", line):
        return "heading"
    if not _ITEM.fullmatch(line):
        return "text"
    return "numbered" if re.match(r"\d", line) else "item"
