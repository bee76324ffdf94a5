"""A store: judgments as they are made, in one file of SQLite; nothing in it is deleted."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from idealist.data import Qrels, Queries, Scale
from idealist.data.judgments import MERGES
from idealist.errors import Faults, UsageError
from idealist.formats import read_queries
from idealist.formats.document_entries import DocumentText
from idealist.formats.document_texts import document_entries
from idealist.formats.stored_judgments import (
    KINDS,
    Address,
    Pair,
    qrels_of,
    queries_of,
    scale_of_store,
    setting,
    texts_of,
)
from idealist.judging.record_checks import (
    NAME_HINT,
    checked_judgments,
    checked_pool,
    checked_preference,
    fault_of_name,
    now,
)
from idealist.judging.store_file import StoreFile, fresh_file
from idealist.judging.store_records import Batch, Call, Judgment, Pooled, Preference, Task
from idealist.judging.turns import Turn, Turns

Record = TypeVar("Record", Judgment, Preference, Call)
#: The tables of records, and their columns, the id last.
_TABLES: dict[type, str] = {Judgment: "judgment", Preference: "preference", Call: "call"}
_COLUMNS = {kind: tuple(one.name for one in fields(kind)) for kind in _TABLES}
_CELLS = {kind: attrgetter(*columns[:-1]) for kind, columns in _COLUMNS.items()}
_AS_THEY_ARE = {float, int, bool, type(None)}
#: How many judgments are added by one statement.
TOGETHER = 100


class Store(StoreFile):
    """Judgments as they are made: who, when, why, with what probability; in one file.

    A method that writes returns when what it wrote is on the disk. Any number of processes and
    threads may write at once. Wherever a file of judgments can be given, a store can be.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Store.create(f"{folder}/labels.db", scale=3) as store:
    ...     _ = store.judge(Judgment("q1", "d7", 2, "ann"))
    ...     store.qrels().to_dict()
    {'q1': {'d7': 2}}
    """

    @classmethod
    def create(
        cls, path: str | Path, *, scale: Any = None, merge: str = "", guidelines: str = "",
        queries: Any = None, docs: Any = None,
    ) -> Store:  # fmt: skip
        """Make a store, whole or not at all; one that exists is not touched."""
        with fresh_file(Path(path)) as fresh, cls(fresh) as store, store.writing():
            store.path = Path(path)  # which messages name
            store.set(scale=scale, merge=merge or None, guidelines=guidelines or None)
            if queries is not None:
                store.add_queries(queries)
            if docs is not None:
                store.add_documents(docs)
        return cls(path)

    def judge(self, judgment: Judgment) -> Judgment:
        """Keep a judgment; return it with its id and time.

        One whose token is known was sent before: the first is returned, and nothing is written.
        """
        return self.judge_all([judgment])[0]

    def judge_all(self, judgments: Iterable[Judgment]) -> list[Judgment]:
        """Keep several judgments: all of them, or none."""
        with self.writing() as connection:
            checked = checked_judgments(list(judgments), self.scale, Faults(str(self.path)))
            if any(row.token or row.undoes is not None for row in checked):
                return [self._judged(row, connection) for row in checked]
            return _insert_all(connection, checked)

    def _judged(self, row: Judgment, connection: sqlite3.Connection) -> Judgment:
        if row.token and (known := self._one(Judgment, "token = ?", row.token)):
            return known
        if row.undoes is not None:
            self._check_undone(row)
        return replace(row, id=_insert(connection, row))

    def _check_undone(self, row: Judgment) -> None:
        """Let a row withdraw what the same judge said of the same document, once."""
        asked = "SELECT query, document, judge FROM standing_judgment WHERE id = ?"
        found = self.connection.execute(asked, (row.undoes,)).fetchone()
        if found != (row.query, row.document, row.judge):
            message = f"judgment {row.undoes} of {row.judge} for query {row.query!r}, document "
            hint = "a judge can undo what he judged himself, once"
            raise UsageError(f"{message}{row.document!r} does not stand", hint)

    def undo(self, judge: str) -> Judgment | None:
        """Withdraw the last judgment of a judge that stands, and return it; None if none does."""
        with self.writing():
            asked = "SELECT MAX(id) FROM standing_judgment WHERE judge = ?"
            last = self.connection.execute(asked, (judge,)).fetchone()[0]
            if last is None or (found := self._one(Judgment, "id = ?", last)) is None:
                return None
            self.judge(_withdrawal(found))
            return found

    def undo_sent(self, judge: str, token: str) -> Judgment | None:
        """Withdraw what a judge sent with a token, and return it; None if nothing has it.

        Asked twice, it is withdrawn once. The document is the judge's again for ten minutes.
        """
        with self.writing() as connection:
            if not token or (found := self._one(Judgment, "token = ?", token)) is None:
                return None
            if found.judge != judge:
                hint = "a judge can undo what he judged himself"
                raise UsageError("this judgment is by another judge", hint)
            asked = "SELECT EXISTS (SELECT 1 FROM standing_judgment WHERE id = ?)"
            if connection.execute(asked, (found.id,)).fetchone()[0]:
                self.judge(_withdrawal(found, f"undo {token}"))
                Turns(connection, judge, None, 1).keep([(found.query, found.document)])
            return found

    def prefer(self, preference: Preference) -> Preference:
        """Keep which of two documents a judge found better; a token that is known counts once."""
        row = checked_preference(preference, Faults(str(self.path)))
        with self.writing() as connection:
            if row.token and (known := self._one(Preference, "token = ?", row.token)):
                return known
            return replace(row, id=_insert(connection, row))

    def preferences(self) -> Iterator[Preference]:
        """Return every preference, in the order they came."""
        return self._all(Preference, "preference")

    def set(
        self, *, scale: Any = None, merge: str | None = None, guidelines: str | None = None
    ) -> None:
        """Set the scale of the grades, the rule for several judges, and the guidelines."""
        if merge and merge not in MERGES:
            raise UsageError(f"merge cannot be {merge!r}", f"merge is {', '.join(MERGES)}")
        said = {"merge": merge, "guidelines": guidelines}
        with self.writing() as connection:
            if scale is not None:
                made = Scale.of(scale)
                self._check_scale(made)
                said["scale"] = json.dumps([made.grades, made.labels])
            for name, value in said.items():
                if value is not None and value != setting(connection, name):
                    row = (name, _text(value), now())
                    connection.execute(
                        "INSERT INTO setting (name, value, time) VALUES (?,?,?)", row
                    )

    def _check_scale(self, scale: Scale) -> None:
        asked = "SELECT DISTINCT grade FROM current_judgment WHERE grade IS NOT NULL"
        given = {grade for (grade,) in self.connection.execute(asked)}
        if other := sorted(given - {*map(float, scale.grades)}):
            message = f"{other[0]:g} was given as a grade, and is not on the scale"
            raise UsageError(message, "declare a scale with all grades that were given")

    @property
    def scale(self) -> Scale | None:
        """The grades that can be given, None where any number can be."""
        with self.reading() as connection:
            return scale_of_store(connection)

    @property
    def guidelines(self) -> str:
        """What judges are told."""
        with self.reading() as connection:
            return setting(connection, "guidelines")

    @property
    def merge(self) -> str:
        """The rule for several judges that was set, if any."""
        with self.reading() as connection:
            return setting(connection, "merge")

    def add_queries(self, queries: Any) -> int:
        """Add queries as `read_queries` takes them; return how many are new or changed."""
        found = read_queries(queries)
        with self.writing() as connection:
            known = self._query_rows()
            rows = [
                (query, _text(text), json.dumps(_cells(found, query), default=_plain))
                for query, text in found.text.items()
            ]
            new = [(*row, now()) for row in rows if known.get(row[0]) != row[1:]]
            asked = "INSERT INTO query (query, text, columns, time) VALUES (?, ?, ?, ?)"
            connection.executemany(asked, new)
            return len(new)

    def _query_rows(self) -> dict[str, tuple[str, str]]:
        asked = "SELECT query, text, columns FROM query ORDER BY id"
        return {row[0]: row[1:] for row in self.connection.execute(asked)}

    def add_documents(self, docs: Any, ids: Collection[str] | None = None) -> int:
        """Add the texts of documents, or of those in `ids`; return how many are new or changed."""
        wanted, added = None if ids is None else set(ids), 0
        with self.writing() as connection:
            for names, told in document_entries(docs):
                for document in names if wanted is not None else names[:1]:
                    if wanted is not None:
                        if document not in wanted:
                            continue
                        wanted.discard(document)
                    if (text := told()) is not None:
                        added += self._add_text(connection, document, text)
                if wanted is not None and not wanted:
                    break
        return added

    def _add_text(self, connection: sqlite3.Connection, document: str, text: DocumentText) -> bool:
        own = text_hash(text)
        asked = "SELECT text FROM document WHERE document = ? ORDER BY id DESC LIMIT 1"
        if connection.execute(asked, (document,)).fetchone() == (own,):
            return False
        connection.execute("INSERT OR IGNORE INTO text VALUES (?, ?, ?)", (own, *text))
        asked = "INSERT INTO document (document, text, time) VALUES (?, ?, ?)"
        connection.execute(asked, (document, own, now()))
        return True

    @property
    def queries(self) -> Queries:
        """The queries, with their texts and columns."""
        with self.reading() as connection:
            return queries_of(connection, str(self.path))

    def query_text(self, query: str) -> str:
        """Return the words of a query, as they were last added; empty where there are none."""
        with self.reading() as connection:
            asked = "SELECT text FROM query WHERE query = ? ORDER BY id DESC LIMIT 1"
            found = connection.execute(asked, (query,)).fetchone()
        return found[0] if found else ""

    def text(self, document: str) -> DocumentText | None:
        """Return the text of a document, as it was last added."""
        with self.reading() as connection:
            return texts_of(connection, [document]).get(document)

    def add_batch(self, batch: Batch) -> int:
        """Keep documents to judge; return the number of the batch."""
        pooled = checked_pool(batch.pooled, Faults(str(self.path)))
        with self.writing() as connection:
            asked = "INSERT INTO batch (strategy, parameters, time) VALUES (?, ?, ?)"
            row = (
                batch.strategy,
                json.dumps(dict(batch.parameters), default=_plain),
                batch.time or now(),
            )
            number = connection.execute(asked, row).lastrowid
            asked = "INSERT INTO pooled VALUES (?, ?, ?, ?, ?, ?, ?)"
            rows = (
                (number, one.query, one.document, one.place, one.stratum, one.inclusion,
                 json.dumps(one.ranks))
                for one in pooled
            )  # fmt: skip
            connection.executemany(asked, rows)
            return int(number or 0)

    def batches(self) -> list[Batch]:
        """Return the batches, in the order they were made."""
        with self.reading() as connection:
            pooled: dict[int, list[Pooled]] = {}
            asked = (
                "SELECT batch, query, document, place, stratum, inclusion, ranks FROM pooled "
                "ORDER BY batch, place IS NULL, place, rowid"
            )
            for number, query, document, place, stratum, chance, ranks in connection.execute(asked):
                own = Pooled(query, document, place, stratum, chance, tuple(json.loads(ranks)))
                pooled.setdefault(number, []).append(own)
            asked = "SELECT id, strategy, parameters, time FROM batch ORDER BY id"
            return [
                Batch(strategy, tuple(pooled.get(number, ())), json.loads(parameters), when, number)
                for number, strategy, parameters, when in connection.execute(asked)
            ]

    def add_prompt(self, key: str, name: str, version: str, source: str) -> None:
        """Keep a prompt by its hash, once."""
        with self.writing() as connection:
            asked = "INSERT OR IGNORE INTO prompt VALUES (?, ?, ?, ?)"
            connection.execute(asked, (key, name, version, source))

    def record(self, call: Call) -> int:
        """Keep what a model was asked and what came back; return the number of the call.

        A request that was answered before keeps its first answer, whose number is returned.
        """
        with self.writing() as connection:
            if call.state == "answered" and (known := self.answered(call.request)):
                return int(known.id or 0)
            return _insert(connection, replace(call, time=call.time or now()))

    def answered(self, request: str) -> Call | None:
        """Return the call that answered a request, by the hash of the request."""
        return self._one(Call, "request = ? AND state = 'answered'", request)

    def calls(self) -> Iterator[Call]:
        """Return every call, in the order they were made."""
        return self._all(Call, "call")

    def judgments(self) -> Iterator[Judgment]:
        """Return every row: judgments, those they replace, and what undoes them."""
        return self._all(Judgment, "judgment")

    def current(self) -> Iterator[Judgment]:
        """Return the judgments that stand: of each judge and pair the last that is not undone."""
        return self._all(Judgment, "every_current_judgment")

    @property
    def judges(self) -> list[str]:
        """Who gave grades: people first and models last, those who judged most first."""
        rows = (one for one in self.current() if one.grade is not None and not one.adjudicates)
        counts = Counter((KINDS.index(one.kind), one.judge) for one in rows)
        ordered = sorted(counts, key=lambda who: (who[0], -counts[who], who[1]))
        return list(dict.fromkeys(judge for _, judge in ordered))

    def qrels(self, merge: str | None = None, only: str = "", sampled: bool = False) -> Qrels:
        """Return what counts, with one grade a pair; `only` is a judge or a kind of judges.

        With `sampled`, documents that were pooled and not drawn have the grade -1, as the measures
        of samples take it.
        """
        if merge and merge not in MERGES:
            raise UsageError(f"merge cannot be {merge!r}", f"merge is {', '.join(MERGES)}")
        with self.reading() as connection:
            return qrels_of(connection, Address(self.path, only), merge or "", sampled=sampled)

    def next(self, judge: str, *, batch: int | None = None, judgments: int = 1) -> Task | None:
        """Give a judge the next document, for ten minutes; None if there is none left.

        That is the first one, by its place in the newest batch or in the one named, that fewer than
        `judgments` people have judged, and he has not. What he put off comes last.
        """
        with self.writing() as connection:
            found = self._turns(connection, judge, batch, judgments).claimed()
            return None if found is None else self._task(*found)

    def upcoming(
        self, judge: str, count: int, *, batch: int | None = None, judgments: int = 1,
        without: Collection[Pair] = (),
    ) -> list[Task]:  # fmt: skip
        """Give a judge up to so many documents at once, for ten minutes from now.

        Those that he was given before come first, then new ones by the rules of `next`. Documents
        in `without` are not given; those of them that are his stay so.
        """
        with self.writing() as connection:
            found = self._turns(connection, judge, batch, judgments).ahead(count, without)
            return [self._task(*one) for one in found]

    def _turns(
        self, connection: sqlite3.Connection, judge: str, batch: int | None, judgments: int
    ) -> Turns:
        if fault := fault_of_name(judge):
            raise UsageError(fault, NAME_HINT)
        asked = "SELECT EXISTS (SELECT 1 FROM batch WHERE id = ?)"
        if batch is not None and not connection.execute(asked, (batch,)).fetchone()[0]:
            raise UsageError(f"{self.path} has no batch {batch}", "see idealist judge status")
        return Turns(connection, judge, batch, judgments)

    def _task(self, turn: Turn, put_off: bool) -> Task:
        with self.reading() as connection:
            asked = "SELECT inclusion FROM pooled WHERE batch = ? AND query = ? AND document = ?"
            (inclusion,) = connection.execute(asked, turn[:3]).fetchone()
        words, text = self.query_text(turn.query), self.text(turn.document)
        return Task(
            turn.query, turn.document, turn.batch, inclusion, words, text,
            "" if text is None else text_hash(text), put_off,
        )  # fmt: skip

    def _one(self, kind: type[Record], condition: str, value: Any) -> Record | None:
        with self.reading() as connection:
            asked = f"SELECT {', '.join(_COLUMNS[kind])} FROM {_TABLES[kind]} WHERE {condition}"
            row = connection.execute(asked, (value,)).fetchone()
        return None if row is None else _record(kind, row)

    def _all(self, kind: type[Record], table: str) -> Iterator[Record]:
        with self.reading() as connection:
            asked = f"SELECT {', '.join(_COLUMNS[kind])} FROM {table} ORDER BY id"
            rows = connection.execute(asked).fetchall()
        return map(partial(_record, kind), rows)


def text_hash(text: DocumentText) -> str:
    """Return the hash by which a store knows a text."""
    return hashlib.sha256("\0".join(text).encode()).hexdigest()


def _withdrawal(found: Judgment, token: str = "") -> Judgment:
    """Make the row that undoes a judgment."""
    return replace(
        found, grade=None, status="undone", undoes=found.id, token=token, time="", id=None,
        note="", seconds=None,
    )  # fmt: skip


def _cells(queries: Queries, query: str) -> dict[str, Any]:
    return {name: cells[query] for name, cells in queries.columns.items() if query in cells}


def _insert(connection: sqlite3.Connection, row: Judgment | Preference | Call) -> int:
    return int(connection.execute(_statement(type(row), 1), _cells_of(row)).lastrowid or 0)


def _insert_all(connection: sqlite3.Connection, rows: Sequence[Judgment]) -> list[Judgment]:
    """Add judgments many at a time: SQLite takes about as long for a statement as for a row."""
    for at in range(0, len(rows), TOGETHER):
        some = rows[at : at + TOGETHER]
        cells = [*chain.from_iterable(map(_cells_of, some))]
        connection.execute(_statement(Judgment, len(some)), cells)
    (last,) = connection.execute("SELECT IFNULL(MAX(id), 0) FROM judgment").fetchone()
    numbered = enumerate(rows, last - len(rows) + 1)
    return [Judgment(**{**vars(row), "id": number}) for number, row in numbered]


def _statement(kind: type, rows: int) -> str:
    """Return what adds so many rows; a token that is empty is none."""
    columns = _COLUMNS[kind][:-1]
    marks = ", ".join("NULLIF(?, '')" if name == "token" else "?" for name in columns)
    head = f"INSERT INTO {_TABLES[kind]} ({', '.join(columns)}) VALUES "
    return head + ", ".join([f"({marks})"] * rows)


def _cells_of(row: Judgment | Preference | Call) -> list[Any]:
    cells = _CELLS[type(row)](row)
    return [cell if type(cell) in _AS_THEY_ARE else _cell(cell) for cell in cells]


def _cell(cell: Any) -> Any:
    if isinstance(cell, str):
        return _text(cell)
    return json.dumps(dict(cell), default=_plain) if isinstance(cell, Mapping) else cell


def _text(words: str) -> str:
    """Replace half of a surrogate pair, which JSON may hold and no file can."""
    return words if words.isascii() else words.encode(errors="replace").decode()


def _plain(value: Any) -> Any:
    """Write what JSON does not know: the numbers of arrays as numbers, all else as text."""
    return value.item() if hasattr(value, "item") else str(value)


def _record(kind: type[Record], row: Sequence[Any]) -> Record:
    cells = dict(zip(_COLUMNS[kind], row, strict=True))
    for name, read in _READ.items():
        if name in cells:
            cells[name] = read(cells[name])
    return kind(**cells)


#: How cells become those of records, where they are not the same.
_READ: dict[str, Callable[[Any], Any]] = {
    "adjudicates": bool, "tied": bool, "parameters": json.loads,
    "token": lambda token: token or "",
}  # fmt: skip
