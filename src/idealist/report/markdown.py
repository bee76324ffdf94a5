"""Documents in Markdown, for a README, an issue or a pull request."""

from __future__ import annotations

from collections.abc import Iterable

from idealist.report import document as doc
from idealist.report import doubt_words
from idealist.report.document import Block, Command, Document, Table
from idealist.report.doubt import Doubt
from idealist.report.terminal import marked


def render(document: Document, details: bool = False) -> str:
    """Write a document; details are folded up, or open where they are asked for."""
    title = [f"### {document.title}"] if document.title else []
    return "\n\n".join(
        [*title, *_blocks((*document.front, *document.blocks, *document.rest), details)]
    )


def _blocks(blocks: Iterable[Block], details: bool) -> list[str]:
    return [written for block in blocks if (written := _block(block, details))]


def _block(block: Block, details: bool) -> str:
    match block:
        case Table():
            title = f"{block.title}\n\n" if block.title else ""
            return title + draw(block) if block.rows else ""
        case doc.Heading(text):
            return f"#### {text}"
        case doc.Text(text, strong):
            return f"**{text}**" if strong else text
        case doc.Items(items):
            return "\n".join(map(_item, items))
        case doc.Doubts(doubts, full):
            if full:
                return "\n\n".join(map(_finding, doubt_words.alike(doubts)))
            return "\n".join(f"- {line}" for line in doubt_words.lines(doubts))
        case Command(text):
            return fenced(block)
        case doc.Signatures(lines):
            return "<sub>" + "<br>".join(f"`{line}`" for line in lines) + "</sub>"
        case doc.Drawing(figure):
            return "\n\n".join(filter(None, (figure.says, figure.note)))
        case doc.Details(title, inner):
            body, opened = "\n\n".join(_blocks(inner, details)), " open" * details
            folded = f"<details{opened}><summary>{title}</summary>\n\n{body}\n\n</details>"
            return folded if body else ""


def draw(table: Table) -> str:
    """Draw a table.

    >>> print(draw(Table.of(["run"], ["AP"], [["bm25", 0.21432]])))
    | run | AP |
    |:---|---:|
    | bm25 | 0.2143 |
    """
    cells = (table.headers, *table.written(marked))
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in cells]
    head, *rows = ["| " + " | ".join(row) + " |" for row in escaped]
    sides = "|".join(":---" if column.format.left else "---:" for column in table.columns)
    return "\n".join([head, f"|{sides}|", *rows])


def _item(line: str) -> str:
    """Make a line an item of a list, as deep as it stands."""
    return f"{line[: len(line) - len(line.lstrip())]}- {line.lstrip()}"


def _finding(group: list[Doubt]) -> str:
    """Write doubts that are alike with all that is known of them."""
    title, *lines = doubt_words.parts(group)
    first = group[0]
    parts = [f"#### {title}", "\n".join(_item(line) for line in lines)]
    if first.command:
        parts.append(fenced(Command(first.command)))
    return "\n\n".join([*parts, *([first.doc] if first.doc else [])])


def fenced(command: Command) -> str:
    """Write a command as a block of code."""
    prompt = "$ " if command.language == "console" else ""
    return f"```{command.language}\n{prompt}{command.text}\n```"
