"""What unnamed columns may be: proposed to the user by what they hold, never taken for granted."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

from idealist.data.columns import is_number
from idealist.formats import grade_words
from idealist.formats.column_names import WEAK_GRADES, folded, given_names, naming_option
from idealist.formats.reading import Reading

#: How many rows are looked at, and how many different grades a scale has at most.
SEEN, GRADES = 200, 11
#: Ids are shorter than this on average; what is longer is a text.
LONG = 60


def named_option(columns: Mapping[str, Sequence[Any]], reading: Reading) -> str:
    """Write the option that says which columns are ours; NAME stands for what cannot be guessed.

    >>> from idealist.errors import Faults
    >>> columns = {"Suche": ["a", "a"], "Artikel": ["x", "y"], "Note": ["2", "0"]}
    >>> named_option(columns, Reading("grade", Faults()))
    '--columns query=Suche,document=Artikel,grade=Note'
    """
    known = reading.ours(columns)
    free = {name: cells for name, cells in columns.items() if name not in known.values()}
    needed = [name for name in _needed(reading) if name not in known]
    guessed = _guessed(free, needed)
    if reading.value == "score" and "score" not in known:  # ranks or the order of rows will do
        values = [name for name in ("score", "rank") if name in guessed and "rank" not in known]
        needed = [*(name for name in needed if name != "score"), *values]
    given: dict[str, list[str]] = {}
    told = given_names(reading.options.columns)
    for ours, theirs in [*told, *((name, str(guessed.get(name, "NAME"))) for name in needed)]:
        given.setdefault(ours, []).append(theirs)
    return _option(reading, columns=given)


def listed_option(rows: Sequence[Sequence[str]], reading: Reading) -> str:
    """Write the option that names the columns of a file without a header, one by one.

    >>> from idealist.errors import Faults
    >>> rows = [["2", "a", "x"], ["0", "a", "y"]]
    >>> listed_option(rows, Reading("grade", Faults()))
    '--columns grade,query,document'
    >>> listed_option([["q2", "", "", "7"]], Reading("score", Faults()))
    '--columns query,document,score,-'
    """
    columns = {str(number): cells for number, cells in enumerate(zip(*rows, strict=False))}
    guessed = _guessed(columns, _needed(reading))
    ours = {theirs: name for name, theirs in guessed.items()}
    layout = tuple(ours.get(number, "-") for number in columns)
    if not {"query", "document"} <= {*layout}:
        layout = (*_needed(reading), *("-" for _ in layout))[: len(layout)]
    own = reading.options.layout(reading.value)
    others = (one for one in reading.options.layouts if one != own)
    return _option(reading, layouts=(*others, layout))


def _option(reading: Reading, **changes: Any) -> str:
    """Write all that must be said about the files, so that it can be pasted."""
    return shlex.join(replace(reading.options, **changes).words())


def unused_number(columns: Mapping[str, Sequence[Any]]) -> str | None:
    """Find a column of numbers that may be a score."""
    return next(_valued({name: _seen(cells) for name, cells in columns.items()}, "score"), None)


def other_grade(columns: Mapping[str, Sequence[Any]]) -> str | None:
    """Find a column that may be the grade: a few small whole numbers, or words for grades.

    >>> other_grade({"price": ["9.99", "5"], "verdict": ["Exact", "Irrelevant", None]})
    'verdict'
    """
    for name, cells in columns.items():
        found = set(_seen(cells))
        few = all(map(str.isdecimal, found)) and all(int(cell) < GRADES for cell in found)
        words = {*map(grade_words.folded, found)} <= grade_words.STEPS.keys()
        if len(found) > 1 and (few or words) and str(name).strip():
            return name
    return None


def remark_grade(columns: Mapping[Any, Sequence[Any]], reading: Reading) -> None:
    """Name a column that may be the grade rather than a customer's rating or an engine's score."""
    theirs = reading.used["grade"]
    if folded(theirs) not in WEAK_GRADES or reading.told("grade"):
        return
    free = {name: cells for name, cells in columns.items() if name not in reading.used.values()}
    if (other := other_grade(free)) is not None:
        option = naming_option("grade", [other])
        words = f"{reading.faults.file}: grade = {theirs}; if {other} is the grade: {option}"
        reading.remark("read-as", words, severity="warning")


def _needed(reading: Reading) -> list[str]:
    return ["query", "document", *([reading.value] if reading.value in ("grade", "score") else [])]


def _guessed(columns: Mapping[str, Sequence[Any]], needed: Sequence[str]) -> dict[str, str]:
    """Guess which columns are meant, each at most once: the value first, then the ids."""
    free = {name: _seen(cells) for name, cells in columns.items() if str(name).strip()}
    free = {name: cells for name, cells in free.items() if cells}
    found: dict[str, str] = {}
    for value in [name for name in needed if name in ("grade", "score")]:
        candidates = list(_valued(free, value))
        if value == "score":
            candidates.sort(key=lambda name: _unlike_scores(free[name]))
        if candidates:
            counts = value == "score" and _counts(free[candidates[0]])
            found["rank" if counts else value] = candidates[0]
            free.pop(candidates[0])
    wanted = {"query", "document"} & {*needed}
    if "query" in wanted and (ids := _like_ids(free, len(wanted), _is_number)):
        found["query"] = min(
            ids, key=lambda name: (_variety(free[name]), not _is_wordy(free[name]))
        )
        free.pop(found["query"])
    if "document" in wanted and (ids := _like_ids(free, 1, _is_wordy, _is_number)):
        found["document"] = max(ids, key=lambda name: _variety(free[name]))
    return found


def _variety(cells: Sequence[str]) -> tuple[int, int]:
    """Count the different cells, and how often they change: queries repeat, row after row."""
    return len(set(cells)), sum(a != b for a, b in pairwise(cells))


def _like_ids(
    columns: Mapping[str, Sequence[str]], least: int, *unlike: Callable[[Sequence[str]], bool]
) -> list[str]:
    """Find the columns that may be ids; what looks less like one is left out where others do."""
    found = list(columns)
    for is_unlike in (_is_text, _is_real, _is_constant, *unlike):
        rest = [name for name in found if not is_unlike(columns[name])]
        found = rest if len(rest) >= least else found
    return found


def _valued(columns: Mapping[str, Sequence[Any]], value: str) -> Iterator[str]:
    """Find the columns of numbers that may be grades, or scores; the last one first."""
    for name, cells in reversed(list(columns.items())):
        few = len(set(cells)) <= GRADES and (len(set(cells)) < len(cells) or len(cells) < GRADES)
        if cells and all(map(is_numeric, cells)) and (few or value == "score"):
            yield name


def _seen(cells: Sequence[Any]) -> list[str]:
    return [str(cell) for cell in islice(cells, SEEN) if cell is not None and str(cell).strip()]


def is_numeric(cell: Any) -> bool:
    """Whether a cell is a number, perhaps with a decimal comma."""
    return is_number(str(cell).replace(",", ".", 1))


def _is_real(cells: Sequence[str]) -> bool:
    """Whether cells are numbers with decimals, which no ids are."""
    return _is_number(cells) and not all(map(str.isdigit, cells))


def _counts(cells: Sequence[str]) -> bool:
    """Whether cells count from 0 or 1, perhaps again and again, as ranks do."""
    if len(set(cells)) < 2 or cells[0] not in ("0", "1") or not all(map(str.isdigit, cells)):
        return False
    return all(b == cells[0] or int(b) == int(a) + 1 for a, b in pairwise(cells))


def _unlike_scores(cells: Sequence[str]) -> int:
    """Order columns of numbers: decimals are scores, then come ranks, and last numbers of rows."""
    if _is_real(cells):
        return 0
    return 2 if not _counts(cells) else 1 if len(set(cells)) < len(cells) else 3


def _is_number(cells: Sequence[str]) -> bool:
    return all(map(is_numeric, cells))


def _is_constant(cells: Sequence[str]) -> bool:
    return len(set(cells)) == 1


def _is_wordy(cells: Sequence[str]) -> bool:
    """Whether cells are words with blanks between them, as titles are."""
    return sum(" " in cell.strip() for cell in cells) * 2 > len(cells)


def _is_text(cells: Sequence[str]) -> bool:
    return sum(map(len, cells)) > LONG * len(cells)
