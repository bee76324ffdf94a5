"""The tables of a store: append-only, strict, with a version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

#: What nobody may change or remove.
KEPT = ("judgment", "preference", "call", "prompt", "batch", "pooled", "query", "document", "text",
        "setting")  # fmt: skip

#: How many people have judged a pair, and who. Models and clicks take no document off their list.
PEOPLE = """
SELECT COUNT(*), json_group_array(judge) FROM (
    SELECT DISTINCT judge FROM current_judgment AS one
    WHERE one.query = {row}.query AND one.document = {row}.document
    AND one.status <> 'later' AND one.kind IN ('human', 'import') ORDER BY judge
)
"""

TABLES = f"""
CREATE TABLE setting (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, value TEXT NOT NULL, time TEXT NOT NULL
) STRICT;
CREATE TABLE query (
    id INTEGER PRIMARY KEY, query TEXT NOT NULL, text TEXT NOT NULL, columns TEXT NOT NULL,
    time TEXT NOT NULL
) STRICT;
CREATE INDEX query_by_name ON query (query);
CREATE TABLE text (hash TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL) STRICT;
CREATE TABLE document (
    id INTEGER PRIMARY KEY, document TEXT NOT NULL, text TEXT NOT NULL REFERENCES text,
    time TEXT NOT NULL
) STRICT;
CREATE INDEX document_by_name ON document (document);
CREATE TABLE batch (
    id INTEGER PRIMARY KEY, strategy TEXT NOT NULL, parameters TEXT NOT NULL, time TEXT NOT NULL
) STRICT;
CREATE TABLE pooled (
    batch INTEGER NOT NULL REFERENCES batch, query TEXT NOT NULL, document TEXT NOT NULL,
    place INTEGER, stratum TEXT NOT NULL, inclusion REAL, ranks TEXT NOT NULL,
    PRIMARY KEY (batch, query, document)
) STRICT;
CREATE TABLE prompt (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, source TEXT NOT NULL
) STRICT;
CREATE TABLE call (
    id INTEGER PRIMARY KEY, request TEXT NOT NULL, model TEXT NOT NULL,
    prompt TEXT NOT NULL REFERENCES prompt, parameters TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('answered', 'failed')),
    answer TEXT NOT NULL, fault TEXT NOT NULL, tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL, cost REAL NOT NULL, seconds REAL NOT NULL, time TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX answered_once ON call (request) WHERE state = 'answered';
