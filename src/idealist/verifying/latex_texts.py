"""The text of a cell or a caption in LaTeX: what it says, and how it is set."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from idealist.verifying.printed_tables import PrintedCell

_TOKEN = re.compile(r"\\[A-Za-z@]+\*?[ \t]*|\\.|[{}^_$&~%]|[^\\{}^_$&~%]+|\\", re.DOTALL)
#: Commands that stand for a sign.
_SYMBOLS = {
    "dagger": "†", "ddagger": "‡", "dag": "†", "ddag": "‡", "textdagger": "†", "ast": "*",
    "textdaggerdbl": "‡", "star": "⋆", "bigstar": "★", "textasteriskcentered": "*", "S": "§",
    "P": "¶", "pm": "±", "textpm": "±", "triangle": "△", "blacktriangle": "▲",
    "textbackslash": "\\", "textasciicircum": "^", "textasciitilde": "~", "textless": "<",
    "textgreater": ">", "textbar": "|", "ldots": "…", "dots": "…", "textendash": "–",
    "textemdash": "—", "alpha": "α", "beta": "β", "downarrow": "↓", "uparrow": "↑", "%": "%",
    "&": "&", "#": "#", "_": "_", "$": "$", "{": "{", "}": "}", "-": "", "/": "", ",": " ",
    ";": " ", ":": " ", "!": "", " ": " ", "quad": " ", "qquad": " ", "newline": " ", "\n": " ",
    "textunderscore": "_", "@": "", "\\": " ", "times": "×", "Delta": "Δ", "par": " ",
    "le": "≤", "leq": "≤", "lt": "<", "ll": "≪", "circ": "∘", "bullet": "•", "diamond": "⋄",
    "Diamond": "◇", "lozenge": "◇", "blacktriangledown": "▼", "triangledown": "▽", "prime": "′",
    "vartriangle": "△", "bigtriangleup": "△", "triangleup": "△", "bigtriangledown": "▽",
    "textbullet": "•", "textdegree": "°", "degree": "°", "checkmark": "✓", "clubsuit": "♣",
    "spadesuit": "♠", "mathsection": "§", "textsection": "§", "mathparagraph": "¶",
    "textparagraph": "¶", "blacklozenge": "◆", "blacksquare": "■", "square": "□", "Box": "□",
    "triangleleft": "◁", "triangleright": "▷", "diamondsuit": "♢", "heartsuit": "♡",
}  # fmt: skip
#: Commands of which arguments say nothing: how many there are.
_SILENT = {
    "phantom": 1, "hphantom": 1, "vphantom": 1, "cite": 1, "citep": 1, "citet": 1, "citealp": 1,
    "ref": 1, "label": 1, "footnote": 1, "tablefootnote": 1, "cellcolor": 1,
    "color": 1, "rule": 2, "vspace": 1, "hspace": 1, "rowcolor": 1, "textcolor": 1, "colorbox": 1,
    "fontsize": 2, "Cref": 1, "cref": 1, "autoref": 1, "citeyear": 1, "rotatebox": 1,
    "raisebox": 1, "scalebox": 1, "parbox": 1, "resizebox": 2, "setlength": 2, "href": 1,
    "hypertarget": 1, "hyperref": 0, "footnotemark": 0, "citeauthor": 1, "nocite": 1,
    "shortcite": 1, "textcite": 1,
}  # fmt: skip
#: Commands that say nothing of what they set.
_NO_MEANING = """
    begingroup Big big bigl bigr Bstrut caption captionof centering centerline clap columnwidth
    displaystyle eg em emph endgroup enspace ensuremath etal footnotesize hbox hfil hfill hskip ie
    it itshape Large large leavevmode left linewidth llap makebox makecell mathit mathnormal
    mathrlap mathrm mathsf mathtt mbox mdseries multicolumn multirow noindent nolinkurl normalsize
    null num operatorname path protect raggedleft raggedright relax right rlap rm rmfamily sc
    scriptsize scriptstyle scshape selectfont sf sffamily shortstack small smash specialcell strut
    tabcolsep tablenum text textit textmd textnormal textrm textsc textsf textsl textstyle texttt
    textup textwidth thead thinspace tiny Tstrut tt ttfamily upshape url vskip xspace
