"""Tables in Python: dicts, lists, tuples, records, columns and data frames become `Cells`.

{query: {document: value}}           value a number, or {"grade": 2, "abstain": 0.1}
{query: [document, …]}               a ranking, best first; as judgments, the relevant ones
{query: [(document, value), …]}
[(query, document, value), …]        also named tuples and records (dicts)
{"query": […], "document": […], …}   columns, also data frames
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from idealist.errors import Faults
from idealist.formats import collected_runs, column_guesses, engines, frames, judge_columns
from idealist.formats.cells import Cells, pivot, shown
from idealist.formats.column_names import (
    ALIASES,
    DISTANCES,
    EITHER,
    GOLDS,
    PLAIN,
    RANKINGS,
    RECORD_IDS,
    RECORD_TEXTS,
    SPLITS,
    WRAPPERS,
    are_columns,
    matching,
    naming_option,
)
from idealist.formats.items import Lists, named_in, negated, remark_distance
from idealist.formats.objects import opened
from idealist.formats.reading import POSITIVES_HINT, Reading
from idealist.formats.record_lists import read_side
from idealist.formats.records import MOST, Locate, holds_list, records_in

#: Names of fields, which no query has.
FIELDS = (*RANKINGS, *EITHER, *GOLDS, *RECORD_IDS, *RECORD_TEXTS, *PLAIN)
#: What lists by query may be wrapped in.
WRAPPED = (*SPLITS, *WRAPPERS)
Row = tuple[Any, Any, dict[str, Any]]

SHAPES_HINT = (
    "give {query: {document: value}}, {query: [document, …]}, {query: [(document, value), …]}, "
    "[(query, document, value), …] or {'query': […], 'document': […], …}"
)


def cells_of(data: Any, reading: Reading, locate: Locate | None = None) -> Cells:
    """Read any of the shapes."""
    faults = reading.faults
    if (columns := frames.columns(data, faults)) is not None:
        found = records_in(columns, reading)
        return read_side(found) if found else of_columns(columns, reading, nulls=True)
    data = opened(data)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes, Mapping)):
        data = list(data)
    if (lists := lists_in(data, reading, locate)) is not None:
        return lists
    if isinstance(data, Mapping):
        return _of_dict(data, reading, locate)
    if isinstance(data, list):
        if (hits := hits_in(data, reading)) is not None:
            return hits
        rows = (record(one, number, reading) for number, one in enumerate(data, 1))
        return Cells(pivot(rows, reading.value))
    faults.fail("bad-shape", f"{type(data).__name__} cannot be read as a table", SHAPES_HINT)


def lists_in(
    data: Any, reading: Reading, locate: Locate | None = None, lines: list[int] | None = None
) -> Cells | None:
    """Read records of a query each, or what a search engine answered; None for anything else."""
    if (collected := collected_runs.lists(data, reading, lines)) is not None:
        return nested(collected, reading)
    found = records_in(data, reading, locate, lines)
    if found is not None and found.are_both:
        return read_side(found)
    if (answers := engines.lists(data, reading, lines)) is not None:
        return nested(answers, reading, locate)
    return None if found is None else read_side(found)


def _of_dict(data: Mapping[Any, Any], reading: Reading, locate: Locate | None) -> Cells:
    """Read a row, columns, or documents by query."""
    if _is_record(data, reading):
        return Cells(pivot([record(data, 1, reading)]), nulls=True)
    if _column_names(data, reading):
        listed = {key: _listed(key, column, reading.faults) for key, column in data.items()}
        return of_columns(listed, reading)
    if _are_fields(data):
        message = f"{', '.join(map(str, data))[:60]} are fields, and none of them names the query"
        hint = 'add the query: {"query": …, …}'
        reading.faults.fail(
            "missing-column", message, hint, locate(next(iter(data))) if locate else None
        )
    return _unwrapped(data, reading, locate)


def nested(data: Mapping[Any, Any], reading: Reading, locate: Locate | None = None) -> Cells:
    """Read documents by query."""
    queries = list(data)
    lists = Lists(reading, line=lambda number: locate(str(queries[number])) if locate else None)
    for number, (query, entries) in enumerate(data.items()):
        lists.add(query, entries, number)
    found = lists.result()

    def line(row: int) -> int | None:
        query, document = (str(found.columns[key][row]) for key in ("query", "document"))
        return None if locate is None else locate(query, document) or locate(query)

    return replace(found, line=line)


def _unwrapped(data: Mapping[Any, Any], reading: Reading, locate: Locate | None) -> Cells:
    """Read documents by query, also where they are the only thing inside something else."""
    inside = [name for name in matching(tuple(data), WRAPPED) if _holds_lists(data[name])]
    if len(inside) == 1 and not any(map(holds_list, data.values())):
        (name,) = inside
        reading.remark_file(f"lists by query are those in {name}")
        return _unwrapped(data[name], reading, partial(locate, name) if locate else None)
    return nested(data, reading, locate)


def _holds_lists(part: Any) -> bool:
    """Whether something holds lists by query, or holds what does."""
    if not isinstance(part, Mapping) or holds_list(part):
        return False
    return all(map(holds_list, part.values())) or any(map(_holds_lists, part.values()))


def of_columns(
    columns: Mapping[Any, list[Any]],
    reading: Reading,
    lines: list[int] | None = None,
    nulls: bool = False,
) -> Cells:
    """Read columns of equal length, whatever their names."""
    columns, lines, reading = judge_columns.unfolded(columns, lines, reading)
    faults = reading.faults
    found = {name: list(columns[key]) for key, name in reading.named(columns).items()}
    lengths = {key: len(column) for key, column in found.items()}
    if len(set(lengths.values())) > 1:
        words = ", ".join(f"{key} {length}" for key, length in lengths.items())
        message = f"columns of different lengths: {words}"
        faults.fail("bad-column", message, "make them equally long")
    graded = reading.value == "grade" and not reading.all_relevant
    needed = ("query", "document", *(["grade"] if graded else []))
    missing = [name for name in needed if name not in found]
    if missing and (missing != ["grade"] or any(found.values())):
        words = "the judgments have no grades" if missing == ["grade"] else "there is no {} column"
        hint = f"the columns are {', '.join(map(str, columns))[:200]}; say which one it is"
        option = column_guesses.named_option(columns, reading)
        positives = f"; {POSITIVES_HINT}" if missing == ["grade"] else ""
        faults.fail("missing-column", words.format(missing[0]), f"{hint}: {option}{positives}")
    found = _scored(found, reading)
    if reading.value == "score" and not {"score", "rank"} & found.keys():
        _remark_order(found, reading)
    if reading.value == "grade" and "grade" in found:
        column_guesses.remark_grade(columns, reading)
    return Cells(found, lines, nulls=nulls)


def _scored(found: dict[str, list[Any]], reading: Reading) -> dict[str, list[Any]]:
    """Rank by a column of distances where no other column has scores."""
    given = reading.told("score")
    named = "score" if matching(tuple(given), DISTANCES) and "score" in found else None
    name = named or next(iter(matching(tuple(found), DISTANCES)), None)
    if reading.value != "score" or name is None or ("score" in found and named is None):
        return found
    remark_distance(reading, given[0] if named else name)
    cells = [None if cell is None else negated(cell) for cell in found[name]]
    return {**{other: column for other, column in found.items() if other != name}, "score": cells}


def _remark_order(columns: dict[str, list[Any]], reading: Reading) -> None:
    """Say that the rows are the ranking, where some column could be the score."""
    others = {key: cells for key, cells in columns.items() if key not in ALIASES}
    if (number := column_guesses.unused_number(others)) is not None:
        words = f"ranked in the order of its rows; if {number} is the score"
        reading.remark_file(f"{words}: {naming_option('score', [number])}")


def is_nested(data: Mapping[Any, Any], reading: Reading) -> bool:
    """Whether a dict of lists is documents by query, not columns or a search engine's JSON."""
    is_engine = {"requests", "responses"} & data.keys()
    other = is_engine or _are_fields(data) or _column_names(data, reading)
    return not (other or records_in(data, reading))


