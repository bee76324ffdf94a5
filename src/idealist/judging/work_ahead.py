"""What one judge can do next in a store: documents, comparisons; and how far he is."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

from idealist.formats.stored_judgments import Pair
from idealist.judging.choosing.adaptive import WALKS
from idealist.judging.llm.asked_pairs import AskedPair
from idealist.judging.llm.duels import Duel, duels_of
from idealist.judging.store import Store
from idealist.judging.store_records import Task
from idealist.judging.turns import Turns, closed_batches

#: The parameter of a batch that says how many people are to judge each of its documents.
PEOPLE = "people"
#: How many documents a judge is given ahead: enough for some minutes without a network. A strategy
#: that learns chooses by what was judged, so that less is chosen before it.
AHEAD, AHEAD_OF_LEARNING = 20, 3
#: How many of his last judgments the pace of a judge is taken from, and how many may be of one day.
RECENT, OF_A_DAY = 50, 2000


class OpenBatch(NamedTuple):
    """A batch that is judged, by which strategy it was chosen, and by how many people."""

    number: int
    strategy: str
    people: int


@dataclass(frozen=True)
class Progress:
    """How far judging is: pairs judged of all, left to one judge, and what he did today.

    `seconds` is the median time of his last judgments, None where none is known.
    """

    judged: int
    of: int
    left: int
    today: int
    seconds: float | None


def open_batches(store: Store, only: int | None = None) -> list[OpenBatch]:
    """Return the batches that can be judged, or the one that is named; the newest first."""
    with store.reading() as connection:
        asked = "SELECT id, strategy, parameters FROM batch WHERE ?1 IS NULL OR id = ?1"
        rows = connection.execute(f"{asked} ORDER BY id DESC", (only,)).fetchall()
        closed = {*closed_batches(connection)} if only is None else set[int]()
    return [
        OpenBatch(number, strategy, int(json.loads(parameters).get(PEOPLE, 1)))
        for number, strategy, parameters in rows
        if number not in closed
    ]


def documents_ahead(
    store: Store, judge: str, batches: Sequence[OpenBatch], most: int,
    without: Collection[Pair] = (),
) -> list[Task]:  # fmt: skip
    """Give a judge the next documents of batches, as many as is fair, beside those at hand."""
    found: list[Task] = []
    with store.writing():
        for one in batches:
            passed = {*without, *((task.query, task.document) for task in found)}
            ahead = AHEAD_OF_LEARNING if one.strategy in WALKS else AHEAD
            wanted = min(most, ahead, _fair(store, judge, one)) - len(passed)
            if wanted > 0:
                found += store.upcoming(
                    judge, wanted, batch=one.number, judgments=one.people, without=passed
                )
        store.upcoming(judge, 0, without=without)  # which keeps what is at hand
    return found


def _fair(store: Store, judge: str, batch: OpenBatch) -> int:
    """Return how many documents a judge may hold, so that others find something near the end."""
    asked = "SELECT COUNT(*) FROM (SELECT 1 FROM turn WHERE batch = ? AND judged < ? LIMIT ?)"
    others = "SELECT COUNT(DISTINCT judge) FROM claim WHERE judge <> ?"
    with store.reading() as connection:
        (people,) = connection.execute(others, (judge,)).fetchone()
        limit = 2 * AHEAD * (people + 1)
        (left,) = connection.execute(asked, (batch.number, batch.people, limit)).fetchone()
    return max(2, int(left) * batch.people // (2 * (people + 1))) if people else AHEAD


def documents_held(store: Store, judge: str) -> list[Pair]:
    """Return the documents that are kept for a judge."""
    with store.reading() as connection:
        return Turns(connection, judge, None, 1).held_pairs()


def holders(store: Store, judge: str, batches: Sequence[OpenBatch]) -> list[tuple[str, float]]:
    """Name who else has on the table what a judge could be given, and until when."""
    with store.reading() as connection:
        found = [
            own
            for one in batches
            for own in Turns(connection, judge, one.number, one.people).held()
        ]
    return sorted(dict(sorted(found)).items())


def progress_of(store: Store, judge: str, batches: Sequence[OpenBatch]) -> Progress:
    """Count what is judged of batches, what is left to a judge, and what he did today."""
    judged = total = left = 0
    with store.reading() as connection:
        for one in batches:
            asked = "SELECT COUNT(*), COALESCE(SUM(judged >= ?), 0) FROM turn WHERE batch = ?"
            of, done = connection.execute(asked, (one.people, one.number)).fetchone()
            total, judged = total + of, judged + done
            alone = one.people == 1  # then what is left to him is what is left to all
            left += of - done if alone else Turns(connection, judge, *one[::2]).left()
        today, spent = _today(connection, judge), _spent(connection, judge)
    return Progress(judged, total, left, today, median(spent) if spent else None)


def _today(connection: sqlite3.Connection, judge: str) -> int:
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    since = midnight.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    asked = """
    SELECT COUNT(*) FROM standing_judgment WHERE time >= ? AND status <> 'later' AND id IN (
        SELECT id FROM judgment WHERE judge = ? ORDER BY id DESC LIMIT ?
    )
    """
    return int(connection.execute(asked, (since, judge, OF_A_DAY)).fetchone()[0])


def _spent(connection: sqlite3.Connection, judge: str) -> list[float]:
    asked = """
    SELECT seconds FROM judgment WHERE judge = ? AND seconds IS NOT NULL
    AND status IN ('graded', 'cannot tell') ORDER BY id DESC LIMIT ?
    """
    return [seconds for (seconds,) in connection.execute(asked, (judge, RECENT))]


def last_sent(store: Store, judge: str, most: int) -> list[dict[str, str]]:
    """Return what a judge sent last and may still undo, the oldest first."""
    asked = """
    SELECT token, query, document FROM standing_judgment
    WHERE judge = ? AND token IS NOT NULL AND batch IS NOT NULL ORDER BY id DESC LIMIT ?
    """
    with store.reading() as connection:
        rows = connection.execute(asked, (judge, most)).fetchall()
    names = ("token", "query", "document")
    return [dict(zip(names, row, strict=True)) for row in reversed(rows)]


def duels_ahead(store: Store, judge: str, batches: Sequence[OpenBatch]) -> tuple[list[Duel], int]:
    """Return the comparisons that a judge has not made, and how many there are in all.

    They are turned, or not, as a draw for the judge and the two documents says: so which one stands
    on the left tells nothing, and stays as it is.
    """
    with store.reading() as connection:
        duels = duels_of(_pooled(connection, batches))
        asked = "SELECT query, better, worse FROM preference WHERE judge = ?"
        said = {(row[0], frozenset(row[1:])) for row in connection.execute(asked, (judge,))}
    found = [turned(one, judge) for one in duels if (one.query, frozenset(one[1:])) not in said]
    return found, len(duels)


def _pooled(connection: sqlite3.Connection, batches: Sequence[OpenBatch]) -> Iterator[AskedPair]:
    known: set[Pair] = set()
    asked = (
        "SELECT query, document FROM pooled WHERE batch = ? AND place IS NOT NULL ORDER BY place"
    )
    for one in batches:
        for pair in connection.execute(asked, (one.number,)):
            if pair not in known:
                known.add(pair)
                yield AskedPair(*pair)


def turned(duel: Duel, judge: str) -> Duel:
    """Draw which of two documents stands first: always the same for one judge.

    >>> shown = {turned(Duel("q", "a", "b"), judge).one for judge in ("ann", "bob", "cy", "dan")}
    >>> sorted(shown)
    ['a', 'b']
    """
    one, other = sorted(duel[1:])
    drawn = hashlib.sha256(json.dumps([judge, duel.query, one, other]).encode()).digest()[0]
    return Duel(duel.query, *((other, one) if drawn % 2 else (one, other)))
