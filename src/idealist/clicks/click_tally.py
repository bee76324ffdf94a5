"""Tallying a log: rows in any order become pages, and pages counts, in bounded memory.

Rows are laid into parts by a hash of session and query, so that all rows of a page are in one part,
wherever in the log they were. Parts that grow too large go to files. At the end each part is sorted
into pages by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from idealist.clicks.click_counts import SPREAD, ClickCounts, Keys, mixed, together
from idealist.data.columns import Bools, Ints
from idealist.formats.click_rows import CLICKED, NONE, RETURNED, SHOWN, ClickRows, Flags

#: Into how many parts rows are laid, by the first bits of their keys.
PARTS, PART_SHIFT = 64, np.uint64(58)
PART = np.uint64((PARTS - 1) << 58)
#: How many bytes of rows are held in memory before they go to files.
MOST_HELD = 400_000_000
#: Of how many sessions one is held out; and the flag of its rows.
HELD_OUT_OF, HELD_OUT = 5, 8
#: A row as it is kept: the key of its page, and what the row says.
ROW = np.dtype(
    [("key", "<u8"), ("query", "<i4"), ("document", "<i4"), ("position", "<i4"), ("flags", "u1")]
)
#: How many rows have the first position, for each that has the second, at least. Suggested.
USUAL = 0.75
#: A place below all others.
BELOW = np.iinfo(np.int32).max


@dataclass
class Dropped:
    """What of a log was left out or put together, by how many rows, documents or pages.

    Rows `without_query`, `without_document`, `without_position` or `without_search`, and those of
    searches of `unknown_query`; searches of `several_queries`, of which one counts; documents that
    are `clicked_unseen`, of which no impression is logged; rows that say again what is known,
    `repeated`, or that say clicked where another says not, `contradictory`; documents at
    `several_positions` of one page, which count once; `shared_positions`, at which another document
    of the page is too; and pages taken `as_returned`, since no impression is logged.
    """

    without_query: int = 0
    without_document: int = 0
    without_position: int = 0
    clicked_unseen: int = 0
    repeated: int = 0
    contradictory: int = 0
    several_positions: int = 0
    shared_positions: int = 0
    without_search: int = 0
    unknown_query: int = 0
    several_queries: int = 0
    as_returned: int = 0

    def add(self, other: Dropped) -> None:
        """Add up two of them."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


@dataclass
class Vocabulary:
    """Names, each with a number in the order in which they come, and maybe a hash."""

    numbers: dict[str, int] = field(default_factory=dict)

    def of(self, names: Iterable[str | None]) -> NDArray[np.int32]:
        """Give each name its number; None is `NONE`."""
        known = self.numbers
        found = (NONE if one is None else known.setdefault(one, len(known)) for one in names)
        return np.fromiter(found, np.int32)

    def sorted(self) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """Return the names in order, and the place there of each number; that of `NONE` is last."""
        names = sorted(self.numbers)
        places = np.full(len(names) + 1, NONE, np.int32)
        places[[self.numbers[name] for name in names]] = np.arange(len(names), dtype=np.int32)
        return tuple(names), places