def _are_fields(data: Mapping[Any, Any]) -> bool:
    """Whether keys are names of fields, not queries: most of them, or one of several words."""
    if not 0 < len(data) <= MOST or any(isinstance(held, Mapping) for held in data.values()):
        return False
    found = matching(tuple(data), FIELDS)
    sides = matching(tuple(data), (*RANKINGS, *EITHER, *GOLDS))
    return len(found) * 2 > len(data) or any("_" in str(name) for name in sides)


def _column_names(data: Mapping[Any, Any], reading: Reading) -> bool:
    """Whether the keys are names of columns, not queries."""
    named = are_columns(data, reading.options.columns)
    return named and not isinstance(data[reading.ours(data)["query"]], Mapping)


def _is_record(data: Mapping[Any, Any], reading: Reading) -> bool:
    """Whether the data is a single row, as in JSON by the line with one line only."""
    if not are_columns(data, reading.options.columns):
        return False
    names = reading.ours(data)
    cells = [data[names[key]] for key in ("query", "document")]
    return all(cell is None or isinstance(cell, (str, int)) for cell in cells)


def hits_in(
    data: Sequence[Any], reading: Reading, lines: Sequence[int] | None = None
) -> Cells | None:
    """Read a record a hit whose document is named inside it; None for anything else."""
    records = [opened(one) for one in data]
    if not records or not all(isinstance(one, Mapping) for one in records):
        return None
    names = reading.ours(records[0])
    if "query" not in names or "document" in names or any(names["query"] not in r for r in records):
        return None
    line = (lambda number: lines[number]) if lines else (lambda number: None)
    made = [name for name, cell in records[0].items() if holds_list(cell)]
    if made and not named_in(records[0]):
        side = "gold" if reading.value == "grade" else "ranking"
        message = f"there is no document, and no list that is known as the {side}"
        hint = f"say which one it is: {naming_option(side, made[:1])}"
        reading.faults.fail("missing-column", message, hint, line(0))
    lists = Lists(reading, "the hits", line, hits=True)
    for number, one in enumerate(records):
        rest = {name: cell for name, cell in one.items() if name != names["query"]}
        lists.add(one[names["query"]], [rest], number)
    return lists.result()


def record(record: Any, number: int, reading: Reading) -> Row:
    """Read one row; errors name its number."""
    value = reading.value
    if hasattr(record, "_asdict"):
        record = record._asdict()
    if isinstance(record, Mapping):
        cells = _named(record, reading)
        if {"query", "document"} <= cells.keys():
            return cells.pop("query"), cells.pop("document"), cells
    elif isinstance(record, (tuple, list)) and len(record) == 3:
        return record[0], record[1], {value: record[2]}
    elif isinstance(record, (tuple, list)) and len(record) == 2 and value == "score":
        return record[0], record[1], {}
    reading.faults.fail("bad-shape", f"row {number}: cannot read {shown(record)}", SHAPES_HINT)


def _named(cells: Mapping[Any, Any], reading: Reading) -> dict[str, Any]:
    return {name: cells[key] for key, name in reading.renamed(cells).items()}


def _listed(key: Any, column: Any, faults: Faults) -> list[Any]:
    cells = column.tolist() if hasattr(column, "tolist") else column
    if isinstance(cells, (str, bytes, Mapping)) or not isinstance(cells, Iterable):
        message = f"column {shown(key)} is not a list: {shown(column)}"
        faults.fail("bad-column", message, "give a list for each column")
    return list(cells)