CREATE TABLE judgment (
    id INTEGER PRIMARY KEY, query TEXT NOT NULL, document TEXT NOT NULL, grade REAL,
    judge TEXT NOT NULL CHECK (judge <> ''),
    kind TEXT NOT NULL CHECK (kind IN ('human', 'import', 'clicks', 'model')),
    status TEXT NOT NULL CHECK (status IN ('graded', 'cannot tell', 'later', 'undone')),
    adjudicates INTEGER NOT NULL CHECK (adjudicates IN (0, 1)),
    seconds REAL, note TEXT NOT NULL, batch INTEGER REFERENCES batch, inclusion REAL,
    seen TEXT NOT NULL, call INTEGER REFERENCES call, undoes INTEGER UNIQUE REFERENCES judgment,
    token TEXT UNIQUE, time TEXT NOT NULL,
    CHECK ((status = 'graded') = (grade IS NOT NULL)),
    CHECK ((status = 'undone') = (undoes IS NOT NULL))
) STRICT;
CREATE INDEX judgment_by_pair ON judgment (query, document, judge, adjudicates);
CREATE INDEX judgment_by_judge ON judgment (judge);
CREATE INDEX judgment_put_off ON judgment (judge) WHERE status = 'later';
CREATE TABLE preference (
    id INTEGER PRIMARY KEY, query TEXT NOT NULL, better TEXT NOT NULL, worse TEXT NOT NULL,
    tied INTEGER NOT NULL CHECK (tied IN (0, 1)), judge TEXT NOT NULL CHECK (judge <> ''),
    kind TEXT NOT NULL CHECK (kind IN ('human', 'import', 'clicks', 'model')),
    seconds REAL, note TEXT NOT NULL, call INTEGER REFERENCES call,
    token TEXT UNIQUE, time TEXT NOT NULL
) STRICT;
CREATE VIEW standing_judgment AS
SELECT one.* FROM judgment AS one
WHERE one.status <> 'undone'
AND NOT EXISTS (SELECT 1 FROM judgment AS undo WHERE undo.undoes = one.id);
CREATE VIEW current_judgment AS
SELECT one.* FROM standing_judgment AS one
WHERE NOT EXISTS (
    SELECT 1 FROM standing_judgment AS newer
    WHERE newer.query = one.query AND newer.document = one.document AND newer.judge = one.judge
    AND newer.adjudicates = one.adjudicates AND newer.id > one.id
);
-- The same rows, found at once for all: quicker for many judgments, slower for a few.
CREATE VIEW every_current_judgment AS
SELECT one.* FROM judgment AS one
WHERE one.status <> 'undone'
AND one.id NOT IN (SELECT undoes FROM judgment WHERE undoes IS NOT NULL)
AND one.id NOT IN (
    SELECT old.id FROM judgment AS old CROSS JOIN judgment AS newer
    ON newer.query = old.query AND newer.document = old.document AND newer.judge = old.judge
    AND newer.adjudicates = old.adjudicates AND newer.id > old.id
    WHERE newer.status <> 'undone'
    AND newer.id NOT IN (SELECT undoes FROM judgment WHERE undoes IS NOT NULL)
);
CREATE TABLE claim (
    judge TEXT PRIMARY KEY, query TEXT NOT NULL, document TEXT NOT NULL, until REAL NOT NULL
) STRICT;
CREATE INDEX claim_by_pair ON claim (query, document);
CREATE TABLE turn (
    batch INTEGER NOT NULL REFERENCES batch, judged INTEGER NOT NULL, people TEXT NOT NULL,
    place INTEGER NOT NULL, query TEXT NOT NULL, document TEXT NOT NULL,
    PRIMARY KEY (batch, judged, people, place, query, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX turn_by_pair ON turn (query, document);
CREATE TRIGGER turn_comes AFTER INSERT ON pooled WHEN new.place IS NOT NULL BEGIN
    INSERT INTO turn SELECT new.batch, said.*, new.place, new.query, new.document
    FROM ({PEOPLE.format(row="new")}) AS said;
END;
CREATE TRIGGER turn_is_over AFTER INSERT ON judgment BEGIN
    UPDATE turn SET (judged, people) = ({PEOPLE.format(row="new")})
    WHERE query = new.query AND document = new.document;
    DELETE FROM claim
    WHERE judge = new.judge AND query = new.query AND document = new.document;
END;
"""
_REFUSAL = """
CREATE TRIGGER {table}_is_never_{done} BEFORE {verb} ON {table} BEGIN
    SELECT RAISE(ABORT, 'rows of {table} are kept: nothing in a store is changed or deleted');
END;
"""
REFUSALS = "".join(
    _REFUSAL.format(table=table, verb=verb, done=done)
    for table in KEPT
    for verb, done in (("UPDATE", "changed"), ("DELETE", "deleted"))
)
#: Judges hold several documents at once: those that a browser has ahead.
SEVERAL_CLAIMS = """
CREATE TABLE claim_before AS SELECT judge, query, document, until FROM claim;
DROP TABLE claim;
CREATE TABLE claim (
    judge TEXT NOT NULL, query TEXT NOT NULL, document TEXT NOT NULL, until REAL NOT NULL,
    PRIMARY KEY (judge, query, document)
) STRICT;
CREATE INDEX claim_by_pair ON claim (query, document);
INSERT INTO claim SELECT judge, query, document, until FROM claim_before;
DROP TABLE claim_before;
"""
#: What leads from each version of the tables to the next.
MIGRATIONS: dict[int, str] = {0: TABLES + REFUSALS, 1: SEVERAL_CLAIMS}


def statements(script: str) -> Iterator[str]:
    """Part a script, so that it runs inside a transaction that is open."""
    found = ""
    for part in script.split(";"):
        found += f"{part};"
        if sqlite3.complete_statement(found):
            yield found
            found = ""
