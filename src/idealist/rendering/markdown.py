"""Documents in Markdown, for a README, an issue or a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from idealist.rendering import document as doc
from idealist.rendering import doubt_words
from idealist.rendering.document import Block, Command, Document, Table
from idealist.rendering.doubt import Doubt
from idealist.rendering.terminal import marked
from idealist.rendering.wording import seen

#: What Markdown takes for more than text. Our own words name code in backticks, in which nothing is
#: executed either; within a word, an underscore is one.
_SIGNS = re.compile(r"[\\*\[\]<>&~]|(?<!\w)_|_(?!\w)")


def plain(words: str) -> str:
    """Write any text so that it is only text.

    >>> print(plain("<b> of run_1, *starred*"))
    \\<b\\> of run_1, \\*starred\\*
    """
    return _SIGNS.sub(lambda found: f"\\{found[0]}", seen(words))


def render(document: Document, details: bool = False) -> str:
    """Write a document; details are folded up, or open where they are asked for."""
    title = [f"### {plain(document.title)}"] if document.title else []
    return "\n\n".join(
        [*title, *_blocks((*document.front, *document.blocks, *document.rest), details)]
    )


def _blocks(blocks: Iterable[Block], details: bool) -> list[str]:
    return [written for block in blocks if (written := _block(block, details))]


def _block(block: Block, details: bool) -> str:
    match block:
        case Table():
            title = f"{plain(block.title)}\n\n" if block.title else ""
            return title + draw(block) if block.rows else ""
        case doc.Heading(text):
            return f"#### {plain(text)}"
        case doc.Text(text, strong):
            return f"**{plain(text)}**" if strong else plain(text)
        case doc.Items(items, numbered):
            return "\n".join(_item(line, "1." if numbered else "-") for line in items)
        case doc.Doubts(doubts, full):
            if full:
                return "\n\n".join(map(_finding, doubt_words.alike(doubts)))
            return "\n".join(f"- {plain(line)}" for line in doubt_words.lines(doubts))
        case Command(text):
            return fenced(block)
        case doc.Signatures(lines):
            return "<sub>" + "<br>".join(f"`{line}`" for line in lines) + "</sub>"
        case doc.Drawing(figure):
            return "\n\n".join(map(plain, filter(None, (figure.says, figure.note))))
        case doc.Details(title, inner):
            body, opened = "\n\n".join(_blocks(inner, details)), " open" * details
            folded = (
                f"<details{opened}><summary>{escape(seen(title))}</summary>\n\n{body}\n\n</details>"
            )
            return folded if body else ""


def draw(table: Table) -> str:
    """Draw a table.

    >>> print(draw(Table.of(["run"], ["AP"], [["bm25", 0.21432]])))
    | run | AP |
    |:---|---:|
    | bm25 | 0.2143 |
    """
    cells = (table.headers, *table.written(marked))
    escaped = [[" ".join(plain(cell).split()).replace("|", "\\|") for cell in row] for row in cells]
    head, *rows = ["| " + " | ".join(row) + " |" for row in escaped]
    sides = "|".join(":---" if column.format.left else "---:" for column in table.columns)
    return "\n".join([head, f"|{sides}|", *rows])


def _item(line: str, mark: str = "-") -> str:
    """Make a line an item of a list, as deep as it stands."""
    return f"{line[: len(line) - len(line.lstrip())]}{mark} {plain(line.lstrip())}"


def _finding(group: list[Doubt]) -> str:
    """Write doubts that are alike with all that is known of them."""
    title, *lines = doubt_words.parts(group)
    first = group[0]
    parts = [f"#### {plain(title)}", "\n".join(_item(line) for line in lines)]
    if first.command:
        parts.append(fenced(Command(first.command)))
    return "\n\n".join([*parts, *([plain(first.doc)] if first.doc else [])])


def fenced(command: Command) -> str:
    """Write a command as a block of code."""
    prompt = "$ " if command.language == "console" else ""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", command.text)), default=0))
    return f"{fence}{command.language}\n{prompt}{seen(command.text)}\n{fence}"
