"""Lines of TREC text: their cells, and what is wrong with those that cannot be read.

Columns are split on ASCII blanks only, as C's `isspace` does, so ids may hold any other character.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

from idealist.errors import Defect, Faults
from idealist.formats.names import ours

QRELS_HINT = "qrels lines are: query iteration document grade"
PREFERENCES_HINT = "preference lines are: query group subgroup document level"
SAMPLE_HINT = (
    "; a judged sample of a pool is read by il.read_strata or il.read_prels, or written as other "
    "judgments by idealist convert --kind strata or prels"
)
RUN_HINT = "run lines are: query Q0 document rank score tag"
MSMARCO_HINT = "lines of three columns are: query document rank"

#: How many bytes a line may have, comments and all but the newline counted.
LONGEST_LINE = 2**20

#: The number of a line and what stands on it.
Line = tuple[int, bytes]
#: What is wrong with a line: a code, what was found, and what to do.
Complaint = tuple[str, str, str]


def rows(lines: Iterable[bytes], columns: int) -> Iterator[tuple[int, list[bytes]]]:
    """Give number and cells of each line that holds data."""
    for number, line in enumerate(lines, 1):
        cells = line.split(None, columns)
        if cells and cells[0][0] != ord("#"):
            yield number, cells


def cells_of(line: bytes, columns: int) -> list[bytes]:
    """Give the cells of a line; none of one that holds no data."""
    return next((cells for _, cells in rows([line], columns)), [])


def has_overlong(lines: list[bytes]) -> bool:
    """Whether one of the lines is longer than a line may be."""
    return max(map(len, lines)) > LONGEST_LINE


def number_of(cell: bytes) -> float | None:
    """Read a number; None where a cell holds none."""
    if b"_" in cell:  # Python reads 1_000 as a number, nobody else does
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def first_line(data: bytes) -> Line:
    """Give the first line that holds data, or line 0; the head of a file is enough."""
    for number, line in enumerate(io.BytesIO(data), 1):
        if cells_of(line, 1):
            return number, line.removesuffix(b"\n")
    return 0, b""


def is_msmarco(first: Line) -> bool:
    """Whether a run's first line is query, document and rank; all others are to be as it is."""
    cells = cells_of(first[1], 6)
    return len(cells) == 3 and cells[2].isdigit()


def is_preference(cells: list[bytes]) -> bool:
    """Whether a line is query, group, subgroup, document and level, and no run without its tag."""
    numbers = [number_of(cell) is not None for cell in cells[3:]]
    return len(cells) == 5 and numbers == [False, True]


def refuse_preferences(lines: Iterable[Line], faults: Faults) -> NoReturn:
    """Say what is wrong with lines of preferences."""
    _refuse(lines, 6, _preference_fault, faults, None)


def refuse_qrels(
    lines: Iterable[Line], faults: Faults, total: int | None = None, *, first: Line
) -> NoReturn:
    """Say what is wrong with lines of judgments; see `refuse_run`."""
    if _is_run(cells_of(first[1], 5)):
        lines, total = [first], None
    _refuse(lines, 5, _qrels_fault, faults, total)


def refuse_run(
    lines: Iterable[Line], faults: Faults, total: int | None = None, *, first: Line
) -> NoReturn:
    """Say what is wrong with lines of a run: with all, or with the first faulty ones of a `total`.

    Where the `first` line that holds data is a judgment, all are: then it is enough.
    """
    if _is_judgment(cells_of(first[1], 6)):
        lines, total = [first], None
    _refuse(lines, 6, _run_fault, faults, total)


def refuse_msmarco(lines: Iterable[Line], faults: Faults, total: int | None = None) -> NoReturn:
    """Say what is wrong with lines of query, document and rank; see `refuse_run`."""
    _refuse(lines, 6, _msmarco_fault, faults, total)


def check_least_rank(least: float, faults: Faults) -> None:
    """Refuse ranks that do not begin at 0 or 1: they may be scores, where more is better."""
    if least > 1:
        faults.fail("bad-rank", f"ranks begin at {least:.0f}: are they scores?", MSMARCO_HINT)


