"""Logs of clicks on Spark: executors count their pages, and the driver puts counts together.

All rows of a session go to one executor. What it counts is as small as its different lists are few,
and whatever the partitions, the counts of all are those of one machine.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from idealist.clicks.click_counts import ClickCounts
from idealist.clicks.click_log import ClickLog
from idealist.clicks.click_tally import Dropped, Tally
from idealist.errors import Faults, IdealistError, UsageError
from idealist.formats import frames
from idealist.formats.click_files import ClickFile
from idealist.formats.click_rows import coded_arrow, shown_rows
from idealist.formats.column_names import Given
from idealist.spark.sessions import functions, is_frame, packed_error, sent, unpacked_error

#: The column of what an executor counted.
COUNTED = "counted binary"
NAME = "the log"


@dataclass
class CountedPart:
    """What one executor counted, or what is wrong with its rows."""

    counts: tuple[ClickCounts, ClickCounts] | None
    dropped: Dropped
    rows: int
    error: tuple[str, Any, Any] | None = None


def read_clicks(log: Any, *, columns: Given | None = None) -> ClickLog:
    """Count a log that is a data frame of Spark; models of it are those of one machine, to the bit.

    It has a row for each document that was shown: session, query, document, position and whether it
    was clicked. `columns` names columns that have other names than usual, theirs by ours.
    """
    if not is_frame(log):
        raise UsageError("this is no data frame of Spark", "il.read_clicks reads all else")
    file = ClickFile((), columns or {})
    file.faults.file = NAME
    names = file.names(log.columns)
    f = functions()
    some = [log[f"`{theirs.replace('`', '``')}`"].alias(ours) for ours, theirs in names.items()]
    parts = (
        log.select(*some)
        .repartition(f.col("session"))
        .mapInArrow(partial(counted_part, sent(tuple(names))), COUNTED)
    )
    dropped, found, rows = Dropped(), [], 0
    for one in (pickle.loads(row["counted"]) for row in parts.toLocalIterator()):
        if one.error is not None:
            raise unpacked_error(one.error)
        found.append(one.counts)
        dropped.add(one.dropped)
        rows += one.rows
    return ClickLog.of(found, dropped, rows, NAME, file.said)


def counted_part(names: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Count the pages of some sessions."""
    arrow, ours = frames.arrow(), pickle.loads(names)
    with Tally() as tally:
        try:
            for batch in batches:
                faults = Faults(NAME)
                tally.add(shown_rows({name: coded_arrow(batch[name]) for name in ours}, faults))
                faults.check()
            part = CountedPart(tally.counts(), tally.dropped, tally.rows)
        except IdealistError as error:
            part = CountedPart(None, tally.dropped, tally.rows, packed_error(error))
    yield arrow.RecordBatch.from_pydict({"counted": [pickle.dumps(part)]})
