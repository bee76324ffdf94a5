"""Tables in LaTeX, as papers have them: rows, cells, and how these are set. Nothing is executed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from idealist.verifying.latex_texts import plain_text, set_text
from idealist.verifying.printed_tables import PrintedCell, PrintedTable

_NAMES = r"\{(?P<name>tabular\*?|tabularx|tabulary|tabu|longtable|array|NiceTabular)\}"
_TABULAR = re.compile(rf"\\begin{_NAMES}(?P<body>.*?)\\end\{{(?P=name)\}}", re.DOTALL)
#: Tables whose syntax is another one.
_OTHER = re.compile(
    r"\\begin\{((?:long|tall)?tblr\+?|NiceTabular[*X]|NiceArray|supertabular\*?|xtabular\*?"
    r"|deluxetable\*?|ctable|tabbing)\}"
)
_BORDER = re.compile(rf"\\(?P<side>begin|end){_NAMES}")
#: What is not set at all; of a condition that is false, the other side is.
_UNSET = re.compile(
    r"\\begin\{(?P<name>comment|verbatim|lstlisting)\*?\}.*?\\end\{(?P=name)\*?\}"
    r"|\\iffalse\b(?:(?!\\else\b|\\fi\b).)*(?:\\else\b|\\fi\b)|\\end\{document\}.*",
    re.DOTALL,
)
#: Environments with a width in front of the columns.
_WITH_WIDTH = ("tabular*", "tabularx", "tabulary")
#: What makes a comment of a caption, as our own tables have it.
_CAPTION = re.compile(r"^[ \t]*%+[ \t]*(?=\\caption)", re.MULTILINE)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
#: What sets a table and says nothing.
_LAYOUT = re.compile(
    r"\\(?:begin|end)\{[^{}]*\}(?:\[[^]]*\])?|\\(?:setlength|renewcommand|resizebox)\*?"
    r"\{[^{}]*\}\s*\{[^{}]*\}\s*\{?|\\(?:scalebox|arraystretch|vspace|hspace|adjustbox)\*?\{[^{}]*\}"
)
_RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|firsthline|lasthline|hdashline)(?![A-Za-z])"
    r"(?:\[[^]]*\])?"
    r"|\\specialrule(?:\{[^{}]*\}){3}"
)
_PARTIAL = re.compile(
    r"\\(?:cmidrule|cline|cdashline)(?:\([^)]*\))?(?:\[[^]]*\])?(?:\([^)]*\))?\{[^{}]*\}"
    r"|\\addlinespace(?:\[[^]]*\])?|\\morecmidrules|\\(?:noalign|rowcolor)(?:\[[^]]*\])?\{[^{}]*\}"
    r"|\\(?:endhead|endfirsthead|endfoot|endlastfoot|arraybackslash)(?![A-Za-z])"
)


def latex_tables(text: str, place: str) -> list[PrintedTable]:
    """Read all tables of a document; comments are passed over, but a caption in one is kept.

    >>> rows = r"run & AP \\\\ \\midrule bm25 & \\textbf{.21}$^\\dagger$ \\\\"
    >>> text = rf"\\begin{{tabular}}{{lr}} {rows} \\end{{tabular}}"
    >>> latex_tables(text, "paper.tex")[0].rows[1][1]
    PrintedCell(text='.21', bold=True, underlined=False, raised='†')
    """
    plain = _flattened(_plain(text))
    matches = list(_TABULAR.finditer(plain))
    ends = [0, *(match.end() for match in matches)]
    found = []
    for i, match in enumerate(matches):
        after = matches[i + 1].start() if i + 1 < len(matches) else len(plain)
        notes = _near(plain[ends[i] : match.start()]), _until(plain[match.end() : after])
        body = _behind_columns(match["body"], 2 if match["name"] in _WITH_WIDTH else 1)
        line = plain.count("\n", 0, match.start()) + 1
        found.append(_table(body, " ".join(map(_note, notes)).strip(), f"{place}:{line}"))
    return [*found, *_not_read(plain, {match.start() for match in matches}, place)]


def _not_read(text: str, read: Collection[int], place: str) -> Iterator[PrintedTable]:
    """Name the tables that are not read: those without an end, and those of other packages."""
    endless = [one.start() for one in _BORDER.finditer(text) if one["side"] == "begin"]
    faults = {begin: "it has no end, and is not checked" for begin in endless if begin not in read}
    for one in _OTHER.finditer(text):
        faults[one.start()] = f"{one[1]} is not read: make it a tabular"
    for begin, fault in sorted(faults.items()):
        yield PrintedTable((), place=f"{place}:{text.count(chr(10), 0, begin) + 1}", fault=fault)


def _plain(text: str) -> str:
    """Leave out what is not set: comments, but for a caption, and what is switched off."""
    kept = _COMMENT.sub(r"\1", _CAPTION.sub("", text))
    return _UNSET.sub(lambda match: "\n" * match[0].count("\n"), kept)


def _flattened(text: str) -> str:
    """Make a table that stands in a cell a text of one line; it only breaks lines.

    >>> _flattened(r"\\begin{array}{l} \\begin{array}{c}A\\\\B\\end{array} \\end{array}")
    '\\\\begin{array}{l} {A B} \\\\end{array}'
    """
    pieces, depth, at, begin = list[str](), 0, 0, 0
    for match in _BORDER.finditer(text):
        depth += 1 if match["side"] == "begin" else -1 if depth else 0
        if match["side"] == "begin" and depth == 2:
            begin = match.start()
        elif match["side"] == "end" and depth == 1 and begin:
            pieces += [text[at:begin], f"{{{_in_line(text[begin : match.start()])}}}"]
            at, begin = match.end(), 0
    return "".join([*pieces, text[at:]])


def _in_line(table: str) -> str:
    """Write a table on one line, tables in it too."""
    parts = _BORDER.split(table)  # what stands before, then side, name and text of each
    texts = [
        _behind_columns(text, 2 if name in _WITH_WIDTH else 1) if side == "begin" else text
        for side, name, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    ]
    rows = (row for text in texts for row in _split(text, r"\\"))
    cells = (cell for row in rows for cell in _split(_PARTIAL.sub("", _RULES.sub("", row)), "&"))
    return " ".join(cell.strip() for cell in cells if cell.strip())


def _note(text: str) -> str:
    """Set what stands around a table: its captions and items are sentences, its layout is none.

    >>> _note(r"\\begin{table}[t]\\small \\caption{Ours: \\bf best} \\resizebox{3cm}{!}{")
    'Ours: best.'
    """
    found, rest = [], _LAYOUT.sub(" ", text)
    while (at := rest.find(r"\caption")) >= 0:
        begin = _argument_at(rest, at + len(r"\caption"))
        end = _closing(rest, begin)
        found.append(rest[begin + 1 : end])
        rest = f"{rest[:at]} {rest[end + 1 :]}"
    items = re.split(r"\\item(?![A-Za-z])\s*", rest)
    found += [items[0], *(re.sub(r"^\[([^]]*)\]", r"\1 ", one) for one in items[1:])]
    texts = filter(None, (plain_text(one) for one in found))
    return " ".join(one if one[-1] in ".;!?" else f"{one}." for one in texts)


def _near(before: str) -> str:
    """Keep what belongs to a table of what stands above it: its environment, or its caption."""
    sign = r"\begin{table" if r"\begin{table" in before else r"\caption"
    begin = before.rfind(sign)
    return before[begin:] if begin >= 0 else ""


def _until(after: str) -> str:
    """Keep what belongs to a table of what stands below it."""
    return after[: max(after.find(r"\end{table"), 0)]


def _behind_columns(body: str, arguments: int) -> str:
    """Leave out the arguments of the environment: position, width and columns."""
    begin = 0
    for _ in range(arguments):
        begin = _closing(body, _argument_at(body, begin)) + 1
    return body[begin:]


def _closing(text: str, begin: int) -> int:
    """Find the brace that closes the one at `begin`, or the end."""
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, begin):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return match.start()
    return len(text) - 1


def _table(body: str, notes: str, place: str) -> PrintedTable:
    """Divide the body into rows and cells; a full line begins a block."""
    rows: list[list[PrintedCell]] = []
    blocks, block, heads = list[int](), 0, 0
    above: list[PrintedCell | None] = []
    for line in _split(body, r"\\"):
        ruled = len(_RULES.findall(line))
        text = _PARTIAL.sub("", _RULES.sub("", line))
        if ruled and rows:
            block += 1
            heads = heads or len(rows)
        if not text.strip():
            continue
        row, above = _spread(_split(text, "&"), above)
        rows.append(row)
        blocks.append(block)
    named = next((i for i, row in enumerate(rows) if any(map(_is_value, row))), len(rows))
    return PrintedTable.of(rows, place, notes, max(min(heads, named), 1), blocks)


def _is_value(cell: PrintedCell) -> bool:
    """Whether a cell is a number that heads no column, as cutoffs do."""
    return cell.number is not None and ("." in cell.text or "," in cell.text)


def _split(text: str, sign: str) -> list[str]:
    """Divide text at a sign that stands in no braces and in no environment of its own."""
    parts, depth, begin = [], 0, 0
    pattern = re.compile(
        r"\\(?:begin|end)\{[^{}]*\}|\\tabularnewline|\\\\\*?(?:\[[^]]*\])?|\\.|[{}&]", re.DOTALL
    )
    for match in pattern.finditer(text):
        token = match[0]
        depth += {"{": 1, "}": -1}.get(token, 0)
        depth += token.startswith(r"\begin") - token.startswith(r"\end{")
        ends_row = token.startswith(r"\\") or token == r"\tabularnewline"
        if depth <= 0 and (token == "&" if sign == "&" else ends_row):
            parts.append(text[begin : match.start()])
            begin = match.end()
    return [*parts, text[begin:]]


_SPAN = re.compile(r"\s*\\multicolumn\s*\{\s*(\d+)\s*\}\s*(?=\{)")
_ROWS = re.compile(r"\s*\\multirow(?:cell)?\s*(?:\[[^]]*\])?\{\s*(-?\d+)\s*\}")


def _spread(
    cells: Sequence[str], above: Sequence[PrintedCell | None]
) -> tuple[list[PrintedCell], list[PrintedCell | None]]:
    """Repeat what spans columns, and what spans rows; say what the next row has from above.

    A cell that spans rows stands in the first of them, and the others leave it empty.
    """
    row: list[PrintedCell] = []
    below: list[PrintedCell | None] = []
    for whole in cells:
        width, text = 1, whole
        if match := _SPAN.match(whole):
            width, text = min(int(match[1]), 100), _last_argument(whole, match.end())
        tall = _ROWS.match(text)
        cell = set_text(_last_argument(text, tall.end()) if tall else text)
        for _ in range(width):
            held = above[len(row)] if len(row) < len(above) else None
            row.append(held if held is not None and not cell.text else cell)
            below.append(cell if tall else held if held is not None and not cell.text else None)
    return row, below


_BEFORE_ARGUMENT = re.compile(r"\s*(?:\[[^]]*\])?\s*(\*)?")


def _last_argument(text: str, begin: int) -> str:
    """Return the text that spans; the width or the columns in front of it may be a star."""
    first = _argument_at(text, begin)
    second = _argument_at(text, first if text[first - 1] == "*" else _closing(text, first) + 1)
    return text[second + 1 : _closing(text, second)]


def _argument_at(text: str, begin: int) -> int:
    match = _BEFORE_ARGUMENT.match(text, begin)
    return match.end() if match else begin


def has_tables(text: str) -> bool:
    """Whether a text holds a table in LaTeX."""
    plain = _plain(text)
    return (_BORDER.search(plain) or _OTHER.search(plain)) is not None
