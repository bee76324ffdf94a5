"""TREC text: qrels of four columns and runs of six, divided by any run of blanks and tabs.

Runs of three columns are MS MARCO's: query, document, rank.

What trec_eval 10 accepts is accepted: comment lines, CRLF, a missing last newline, and in runs
anything behind the sixth column. Columns are split on ASCII blanks only, as C's `isspace` does, so
ids may hold any other character.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from idealist.errors import Faults
from idealist.formats.names import ours
from idealist.tables import Qrels, Rows, Scale
from idealist.tables.judgments import subtopics_in

if TYPE_CHECKING:
    from collections.abc import Iterator

QRELS_HINT = "qrels lines are: query iteration document grade"
RUN_HINT = "run lines are: query Q0 document rank score tag"
MSMARCO_HINT = "lines of three columns are: query document rank"


def read_qrels(data: bytes, name: str, scale: Scale | None) -> Qrels:
    """Read judgments; column 2 is a subtopic only where a document repeats with another value."""
    faults = Faults(name)
    query, iteration, document, grade, lines = [], [], [], [], []
    for line, cells in _lines(data, 5):
        if len(cells) != 4:
            say = faults.fail if _is_run(cells) else faults.add  # the other way round all are
            say("columns", _found(cells, "4 expected"), _qrels_hint(cells), line)
            continue
        value = _number(cells[3])
        if value is None or not math.isfinite(value):
            shown = cells[3].decode()
            hint = QRELS_HINT + _header(cells[0])
            faults.add("bad-grade", f"grade {shown!r} is not a finite number", hint, line)
            continue
        query.append(cells[0])
        iteration.append(cells[1])
        document.append(cells[2])
        grade.append(value)
        lines.append(line)
    faults.check()
    queries, documents, iterations = _decoded(query), _decoded(document), _decoded(iteration)
    subtopic = subtopics_in(queries, documents, iterations)
    plain = subtopic is not None or {"0", "Q0"} >= set(iterations)
    return Qrels.build(
        queries, documents, grade, subtopic=subtopic, scale=scale, lines=lines, name=name,
        columns={} if plain else {"iteration": iterations},
    )  # fmt: skip


def read_run(data: bytes, name: str) -> Rows:
    """Read a run; whether its scores and duplicates are acceptable is the protocol's business."""
    faults = Faults(name)
    if _is_msmarco(data):
        return _read_msmarco(data, name)
    query, document, rank, score, lines = [], [], [], [], []
    for line, cells in _lines(data, 6):
        if len(cells) < 6:
            say = faults.fail if _is_judgment(cells) else faults.add
            say("columns", _found(cells, "6 expected"), _run_hint(cells), line)
            continue
        query.append(cells[0])
        document.append(cells[2])
        rank.append(cells[3])
        score.append(cells[4])
        lines.append(line)
    scores, ranks = _numbers(score), _numbers(rank)
    for i, value in enumerate(scores):
        if value is None:
            message = f"score {score[i].decode()!r} is not a number"
            faults.add("bad-score", message, RUN_HINT + _header(query[i]), lines[i])
    faults.check()
    ranks = [math.nan if value is None else value for value in ranks]
    tag = next(_lines(data, 6), (0, [b""] * 6))[1][5].decode()
    return Rows.build(
        _decoded(query), _decoded(document), scores, rank=ranks, lines=lines, tag=tag, name=name
    )


def kind_of(data: bytes) -> str | None:
    """Tell judgments from a run by the columns of the first line that holds data."""
    _, cells = next(_lines(data, 6), (0, []))
    return {3: "run", 4: "qrels", 6: "run", 7: "run"}.get(len(cells))


def _is_msmarco(data: bytes) -> bool:
    """Whether the first line that holds data is query, document and rank."""
    _, cells = next(_lines(data, 6), (0, []))
    return len(cells) == 3 and cells[2].isdigit()


def _read_msmarco(data: bytes, name: str) -> Rows:
    faults = Faults(name)
    rows = list(_lines(data, 6))
    for line, cells in rows:
        if len(cells) != 3:
            faults.add("columns", _found(cells, "3 expected as above"), MSMARCO_HINT, line)
        elif not cells[2].isdigit():
            message = f"rank {cells[2].decode()!r} is not a whole number"
            faults.add("bad-rank", message, MSMARCO_HINT, line)
    faults.check()
    query, document, rank = ([cells[i] for _, cells in rows] for i in range(3))
    _check_first_rank(rank, faults)
    lines = [line for line, _ in rows]
    return Rows.build(
        _decoded(query), _decoded(document), rank=list(map(float, rank)), lines=lines, name=name
    )


def _check_first_rank(rank: list[bytes], faults: Faults) -> None:
    """Refuse ranks that do not begin at 0 or 1: they may be scores, where more is better."""
    if (least := min(map(int, rank))) > 1:
        faults.fail("bad-rank", f"ranks begin at {least}: are they scores?", MSMARCO_HINT)


def _lines(data: bytes, columns: int) -> Iterator[tuple[int, list[bytes]]]:
    """Give number and cells of each line that holds data."""
    for number, line in enumerate(data.split(b"\n"), 1):
        cells = line.split(None, columns)
        if cells and cells[0][0] != ord("#"):
            yield number, cells


def _number(cell: bytes) -> float | None:
    if b"_" in cell:  # Python reads 1_000 as a number, nobody else does
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _numbers(cells: list[bytes]) -> list[Any]:
    """Read a column of numbers, at once where all are; None where one is not."""
    if b"_" not in b"".join(cells):
        with suppress(ValueError):
            return list(map(float, cells))
    return list(map(_number, cells))


def _decoded(cells: list[bytes]) -> list[str]:
    return b"\n".join(cells).decode().split("\n") if cells else []


def _found(cells: list[bytes], expected: str) -> str:
    more = " or more" if len(cells) > 5 else ""  # what is behind is not divided
    noun = "column" if len(cells) == 1 else "columns"
    shown = b" ".join(cells).decode(errors="replace")
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return f"{len(cells)}{more} {noun}, {expected}: {shown!r}"


def _is_run(cells: list[bytes]) -> bool:
    numbers = (cells[3], cells[4].split()[0]) if len(cells) >= 5 else ()
    return bool(numbers) and all(_number(cell) is not None for cell in numbers)


def _is_judgment(cells: list[bytes]) -> bool:
    return len(cells) == 4 and _number(cells[3]) is not None


def _qrels_hint(cells: list[bytes]) -> str:
    if _is_run(cells):
        return "this looks like a run; judgments come first, then runs"
    return QRELS_HINT + _separator(cells)


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
