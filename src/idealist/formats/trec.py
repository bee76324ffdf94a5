"""TREC text: qrels of four columns, preferences of five, runs of six; divided by blanks and tabs.

Runs of three columns are MS MARCO's: query, document, rank.

What trec_eval 10 accepts is accepted: comment lines, CRLF, a missing last newline, and in runs
anything behind the sixth column.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial

from idealist.errors import Faults
from idealist.formats.trec_lines import (
    cells_of,
    check_least_rank,
    first_line,
    has_overlong,
    is_msmarco,
    is_preference,
    number_of,
    refuse_msmarco,
    refuse_preferences,
    refuse_qrels,
    refuse_run,
    rows,
)
from idealist.tables import Qrels, Rows, Scale
from idealist.tables.judgments import subtopics_in
from idealist.tables.preferences import UNNAMED


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
