"""TREC text: qrels of four columns, preferences of five, runs of six, split at white space."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import NoReturn

from idealist.data import Qrels, Rows, Scale
from idealist.data.judgments import subtopics_in
from idealist.data.preferences import UNNAMED
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


def read_qrels(data: bytes, name: str, scale: Scale | None) -> Qrels:
    """Read judgments; column 2 is a subtopic only where a document repeats with another value."""
    raw, faults = data.split(b"\n"), Faults(name)
    refuse = partial(refuse_qrels, enumerate(raw, 1), faults, first=first_line(data))
    query, iteration, document, grade, lines = [], [], [], [], []
    for line, cells in rows(raw, 5):
        if len(cells) != 4:
            refuse()
        query.append(cells[0])
        iteration.append(cells[1])
        document.append(cells[2])
        grade.append(cells[3])
        lines.append(line)
    grades = _floats(grade)
    if grades is None or not all(map(math.isfinite, grades)) or has_overlong(raw):
        refuse()
    queries, documents, iterations = _decoded(query), _decoded(document), _decoded(iteration)
    subtopic = subtopics_in(queries, documents, iterations)
    plain = subtopic is not None or {"0", "Q0"} >= set(iterations)
    return Qrels.build(
        queries, documents, grades, subtopic=subtopic, scale=scale, lines=lines, name=name,
        columns={} if plain else {"iteration": iterations},
    )  # fmt: skip


def preference_rows(
    data: bytes, name: str
) -> tuple[list[str], list[str], list[str], list[str], list[float], list[int]]:
    """Read preferences: query, group, subgroup, document, level, and the line of each row.

    Qrels have no subgroup: each document of a group is compared with each other.
    """
    raw, first, faults = data.split(b"\n"), first_line(data), Faults(name)
    table = [(line, cells) for line, cells in rows(raw, 6)]
    if plain := len(cells_of(first[1], 6)) == 4:
        table = [(line, [*cells[:2], UNNAMED.encode(), *cells[2:]]) for line, cells in table]
    levels = _floats([cells[-1] for _, cells in table])
    whole = all(len(cells) == 5 for _, cells in table) and not has_overlong(raw)
    if not whole or levels is None or not all(map(math.isfinite, levels)):
        if plain:
            refuse_qrels(enumerate(raw, 1), faults, first=first)
        refuse_preferences(enumerate(raw, 1), faults)
    query, group, subgroup, document = (_decoded([row[i] for _, row in table]) for i in range(4))
    return query, group, subgroup, document, levels, [line for line, _ in table]


def is_preferences(data: bytes) -> bool:
    """Whether the first line that holds data is a preference, and any subgroup has two documents.

    Samples of a pool have five columns too, but the third one is the document there.
    """
    if not is_preference(cells_of(first_line(data)[1], 6)):
        return False
    subgroups = [tuple(cells[:3]) for _, cells in rows(data.split(b"\n"), 6)]
    return len(set(subgroups)) < len(subgroups)


def read_run(data: bytes, name: str) -> Rows:
    """Read a run; whether its scores and duplicates are acceptable is the protocol's business."""
    raw, first, faults = data.split(b"\n"), first_line(data), Faults(name)
    if is_msmarco(first):
        return _read_msmarco(raw, faults)
    refuse = partial(refuse_run, enumerate(raw, 1), faults, first=first)
    query, document, rank, score, lines = [], [], [], [], []
    for line, cells in rows(raw, 6):
        if len(cells) < 6:
            refuse()
        query.append(cells[0])
        document.append(cells[2])
        rank.append(cells[3])
        score.append(cells[4])
        lines.append(line)
    scores = _floats(score)
    if scores is None or has_overlong(raw):
        refuse()
    ranks = _floats(rank) or [math.nan if (n := number_of(cell)) is None else n for cell in rank]
    tag = first[1].split(None, 6)[5].decode() if lines else ""
    return Rows.build(
        _decoded(query), _decoded(document), scores, rank=ranks, lines=lines, tag=tag, name=name
    )


def _read_msmarco(raw: list[bytes], faults: Faults) -> Rows:
    table = list(rows(raw, 6))
    if has_overlong(raw) or not all(len(row) == 3 and row[2].isdigit() for _, row in table):
        refuse_msmarco(enumerate(raw, 1), faults)
    query, document, rank = ([cells[i] for _, cells in table] for i in range(3))
    ranks = list(map(float, rank))
    check_least_rank(min(ranks), faults)
    lines = [line for line, _ in table]
    return Rows.build(
        _decoded(query), _decoded(document), rank=ranks, lines=lines, name=faults.file
    )


def kind_of(data: bytes) -> str | None:
    """Tell judgments from a run by the columns of the first line that holds data."""
    cells = cells_of(first_line(data)[1], 6)
    return {3: "run", 4: "qrels", 6: "run", 7: "run"}.get(len(cells))


def _floats(cells: list[bytes]) -> list[float] | None:
    """Read a column of numbers at once; None where not all are."""
    if b"_" not in b"".join(cells):
        with suppress(ValueError):
            return list(map(float, cells))
    return None


def _decoded(cells: list[bytes]) -> list[str]:
    return b"\n".join(cells).decode().split("\n") if cells else []
