"""A log of clicks, as models see it: what was counted, of what, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from idealist.clicks.click_counts import ClickCounts, together
from idealist.clicks.click_rates import position_rates
from idealist.clicks.click_tally import Dropped, Tally, is_from_zero
from idealist.errors import Faults, UsageError
from idealist.formats.click_files import ClickFile
from idealist.formats.column_names import Given
from idealist.formats.query_files import read_queries
from idealist.formats.query_logs import folded
from idealist.formats.ubi_events import UBI
from idealist.rendering.doubt import Doubt
from idealist.rendering.wording import counted, few

#: Rows that are left out, by what they lack.
LEFT_OUT = {
    "without_query": "without a query", "without_document": "without a document",
    "without_position": "without a position", "without_search": "without a query_id",
    "unknown_query": "of searches whose query is unknown",
}  # fmt: skip
#: What else is counted: the doubt that it becomes, one and several, and what is said of them.
SAID = {
    "several_queries": (
        "clicks-queries", "search", "searches",
        "with several texts: that of ubi_queries counts, or else the last by the alphabet",
    ),
    "clicked_unseen": (
        "clicks-unseen", "clicked document", "clicked documents",
        "left out: no row says that the page showed them",
    ),
    "as_returned": (
        "clicks-returned", "page", "pages",
        "without impressions in the log: all that the engine returned is taken as shown",
    ),
    "several_positions": (
        "clicks-positions", "document", "documents",
        "at several positions of a page: the first one clicked counts",
    ),
    "shared_positions": (
        "clicks-shared", "position", "positions",
        "with several documents on one page: they count in the order of ids",
    ),
    "contradictory": (
        "clicks-contradict", "row", "rows",
        "against another of the same page, document and position: one says clicked, one not; each "
        "document counts once, as clicked",
    ),
    "repeated": ("clicks-repeated", "row", "rows", "repeated: each counts once"),
}  # fmt: skip
#: Those that are more than notes.
BAD = {"clicks-unseen", "clicks-returned", "clicks-queries"}
#: Of how many rows at least all must be clicks to be doubted, and how unlikely chance must be, as
#: documents differ; and how often documents are clicked at most where others are logged. Suggested.
MANY, CHANCE, MOST_CLICKED = 20, 1e-4, 0.9


@dataclass(frozen=True, eq=False)
class ClickLog:
    """A log, tallied: `learnt` are the counts of four sessions of five, `held_out` of the fifth.

    Which sessions are held out follows from their names alone. `counts` are those of all.

    >>> log = read_clicks([{"session": "s1", "query": "shoes", "document": d, "position": p,
    ...                     "clicked": c} for d, p, c in [("a", 1, 0), ("b", 2, 1)]])
    >>> log.pages, log.counts.documents, log.counts.clicks.tolist()
    (1, ('a', 'b'), [0, 1])
    """

    learnt: ClickCounts
    held_out: ClickCounts
    dropped: Dropped
    rows: int
    name: str = "log"
    read_as: str = ""
    from_zero: bool = False
    unnamed: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, parts: Sequence[tuple[ClickCounts, ClickCounts]], dropped: Dropped, rows: int,
        name: str, read_as: str,
    ) -> ClickLog:  # fmt: skip
        """Put the counts of parts together; positions that count from 0 become those from 1."""
        whole = [one for part in parts for one in part]
        learnt, held = (together(own) for own in zip(*parts, strict=True))
        if not len(learnt.query) + len(held.query):
            _refuse_empty(dropped, rows, name, read_as)
        zeros, ones = (
            sum(int(one.shown[one.position == at].sum()) for one in whole) for at in (0, 1)
        )
        from_zero = is_from_zero(zeros, ones)
        if zeros and not from_zero:
            message = (
                f"positions count from 1, as {counted(ones, 'row has', 'rows have')} position 1, "
                f"but {counted(zeros, 'has', 'have')} position 0"
            )
            hint = "were two logs put together? mend these rows or leave them out"
            Faults(name).fail("bad-column", message, hint)
        if from_zero:
            learnt, held = (replace(one, position=one.position + 1) for one in (learnt, held))
        return cls(learnt, held, dropped, rows, name, read_as, from_zero)

    @cached_property
    def counts(self) -> ClickCounts:
        """What was counted in all sessions."""
        return together([self.learnt, self.held_out])

    def named(self, queries: Any) -> ClickLog:
        """Name queries by a table of ids and texts; leave out and count those that it lacks.

        A query of the log is an id or a text of the table, or a text but for case and blanks.
        """
        known = read_queries(queries)
        texts = {text: query for query, text in known.text.items()}
        alike = {folded(text): query for text, query in texts.items()}
        names = dict[str, str]()
        for one in self.counts.queries:
            found = one if one in known.text else texts.get(one, alike.get(folded(one)))
            names |= {} if found is None else {one: found}
        learnt, held_out = (part.renamed(names) for part in (self.learnt, self.held_out))
        lost = tuple(one for one in self.counts.queries if one not in names)
        if not names:
            message = f"none of the queries of {self.name} is in {known.name}"
            some = ", ".join(repr(one) for one in lost[:3])
            raise UsageError(message, f"the log has {some}; the table needs an id and a text")
        return replace(self, learnt=learnt, held_out=held_out, unnamed=lost)

    @property
    def pages(self) -> int:
        """How many pages of results were shown."""
        return int(self.counts.pages.sum())

    @property
    def clicks(self) -> int:
        """How many documents were clicked."""
        return int(self.counts.clicks.sum())

    def check_clicks(self) -> None:
        """Refuse a log that has no click, or nothing but clicks: it compares no documents."""
        faults = Faults(self.name)
        if not self.clicks:
            hint = (
                f"a clicked row says yes, true or a number above 0; what was read: {self.read_as}"
            )
            if self.dropped.as_returned:
                hint = "clicks are in ubi_events: give that file too"
            faults.fail("no-skips", f"nothing was clicked on {self._pages}", hint)
        if self.clicks == int(self.counts.shown.sum()):
            message = f"every row was clicked: {self._pages} without any document passed over"
            hint = "log every document that was shown, clicked or not"
            faults.fail("no-skips", message, hint)

    @property
    def _pages(self) -> str:
        return counted(self.pages, "page", "pages")

    @cached_property
    def only_clicked(self) -> tuple[int, ...]:
        """The positions at which every row is a click, more often than chance explains."""
        positions, shown, clicks = position_rates(self.counts)
        full = clicks == shown
        usual = min(float((clicks / shown)[~full].max(initial=0.0)), MOST_CLICKED)
        return tuple(positions[full & (shown >= MANY) & (usual**shown < CHANCE)].tolist())

    @property
    def summary(self) -> str:
        """What the log holds, in one line."""
        counts, clicks = self.counts, counted(self.clicks, "click", "clicks")
        queries = counted(len(np.unique(counts.query)), "query", "queries")
        pairs = counted(len(counts.pair_keys[0]), "document", "documents")
        return f"{self._pages} of {queries} with {pairs}, {clicks}"

    def __repr__(self) -> str:
        return f"<ClickLog {self.name}: {self.summary}>"

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What of the log was left out, put together or taken for something else."""
        return tuple(self._doubts())

    def _doubts(self) -> Iterator[Doubt]:
        if words := _left_out(self.dropped):
            message = f"left out of {self.rows:,} rows of the log: {words}"
            count = sum(getattr(self.dropped, name) for name in LEFT_OUT)
            yield Doubt("clicks-left-out", message, count, total=self.rows)
        for name, (code, one, several, rest) in SAID.items():
            if count := getattr(self.dropped, name):
                message = f"{counted(count, one, several)} {rest}"
                yield Doubt(code, message, count, severity="warning" if code in BAD else "note")
        if full := self.only_clicked:
            where = f"position{'s' if len(full) > 1 else ''} {few([str(one) for one in full])}"
            message = (
                f"every row at {where} is a click: what was shown there and not clicked is not in "
                "the log"
            )
            yield Doubt("clicks-only", message, len(full))
        if self.unnamed:
            some = counted(len(self.unnamed), "query of the log is", "queries of the log are")
            message = f"{some} not among the queries that were given: left out"
            yield Doubt("clicks-unnamed", message, len(self.unnamed), self.unnamed)
        if self.from_zero:
            message = "positions count from 0: one was added to each"
            yield Doubt("clicks-from-zero", message, severity="note")


