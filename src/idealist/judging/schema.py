"""The tables of a store: append-only, strict, with a version."""

from __future__ import annotations

#: The tables as they were first made; later versions add `MIGRATIONS`.
TABLES = """
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
    status TEXT NOT NULL CHECK (status IN ('graded', 'cannot tell', 'later')),
    judge TEXT NOT NULL CHECK (judge <> ''),
    kind TEXT NOT NULL CHECK (kind IN ('human', 'import', 'clicks', 'model')),
    adjudicates INTEGER NOT NULL CHECK (adjudicates IN (0, 1)),
    seconds REAL, note TEXT NOT NULL, batch INTEGER REFERENCES batch, inclusion REAL,
    seen TEXT NOT NULL, call INTEGER REFERENCES call, undoes INTEGER UNIQUE REFERENCES judgment,
    token TEXT UNIQUE, time TEXT NOT NULL,
    CHECK ((status = 'graded') = (grade IS NOT NULL))
) STRICT;
CREATE INDEX judgment_by_pair ON judgment (query, document, judge);
CREATE TABLE preference (
    id INTEGER PRIMARY KEY, query TEXT NOT NULL, better TEXT NOT NULL, worse TEXT NOT NULL,
    tied INTEGER NOT NULL CHECK (tied IN (0, 1)), judge TEXT NOT NULL CHECK (judge <> ''),
    kind TEXT NOT NULL, seconds REAL, note TEXT NOT NULL, call INTEGER REFERENCES call,
    token TEXT UNIQUE, time TEXT NOT NULL
) STRICT;
CREATE TABLE claim (
    query TEXT NOT NULL, document TEXT NOT NULL, judge TEXT NOT NULL, time TEXT NOT NULL,
    PRIMARY KEY (query, document, judge)
) STRICT;
CREATE VIEW current_judgment AS
SELECT one.* FROM judgment AS one WHERE one.id IN (
    SELECT MAX(id) FROM judgment
    WHERE undoes IS NULL
    AND id NOT IN (SELECT undoes FROM judgment WHERE undoes IS NOT NULL)
    GROUP BY query, document, judge, adjudicates
);
"""
