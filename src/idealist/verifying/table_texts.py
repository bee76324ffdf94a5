"""Tables in Markdown, CSV, TSV and JSON, read as they were printed."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import unescape
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

from idealist.errors import Faults, UsageError
from idealist.formats.source import Source
from idealist.verifying.latex_tables import has_tables, latex_tables
from idealist.verifying.latex_texts import set_text
from idealist.verifying.printed_tables import SIGNS, PrintedCell, PrintedTable
from idealist.verifying.table_names import LABELS, folded

#: What is said of a file that holds no table.
HINT = "give a table as CSV, TSV, Markdown, LaTeX or JSON; its rows or columns are runs"
_RULE = re.compile(r"\s*\|?(\s*:?-+:?\s*\|)+\s*(:?-+:?)?\s*\|?\s*")
_BOLD = re.compile(r"\*\*(.+?)\*\*|__(.+?)__|<(?:b|strong)>(.+?)</(?:b|strong)>", re.DOTALL)
#: Stars that emphasise a text, or begin an item that explains a mark; others are marks.
_ITALIC = re.compile(r"(?<![\\*])\*(?=[^\s*])([^*]+)(?<=[^\s\\])\*(?!\*)")
_ITEM = re.compile(rf"^\s*[*•]\s+(?=\$|[{SIGNS}])")
_UNDERLINED = re.compile(r"<(?:u|ins)>(.+?)</(?:u|ins)>", re.DOTALL)
_RAISED = re.compile(r"<sup>(.*?)</sup>|(?<=\d)\^([^^\s|]{1,9})\^", re.DOTALL)
#: Formulas, of a number with its marks.
_MATHS = re.compile(r"\$(?=[^$]*\d|\s*\^)[^$]*\$")
#: What `compare` writes below its tables, of which the first has an empty head and "run".
_OF_COMPARE = re.compile(r"alpha \S+, two-sided; randomisation\(")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def read_tables(path: str | Path) -> list[PrintedTable]:
    """Read all tables of a file; what it is, its content says."""
    source = Source.of(path)
    return tables_in(source.text(source.data()).decode(), source.name)


def tables_in(text: str, place: str = "") -> list[PrintedTable]:
    """Read all tables of a text.

    >>> tables_in("| run | AP |\\n|---|---|\\n| bm25 | **0.21** |\\n")[0].rows[1][1].bold
    True
    """
    try:
        found = _tables(text, place)
    except RecursionError:
        Faults(place).fail("bad-shape", "its braces are nested too deeply to be read", HINT)
    if not any(table.fault or len(table.rows) > 1 or place == "" for table in found):
        Faults(place).fail("empty", "there is no table", HINT)
    return found


def holds_table(path: str | Path) -> bool:
    """Whether a plain file is a table in LaTeX or Markdown, which nothing else looks like."""
    source = Source.of(path)
    if not source.is_plain:
        return False
    text = source.head().decode(errors="replace")
    return has_tables(text) or any(map(_RULE.fullmatch, text.splitlines()))


def _tables(text: str, place: str) -> list[PrintedTable]:
    if text.lstrip()[:1] in ("{", "["):
        return _json_tables(text, place)
    if has_tables(text):
        return latex_tables(text, place)
    if any(map(_RULE.fullmatch, text.splitlines())):
        return markdown_tables(text, place)
    return [separated_table(text, place)]


# --- Markdown


def markdown_tables(text: str, place: str) -> list[PrintedTable]:
    """Read the tables of a document; the paragraphs next to one are its notes."""
    lines = text.splitlines()
    rules = [
        i for i, line in enumerate(lines) if i and "|" in lines[i - 1] and _RULE.fullmatch(line)
    ]
    found = []
    for rule in rules:
        end = next((i for i in range(rule, len(lines)) if "|" not in lines[i]), len(lines))
        rows = [lines[rule - 1], *lines[rule + 1 : end]]
        cells = [_marked_down(row) for row in rows]
        notes = [
            *reversed(_paragraph(lines[rule - 2 :: -1] if rule > 1 else [])),
            *_paragraph(lines[end:]),
        ]
        if [cell.text for cell in cells[0][:2]] == ["", "run"]:
            notes = [one for one in lines if _OF_COMPARE.match(one)] or notes
        text = _BOLD.sub(_inner, " ".join(_ITEM.sub("", one) for one in notes))
        text = _ITALIC.sub(r"\1", text)
        found.append(PrintedTable.of(cells, f"{place}:{rule}", _ESCAPED.sub(r"\1", text)))
    return found


def _paragraph(lines: Iterable[str]) -> list[str]:
    """Return the first paragraph of lines, unless that belongs to a table."""
    behind = dropwhile(lambda line: not line.strip(), lines)
    found = list(takewhile(str.strip, behind))
    return [] if any("|" in line for line in found) else found


def _marked_down(line: str) -> list[PrintedCell]:
    """Divide a row into cells."""
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|"))
    if line.rstrip().endswith("|"):
        cells = cells[:-1]
    return [decorated(cell) for cell in cells]


def decorated(text: str) -> PrintedCell:
    """Read a cell that may be decorated as Markdown or HTML does.

    >>> decorated("**0.43**<sup>ab</sup>"), decorated("run\\\\_1")
    (PrintedCell(text='0.43', bold=True, underlined=False, raised='ab'), \
PrintedCell(text='run_1', bold=False, underlined=False, raised=''))
    """
    maths = [set_text(one) for one in _MATHS.findall(text)]
    inline = iter(maths)
    text = _MATHS.sub(lambda _: next(inline).text, text)
    raised = "".join("".join(parts) for parts in _RAISED.findall(text))
    raised += "".join(one.raised for one in maths)
    plain = _RAISED.sub("", text)
    bold, underlined = _BOLD.search(plain), _UNDERLINED.search(plain)
    for pattern in (_BOLD, _UNDERLINED, _ITALIC):
        plain = pattern.sub(_inner, plain)
    plain = unescape(re.sub(r"<br\s*/?>|</?(?:i|em|span|small|sub)\b[^>]*>", " ", plain))
    plain, raw = (_ESCAPED.sub(r"\1", one) for one in (plain, text))
    is_bold = bool(bold) or any(one.bold for one in maths)
    strange = tuple(name for one in maths for name in one.strange)
    return PrintedCell.of(plain, is_bold, bool(underlined), unescape(raised), raw.strip(), strange)


def _inner(match: re.Match[str]) -> str:
    """Return what was decorated."""
    return str(next(filter(None, match.groups())))


# --- CSV and TSV


def separated_table(text: str, place: str) -> PrintedTable:
    """Read one table whose cells tabs, semicolons or commas separate; # begins a comment."""
    lines = _without_comments(text)
    first = re.sub(r'"[^"]*"', "", lines[0]) if lines else ""
    sign = next((one for one in "\t;," if one in first), "\t")
    try:
        rows = list(
            csv.reader(io.StringIO("\n".join(lines)), delimiter=sign, skipinitialspace=True)
        )
    except csv.Error as error:
        Faults(place).fail("columns", f"cannot be read: {error}", HINT)
    notes = " ".join(line for line in text.splitlines() if line.startswith("# "))
    cells = [[replace(decorated(cell), raw=cell) for cell in row] for row in rows]
    return PrintedTable.of(cells, f"{place}:1", notes)


