"""Documents in HTML: a fragment for a notebook, or a page for a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from idealist.report import document as doc
from idealist.report import doubt_words, svg
from idealist.report.document import Block, Document, Table
from idealist.report.doubt import Doubt

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th { border-bottom: 1px solid; }
code, pre { font-size: 0.9em; overflow-wrap: anywhere; white-space: pre-wrap; }
"""


def render(document: Document, details: bool = False) -> str:
    """Write a document as a page that needs nothing but itself; details are folded or open."""
    first = next((one.text for one in document.blocks if isinstance(one, doc.Text)), "idealist")
    title = escape(document.title or first)
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    body = fragment(document).replace("<details>", "<details open>" if details else "<details>")
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>'


def fragment(document: Document) -> str:
    """Write a document for a notebook."""
    title = f"<h3>{escape(document.title)}</h3>" if document.title else ""
    body, notes = _blocks((*document.front, *document.blocks)), _blocks(document.rest)
    return title + body + (f"<small>{notes}</small>" if notes else "")


def _blocks(blocks: Iterable[Block]) -> str:
    return "\n".join(filter(None, map(_block, blocks)))


def _block(block: Block) -> str:
    match block:
        case Table():
            title = f"<p>{escape(block.title)}</p>" if block.title else ""
            return title + draw(block) if block.rows else ""
        case doc.Heading(text):
            return f"<h4>{escape(text)}</h4>"
        case doc.Text(text, strong):
            words = "<br>".join(map(escape, text.splitlines()))
            return f"<p><strong>{words}</strong></p>" if strong else f"<p>{words}</p>"
        case doc.Items(items):
            return _listed(items)
        case doc.Doubts(doubts, full):
            if full:
                return "".join(map(_finding, doubt_words.alike(doubts)))
            return _listed(doubt_words.lines(doubts))
        case doc.Command(text):
            return f"<pre><code>{escape(text)}</code></pre>"
        case doc.Signatures(lines):
            return "<p><code>" + "<br>".join(map(escape, lines)) + "</code></p>" if lines else ""
        case doc.Drawing(figure):
            words = f"<figcaption>{escape(figure.says)}</figcaption>"
            return f"<figure>{svg.draw(figure)}{words}</figure>"
        case doc.Details(title, inner):
            body = _blocks(inner)
            return f"<details><summary>{escape(title)}</summary>{body}</details>" if body else ""


def draw(table: Table) -> str:
    """Draw a table."""
    sides = ["left" if column.format.left else "right" for column in table.columns]
    head = _row(map(escape, table.headers), sides, "th")
    body = "".join(_row(cells, sides, "td") for cells in table.written(_cell))
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _cell(text: str, marks: str) -> str:
    return escape(text) + (f"<sup>{escape(marks)}</sup>" if marks else "")


def _row(cells: Iterable[str], sides: Sequence[str], tag: str) -> str:
    styled = (
        f'<{tag} style="text-align: {side}; padding: 0.2em 0.8em">{cell}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return "<tr>" + "".join(styled) + "</tr>"


def _listed(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>" if lines else ""


def _finding(group: list[Doubt]) -> str:
    """Write doubts that are alike with all that is known of them."""
    title, *lines = doubt_words.parts(group)
    first = group[0]
    command = _block(doc.Command(first.command)) if first.command else ""
    why = f"<p>{escape(first.doc)}</p>" if first.doc else ""
    return f"<h4>{escape(title)}</h4>{_listed(lines)}{command}{why}"
