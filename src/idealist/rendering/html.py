"""Documents in HTML: a fragment for a notebook, or a page for a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from idealist.rendering import document as doc
from idealist.rendering import doubt_words
from idealist.rendering.document import Block, Document, Table
from idealist.rendering.doubt import Doubt
from idealist.rendering.drawing import svg
from idealist.rendering.wording import seen

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th { border-bottom: 1px solid; }
th, td { padding: 0.2em 0.8em; text-align: left; }
.num { text-align: right; }
code, pre { font-size: 0.9em; overflow-wrap: anywhere; white-space: pre-wrap; }
"""


def plain(words: str) -> str:
    """Write any text so that it is only text.

    >>> plain('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return escape(seen(words))


def render(document: Document, details: bool = False) -> str:
    """Write a document as a page that needs nothing but itself; details are folded or open."""
    first = next((one.text for one in document.blocks if isinstance(one, doc.Text)), "idealist")
    title = plain(document.title or first)
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    body = Writer().document(document)
    body = body.replace("<details>", "<details open>" if details else "<details>")
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>'


def fragment(document: Document) -> str:
    """Write a document for a notebook."""
    return Writer(inline=True).document(document)


@dataclass(frozen=True)
class Writer:
    """How blocks are written: under headings of which level, and in whose style.

    In a notebook cells carry their style (`inline`); on a page they have a class.
    """

    level: int = 4
    inline: bool = False

    def document(self, document: Document) -> str:
        """Write a document: its title, its blocks, and its notes in small letters."""
        title = f"<h3>{plain(document.title)}</h3>" if document.title else ""
        body, notes = self.blocks((*document.front, *document.blocks)), self.blocks(document.rest)
        return title + body + (f"<small>{notes}</small>" if notes else "")

    def blocks(self, blocks: Iterable[Block]) -> str:
        """Write blocks one after the other."""
        return "\n".join(filter(None, map(self._block, blocks)))

    def _block(self, block: Block) -> str:
        match block:
            case Table():
                title = f"<p>{plain(block.title)}</p>" if block.title else ""
                return title + self.table(block) if block.rows else ""
            case doc.Heading(text):
                return self._heading(text)
            case doc.Text(text, strong):
                words = "<br>".join(map(plain, text.splitlines()))
                return f"<p><strong>{words}</strong></p>" if strong else f"<p>{words}</p>"
            case doc.Items(items, numbered):
                return _listed(items, "ol" if numbered else "ul")
            case doc.Doubts(doubts, full):
                if full:
                    return "".join(map(self._finding, doubt_words.alike(doubts)))
                return _listed(doubt_words.lines(doubts))
            case doc.Command(text):
                return f'<pre class="command"><code>{plain(text)}</code></pre>'
            case doc.Signatures(lines):
                return "<p><code>" + "<br>".join(map(plain, lines)) + "</code></p>" if lines else ""
            case doc.Drawing():
                return self._drawing(block)
            case doc.Details(title, inner):
                body = self.blocks(inner)
                summary = f"<summary>{plain(title)}</summary>"
                return f"<details>{summary}{body}</details>" if body else ""

    def _heading(self, text: str) -> str:
        return f"<h{self.level}>{plain(text)}</h{self.level}>"

    def _drawing(self, drawing: doc.Drawing) -> str:
        figure = drawing.figure
        words = f"<figcaption>{plain(figure.says)}</figcaption>"
        return f"<figure>{svg.draw(figure)}{words}</figure>"

    def table(self, table: Table) -> str:
        """Draw a table."""
        left = [column.format.left for column in table.columns]
        head = "".join(map(self.head, table.headers, left))
        rows = ("".join(map(self.cell, cells, left)) for cells in table.written(_cell))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def head(self, name: str, left: bool) -> str:
        """Write the head of a column."""
        return f'<th scope="col"{self._look(left)}>{plain(name)}</th>'

    def cell(self, inner: str, left: bool) -> str:
        """Write a cell."""
        return f"<td{self._look(left)}>{inner}</td>"

    def _look(self, left: bool) -> str:
        """Set words at the left and numbers at the right."""
        if self.inline:
            return f' style="text-align: {"left" if left else "right"}; padding: 0.2em 0.8em"'
        return "" if left else ' class="num"'

    def _finding(self, group: list[Doubt]) -> str:
        """Write doubts that are alike with all that is known of them."""
        title, *lines = doubt_words.parts(group)
        first = group[0]
        command = self._block(doc.Command(first.command)) if first.command else ""
        why = f"<p>{plain(first.doc)}</p>" if first.doc else ""
        return f"{self._heading(title)}{_listed(lines)}{command}{why}"


def _cell(text: str, marks: str) -> str:
    return plain(text) + (f"<sup>{plain(marks)}</sup>" if marks else "")


def _listed(lines: Sequence[str], kind: str = "ul") -> str:
    """Write a list; a line that begins with blanks stands below the one before it."""
    written = ""
    for inner, own in groupby(lines, lambda line: line.startswith(" ")):
        items = "".join(f"<li>{plain(line.strip())}</li>" for line in own)
        below = inner and written
        written = (
            written.removesuffix("</li>") + f"<ul>{items}</ul></li>" if below else written + items
        )
    return f"<{kind}>{written}</{kind}>" if written else ""