def _refuse(
    lines: Iterable[Line],
    columns: int,
    fault_of: Callable[[list[bytes]], Complaint | None],
    faults: Faults,
    total: int | None,
) -> NoReturn:
    for number, line in lines:
        if len(line) > LONGEST_LINE:
            message = f"the line is longer than 1 MiB: {_shown(line[:200], 40)!r}"
            faults.add("overlong", message, "end lines in LF or CRLF", number)
        elif (cells := cells_of(line, columns)) and (fault := fault_of(cells)):
            faults.add(*fault, number)
    faults.total = total or faults.total
    faults.check()
    raise Defect("lines were refused that have no fault")


def _qrels_fault(cells: list[bytes]) -> Complaint | None:
    if len(cells) != 4:
        return "columns", _found(cells, "4 expected"), _qrels_hint(cells)
    value = number_of(cells[3])
    if value is None or not math.isfinite(value):
        message = f"grade {cells[3].decode()!r} is not a finite number"
        return "bad-grade", message, QRELS_HINT + _header(cells[0])
    return None


def _preference_fault(cells: list[bytes]) -> Complaint | None:
    if len(cells) != 5:
        return "columns", _found(cells, "5 expected"), PREFERENCES_HINT + _separator(cells)
    value = number_of(cells[4])
    if value is None or not math.isfinite(value):
        message = f"level {cells[4].decode()!r} is not a finite number"
        return "bad-level", message, PREFERENCES_HINT + _header(cells[0])
    return None


def _run_fault(cells: list[bytes]) -> Complaint | None:
    if len(cells) < 6:
        return "columns", _found(cells, "6 expected"), _run_hint(cells)
    if number_of(cells[4]) is None:
        message = f"score {cells[4].decode()!r} is not a number"
        return "bad-score", message, RUN_HINT + _header(cells[0])
    return None


def _msmarco_fault(cells: list[bytes]) -> Complaint | None:
    if len(cells) != 3:
        return "columns", _found(cells, "3 expected as above"), MSMARCO_HINT
    if not cells[2].isdigit():
        return "bad-rank", f"rank {cells[2].decode()!r} is not a whole number", MSMARCO_HINT
    return None


def _found(cells: list[bytes], expected: str) -> str:
    more = " or more" if len(cells) > 5 else ""  # what is behind is not divided
    noun = "column" if len(cells) == 1 else "columns"
    return f"{len(cells)}{more} {noun}, {expected}: {_shown(b' '.join(cells), 60)!r}"


def _shown(line: bytes, most: int) -> str:
    text = line.decode(errors="replace")
    return text if len(text) <= most else text[: most - 3] + "..."


def _is_run(cells: list[bytes]) -> bool:
    numbers = (cells[3], cells[4].split()[0]) if len(cells) >= 5 else ()
    return bool(numbers) and all(number_of(cell) is not None for cell in numbers)


def _is_judgment(cells: list[bytes]) -> bool:
    return len(cells) == 4 and number_of(cells[3]) is not None


def _qrels_hint(cells: list[bytes]) -> str:
    if _is_run(cells):
        looks = "this looks like a run; judgments come first, then runs"
        prefs = "; preferences of documents whose ids are numbers stand in a file named *.prefs"
        return looks + (prefs + SAMPLE_HINT if len(cells) == 5 else "")
    return QRELS_HINT + (SAMPLE_HINT if len(cells) == 5 else "") + _separator(cells)


def _run_hint(cells: list[bytes]) -> str:
    if _is_judgment(cells):
        return "this looks like qrels; judgments come first, then runs"
    if len(cells) == 5:
        return RUN_HINT + "; is the tag missing?"
    return RUN_HINT + _separator(cells)


def _header(first: bytes) -> str:
    """Suspect a header where the first cell is what tools call the column of queries."""
    return "; is this line a header? Remove it" if ours([first.decode()]) else ""


def _separator(cells: list[bytes]) -> str:
    return "; divided by blanks or tabs, not commas" if len(cells) == 1 and b"," in cells[0] else ""
