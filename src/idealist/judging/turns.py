"""Whose turn a document is: the next one for a judge, kept for him for a while."""

from __future__ import annotations

import sqlite3
import time
from typing import NamedTuple

#: How long a document stays with the judge who was given it, in seconds.
CLAIMED = 600.0


class Turn(NamedTuple):
    """A document for a judge; `put_off` where he wanted to judge it later."""

    batch: int
    query: str
    document: str
    put_off: bool


#: Whether enough people judge a pair, or this judge has said something of it.
_FREE = """
turn.judged + (
    SELECT COUNT(*) FROM claim WHERE claim.query = turn.query
    AND claim.document = turn.document AND claim.judge <> :judge
) < :judgments
"""
_UNSEEN = f"""
SELECT batch, query, document, place FROM turn
WHERE batch = :batch AND judged = :judged AND {_FREE} AND NOT EXISTS (
    SELECT 1 FROM current_judgment AS own WHERE own.query = turn.query
    AND own.document = turn.document AND own.judge = :judge
)
ORDER BY place, query, document LIMIT 1
"""
_PUT_OFF = f"""
SELECT turn.batch, turn.query, turn.document FROM current_judgment AS own
JOIN turn ON turn.query = own.query AND turn.document = own.document
WHERE own.judge = :judge AND own.status = 'later' AND {_FREE}
AND (:batch IS NULL OR turn.batch = :batch)
ORDER BY own.id LIMIT 1
"""


def next_turn(
    connection: sqlite3.Connection, judge: str, batch: int | None, judgments: int
) -> Turn | None:
    """Find and claim the next document of a judge."""
    connection.execute("DELETE FROM claim WHERE until < ?", (time.time(),))
    found = _unseen(connection, judge, batch, judgments)
    found = found or _put_off(connection, judge, batch, judgments)
    if found is not None:
        row = (judge, found.query, found.document, time.time() + CLAIMED)
        connection.execute("INSERT OR REPLACE INTO claim VALUES (?, ?, ?, ?)", row)
    return found


def _unseen(
    connection: sqlite3.Connection, judge: str, batch: int | None, judgments: int
) -> Turn | None:
    every = connection.execute("SELECT id FROM batch ORDER BY id DESC").fetchall()
    for number in [batch] if batch is not None else [one for (one,) in every]:
        asked = {"judge": judge, "batch": number, "judgments": judgments}
        found = [
            row
            for judged in range(judgments)
            if (row := connection.execute(_UNSEEN, {**asked, "judged": judged}).fetchone())
        ]
        if found:
            first = min(found, key=lambda row: row[3])
            return Turn(first[0], first[1], first[2], put_off=False)
    return None


def _put_off(
    connection: sqlite3.Connection, judge: str, batch: int | None, judgments: int
) -> Turn | None:
    asked = {"judge": judge, "batch": batch, "judgments": judgments}
    row = connection.execute(_PUT_OFF, asked).fetchone()
    return None if row is None else Turn(row[0], row[1], row[2], put_off=True)