def _without_comments(text: str) -> list[str]:
    """Leave out lines that begin with #, but for a first one that heads columns."""
    lines = [line for line in text.splitlines() if line.strip()]
    head = re.match(r"#\s*(?=\w+\s*[\t;,])", lines[0]) if lines else None
    named = head is not None and folded(re.split(r"[\t;,]", lines[0])[0]) in LABELS
    kept = [lines[0][head.end() :]] if head is not None and named else []
    return [*kept, *(line for line in lines[len(kept) :] if not line.startswith("# "))]


# --- JSON


class _Written(float):
    """A number of JSON, with the text that it was written as."""

    text: str

    def __new__(cls, text: str) -> _Written:
        """Keep the text."""
        found = super().__new__(cls, text)
        found.text = text
        return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object, of which no name may stand for two things."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has {twice!r} twice")
    return found


def _json_tables(text: str, place: str) -> list[PrintedTable]:
    """Read JSON, or an object a line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    by_line = len(lines) > 1 and all(line[0] == "{" and line[-1] == "}" for line in lines)
    whole = f"[{','.join(lines)}]" if by_line else text
    try:
        data = json.loads(
            whole, parse_float=_Written, parse_int=_Written, object_pairs_hook=_object
        )
    except (ValueError, RecursionError) as error:
        Faults(place).fail("json", f"cannot be read: {error}", HINT)
    return plain_tables(data, place)


def plain_tables(data: Any, place: str = "") -> list[PrintedTable]:
    """Read what `eval -f json` and `compare -f json` write, {run: {measure: number}}, or records.

    >>> [[cell.text for cell in row] for row in plain_tables({"bm25": {"AP": 0.25}})[0].rows]
    [['run', 'AP'], ['bm25', '0.25']]
    """
    if isinstance(data, Mapping) and _records(data.get("runs")):
        data = {str(one["run"]): one.get("values") for one in data["runs"] if "run" in one}
    elif isinstance(data, Mapping) and _records(data.get("pairs")):
        data = data["pairs"]
    elif isinstance(data, Mapping) and {"run", "values"} <= data.keys():
        data = {str(data["run"]): data["values"]}
    if _records(data):
        return [_of_records(data, place)]
    if (
        isinstance(data, Mapping)
        and data
        and all(isinstance(one, Mapping) for one in data.values())
    ):
        return [_of_records([{"run": str(run), **values} for run, values in data.items()], place)]
    Faults(place).fail("bad-shape", "this is no table", 'write {"bm25": {"nDCG@10": 0.4312}}')


def _records(data: Any) -> bool:
    listed = isinstance(data, Sequence) and not isinstance(data, str)
    return listed and bool(data) and all(isinstance(one, Mapping) for one in data)


def _of_records(records: Iterable[Mapping[str, Any]], place: str) -> PrintedTable:
    """Make a table of records, a column for each of their names."""
    listed = list(records)
    names = list(dict.fromkeys(name for one in listed for name in one))
    rows = [[_plain(one.get(name)) for name in names] for one in listed]
    return PrintedTable.of(
        [[PrintedCell(str(name), raw=str(name)) for name in names], *rows], place
    )


def _plain(value: Any) -> PrintedCell:
    """Write a value as a cell; what is no text and no number has none."""
    if isinstance(value, str):
        return PrintedCell.of(value)
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return PrintedCell()
    return PrintedCell(value.text if isinstance(value, _Written) else repr(float(value)))


# --- claims in words


def sentence_table(sentences: Iterable[str]) -> PrintedTable:
    """Read claims such as ``bm25 nDCG@10 0.4312``: the run, the measure and the number.

    >>> [cell.text for cell in sentence_table(["my run: P@5 = 0.52"]).rows[1]]
    ['my run', 'P@5', '0.52']
    """
    rows = [[PrintedCell(text, raw=text) for text in ("run", "measure", "value")]]
    for sentence in sentences:
        found = re.fullmatch(r"\s*(.+?)\s*[:,]?\s+(\S+)\s*(?:=|\s)\s*([^\s=]+)\s*", sentence)
        if found is None:
            hint = "write the run, the measure and the number: 'bm25 nDCG@10 0.4312'"
            raise UsageError(f"{sentence!r} is not a claim", hint)
        rows.append([PrintedCell.of(text, raw=text) for text in found.groups()])
    return PrintedTable.of(rows, "")