class Tally:
    """Collects rows, and counts them in the end; a context, since it may need files."""

    def __init__(self, most_held: int = MOST_HELD) -> None:
        self.queries, self.documents = Vocabulary(), Vocabulary()
        self.dropped = Dropped()
        self.rows = 0
        self._first = np.zeros(2, np.int64)  # how many rows have position 0, and 1
        self._most = most_held
        self._held: list[list[Any]] = [[] for _ in range(PARTS)]
        self._bytes = 0
        self._folder: Path | None = None
        self._opened = ExitStack()

    def __enter__(self) -> Tally:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def add(self, rows: ClickRows) -> None:
        """Add a block of rows."""
        self.rows += len(rows) + rows.unsearched
        self.dropped.without_search += rows.unsearched
        placed = rows.position[(rows.flags & SHOWN > 0) & (rows.position != NONE)]
        self._first += np.bincount(placed[placed < 2], minlength=2)
        session = hashes(rows.session.values)[rows.session.codes]
        query = self.queries.of(rows.query.values)[rows.query.codes]
        document = self.documents.of(rows.document.values)[rows.document.codes]
        key = mixed(session * SPREAD[3])
        kept = np.ones(len(rows), bool)
        if not rows.is_search:
            asked = hashes(rows.query.values)[rows.query.codes]
            with np.errstate(over="ignore"):
                key = mixed(key + asked)
            key = (key & ~PART) | (asked & PART)  # so that lists that are the same are together
            kept = (query != NONE) & (document != NONE)
            self.dropped.without_query += int((query == NONE).sum())
            self.dropped.without_document += int(((query != NONE) & (document == NONE)).sum())
        held_out = mixed(session) % np.uint64(HELD_OUT_OF) == 0
        found = np.empty(len(rows), ROW)
        found["key"], found["query"], found["document"] = key, query, document
        found["position"], found["flags"] = (
            rows.position,
            rows.flags | held_out * np.uint8(HELD_OUT),
        )
        self._lay(found[kept])

    def _lay(self, rows: Any) -> None:
        """Lay rows into their parts, in the order in which they come."""
        part = (rows["key"] >> PART_SHIFT).astype(np.uint8)
        ordered = rows[np.argsort(part, kind="stable")]
        ends = np.cumsum(np.bincount(part, minlength=PARTS))
        for held, own in zip(self._held, np.split(ordered, ends[:-1]), strict=True):
            if len(own):
                held.append(own)
        self._bytes += rows.nbytes
        if self._bytes > self._most:
            self._spill()

    def _spill(self) -> None:
        if self._folder is None:
            self._folder = Path(self._opened.enter_context(TemporaryDirectory()))
        for number, held in enumerate(self._held):
            with (self._folder / str(number)).open("ab") as file:
                for own in held:
                    own.tofile(file)
            held.clear()
        self._bytes = 0

    def _parts(self) -> Iterator[Any]:
        for number, held in enumerate(self._held):
            spilled = [] if self._folder is None else [np.fromfile(self._folder / str(number), ROW)]
            if sum(map(len, found := [*spilled, *held])):
                yield np.concatenate(found)
            held.clear()

    def counts(self) -> tuple[ClickCounts, ClickCounts]:
        """Count the pages: those to learn from, and those that are held out."""
        (queries, query), (documents, document) = self.queries.sorted(), self.documents.sorted()
        none = _none(queries, documents)
        kept: tuple[list[ClickCounts], list[ClickCounts]] = ([none], [none])
        for rows in self._parts():
            rows["query"], rows["document"] = query[rows["query"]], document[rows["document"]]
            if is_from_zero(
                *self._first.tolist()
            ):  # what was shown counts from 0, and what was returned from 1
                rows["position"] -= (rows["flags"] & RETURNED > 0).astype(np.int32)
            pages, held_out = _pages(rows, none, self.dropped)
            for parts, some in zip(kept, (~held_out, held_out), strict=True):
                parts.append(pages.lists(np.flatnonzero(some)).joined())
                if sum(len(one.document) for one in parts[1:]) > 2 * len(parts[0].document) + 2**22:
                    parts[:] = [together(parts)]
        return together(kept[0]), together(kept[1])


def is_from_zero(zeros: int, ones: int) -> bool:
    """Whether positions count from 0: nearly as many rows have position 0 as have 1, or more."""
    return zeros > 0 and zeros >= USUAL * ones


