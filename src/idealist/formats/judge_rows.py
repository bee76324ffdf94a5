"""Judgments row by row, with the line and the judge of each: before judges are merged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from idealist.data import Qrels, Scale
from idealist.data.judgments import Judgments, check_grades
from idealist.errors import Contradictions, Faults
from idealist.formats import build, contents, trec
from idealist.formats.cells import checked
from idealist.formats.grade_words import by_word
from idealist.formats.reading import Reading, described
from idealist.formats.run_sources import table
from idealist.formats.source import Source
from idealist.notation import tidy


class JudgeRow(NamedTuple):
    """What one judge said of one document; the name and the line where there are any."""

    query: str
    document: str
    grade: float
    judge: str
    line: int | None


def read_judge_rows(data: Any, **said: Any) -> Iterator[JudgeRow]:
    """Read judgments as `read_qrels` does, and keep what each judge said apart.

    >>> list(read_judge_rows([{"query": "q", "doc": "d", "rater": "ann", "grade": 2}]))
    [JudgeRow(query='q', document='d', grade=2, judge='ann', line=None)]
    """
    given = _given(*described(data, **said))
    judges = given["columns"].get("judge") or repeat("")
    grades, lines = map(tidy, given["grade"]), given["lines"] or repeat(None)
    return map(JudgeRow, given["query"], given["document"], grades, judges, lines)


def _given(data: Any, options: Any) -> dict[str, Any]:
    """Return rows as `Qrels.build` takes them; each grade must be on the scale, if one is said."""
    data, scale = contents.resolved(data, "qrels"), None
    if options.scale is not None:
        scale = Scale.of(options.scale)
    if isinstance(data, Qrels):
        return _of_qrels(data if scale is None else data.on(scale))
    is_file = isinstance(data, (str, Path))
    name = Source.of(data).name if is_file else "qrels"
    reading = Reading("grade", Faults(name), options)
    found = contents.cells(Source.of(data), reading) if is_file else None
    if isinstance(found, bytes):
        return _of_trec(found, scale, reading)
    rows = table(data, reading) if found is None else checked(found, reading)
    given = build.given_rows(rows, scale, name)
    if given["subtopic"] is not None:
        _refuse_subtopics(name)
    faults = Faults(name)
    pairs = Judgments(given["query"], given["document"], given["grade"], [], given["lines"])
    check_grades(pairs, list(range(len(given["query"]))), scale, faults)
    faults.check()
    return given


def _of_trec(text: bytes, scale: Scale | None, reading: Reading) -> dict[str, Any]:
    other = reading.values if by_word(reading.options.scale) else None
    try:
        return _of_qrels(trec.read_qrels(text, reading.faults.file, scale, other))
    except Contradictions as error:  # each row is one judge's, who has no name
        return {**error.given, "columns": error.given["columns"] or {}}


def _refuse_subtopics(name: str) -> NoReturn:
    message = "documents are judged by subtopic, which a store does not keep"
    Faults(name).fail("bad-shape", message, "leave out the column of subtopics")


def _of_qrels(qrels: Qrels) -> dict[str, Any]:
    if qrels.subtopics is not None:
        _refuse_subtopics(qrels.name)
    query = [query for query, start, end in qrels.spans() for _ in range(start, end)]
    given = {"query": query, "document": qrels.documents, "grade": qrels.grades.tolist()}
    return {**given, "columns": {}, "lines": None}
