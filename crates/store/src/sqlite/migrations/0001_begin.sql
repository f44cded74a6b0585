-- Ids are the 16 bytes of a ULID, so they sort by time. Moments are milliseconds since 1970.

-- A rowid table on purpose: a state is a kilobyte, and rows of that size make a poor key tree.
CREATE TABLE ask (
    n       INTEGER PRIMARY KEY,
    id      BLOB    NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    wake_at INTEGER,
    state   TEXT    NOT NULL
) STRICT;

CREATE INDEX ask_wake ON ask (wake_at, id) WHERE wake_at IS NOT NULL;

-- The ordered set every list is a range of.
CREATE TABLE listing (
    scope         TEXT    NOT NULL,
    phase         TEXT    NOT NULL,
    rank          INTEGER NOT NULL,
    id            BLOB    NOT NULL,
    kind          TEXT    NOT NULL,
    priority      INTEGER NOT NULL,
    agent_label   TEXT,
    project_label TEXT,
    PRIMARY KEY (scope, phase, rank, id DESC)
) STRICT, WITHOUT ROWID;

CREATE TABLE entity (
    kind    TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    version INTEGER NOT NULL,
    state   TEXT    NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- Rows are never deleted, so positions grow without AUTOINCREMENT.
CREATE TABLE record (
    position INTEGER PRIMARY KEY,
    subject  TEXT    NOT NULL,
    seq      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    what     TEXT    NOT NULL,
    prev     BLOB    NOT NULL,
    hash     BLOB    NOT NULL,
    body     TEXT    NOT NULL,
    contents TEXT,
    UNIQUE (subject, seq)
) STRICT;

-- AUTOINCREMENT: rows go when they are done, and an id must never name another delivery.
CREATE TABLE outbox (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    rank       INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    attempt    INTEGER NOT NULL DEFAULT 0,
    written_at INTEGER NOT NULL,
    dead       INTEGER NOT NULL DEFAULT 0,
    effect     TEXT    NOT NULL,
    error      TEXT
) STRICT;

CREATE INDEX outbox_waiting ON outbox (rank, due_at) WHERE dead = 0;
CREATE INDEX outbox_dead ON outbox (id) WHERE dead = 1;

CREATE TABLE idempotency (
    scope       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    ask         BLOB,
    at          INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_at ON idempotency (at);

CREATE TABLE key_use (
    key BLOB    NOT NULL PRIMARY KEY,
    at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
