"""Whose turn a document is: the next one for a judge, kept for him for a while."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from idealist.formats.stored_judgments import Pair, grades_of
from idealist.judging.choosing.adaptive import WALKS, revised
from idealist.judging.store_file import StoreFile
from idealist.judging.store_records import Pooled

#: How long a document stays with the judge who was given it, in seconds.
CLAIMED = 600.0


class Turn(NamedTuple):
    """A document that waits to be judged, in its place of a batch."""

    batch: int
    query: str
    document: str
    place: int = 0

    @property
    def pair(self) -> Pair:
        """What is to be judged."""
        return self.query, self.document


#: Whether so many people more may judge a pair, those counted who were given it just now; and
#: whether it is none of those that are passed over.
_FREE = """
(turn.query, turn.document) NOT IN (SELECT value ->> 0, value ->> 1 FROM json_each(:passed))
AND turn.judged + (
    SELECT COUNT(*) FROM claim WHERE claim.query = turn.query
    AND claim.document = turn.document AND claim.judge <> :judge
) < :judgments
"""
#: Who has judged documents of a batch, one group after the other: fewer people than are wanted.
_GROUP = """
SELECT judged, people FROM turn
WHERE batch = ? AND judged < ? AND (judged, people) > (?, ?) ORDER BY judged, people LIMIT 1
"""
_UNSEEN = f"""
SELECT batch, query, document, place FROM turn
WHERE batch = :batch AND judged = :judged AND people = :people AND {_FREE} AND NOT EXISTS (
    SELECT 1 FROM current_judgment AS own WHERE own.query = turn.query
    AND own.document = turn.document AND own.judge = :judge
)
ORDER BY place, query, document LIMIT 1
"""
_PUT_OFF = f"""
SELECT turn.batch, turn.query, turn.document, turn.place FROM current_judgment AS own
JOIN turn ON turn.query = own.query AND turn.document = own.document
WHERE own.judge = :judge AND own.status = 'later' AND {_FREE}
AND (:batch IS NULL OR turn.batch = :batch)
AND turn.batch NOT IN (SELECT value FROM json_each(:closed))
ORDER BY own.id LIMIT 1
"""
#: What is a judge's already, in the order in which it was given to him.
_OWN = f"""
SELECT MAX(turn.batch), claim.query, claim.document, turn.place, EXISTS (
    SELECT 1 FROM current_judgment AS own WHERE own.query = claim.query
    AND own.document = claim.document AND own.judge = :judge
)
FROM claim JOIN turn ON turn.query = claim.query AND turn.document = claim.document
WHERE claim.judge = :judge AND {_FREE} AND (:batch IS NULL OR turn.batch = :batch)
AND turn.batch NOT IN (SELECT value FROM json_each(:closed))
GROUP BY claim.rowid ORDER BY claim.rowid LIMIT :most
"""
#: What a judge may be given, now or once others are done with it.
_OPEN = """
turn.judged < :judgments AND (:batch IS NULL OR turn.batch = :batch)
AND turn.batch NOT IN (SELECT value FROM json_each(:closed))
AND (:judgments = 1 OR NOT EXISTS (
    SELECT 1 FROM current_judgment AS own WHERE own.query = turn.query
    AND own.document = turn.document AND own.judge = :judge AND own.status <> 'later'
))
"""
_LEFT = f"SELECT COUNT(*) FROM (SELECT DISTINCT query, document FROM turn WHERE {_OPEN})"
_HELD = f"""
SELECT DISTINCT claim.judge, claim.until FROM claim
JOIN turn ON turn.query = claim.query AND turn.document = claim.document
WHERE claim.judge <> :judge AND claim.until >= :now AND {_OPEN} ORDER BY claim.judge
"""


def closed_batches(connection: sqlite3.Connection) -> list[int]:
    """Find batches that a later one replaces: it asks again what decides the same verdict."""
    last: dict[str, int] = {}
    closed = []
    for number, question in _verdicts(connection):
        closed += [last[question]] if question in last else []
        last[question] = number
    return closed


def is_asked(connection: sqlite3.Connection, parameters: Mapping[str, Any]) -> bool:
    """Whether documents wait to be judged for the verdict that these parameters ask for."""
    same = [number for number, own in _verdicts(connection) if own == _verdict(parameters)]
    asked = "SELECT EXISTS (SELECT 1 FROM turn WHERE batch = ? AND judged = 0)"
    return bool(same and connection.execute(asked, same[-1:]).fetchone()[0])


def _verdicts(connection: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    asked = "SELECT id, parameters FROM batch WHERE strategy = 'decisive' ORDER BY id"
    for number, parameters in connection.execute(asked):
        yield number, _verdict(json.loads(parameters))


def _verdict(parameters: Mapping[str, Any]) -> str:
    """Name what a batch is to decide: of which runs, by which measure, and how."""
    runs = sorted(parameters.get("runs", ()))
    return json.dumps([parameters.get("measure"), parameters.get("verdict"), runs])


def untold_pairs(store: StoreFile) -> list[tuple[str, str]]:
    """Find pairs of which people said that they cannot tell, and none gave a grade."""
    asked = """
    SELECT query, document FROM every_current_judgment
    WHERE kind IN ('human', 'import') AND status <> 'later'
    GROUP BY query, document HAVING COUNT(grade) = 0
    """
    with store.reading() as connection:
        return connection.execute(asked).fetchall()


class Turns:
    """What waits to be judged by a judge: by so many people, in one batch or in the newest."""

    def __init__(
        self, connection: sqlite3.Connection, judge: str, batch: int | None, judgments: int
    ) -> None:
        self.connection, self.judge, self.batch, self.wanted = connection, judge, batch, judgments
        self.closed = closed_batches(connection) if batch is None else []
        closed = json.dumps(self.closed)
        self.passed: set[Pair] = set()
        self.asked: dict[str, Any] = {
            "judge": judge, "judgments": judgments, "batch": batch, "closed": closed,
            "passed": "[]",
        }  # fmt: skip

    def claimed(self) -> tuple[Turn, bool] | None:
        """Find the next document and keep it for the judge; say whether he has put it off.

        What he held before is free again.
        """
        self._forget()
        if (found := self._next()) is not None:
            self.connection.execute("DELETE FROM claim WHERE judge = ?", (self.judge,))
            self.keep([found[0].pair])
        return found

    def ahead(self, most: int, without: Collection[Pair] = ()) -> list[tuple[Turn, bool]]:
        """Find several documents and keep them for the judge: first what is his already.

        What is `without` them is not given again; where he holds it, he keeps it.
        """
        self._forget()
        held = {*self.held_pairs()}
        self._pass_over(without)
        rows = self.connection.execute(_OWN, {**self.asked, "most": most})
        found = [(Turn(*row[:4]), bool(row[4])) for row in rows]
        self._pass_over(held)
        while len(found) < most and (one := self._next()) is not None:
            found.append(one)
            self._pass_over([one[0].pair])
        self.keep([*(pair for pair in without if pair in held), *(one.pair for one, _ in found)])
        return found

    def held_pairs(self) -> list[Pair]:
        """Return what is kept for the judge, in the order in which he was given it."""
        asked = "SELECT query, document FROM claim WHERE judge = ? ORDER BY rowid"
        return self.connection.execute(asked, (self.judge,)).fetchall()

    def keep(self, pairs: Iterable[Pair]) -> None:
        """Keep documents for the judge, from now on."""
        asked = """
        INSERT INTO claim VALUES (?, ?, ?, ?)
        ON CONFLICT (judge, query, document) DO UPDATE SET until = excluded.until
        """
        until = time.time() + CLAIMED
        self.connection.executemany(asked, [(self.judge, *pair, until) for pair in pairs])

    def _forget(self) -> None:
        self.connection.execute("DELETE FROM claim WHERE until < ?", (time.time(),))

    def _pass_over(self, pairs: Collection[Pair]) -> None:
        self.passed.update(pairs)
        self.asked["passed"] = json.dumps([*self.passed])

    def _next(self) -> tuple[Turn, bool] | None:
        """Find the next document, and whether the judge has put it off."""
        if (found := self._unseen()) is not None:
            return found, False
        return None if (found := self._put_off()) is None else (found, True)

    def _unseen(self) -> Turn | None:
        """Find the first document, by place, of the newest batch that has any."""
        batches = "SELECT id, strategy, parameters FROM batch WHERE ?1 IS NULL OR id = ?1"
        every = self.connection.execute(f"{batches} ORDER BY id DESC", (self.batch,)).fetchall()
        for number, strategy, parameters in every:
            if number in self.closed:
                continue
            if waiting := [*self._first(number)]:
                first = min(waiting, key=lambda turn: (turn.place, turn.query, turn.document))
                rel = json.loads(parameters).get("rel", 1)
                return self._revised(first, strategy, rel) if strategy in WALKS else first
        return None

    def _first(self, batch: int) -> Iterator[Turn]:
        """Yield the first document of each group of people who have judged the same."""
        judged, people = 0, ""
        while found := self.connection.execute(
            _GROUP, (batch, self.wanted, judged, people)
        ).fetchone():
            judged, people = found
            if self.judge not in json.loads(people):
                asked = {**self.asked, "batch": batch, "judged": judged, "people": people}
                if row := self.connection.execute(_UNSEEN, asked).fetchone():
                    yield Turn(*row)

    def left(self) -> int:
        """Count the pairs that the judge could be given, those included that others are judging."""
        return int(self.connection.execute(_LEFT, self.asked).fetchone()[0])

    def held(self) -> list[tuple[str, float]]:
        """Name who is judging what would be next, and until when it is kept for them."""
        asked = {**self.asked, "now": time.time()}
        return self.connection.execute(_HELD, asked).fetchall()

    def _put_off(self) -> Turn | None:
        row = self.connection.execute(_PUT_OFF, self.asked).fetchone()
        return Turn(*row) if row else None

    def _revised(self, turn: Turn, strategy: str, rel: float) -> Turn:
        """Let a strategy that learns choose again among the documents of the query."""
        known = grades_of(self.connection, turn.query, unclear=rel - 1)
        if turn.document in known:  # somebody else is to judge what one judged
            return turn
        asked = "SELECT document, ranks FROM pooled WHERE batch = ? AND query = ?"
        rows = self.connection.execute(asked, (turn.batch, turn.query))
        pooled = [Pooled(turn.query, own, None, ranks=tuple(json.loads(at))) for own, at in rows]
        order = revised(strategy, pooled, known, rel)
        wanted = next((one for one in order if self._is_free(turn.query, one)), turn.document)
        return self._changed_places(turn, wanted)

    def _is_free(self, query: str, document: str) -> bool:
        """Whether nobody else is judging a document, nor does this judge have it or put it off."""
        if (query, document) in self.passed:
            return False
        asked = """
        SELECT EXISTS (SELECT 1 FROM claim WHERE query = ?1 AND document = ?2 AND judge <> ?3)
        OR EXISTS (
            SELECT 1 FROM current_judgment WHERE query = ?1 AND document = ?2 AND judge = ?3
        )
        """
        return not self.connection.execute(asked, (query, document, self.judge)).fetchone()[0]

    def _changed_places(self, turn: Turn, wanted: str) -> Turn:
        """Let another document of the query have this turn, in exchange for its own, if it has one.

        So the query keeps as many turns as it was given.
        """
        if wanted == turn.document:
            return turn
        asked = """
        UPDATE turn SET document = CASE document WHEN ?3 THEN ?4 ELSE ?3 END
        WHERE batch = ?1 AND query = ?2 AND document IN (?3, ?4)
        """
        self.connection.execute(asked, (turn.batch, turn.query, turn.document, wanted))
        return turn._replace(document=wanted)