"""
_PLAIN = frozenset(_NO_MEANING.split())
_BOLD = {
    "textbf", "mathbf", "bm", "boldsymbol", "bf", "bfseries", "fontseries", "pmb", "B", "boldmath",
}  # fmt: skip
_UNDERLINED = {"underline", "uline", "ul", "underbar"}
_RAISED = {"textsuperscript", "sp", "tnote", "tmark"}


@dataclass(frozen=True)
class _Style:
    bold: bool = False
    underlined: bool = False
    raised: bool = False


@dataclass
class _Setter:
    """Sets a text: pieces with their style, as tokens come.

    `unknown` are the commands that are not known; with `shows`, each is a piece of its own.
    """

    tokens: list[str]
    shows: bool = False
    at: int = 0
    pieces: list[tuple[str, _Style]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def group(self, style: _Style, until: str = "") -> None:
        """Set tokens up to the end of a group; commands such as \\bfseries reach as far as that."""
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token == until:
                return
            style = self.one(token, style)

    def argument(self, style: _Style) -> None:
        """Set one argument: a group, or the next token."""
        self.skip_blanks()
        if self.at >= len(self.tokens):
            return
        token = self.tokens[self.at]
        self.at += 1
        if token == "{":
            self.group(style, "}")
        elif token[0] != "\\" and len(token) > 1:  # of a text, only its first sign
            self.tokens[self.at - 1] = token[1:]
            self.at -= 1
            self.pieces.append((token[0], style))
        else:
            self.one(token, style)

    def skip_blanks(self) -> None:
        """Pass over blanks in front of an argument."""
        while self.at < len(self.tokens) and not self.tokens[self.at].strip():
            self.at += 1

    def one(self, token: str, style: _Style) -> _Style:
        """Set one token; return the style of what follows it in the group."""
        if token == "{":
            self.group(style, "}")
        elif token == "^":
            self.argument(replace(style, raised=True))
        elif token == "_":
            self.pieces.append((" ", style))
            self.argument(style)
        elif token == "~":
            self.pieces.append((" ", style))
        elif token[0] == "\\" and len(token) > 1:
            return self.command(token[1:].rstrip(" \t*") or token[1:], style)
        elif token not in ("$", "}"):
            self.pieces.append((token, style))
        return style

    def command(self, name: str, style: _Style) -> _Style:
        """Follow a command, as far as it says how text is set; others are passed over."""
        grouped = self.tokens[self.at : self.at + 1] == ["{"]
        if name in _SYMBOLS:
            self.pieces.append((_SYMBOLS[name], style))
        elif name in _BOLD or name in _UNDERLINED or name in _RAISED:
            changed = _Style(
                style.bold or name in _BOLD,
                style.underlined or name in _UNDERLINED,
                style.raised or name in _RAISED,
            )
            if not grouped and name not in _RAISED:
                return changed  # for the rest of the group
            self.argument(changed)
        else:
            if name not in _SILENT and name not in _PLAIN:
                self.unknown.append(f"\\{name}")
                self.pieces += [(f" \\{name} ", style)] if self.shows else []
                self.options()
                self.arguments(style)
            self.options()
            for _ in range(_SILENT.get(name, 0)):
                kept, self.pieces = self.pieces, []
                self.argument(style)
                self.pieces = kept
        return style

    def arguments(self, style: _Style) -> None:
        """Set the arguments of a command that is not known; two numbers are not one."""
        for i in range(len(self.tokens)):
            if self.tokens[self.at : self.at + 1] != ["{"]:
                return
            self.pieces += [(" | ", style)] if i else []
            self.argument(style)

    def options(self) -> None:
        """Pass over what stands in brackets behind a command."""
        while self.at < len(self.tokens) and self.tokens[self.at].startswith("["):
            _, sign, rest = self.tokens[self.at].partition("]")
            if not sign:
                return
            self.tokens[self.at] = rest
            self.at += not rest


def set_text(text: str) -> PrintedCell:
    """Set the text of a cell.

    >>> set_text(r"\\bfseries 0{,}43\\,\\%\\rlap{\\textsuperscript{ab}}")
    PrintedCell(text='0,43 %', bold=True, underlined=False, raised='ab')
    """
    setter = _Setter(_TOKEN.findall(text))
    setter.group(_Style())
    low = [(piece, style) for piece, style in setter.pieces if not style.raised]
    seen = [style for piece, style in low if any(sign.isalnum() for sign in piece)]
    raised = "".join(piece for piece, style in setter.pieces if style.raised)
    return PrintedCell.of(
        "".join(piece for piece, _ in low),
        any(style.bold for style in seen),
        any(style.underlined for style in seen),
        "".join(raised.split()),
        strange=tuple(setter.unknown),
    )


def plain_text(text: str) -> str:
    """Set a text on one line, with what is set high, and commands that are not known, in place."""
    setter = _Setter(_TOKEN.findall(text), shows=True)
    setter.group(_Style())
    return " ".join("".join(piece for piece, _ in setter.pieces).split())
