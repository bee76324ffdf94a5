"""Searches in SQL: full text and vectors of PostgreSQL, and SQLite's FTS5.

What fills the places of a template is bound to parameters, and never becomes part of the SQL. Both
databases are opened for reading only.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from idealist.asking.secret_texts import Secrets
from idealist.collecting.asked_queries import AskedQuery
from idealist.collecting.engine_answers import (
    Answer,
    Busy,
    Hopeless,
    ResponseReader,
    failed,
    timed_out,
)
from idealist.collecting.request_templates import Place, Template
from idealist.errors import UsageError
from idealist.formats.engines.table import INFERRED, Engine, Score

#: Rows as a response: a column for the id, and one that ranks them; without it, their order does.
ROWS = Engine(
    "SQL", ("rows",), ("id", "document", "docid", "doc_id", INFERRED),
    (Score("score"), Score("distance", "smaller"), Score("rank", "smaller")), by_score=True,
)  # fmt: skip
#: PostgreSQL's code for a statement that took too long.
CANCELED = "57014"


def _bound(places: Sequence[Place], query: AskedQuery) -> dict[str, Any]:
    """Return the parameters; a vector is written as pgvector reads it."""
    values = (place.of(query.values) for place in places)
    return {
        f"p{number}": str(value) if isinstance(value, (list, dict)) else value
        for number, value in enumerate(values)
    }


@dataclass(frozen=True)
class SqliteSearch:
    """A database of SQLite."""

    path: Path
    template: Template
    reader: ResponseReader
    secrets: Secrets = field(default_factory=Secrets)
    concurrency: int = 4
    doubt: str = ""

    @property
    def places(self) -> frozenset[str]:
        """What a query must have."""
        return self.template.places

    def told(self) -> dict[str, Any]:
        """Say what is asked."""
        told = {"engine": "sqlite", "version": sqlite3.sqlite_version}
        return {**told, "address": str(self.path), "index": None}

    def opened(self, timeout: float) -> SqliteOpened:
        """Open the database for reading."""
        return SqliteOpened(self, timeout)


class SqliteOpened:
    """One connection to a database of SQLite."""

    def __init__(self, search: SqliteSearch, timeout: float) -> None:
        self._sql, self._places = search.template.parameters(":{}".format)
        self._read = search.reader.answer
        try:
            self._base = sqlite3.connect(
                f"file:{quote(str(search.path))}?mode=ro", uri=True, timeout=timeout,
                isolation_level=None, check_same_thread=False,
            )  # fmt: skip
        except sqlite3.Error as error:
            raise Hopeless(f"cannot open {search.path}: {error}", "check the path") from None
        self._base.row_factory = sqlite3.Row

    def ask(self, query: AskedQuery) -> Answer:
        """Run the statement for a query."""
        begun = time.perf_counter()
        try:
            found = self._base.execute(self._sql, _bound(self._places, query)).fetchall()
        except sqlite3.Error as error:
            return failed(str(error), time.perf_counter() - begun)
        seconds = time.perf_counter() - begun
        return self._read({"rows": [dict(row) for row in found]}, seconds)

    def cut(self) -> None:
        """End the statement."""
        self._base.interrupt()

    def close(self) -> None:
        """Close the database."""
        self._base.close()


@dataclass(frozen=True)
class PostgresSearch:
    """A database of PostgreSQL, by psycopg."""

    dsn: str = field(repr=False)
    template: Template
    reader: ResponseReader
    secrets: Secrets = field(default_factory=Secrets, repr=False)
    concurrency: int = 4
    doubt: str = ""

    @property
    def places(self) -> frozenset[str]:
        """What a query must have."""
        return self.template.places

    def told(self) -> dict[str, Any]:
        """Say what is asked."""
        parts = urlsplit(self.dsn)
        place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        told = {"engine": "postgresql", "version": self._version()}
        return {**told, "address": self.secrets.scrub(place), "index": None}

    def _version(self) -> str | None:
        with suppress(Busy):
            opened = self.opened(10.0)
            version = opened.version
            opened.close()
            return version
        return None

    def opened(self, timeout: float) -> PostgresOpened:
        """Connect."""
        return PostgresOpened(self, timeout)


class PostgresOpened:
    """One connection to PostgreSQL; a statement may take no longer than the time-out."""

    def __init__(self, search: PostgresSearch, timeout: float) -> None:
        self._psycopg = _psycopg()
        self.search, self.timeout = search, timeout
        source = search.template.source.replace("%", "%%")
        doubled = Template(source, None, search.template.name)
        self._sql, self._places = doubled.parameters("%({})s".format)
        self._base = self._connected()

    def _connected(self) -> Any:
        options = f"-c statement_timeout={round(1000 * self.timeout)} "
        options += "-c default_transaction_read_only=on"
        try:
            return self._psycopg.connect(
                self.search.dsn, autocommit=True, options=options,
                connect_timeout=max(2, round(self.timeout)),
                row_factory=self._psycopg.rows.dict_row,
            )  # fmt: skip
        except self._psycopg.Error as error:
            raise Busy(f"cannot connect: {self._clean(error)}", is_unreached=True) from None

    @property
    def version(self) -> str:
        """The version of the server, and of pgvector where it is there."""
        sql = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        vector = self._base.execute(sql).fetchone()
        server = str(self._base.info.parameter_status("server_version")).split()[0]
        return f"{server}, pgvector {vector['extversion']}" if vector else server

    def ask(self, query: AskedQuery) -> Answer:
        """Run the statement for a query."""
        begun = time.perf_counter()
        try:
            if self._base.closed:
                self._base = self._connected()
            found = self._base.execute(self._sql, _bound(self._places, query)).fetchall()
        except self._psycopg.Error as error:
            seconds = time.perf_counter() - begun
            if error.sqlstate == CANCELED:
                return timed_out(self.timeout, seconds)
            if self._base.closed or self._base.broken:
                self._base.close()
                raise Busy(f"the connection broke: {self._clean(error)}", 0.0, seconds) from None
            return failed(self._clean(error), seconds)
        return self.search.reader.answer({"rows": found}, time.perf_counter() - begun)

    def cut(self) -> None:
        """Do nothing: the server ends statements itself."""

    def _clean(self, error: Exception) -> str:
        return self.search.secrets.scrub(" ".join(str(error).split()))[:300]

    def close(self) -> None:
        """Hang up."""
        self._base.close()


def _psycopg() -> Any:
    try:
        import psycopg
        import psycopg.rows
    except ImportError:
        message = "asking PostgreSQL needs a package that is not installed"
        raise UsageError(message, "pip install 'idealist[collect]'") from None
    return psycopg