def hashes(texts: Iterable[str | None]) -> Keys:
    """Hash texts to 64 bits, the same on any machine."""
    found = (
        blake2b((one or "").encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for one in texts
    )
    return np.frombuffer(b"".join(found), "<u8")


def _none(queries: tuple[str, ...], documents: tuple[str, ...]) -> ClickCounts:
    wide, narrow = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return ClickCounts(
        queries, documents, wide, np.zeros(1, np.int64), narrow, narrow, narrow, narrow, wide
    )


def _pages(rows: Any, none: ClickCounts, dropped: Dropped) -> tuple[ClickCounts, Bools]:
    """Put rows together to pages, each a list that was shown once; say which are held out."""
    rows = rows[np.argsort(rows["key"], kind="stable")]
    new = np.append(True, rows["key"][1:] != rows["key"][:-1])
    starts, page = np.flatnonzero(new), np.cumsum(new) - 1
    query = _queries(rows, starts, dropped)
    held_out = rows["flags"][starts] & HELD_OUT > 0
    is_unknown = query[page] == NONE
    dropped.unknown_query += int(is_unknown.sum())
    known = np.where(is_unknown, 0, rows["flags"]).astype(np.uint8)
    flags = _with_returned(known, page, starts, dropped)
    page, document, position, clicked = _places(
        page, rows["document"], rows["position"], flags, dropped
    )
    own, first = np.unique(page, return_index=True)
    last = np.zeros(0, np.int64)
    if len(first):
        last = np.maximum.reduceat(np.where(clicked, np.arange(len(page)), NONE), first)
    lasts = np.zeros(len(page), np.int32)
    lasts[last[last != NONE]] = 1
    lists = ClickCounts(
        none.queries, none.documents, query[own], np.append(first, len(page)), document, position,
        clicked.astype(np.int32), lasts, (last == NONE).astype(np.int64),
    )  # fmt: skip
    return lists, held_out[own]


def _queries(rows: Any, starts: Ints, dropped: Dropped) -> Ints:
    """Find the query of each page; of several, that of the query itself before those of events."""
    found, is_event = rows["query"], rows["flags"] & (SHOWN | CLICKED | RETURNED) > 0
    last = np.maximum.reduceat(found, starts)
    first = np.minimum.reduceat(np.where(found == NONE, BELOW, found), starts)
    dropped.several_queries += int((first < last).sum())
    own = np.maximum.reduceat(np.where(is_event, NONE, found), starts)
    return np.where(own == NONE, last, own).astype(np.int64)


def _with_returned(flags: Flags, page: Ints, starts: Ints, dropped: Dropped) -> Flags:
    """Take what the engine returned as shown, on pages of which no impression is logged."""
    every = np.bitwise_or.reduceat(flags, starts)
    taken = (every & RETURNED > 0) & (every & SHOWN == 0)
    dropped.as_returned += int(taken.sum())
    seen = np.where((flags & RETURNED > 0) & taken[page], flags | SHOWN, flags)
    return seen.astype(np.uint8)


def _places(
    page: Ints, document: Any, position: Any, flags: Any, dropped: Dropped
) -> tuple[Ints, Any, Any, Bools]:
    """Make one place of all rows that a page has of a document; order them from the first down.

    Of several positions, the first that was clicked counts, or else the first.
    """
    used = flags & (SHOWN | CLICKED) > 0
    dropped.without_document += int((used & (document == NONE)).sum())
    some = np.flatnonzero(used & (document != NONE))
    some = some[np.lexsort((position[some], document[some], page[some]))]
    page, document, position, flags = page[some], document[some], position[some], flags[some]
    if not len(page):
        return page, document, position, flags > 0
    new = np.append(True, (page[1:] != page[:-1]) | (document[1:] != document[:-1]))
    first, group = np.flatnonzero(new), np.cumsum(new) - 1
    every = np.bitwise_or.reduceat(flags, first)
    shown, clicked = every & SHOWN > 0, every & CLICKED > 0
    placed = (flags & SHOWN > 0) & (position != NONE)
    at = np.minimum.reduceat(np.where(placed, position, BELOW), first)
    at_click = np.where(placed & (flags & CLICKED > 0), position, BELOW)
    at_click = np.minimum.reduceat(at_click, first)
    at = np.where(at_click < BELOW, at_click, at)
    _count_positions(group[placed], position[placed], flags[placed] & CLICKED > 0, dropped)
    dropped.clicked_unseen += int((clicked & ~shown).sum())
    rows = np.bincount(group)
    dropped.without_position += int(rows[shown & (at == BELOW)].sum())
    kept = np.flatnonzero(at < BELOW)
    page, document, at, clicked = page[first][kept], document[first][kept], at[kept], clicked[kept]
    order = np.lexsort((document, at, page))
    page, document, at, clicked = page[order], document[order], at[order], clicked[order]
    dropped.shared_positions += int(((page[1:] == page[:-1]) & (at[1:] == at[:-1])).sum())
    return page, document, at, clicked


def _count_positions(group: Ints, position: Any, clicked: Bools, dropped: Dropped) -> None:
    """Count rows that repeat or contradict others, and documents at several positions."""
    if len(group):
        same = group[1:] == group[:-1]
        other = same & (position[1:] != position[:-1])
        dropped.several_positions += len(np.unique(group[1:][other]))
        cell = np.append(0, np.cumsum(~same | other))
        rows, clicks = np.bincount(cell), np.bincount(cell, clicked)
        both = (clicks > 0) & (clicks < rows)
        dropped.repeated += int((rows - 1)[~both].sum())
        dropped.contradictory += int((rows - 1)[both].sum())
