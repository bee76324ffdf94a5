"""Documents for papers: tables with the lines of booktabs, and all else as comments."""

from __future__ import annotations

import re

from idealist.rendering import terminal
from idealist.rendering.document import Block, Details, Document, Table
from idealist.rendering.wording import seen

#: What LaTeX would take for a command, or set as another sign, and how it is written there.
_TEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "±": r"$\pm$", "…": r"\ldots{}",
}  # fmt: skip
#: Symbols that are set as mathematics.
_SYMBOLS = {"d_z": "$d_z$"}
#: Signs that LaTeX would join into another one.
_LIGATURE = re.compile(r"([-'`,])(?=\1)|[?!](?=`)")
_MINUS = re.compile(r"(?<![\w-])-(?=\d)")


def render(document: Document, details: bool = False) -> str:
    """Write the tables of a document; what else it says stands above and below as comments."""
    blocks = [*document.front, *document.blocks]
    blocks = [one for one in blocks if details or not isinstance(one, Details)]
    written = [_block(block) for block in blocks]
    notes = comment("\n".join(terminal.notes(document)))
    return "\n\n".join(filter(None, [*written, notes]))


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return draw(block) if block.rows else ""
    return comment(terminal.render(Document((block,)), details=True))


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
    title = [comment(table.title)] if table.title else []
    start, end = rf"\begin{{tabular}}{{{sides}}}", r"\end{tabular}"
    return "\n".join([*title, start, r"\toprule", head, r"\midrule", *body, r"\bottomrule", end])


def _cell(text: str, marks: str) -> str:
    """Write a cell; marks have no width, so that digits stay below each other."""
    if text in _SYMBOLS:
        return _SYMBOLS[text]
    written = _MINUS.sub("$-$", escaped(text))
    raised = marks if marks == "*" else rf"\textsuperscript{{{marks}}}"
    return rf"{written}\rlap{{{raised}}}" if marks else written


def escaped(text: str) -> str:
    """Write text so that LaTeX sets its signs as they are; what cannot be seen gets its number.

    >>> print(escaped("50% a_b--c {#1} d\u202ee"))
    50\\% a\\_b-{}-c \\{\\#1\\} d[U+202E]e
    >>> print(escaped("[x]"))  # which would belong to the end of the row above
    {}[x]
    """
    written = "".join(_TEX.get(sign, sign) for sign in seen(text.replace("\n", " ")))
    return "{}" * written.startswith(("[", "*")) + _LIGATURE.sub(r"\g<0>{}", written)


def comment(words: str) -> str:
    """Write lines that LaTeX passes over."""
    return "\n".join(f"% {line}".rstrip() for line in words.splitlines())
