"""TREC text: qrels of four columns, preferences of five, runs of six, split at white space."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, NoReturn

from idealist import kernel
from idealist.data import Qrels, Rows, Scale
from idealist.data.judgments import subtopics_in
from idealist.data.preferences import UNNAMED
from idealist.errors import CODES, Defect, Faults
from idealist.formats.column_names import ORDER_HINT, ours

SAMPLE_HINT = (
    "; read a judged sample of a pool with il.read_strata or il.read_prels, or turn it into "
    "ordinary judgments with idealist convert --kind strata or prels"
)

#: The longest line allowed, in bytes, comments included and the newline not.
LONGEST_LINE = 2**20
#: Lines are split at most this often: what follows the sixth column is never looked at.
SPLITS = 6

#: Gives grades other numbers; a text where it has none.
Renumbered = Callable[[list[Any]], list[Any]]
#: The number of a line and what it holds.
Line = tuple[int, bytes]

#: What a column of numbers accepts. Where anything is accepted, other text is read as NaN; where NA
#: is, as 0.
FINITE, NUMBER, WHOLE = "a finite number", "a number", "a whole number"
FINITE_OR_NA, ANYTHING = "a finite number or NA", ""


@dataclass(frozen=True)
class Layout:
    """One kind of TREC text: its columns, which of them are numbers, and which are not kept."""

    hint: str
    numbers: Mapping[str, str]
    skipped: frozenset[str] = frozenset()
    extra: bool = False  # whether more columns may follow

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return self.hint.partition(": ")[2].split()

    def fits(self, cells: list[bytes]) -> bool:
        """Whether a line has as many columns as it should."""
        expected = len(self.columns)
        return len(cells) == expected or (self.extra and len(cells) > expected)

    def refuse(
        self, lines: Iterable[Line], faults: Faults, total: int | None = None,
        *, first: Line = (0, b""),
    ) -> NoReturn:  # fmt: skip
        """Report what is wrong with lines: with all of them, or the first faulty ones of a `total`.

        If the `first` line that holds data shows that a run was given for judgments, or judgments
        for a run, that line alone is reported.
        """
        swapped = {QRELS.hint: _is_run, RUN.hint: _is_judgment}.get(self.hint)
        if swapped and swapped(cells_of(first[1])):
            lines, total = [first], None
        for number, line in lines:
            if len(line) > LONGEST_LINE:
                message = f"the line is longer than 1 MiB: {_shown(line[:200], 40)!r}"
                faults.add("overlong", message, "end lines with LF or CRLF", number)
            elif cells := cells_of(line):
                self._check(cells, number, faults)
        faults.total = total or faults.total
        faults.check()
        raise Defect("lines without a fault were refused")

    def _check(self, cells: list[bytes], line: int, faults: Faults) -> None:
        if not self.fits(cells):
            message = f"{_counted(cells)}, {len(self.columns)} expected"
            shown = _shown(b" ".join(cells), 60)
            faults.add("columns", f"{message}: {shown!r}", self._columns_hint(cells), line)
            return
        for name, rule in self.numbers.items():
            cell = cells[self.columns.index(name)]
            if _number(cell, rule) is None:
                # a header is suspected where the first cell is a usual name of the query column
                header = "; is this line a header? Remove it" if ours([cells[0].decode()]) else ""
                code = f"bad-{name}" if f"bad-{name}" in CODES else "bad-column"
                message = f"{name} {cell.decode()!r} is not {rule}"
                faults.add(code, message, self.hint + header, line)
                return

    def _columns_hint(self, cells: list[bytes]) -> str:
        five, hint = len(cells) == 5, self.hint
        if self == QRELS and _is_run(cells):
            hint = f"this looks like a run; {ORDER_HINT}"
            if five:
                hint += "; preferences among documents with numeric ids need a file named *.prefs"
        elif self == RUN and _is_judgment(cells):
            return f"this looks like qrels; {ORDER_HINT}"
        elif self == RUN and five:
            hint += "; is the tag missing?"
        elif len(cells) == 3 and number_of(cells[2]) is not None:
            value = "grade" if self == QRELS else "score"
            hint += f"; or name the columns: --columns query,document,{value}"
        return hint + SAMPLE_HINT if self == QRELS and five else hint


QRELS = Layout("qrels lines are: query iteration document grade", {"grade": FINITE})
PREFERENCES = Layout("preference lines are: query group subgroup document level", {"level": FINITE})
RUN = Layout(
    "run lines are: query Q0 document rank score tag", {"rank": ANYTHING, "score": NUMBER},
    skipped=frozenset({"Q0", "tag"}), extra=True,
)  # fmt: skip
MSMARCO = Layout("lines of a three-column run are: query document rank", {"rank": WHOLE})


def rows(lines: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number and the cells of each line that holds data."""
    for number, line in enumerate(lines, 1):
        cells = line.split(None, SPLITS)
        if cells and cells[0][0] != ord("#"):
            yield number, cells


