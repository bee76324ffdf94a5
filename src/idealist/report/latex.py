"""Documents for papers: tables with the lines of booktabs, and all else as comments."""

from __future__ import annotations

import re

from idealist.report import terminal
from idealist.report.document import Block, Details, Document, Table

#: What LaTeX would take for a command, or set as another sign, and how it is written there.
_TEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "±": r"$\pm$", "…": r"\ldots{}",
}  # fmt: skip
#: Symbols that are set as mathematics.
_SYMBOLS = {"d_z": "$d_z$"}
_MINUS = re.compile(r"(?<![\w-])-(?=\d)")


def render(document: Document, details: bool = False) -> str:
    """Write the tables of a document; what else it says stands above and below as comments."""
    blocks = [*document.front, *document.blocks]
    blocks = [one for one in blocks if details or not isinstance(one, Details)]
    written = [_block(block) for block in blocks]
    notes = _comment("\n".join(terminal.notes(document)))
    return "\n\n".join(filter(None, [*written, notes]))


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return draw(block) if block.rows else ""
    return _comment(terminal.render(Document((block,)), details=True))


def draw(table: Table) -> str:
    """Draw a table.

    >>> print(draw(Table.of(["run"], ["AP"], [["bm25", 0.21432]])))
    \\begin{tabular}{lr}
    \\toprule
    run & AP \\\\
    \\midrule
    bm25 & 0.2143 \\\\
    \\bottomrule
    \\end{tabular}
    """
    sides = "".join("l" if column.format.left else "r" for column in table.columns)
    cells = [[_cell(name, "") for name in table.headers], *table.written(_cell)]
    head, *body = [" & ".join(row) + r" \\" for row in cells]
    title = [_comment(table.title)] if table.title else []
    start, end = rf"\begin{{tabular}}{{{sides}}}", r"\end{tabular}"
    return "\n".join([*title, start, r"\toprule", head, r"\midrule", *body, r"\bottomrule", end])


def _cell(text: str, marks: str) -> str:
    """Write a cell; marks have no width, so that digits stay below each other."""
    if text in _SYMBOLS:
        return _SYMBOLS[text]
    written = _MINUS.sub("$-$", "".join(_TEX.get(sign, sign) for sign in text))
    raised = marks if marks == "*" else rf"\textsuperscript{{{marks}}}"
    return rf"{written}\rlap{{{raised}}}" if marks else written


def _comment(words: str) -> str:
    return "\n".join(f"% {line}".rstrip() for line in words.splitlines())
