"""Drawing tables for terminals, papers, pages and programs. Nothing is computed here."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable, Sequence
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


def plain(grid: Grid) -> str:
    """Draw for a terminal, in columns divided by blanks.

    >>> print(plain(Grid(["run", "AP"], [["bm25", "0.2143"]])))
     run        AP
     ─────────────
     bm25   0.2143
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for header, side in zip(grid.headers, grid.align("left", "right"), strict=True):
        table.add_column(_literal(header), justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in grid.rows:
        table.add_row(*map(_literal, row))
    stream = io.StringIO()
    Console(file=stream, width=10_000, color_system=None).print(table)
    return "\n".join(" " + line.rstrip() for line in stream.getvalue().splitlines())


def _literal(cell: str) -> str:
    from rich.markup import escape

    return escape(cell)


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


def _tex(cell: str) -> str:
    return "".join("\\" + sign if sign in "&%$#_{}" else sign for sign in cell).replace(
        "±", r"$\pm$"
    )


def web(grid: Grid) -> str:
    """Draw as an HTML table."""
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