def cells_of(line: bytes) -> list[bytes]:
    """Return the cells of a line; none for a blank line or a comment."""
    return next((cells for _, cells in rows([line])), [])


def number_of(cell: bytes) -> float | None:
    """Read a number; None if the cell holds none."""
    if b"_" in cell:  # Python reads 1_000 as a number, nobody else does
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def first_line(data: bytes) -> Line:
    """Find the first line that holds data, or return line 0; the head of a file is enough."""
    for number, line in enumerate(io.BytesIO(data), 1):
        if cells_of(line):
            return number, line.removesuffix(b"\n")
    return 0, b""


def is_msmarco(first: Line) -> bool:
    """Whether a run's first line is query, document and rank; the others must then be alike."""
    cells = cells_of(first[1])
    return len(cells) == 3 and cells[2].isdigit()


def check_least_rank(least: float, faults: Faults) -> None:
    """Refuse ranks that do not begin at 0 or 1: they may be scores, where more is better."""
    if least > 1:
        faults.fail("bad-rank", f"ranks begin at {least:.0f}: are they scores?", MSMARCO.hint)


def is_preferences(data: bytes) -> bool:
    """Whether the first line that holds data is a preference, and any subgroup has two documents.

    Samples of a pool have five columns too, but there the third one is the document.
    """
    cells = cells_of(first_line(data)[1])
    if len(cells) != 5 or number_of(cells[4]) is None or number_of(cells[3]) is not None:
        return False
    subgroups = [tuple(cells[:3]) for _, cells in rows(data.split(b"\n"))]
    return len(set(subgroups)) < len(subgroups)


def kind_of(data: bytes) -> str | None:
    """Tell judgments from a run by the columns of the first line that holds data."""
    return {3: "run", 4: "qrels", 6: "run", 7: "run"}.get(len(cells_of(first_line(data)[1])))


def parsed(data: bytes, layout: Layout, faults: Faults) -> dict[str, Any]:
    """Split text into columns, as text or numbers; ``lines`` holds the line of each row."""
    raw = data.split(b"\n")
    names = [name for name in layout.columns if name not in layout.skipped]
    picked = itemgetter(*map(layout.columns.index, names))
    whole, lines, table = max(map(len, raw)) <= LONGEST_LINE, [], []
    for line, cells in rows(raw):
        if not layout.fits(cells):
            whole = False
            break
        lines.append(line)
        table.append(picked(cells))
    columns = list(zip(*table, strict=True)) or [()] * len(names)
    found: dict[str, Any] = {"lines": lines}
    for name, column in zip(names, columns, strict=True):
        rule = layout.numbers.get(name)
        found[name] = _decoded(column) if rule is None else _numbers(column, rule)
    if not whole or any(column is None for column in found.values()):
        layout.refuse(enumerate(raw, 1), faults, first=first_line(data))
    return found


