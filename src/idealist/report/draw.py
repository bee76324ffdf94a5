"""Drawing tables for terminals, papers, pages and programs. Nothing is computed here."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """A table of finished text; the first columns hold words, set left, the others numbers.

    >>> print(markdown(Grid(["run", "AP"], [["bm25", "0.2143"]])))
    | run | AP |
    |:---|---:|
    | bm25 | 0.2143 |
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    words: int = 1

    @property
    def width(self) -> int:
        """The width of the table on a terminal."""
        columns = zip(self.headers, *self.rows, strict=True)
        return sum(max(map(len, column)) + 3 for column in columns)

    def align(self, left: str, right: str) -> list[str]:
        """Give the mark of each column's alignment."""
        return [left if i < self.words else right for i in range(len(self.headers))]


def plain(grid: Grid, gap: int = 3) -> str:
    """Draw for a terminal, in columns divided by blanks.

    >>> print(plain(Grid(["run", "AP"], [["bm25", "0.2143"]])))
     run        AP
     ─────────────
     bm25   0.2143
    """
    rows = [list(map(_visible, row)) for row in (grid.headers, *grid.rows)]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    head, *body = [(" " * gap).join(_set(row, widths, grid.words)) for row in rows]
    rule = "─" * (sum(widths) + gap * (len(widths) - 1))
    return "\n".join(f" {line.rstrip()}" for line in (head, rule, *body))


def _visible(cell: str) -> str:
    """Write what does not print, such as the end of a line, as Python does."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in cell)


def _width(cell: str) -> int:
    """Give the columns that a text takes on a terminal, where some signs take two or none."""
    if re.fullmatch("[ -\u02ff]*", cell):
        return len(cell)
    from rich.cells import cell_len  # slow to import, and names in Latin letters do not need it

    return cell_len(cell)


def _set(row: Sequence[str], widths: Sequence[int], words: int) -> Iterator[str]:
    """Fill cells up to the widths of their columns; the first hold words, set left."""
    for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
        blanks = " " * (width - _width(cell))
        yield cell + blanks if i < words else blanks + cell


def short(name: str, longest: int | None) -> str:
    """Leave out the middle of a name that is too long.

    >>> short("python-sorting-howto", 11)
    'pytho…howto'
    """
    if longest is None or len(name) <= longest:
        return name
    half = (longest - 1) // 2
    return f"{name[: longest - 1 - half]}…{name[len(name) - half :]}"


def clipped(words: str, longest: int | None) -> str:
    """Leave out the end of a text that is too long."""
    line = " ".join(words.split())
    return line if longest is None or len(line) <= longest else f"{line[: longest - 1]}…"


def wrapped(lines: Sequence[str], width: int) -> str:
    """Break lines that are too long between words."""
    import textwrap  # only long texts need it

    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    filled = []
    for line in lines:
        wrapper.subsequent_indent = " " * (len(line) - len(line.lstrip()) + 2)
        filled.append(wrapper.fill(line))
    return "\n".join(filled)


def markdown(grid: Grid) -> str:
    """Draw for a README or an issue."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (grid.headers, *grid.rows)]
    head, *rows = ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([head, "|" + "|".join(grid.align(":---", "---:")) + "|", *rows])


def latex(grid: Grid) -> str:
    """Draw for a paper; the lines are booktabs'."""
    rows = [" & ".join(map(_tex, row)) + r" \\" for row in (grid.headers, *grid.rows)]
    start = r"\begin{tabular}{" + "".join(grid.align("l", "r")) + "}"
    lines = [start, r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule", r"\end{tabular}"]
    if grid.caption:
        lines = ["\n".join(f"% {line}" for line in grid.caption.splitlines()), *lines]
    return "\n".join(lines)


#: Letters set high, as they stand behind a number for the systems it beats; there is no q.
SUPERSCRIPTS = dict(zip("ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", "abcdefghijklmnoprstuvwxyz", strict=True))
_HIGH = re.compile(f"[{''.join(SUPERSCRIPTS)}]+")


#: What LaTeX would take for a command, or set as another sign, and how it is written there.
_TEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "±": r"$\pm$", "…": r"\ldots{}",
}  # fmt: skip


#: Symbols that are set as mathematics.
_SYMBOLS = {"d_z": "$d_z$"}
_MINUS = re.compile(r"(?<![\w-])-(?=\d)")
_STAR = re.compile(r"(?<=\d)\*$")


def _tex(cell: str) -> str:
    if cell in _SYMBOLS:
        return _SYMBOLS[cell]
    written = "".join(_TEX.get(sign, sign) for sign in cell)
    return _HIGH.sub(_high, _STAR.sub(r"\\rlap{*}", _MINUS.sub("$-$", written)))


def _high(match: re.Match[str]) -> str:
    """Set letters high, without a width, so that digits stay below each other."""
    letters = "".join(SUPERSCRIPTS[sign] for sign in match[0])
    return rf"\rlap{{\textsuperscript{{{letters}}}}}"


def web(grid: Grid) -> str:
    """Draw as an HTML table."""
    import html  # here, because its table of entities takes long to load

    sides = grid.align("left", "right")

    def row(cells: Sequence[str], tag: str) -> str:
        styled = (
            f'<{tag} style="text-align: {side}; padding: 0.2em 0.8em">{html.escape(cell)}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )
        return "<tr>" + "".join(styled) + "</tr>"

    body = "".join(row(cells, "td") for cells in grid.rows)
    return f"<table><thead>{row(grid.headers, 'th')}</thead><tbody>{body}</tbody></table>"


def separated(grid: Grid, delimiter: str) -> str:
    """Write for a program, quoted only where a cell holds the delimiter."""
    import csv

    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerows([grid.headers, *grid.rows])
    return stream.getvalue().removesuffix("\n")


#: How a grid is drawn in each format of the command line.
FORMATS: dict[str, Callable[[Grid], str]] = {
    "table": plain,
    "md": markdown,
    "latex": latex,
    "tsv": lambda grid: separated(grid, "\t"),
    "csv": lambda grid: separated(grid, ","),
}
