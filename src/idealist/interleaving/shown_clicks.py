"""Logs of clicks on lists that were shown: who saw which list, and what was clicked.

A log has a row for each click; or for each document that was shown, with a column that says whether
it was clicked. A row that names no document says only that a session was shown a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

from idealist.data.columns import to_float, to_id
from idealist.errors import Faults, UsageError
from idealist.formats import contents, delimited, frames
from idealist.formats.cells import shown
from idealist.formats.click_names import (
    CLICKED,
    LISTS,
    POSITIONS,
    SESSIONS,
    USERS,
    Tiers,
    candidates,
    ours_among,
)
from idealist.formats.click_rows import click_of, is_nothing
from idealist.formats.column_names import TIERS, Given, folded, given_names, naming_option, spelt
from idealist.formats.source import Source
from idealist.interleaving.interleaved import Interleaved, InterleavedList

#: Our columns, with the names that are understood as each.
COLUMNS: dict[str, Tiers] = {
    "session": SESSIONS, "query": TIERS["query"], "list": LISTS, "document": TIERS["document"],
    "position": POSITIONS, "clicked": CLICKED, "user": USERS,
}  # fmt: skip
#: The place of a document that the list did not show.
ELSEWHERE = -1


@dataclass
class Impression:
    """A list that a session was shown for a query, and the places that were clicked, from 0 on."""

    shown: InterleavedList
    clicked: set[int] = field(default_factory=set)


@dataclass
class ShownClicks:
    """The impressions by session and query, the user of each session, and the number of clicks.

    `elsewhere` counts clicks on documents that the list did not show. `read_as` says what was taken
    for what, where a column has not our name.
    """

    name: str
    impressions: dict[tuple[str, str], Impression] = field(default_factory=dict)
    users: dict[str, str] = field(default_factory=dict)
    clicks: int = 0
    elsewhere: int = 0
    read_as: str = ""


class Row(NamedTuple):
    """The cells of a row, by our names; None where there are none."""

    session: Any
    query: Any
    list: Any
    document: Any
    position: Any
    clicked: Any
    user: Any


def read_shown_clicks(data: Any, lists: Interleaved, columns: Given | None = None) -> ShownClicks:
    """Read a log of clicks on lists: a file, records, columns by name, or a data frame.

    `columns` names columns that have other names than usual, theirs by ours.
    """
    given = columns or {}
    if unknown := [ours for ours in given if ours not in COLUMNS]:
        hint = f"it has {', '.join(COLUMNS)}"
        raise UsageError(f"a log of clicks has no column {unknown[0]!r} of ours", hint)
    source = Source.of(data) if isinstance(data, (str, Path)) else None
    faults = Faults("clicks" if source is None else source.name)
    table, lines = _file(source, given, faults) if source else (_cells(data, faults), None)
    names = _named(table, given, faults)
    found = {ours: table[theirs] for ours, theirs in names.items()}
    log, of = ShownClicks(faults.file, read_as=_said(names, given)), _Shown(lists)
    for line, row in zip(lines or repeat(None), _rows(found), strict=False):
        try:
            _add(row, log, of)
        except _Wrong as wrong:
            faults.add(wrong.code, str(wrong), wrong.hint, line)
    faults.check()
    if not log.impressions:
        faults.fail("empty", "the log has no rows", "did the step that writes it succeed?")
    return log


def _rows(found: Mapping[str, list[Any]]) -> Iterator[Row]:
    absent = {"clicked": ...}  # then each row that names a document is a click
    return map(Row, *(found.get(ours, repeat(absent.get(ours))) for ours in COLUMNS))


def _file(
    source: Source, given: Given, faults: Faults
) -> tuple[dict[str, list[Any]], list[int] | None]:
    """Read the columns of a file, and the line of each row."""

    def header_of(text: bytes) -> delimited.Header | None:
        headers = delimited.headers(text).values()
        return max(
            headers, key=lambda one: len(candidates(one.names, given, COLUMNS)), default=None
        )

    content = contents.content_of(source, faults, header_of)
    if content.kind == "text":
        hint = "the first line names the columns, such as session,query,list,document"
        faults.fail("columns", "the log is no table with a header", hint)
    if content.kind == "columns":
        return content.value, content.lines
    return _cells(content.value, faults), content.lines


def _cells(data: Any, faults: Faults) -> dict[str, list[Any]]:
    """Read a frame, columns by name, or records."""
    if (columns := frames.named_columns(data, faults)) is not None:
        return columns
    rows = list(data) if isinstance(data, (list, tuple, Iterator)) else [data]
    for row in rows:
        if not isinstance(row, Mapping):
            hint = 'give {"session": …, "query": …, "list": …, "document": …}'
            faults.fail("bad-shape", f"cannot read {shown(row)}", hint)
    names = dict.fromkeys(str(name) for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _named(table: Mapping[str, list[Any]], given: Given, faults: Faults) -> dict[str, str]:
    """Map our columns to theirs; refuse a log that lacks one that is needed."""
    has = f"the columns are {', '.join(table)}"[:300]
    found = ours_among(table, given, COLUMNS, faults)
    for ours, theirs in given_names(given):
        if len(spelt(list(table), theirs)) != 1:
            message = f"there is no column {theirs!r} to be the {ours}"
            faults.fail("missing-column", message, has)
    for needed in ("session", "query"):
        if needed not in found:
            hint = f"{naming_option(needed, [])}; {has}"
            faults.fail("missing-column", f"no column is the {needed}", hint)
    if "document" not in found and "position" not in found:
        hint = f"{naming_option('document', [])}; {has}"
        faults.fail("missing-column", "no column is the document or its position", hint)
    return found


def _said(names: Mapping[str, str], given: Given) -> str:
    """Say which names were understood."""
    usual = {ours: theirs for ours, theirs in names.items() if ours not in given}
    return ", ".join(f"{ours} = {one}" for ours, one in usual.items() if folded(one) != ours)


class _Wrong(Exception):
    """A row that cannot be read."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


