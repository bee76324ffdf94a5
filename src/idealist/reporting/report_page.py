"""The page of a report: one HTML file that asks for nothing, and runs nothing but its own script.

Whatever was read is text: escaped, and never an id, an address or a name of a style. The content
policy names style and script by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from idealist._version import __version__
from idealist.rendering import document as doc
from idealist.rendering.document import Table
from idealist.rendering.drawing import svg
from idealist.rendering.html import Writer, plain
from idealist.rendering.plain_data import finite
from idealist.reporting import verdict_sentences
from idealist.reporting.lists_html import lists_html
from idealist.reporting.real_section import Card
from idealist.reporting.sections import Section, about, sections

if TYPE_CHECKING:
    from idealist.reporting.report_result import Report

#: The most rows of a table that nobody would sort.
UNSORTED = 5
#: Longer texts of the table of queries get room even on narrow screens.
LONG = 24
#: What could end the element that holds the data, or is no text by itself.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def page(report: Report) -> str:
    """Write the page."""
    style, script = svg.style() + _resource("page.css"), _resource("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = (
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta name="generator" content="idealist {__version__}">',
        f"<title>{plain(report.title)}</title>",
        f"<style>{style}</style>",
    )
    body = (
        *_body(report),
        f'<script type="application/json" id="idealist-data">{embedded(report.data())}</script>',
        f"<script>{script}</script>",
    )
    top = '<!doctype html>\n<html lang="en">'
    return "\n".join([top, "<head>", *head, "</head>", "<body>", *body, "</body>", "</html>"])


def embedded(data: Any) -> str:
    r"""Write data as JSON that may stand inside a script element.

    >>> embedded({"run": "</script>"})
    '{"run":"\\u003c/script\\u003e"}'
    """
    written = json.dumps(finite(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def _resource(name: str) -> str:
    return files("idealist.reporting").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _body(report: Report) -> Iterator[str]:
    findings = report.findings
    parts = sections(findings, report.provenance, report.notes)
    writer = PageWriter(link=_links(report))
    yield f"<header><h1>{plain(report.title)}</h1><p>{plain(about(findings))}</p></header>"
    links = "".join(f'<li><a href="#{one.id}">{one.short}</a></li>' for one in parts)
    yield f'<nav aria-label="Sections"><ul>{links}</ul></nav>'
    yield "<main>"
    for part in parts:
        yield f'<section id="{part.id}">\n<h2>{plain(part.title)}</h2>'
        yield from _inner(report, part, writer)
        yield "</section>"
    yield "</main>"
    yield f"<footer><p>Made by idealist {__version__}; nothing was sent anywhere.</p></footer>"


def _inner(report: Report, part: Section, writer: PageWriter) -> Iterator[str]:
    """Write a section: its blocks, and what only this page shows."""
    if part.id == "verdict":
        yield _lead(report)
    if part.cards:
        cards = "".join(map(_card, part.cards))
        yield f'<dl class="cards">{cards}</dl>'
    yield writer.blocks(part.blocks)
    if part.id == "queries":
        yield f"<p>{plain(report.rows.remark)}</p>" if report.rows.remark else ""
        yield _query_table(report, writer)
        means = tuple(f"{code}: {words}" for code, words in report.rows.codes.items())
        yield writer.blocks([doc.Details("What the doubts mean", (doc.Items(means),))])
        yield f'<p class="note">{plain(report.remark)}</p>' if report.remark else ""
        yield from (lists_html(one, writer) for one in report.lists)


def _lead(report: Report) -> str:
    findings = report.findings
    said = " ".join(map(plain, verdict_sentences.sentences(findings)))
    mend = plain(verdict_sentences.to_mend(findings))
    first = f'<p class="loss"><strong>{mend}</strong></p>\n' if mend else ""
    trust = f'{plain(findings.audit.summary)} <a href="#trust">Why</a>'
    tone = verdict_sentences.tone(findings)
    return f'{first}<p class="lead {tone}">{said}</p>\n<p class="facts">{trust}</p>'


def _card(card: Card) -> str:
    small = f"<small>{plain(card.more)}</small>" if card.more else ""
    return f"<div><dt>{plain(card.name)}</dt><dd>{plain(card.value)}{small}</dd></div>"


def _links(report: Report) -> Callable[[str], str]:
    """Say where a query is on the page: its lists, or its row."""
    listed = {one.row.query for one in report.lists}
    places = {
        row.query: f"#{'query' if row.query in listed else 'row'}-{row.number}"
        for row in report.rows.rows
    }
    return lambda query: places.get(query, "")


def _query_table(report: Report, writer: PageWriter) -> str:
    """Write all queries; a row leads to the lists of its query, where it has some."""
    rows, table = report.rows, report.rows.table()
    left = [column.format.left for column in table.columns]
    head = "".join(
        writer.head(name, words) for name, words in zip(table.headers, left, strict=True)
    )
    body = []
    for row, (query, *cells) in zip(rows.rows, table.written(), strict=True):
        kinds = " ".join(filter(None, (rows.way(row), "doubtful" if row.doubts else "")))
        name, place = f"<bdi>{plain(query)}</bdi>", writer.link(row.query)
        named = f'<a href="{place}">{name}</a>' if place.startswith("#query") else name
        inner = "".join(
            f'<td class="long">{plain(cell)}</td>'
            if words and len(cell) > LONG
            else writer.cell(plain(cell), words)
            for cell, words in zip(cells, left[1:], strict=True)
        )
        kind = f' class="{kinds}"' if kinds else ""
        body.append(f'<tr id="row-{row.number}"{kind}><th scope="row">{named}</th>{inner}</tr>')
    whole = "\n".join(body)
    return writer.scrolled(
        f'<table id="query-table" data-sortable><thead><tr>{head}</tr></thead>'
        f"<tbody>{whole}</tbody></table>", "All queries"
    )  # fmt: skip


@dataclass(frozen=True)
class PageWriter(Writer):
    """Blocks of the page: wide tables scroll in a box of their own, figures link to queries."""

    level: int = 3
    link: Callable[[str], str] = field(default=lambda _: "")

    def _heading(self, text: str) -> str:
        return super()._heading(re.sub("^[a-z](?=[a-z]* )", lambda first: first[0].upper(), text))

    def table(self, table: Table) -> str:
        """Draw a table in a box that scrolls."""
        named = ", ".join(filter(None, table.headers[:3]))
        inner = super().table(table)
        if len(table.rows) > UNSORTED:
            inner = inner.replace("<table>", "<table data-sortable>", 1)
        return self.scrolled(inner, table.title or f"Table: {named}")

    def scrolled(self, table: str, name: str) -> str:
        """Put a table in a box that scrolls, also by keys."""
        role = f'tabindex="0" role="region" aria-label="{plain(name)}"'
        return f'<div class="scroll" {role}>{table}</div>'

    def _drawing(self, drawing: doc.Drawing) -> str:
        figure = drawing.figure
        picture = svg.draw(figure, styled=False, link=self.link)
        words = f"<figcaption>{plain(figure.says)}</figcaption>"
        return f'<figure id="figure-{figure.kind}">{picture}{words}</figure>'
