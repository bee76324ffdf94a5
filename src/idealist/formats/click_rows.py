"""Rows of a log of clicks, a block of them at once: what was shown where, and what was clicked.

Each column is its different values and the number of one for each row, so that a value is looked at
once however many rows have it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from idealist.data.columns import to_float, to_id
from idealist.errors import SHOWN as FAULTS_SHOWN
from idealist.errors import Faults
from idealist.formats import frames
from idealist.formats.cells import ID_RULE, Line, shown

#: What a row says of a document, in any combination: that it was shown, that it was clicked, and
#: that the engine returned it, which may stand for shown.
SHOWN, CLICKED, RETURNED = 1, 2, 4
#: A position, query or document that a row does not have.
NONE = -1
#: The highest position that is read.
LAST = 2**31 - 2
#: What text says of a click.
WORDS = {"true": 1, "yes": 1, "t": 1, "y": 1, "false": 0, "no": 0, "f": 0, "n": 0}

Codes = NDArray[np.int32]
Flags = NDArray[np.uint8]


class Coded(NamedTuple):
    """A column: its different values, and which of them each row has."""

    values: Sequence[Any]
    codes: Codes


@dataclass(frozen=True)
class ClickRows:
    """A block of rows: a session, a query and a document each, with position and `flags`.

    A query or document that is not known is None. Where a session is one search, `is_search`, it
    alone says which rows belong together; else it may have several queries. `unsearched` counts
    events that are of no search, and no rows.
    """

    session: Coded
    query: Coded
    document: Coded
    position: Codes
    flags: Flags
    is_search: bool = False
    unsearched: int = 0

    def __len__(self) -> int:
        return len(self.flags)


@dataclass(frozen=True)
class Nested:
    """Stands for a cell that is no text and no number, but a list or an object."""

    words: str

    def __repr__(self) -> str:
        return self.words


def coded(cells: Sequence[Any]) -> Coded:
    """Give each different cell of a column a number, in the order in which they come.

    >>> coded(["b", "a", "b"])
    Coded(values=['b', 'a'], codes=array([0, 1, 0], dtype=int32))
    """
    numbers: dict[Any, int] = {}
    number = numbers.setdefault
    try:
        codes = np.fromiter((number(cell, len(numbers)) for cell in cells), np.int32)
    except TypeError:  # a list or an object, which no column may hold
        return coded([cell if _is_plain(cell) else Nested(shown(cell)) for cell in cells])
    return Coded(list(numbers), codes)


def _is_plain(cell: Any) -> bool:
    try:
        return hash(cell) is not None
    except TypeError:
        return False


def coded_arrow(column: Any) -> Coded:
    """Give each different cell of an Arrow column a number; a null is None."""
    types = frames.arrow().types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_nested(column.type):
        return coded(column.to_pylist())
    found = column.dictionary_encode(null_encoding="encode")
    return Coded(found.dictionary.to_pylist(), found.indices.to_numpy(zero_copy_only=False))


def shown_rows(columns: Mapping[str, Coded], faults: Faults, line: Line | None = None) -> ClickRows:
    """Check rows of a table, each of which says that a document was shown; note all faults."""
    check = _Checker(faults, line or (lambda row: None))
    clicked = check.converted("clicked", columns["clicked"], click_of, np.uint8)
    return ClickRows(
        session=check.ids("session", columns["session"], needed=True),
        query=check.ids("query", columns["query"]),
        document=check.ids("document", columns["document"]),
        position=check.converted("position", columns["position"], _position, np.int32),
        flags=np.where(clicked, SHOWN | CLICKED, SHOWN).astype(np.uint8),
    )


def event_rows(
    columns: Mapping[str, Coded], flags: Flags, unsearched: int, faults: Faults, line: Line
) -> ClickRows:
    """Check rows that are events of searches: each has its own flags, and may lack anything."""
    check = _Checker(faults, line)
    return ClickRows(
        session=check.ids("query_id", columns["session"], needed=True),
        query=check.ids("query", columns["query"]),
        document=check.ids("document", columns["document"]),
        position=check.converted("position", columns["position"], _position, np.int32),
        flags=flags,
        is_search=True,
        unsearched=unsearched,
    )


@dataclass(frozen=True)
class _Checker:
    """Looks at each different value once; a fault is of the first row that has it."""

    faults: Faults
    line: Callable[[int], int | None]

    def ids(self, name: str, column: Coded, needed: bool = False) -> Coded:
        """Turn values into ids; nothing is None, and a fault where an id is `needed`."""
        found: list[str | None] = []
        for number, value in enumerate(column.values):
            one = None
            try:
                if not is_nothing(value):
                    one = to_id(value)
                elif needed:
                    raise ValueError(value)
            except (TypeError, ValueError):
                message = f"{name} {shown(value)}: {ID_RULE}"
                self._add("bad-id", message, "write ids as text", column, number)
            found.append(one)
        return Coded(found, column.codes)

    def converted(self, name: str, column: Coded, convert: Callable[[Any], int], kind: Any) -> Any:
        """Turn values into whole numbers, a number for each row."""
        found = np.zeros(len(column.values), kind)
        for number, value in enumerate(column.values):
            try:
                found[number] = convert(value)
            except (TypeError, ValueError, OverflowError):
                rule = RULES[name]
                message = f"{name} {shown(value)} is not {rule}"
                self._add("bad-column", message, f"give each row {rule}", column, number)
        return found[column.codes]

    def _add(self, code: str, message: str, hint: str, column: Coded, number: int) -> None:
        some = self.faults.total < FAULTS_SHOWN
        line = self.line(int(np.argmax(column.codes == number))) if some else None
        self.faults.add(code, message, hint, line)


#: What a column holds, as its faults say it.
RULES = {
    "position": "a whole number of at least 0, or empty",
    "clicked": "yes or no, or a number of clicks",
}


def is_nothing(value: Any) -> bool:
    """Whether a cell is blank: None, not a number, or text without anything but blanks."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and not value.strip())


def _position(value: Any) -> int:
    """Read a position; one that is not given is `NONE`."""
    if is_nothing(value):
        return NONE
    number = _number(value)
    if not (number.is_integer() and 0 <= number <= LAST):
        raise ValueError(value)
    return int(number)


def click_of(value: Any) -> int:
    """Read whether a row was clicked; what is not given was not.

    >>> click_of("yes"), click_of(3), click_of("0"), click_of(None)
    (1, 1, 0, 0)
    """
    if is_nothing(value):
        return 0
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, str) and (word := value.strip().lower()) in WORDS:
        return WORDS[word]
    number = _number(value)
    if not 0 <= number < math.inf:
        raise ValueError(value)
    return int(number > 0)


def _number(value: Any) -> float:
    if isinstance(value, (bool, np.bool_, bytes)):
        raise TypeError(value)
    return to_float(value.strip() if isinstance(value, str) else value)