class _Shown:
    """Which list a row is about."""

    def __init__(self, lists: Interleaved) -> None:
        self.by_number: dict[str, dict[int, InterleavedList]] = {}
        for one in lists.lists:
            self.by_number.setdefault(one.query, {})[one.number] = one

    def find(self, query: str, number: Any) -> InterleavedList:
        """Find a list by the query and its number, which may be missing if there is one alone."""
        if (own := self.by_number.get(query)) is None:
            hint = "give the clicks on these lists alone, with the ids of the queries"
            raise _Wrong("unknown-list", f"there is no list for query {query!r}", hint)
        if is_nothing(number):
            if len(own) == 1:
                return next(iter(own.values()))
            hint = "log the number of the list that a session is shown, as a column list"
            words = f"query {query!r} has {len(own)} lists: nothing says which was shown"
            raise _Wrong("unknown-list", words, hint)
        if (one := own.get(_whole(number))) is None:
            hint = "are these the lists that were shown?"
            raise _Wrong("unknown-list", f"query {query!r} has no list {shown(number)}", hint)
        return one


def _add(row: Row, log: ShownClicks, of: _Shown) -> None:
    """Add a row to the log."""
    session, query = (
        _id(cell, what) for cell, what in zip(row, ("session", "query"), strict=False)
    )
    seen = of.find(query, row.list)
    one = log.impressions.setdefault((session, query), Impression(seen))
    if one.shown is not seen:
        message = f"session {session!r} saw list {one.shown.number} of query {query!r} before"
        hint = "a session sees one list of a query: give each search an id of its own"
        raise _Wrong("bad-click", f"{message}, and list {seen.number} here", hint)
    if not is_nothing(row.user):
        user = _id(row.user, "user")
        if (before := log.users.setdefault(session, user)) != user:
            message = f"session {session!r} is of user {user!r} here, and of {before!r} before"
            raise _Wrong("bad-click", message, "give each session one user")
    place = _place(row, seen)
    if _is_click(row.clicked, place):
        log.clicks += 1
        if place == ELSEWHERE:
            log.elsewhere += 1
        elif place is not None:
            one.clicked.add(place)


def _place(row: Row, seen: InterleavedList) -> int | None:
    """Find the place of a row's document in the list; None where it names none."""
    named = None if is_nothing(row.document) else _id(row.document, "document")
    if is_nothing(row.position):
        at = None
    elif (at := _whole(row.position) - 1) < 0:
        message = f"position {shown(row.position)} is no place in a list"
        raise _Wrong("bad-click", message, "positions are 1, 2, 3 and so on")
    if named is None:
        return ELSEWHERE if at is not None and at >= len(seen.documents) else at
    if named not in seen.documents:
        return ELSEWHERE
    place = seen.documents.index(named)
    if at not in (None, place):
        message = f"list {seen.number} of query {seen.query!r} has {named!r} at {place + 1}"
        hint = "is it the list that was shown? positions are 1, 2, 3 and so on"
        raise _Wrong("bad-click", f"{message}, not at {shown(row.position)}", hint)
    return place


def _is_click(cell: Any, place: int | None) -> bool:
    """Whether a row is a click: as its cell says or, without such cells, if it has a document."""
    if cell is ... or is_nothing(cell):
        return cell is ... and place is not None
    try:
        told = bool(click_of(cell))
    except (TypeError, ValueError):
        raise _Wrong("bad-click", f"clicked is {shown(cell)}", "write 1 or 0") from None
    if told and place is None:
        raise _Wrong("bad-click", "a click names no document", "add it, or its position")
    return told


def _id(cell: Any, what: str) -> str:
    try:
        if is_nothing(cell):
            raise ValueError(cell)
        return to_id(cell)
    except (TypeError, ValueError):
        hint = f"write each {what} as text or a whole number"
        raise _Wrong("bad-id", f"the {what} is {shown(cell)}", hint) from None


def _whole(cell: Any) -> int:
    """Read a whole number from 0 on; -1 stands for anything else."""
    try:
        number = to_float(cell)
        return int(number) if number.is_integer() and number >= 0 else -1
    except (TypeError, ValueError):
        return -1
