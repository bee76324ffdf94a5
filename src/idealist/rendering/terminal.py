"""Documents on a terminal: tables in columns, words wrapped, what is too wide made to fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from idealist.rendering import document as doc
from idealist.rendering import doubt_words
from idealist.rendering.document import TEXT, Block, Column, Document, Table, marks_of
from idealist.rendering.wording import short

#: How wide words are set where nobody says how wide the terminal is.
WIDTH = 100
#: Names that differ still do when they are shortened, if so many characters are enough. Suggested.
APART = 40
#: The least that is left of a name that is shortened.
LEAST = 8
#: Letters as they stand behind a number for the systems it beats; Unicode has no q.
SUPERSCRIPTS = dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))


def render(document: Document, details: bool = False, columns: int | None = None) -> str:
    """Write the blocks of a document; the notes are for standard error, see `notes`."""
    return _blocks(document.blocks, details, columns)


def _blocks(blocks: Iterable[Block], details: bool, columns: int | None) -> str:
    """Write blocks with an empty line between them, but none below a heading."""
    text = ""
    for block in blocks:
        written = _block(block, details, columns)
        apart = "\n" if isinstance(block, doc.Heading) else "\n\n"
        text += written + apart if written else ""
    return text.rstrip("\n")


def front(document: Document) -> list[str]:
    """Write what must be known before anything else is read, a line each, unbroken."""
    return _lines(document.front)


def notes(document: Document) -> list[str]:
    """Write the notes of a document but what stands in front, a line each, unbroken."""
    return _lines(document.rest)


def _lines(blocks: Iterable[Block]) -> list[str]:
    lines: list[str] = []
    for block in blocks:
        written = block.text if isinstance(block, doc.Text) else _block(block, False, None)
        lines += written.split("\n") if written else []
    return lines


def _block(block: Block, details: bool, columns: int | None) -> str:
    width = columns or WIDTH
    match block:
        case Table():
            title = f"{block.title}\n" if block.title else ""
            return title + draw(fitted(block, columns), width) if block.rows else ""
        case doc.Heading(text) | doc.Text(text):
            return wrapped(text.splitlines(), width, hang=0)
        case doc.Items(items, numbered):
            lines = (f"{i}. {item}" for i, item in enumerate(items, 1)) if numbered else items
            return wrapped(lines, width)
        case doc.Doubts(doubts, full):
            listed = doubt_words.paragraphs(doubts) if full else doubt_words.lines(doubts)
            return ("\n\n" if full else "\n").join(listed)
        case doc.Command(text):
            return "\n".join(f"  {line}" for line in text.splitlines())
        case doc.Signatures(lines):
            return "\n".join(f"signature: {line}" for line in lines)
        case doc.Drawing(figure):
            return wrapped(filter(None, (figure.says, figure.note)), width, hang=0)
        case doc.Details(_, blocks):
            return _blocks(blocks, details, columns) if details else ""


def wrapped(lines: Iterable[str], width: int, hang: int = 2) -> str:
    """Break lines that are too long between words; what follows hangs a little to the right."""
    import textwrap  # only long texts need it

    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    filled = []
    for line in lines:
        wrapper.subsequent_indent = " " * (len(line) - len(line.lstrip()) + hang)
        filled.append(wrapper.fill(line))
    return "\n".join(filled)


def draw(table: Table, width: int = WIDTH) -> str:
    """Draw a table in columns divided by blanks, closer together where there is little room.

    >>> print(draw(Table.of(["run"], ["AP"], [["bm25", 0.21432]])))
     run        AP
     ─────────────
     bm25   0.2143
    """
    rows = [table.headers, *_below_each_other(table)]
    rows = [[_visible(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    gaps = len(widths) - 1
    gap = next((gap for gap in (3, 2) if sum(widths) + gap * gaps < width), 1)
    left = [column.format.left for column in table.columns]
    head, *body = [(" " * gap).join(_set(row, widths, left)) for row in rows]
    rule = "─" * (sum(widths) + gap * gaps)
    return "\n".join(f" {line.rstrip()}" for line in (head, rule, *body))


def width_of(table: Table) -> int:
    """Give the least width of a table."""
    columns = zip(table.headers, *table.written(marked), strict=True)
    return sum(max(map(len, column)) + 1 for column in columns)


def fitted(table: Table, columns: int | None) -> Table:
    """Make a table fit: shorten names, leave out spare columns, on a terminal turn it."""
    width = columns or WIDTH
    table = _shortened(table, width)
    spare = sorted((column.spare, column.name) for column in table.columns if column.spare)
    for _, name in spare:
        if width_of(table) <= width:
            break
        table = table.without([name])
    if columns is None or not table.turns or width_of(table) <= width:
        return table
    turned = _turned(table)
    return turned if width_of(turned) <= width else _unfolded(table)


def _shortened(table: Table, width: int) -> Table:
    over = width_of(table) + len(table.columns) - width  # columns stand two apart
    names = [i for i, column in enumerate(table.columns) if column.shortens]
    if over <= 0 or not names or not table.rows:
        return table
    longest = [max(len(str(row[i] or "")) for row in table.rows) for i in names]
    sizes = range(max(longest), LEAST, -1)
    most = next((n for n in sizes if sum(max(0, own - n) for own in longest) >= over), LEAST)
    told = {str(row[i] or "") for row in table.rows for i in names}
    apart = (n for n in range(most, APART) if len({short(one, n) for one in told}) == len(told))
    most = next(apart, most)
    rows = [
        tuple(short(str(cell or ""), most) if i in names else cell for i, cell in enumerate(row))
        for row in table.rows
    ]
    return replace(table, rows=tuple(rows))


def _turned(table: Table) -> Table:
    """Exchange rows and columns: a row for each number, a column for each name."""
    names = [str(row[0]) for row in table.rows]
    cells = list(zip(*table.written(), strict=True))[1:]
    head = Column("measure", TEXT)
    rows = [(column.name, *own) for column, own in zip(table.columns[1:], cells, strict=True)]
    return Table((head, *(Column(name) for name in names)), tuple(rows))


def _unfolded(table: Table) -> Table:
    """Give each cell a row of its own."""
    rows = [
        (row[0], name, cell)
        for row in table.written()
        for name, cell in zip(table.headers[1:], row[1:], strict=True)
    ]
    return Table.of([table.headers[0], "measure"], ["value"], rows)


def marked(text: str, marks: str) -> str:
    """Write the marks of a cell behind it, as superscripts."""
    return text + "".join(SUPERSCRIPTS.get(mark, mark) for mark in marks)


def _below_each_other(table: Table) -> Iterator[list[str]]:
    """Write rows with their marks, and blanks where others have marks: digits stay in line."""
    marks = [[len(marks_of(cell)) for cell in row] for row in table.rows]
    longest = list(map(max, zip(*marks, strict=True)))
    for cells, own in zip(table.written(marked), marks, strict=True):
        widths = zip(cells, longest, own, strict=True)
        yield [cell + " " * (most - here) for cell, most, here in widths]


def _visible(cell: str) -> str:
    """Write what does not print, such as the end of a line, as Python does."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in cell)


def _width(cell: str) -> int:
    """Count the columns that a text takes on a terminal, where some signs take two or none."""
    if re.fullmatch("[ -\u02ff]*", cell):
        return len(cell)
    from rich.cells import cell_len  # slow to import, and names in Latin letters do not need it

    return cell_len(cell)


def _set(row: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> Iterator[str]:
    """Fill cells up to the widths of their columns."""
    for cell, width, words in zip(row, widths, left, strict=True):
        blanks = " " * (width - _width(cell))
        yield cell + blanks if words else blanks + cell