def _left_out(dropped: Dropped) -> str:
    """Say how many rows are left out, by what they lack."""
    counts = ((getattr(dropped, name), which) for name, which in LEFT_OUT.items())
    return ", ".join(f"{count:,} {which}" for count, which in counts if count)


def _refuse_empty(dropped: Dropped, rows: int, name: str, read_as: str) -> NoReturn:
    """Refuse a log in which nothing was shown; say what its rows lack."""
    words, fail = _left_out(dropped), Faults(name).fail
    message = f"no row of {rows:,} says what was shown where" if rows else "there are no rows"
    hint = "a row is a document that was shown: session, query, document, position, clicked"
    if read_as.startswith(UBI):
        hint = (
            "impressions need object.object_id and position.ordinal in event_attributes; "
            "ubi_queries says their queries"
        )
    fail("empty", f"{message}: {words}" if words else message, hint)


def read_clicks(
    log: Any, *, columns: Given | None = None, layout: Sequence[str] | None = None
) -> ClickLog:
    """Read a log of clicks: a row for each document that was shown, or events of OpenSearch's UBI.

    `log` is a file (CSV, TSV, JSON lines, Parquet, Arrow, Excel), a data frame, records, or several
    files in a list: parts of one log, or UBI's two exports. A row has a session, query, document,
    position, and whether it was clicked; rows of a page may be anywhere. `columns` names columns
    that have other names than usual, theirs by ours: {"session": "visit"}; `layout` names all
    columns of files without a header, in order. Memory is bounded, whatever the size of the log.

    >>> read_clicks([{"session": 7, "query": "tv", "document": "a", "position": 1, "clicked": 1}])
    <ClickLog log: 1 page of 1 query with 1 document, 1 click>
    """
    several = isinstance(log, (list, tuple)) and log and isinstance(log[0], (str, Path))
    files = [ClickFile(one, columns or {}, layout) for one in (log if several else [log])]
    with Tally() as tally:
        for file in files:
            for rows in file.blocks():
                tally.add(rows)
            file.faults.check()
        name = ", ".join(file.name for file in files)
        said = "; ".join(dict.fromkeys(file.said for file in files))
        return ClickLog.of([tally.counts()], tally.dropped, tally.rows, name, said)