def read_qrels(
    data: bytes, name: str, scale: Scale | None, renumbered: Renumbered | None = None
) -> Qrels:
    """Read judgments; column 2 is a subtopic only where a document repeats with another value.

    The kernel reads files without faults and with nothing in column 2, unless grades are
    `renumbered`.
    """
    module = kernel.native() if renumbered is None else None
    read = None if module is None else module.read_qrels(data)
    if read is not None and (made := Qrels.of_kernel(read, scale, name)) is not None:
        return made
    found = parsed(data, QRELS, Faults(name))
    if renumbered is not None:
        found["grade"] = _on_scale(renumbered(found["grade"]), found["lines"], Faults(name))
    query, document, iteration = found["query"], found["document"], found["iteration"]
    subtopic = subtopics_in(query, document, iteration)
    plain = subtopic is not None or {"0", "Q0"} >= set(iteration)
    return Qrels.build(
        query, document, found["grade"], subtopic=subtopic, scale=scale, lines=found["lines"],
        name=name, columns={} if plain else {"iteration": iteration},
    )  # fmt: skip


def _on_scale(grades: list[Any], lines: Sequence[int], faults: Faults) -> list[float]:
    """Refuse grades that a scale does not number."""
    for grade, line in zip(grades, lines, strict=True):
        if isinstance(grade, str):
            faults.add("bad-grade", f"grade {grade}", "give every grade a number", line)
    faults.check()
    return grades


def read_preferences(data: bytes, name: str) -> dict[str, Any]:
    """Read columns of preferences; qrels have groups in column 2, without any subgroup."""
    if len(cells_of(first_line(data)[1])) != 4:
        return parsed(data, PREFERENCES, Faults(name))
    found = parsed(data, QRELS, Faults(name))
    found |= {"group": found.pop("iteration"), "level": found.pop("grade")}
    return found | {"subgroup": [UNNAMED] * len(found["query"])}


def read_run(data: bytes, name: str) -> Rows:
    """Read a run; whether its scores and duplicates are acceptable is the protocol's business."""
    first, faults = first_line(data), Faults(name)
    found = parsed(data, MSMARCO if is_msmarco(first) else RUN, faults)
    if "score" not in found:
        check_least_rank(min(found["rank"]), faults)
    tag = first[1].split(None, SPLITS)[5].decode() if "score" in found and found["lines"] else ""
    return Rows.build(
        found["query"], found["document"], found.get("score"), rank=found["rank"],
        lines=found["lines"], tag=tag, name=name,
    )  # fmt: skip


def _is_run(cells: list[bytes]) -> bool:
    return len(cells) >= 5 and all(number_of(cell) is not None for cell in cells[3:5])


def _is_judgment(cells: list[bytes]) -> bool:
    return len(cells) == 4 and number_of(cells[3]) is not None


def _counted(cells: list[bytes]) -> str:
    more = " or more" if len(cells) > SPLITS else ""
    return f"{len(cells)}{more} column{'s' * (len(cells) > 1)}"


def _shown(line: bytes, most: int) -> str:
    text = line.decode(errors="replace")
    return text if len(text) <= most else text[: most - 3] + "..."


def _number(cell: bytes, rule: str) -> float | None:
    """Read a number as a rule has it; None where the cell breaks the rule."""
    number = 0.0 if rule == FINITE_OR_NA and cell == b"NA" else number_of(cell)
    if rule == ANYTHING:
        return math.nan if number is None else number
    if number is None or (rule == WHOLE and not cell.isdigit()):
        return None
    return number if rule in (NUMBER, WHOLE) or math.isfinite(number) else None


def _numbers(cells: Sequence[bytes], rule: str) -> list[float] | None:
    """Read a column of numbers; None where a cell breaks the rule."""
    if rule in (FINITE, NUMBER, ANYTHING) and b"_" not in b"".join(cells):
        with suppress(ValueError):  # all at once, as most files allow
            numbers = list(map(float, cells))
            return numbers if rule != FINITE or all(map(math.isfinite, numbers)) else None
    found = []
    for cell in cells:
        if (number := _number(cell, rule)) is None:
            return None
        found.append(number)
    return found


def _decoded(cells: Sequence[bytes]) -> list[str]:
    return b"\n".join(cells).decode().split("\n") if cells else []
