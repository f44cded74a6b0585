-- Tasks, what they deliver, what ledgers remember, and what the runtimes of agents have to do.

-- `over_at` is when a task ended that still has its words.
CREATE TABLE task (
    n       INTEGER PRIMARY KEY,
    id      BLOB    NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    over_at INTEGER,
    state   TEXT    NOT NULL
) STRICT;

CREATE INDEX task_over ON task (over_at, id) WHERE over_at IS NOT NULL;

-- The ordered set every list of tasks is a range of: a task stands there once for every way in which
-- a list can be narrowed.
CREATE TABLE task_list (
    scope TEXT NOT NULL,
    id    BLOB NOT NULL,
    PRIMARY KEY (scope, id DESC)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifact (
    n       INTEGER PRIMARY KEY,
    id      BLOB    NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    state   TEXT    NOT NULL
) STRICT;

-- The id is the name of the subject: a digest of scope and key.
CREATE TABLE entry (
    n       INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    scope   TEXT    NOT NULL,
    key     TEXT    NOT NULL,
    state   TEXT    NOT NULL,
    UNIQUE (scope, key)
) STRICT;

-- A review is part of its task; this leads there.
CREATE TABLE review (
    id   BLOB NOT NULL PRIMARY KEY,
    task BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Rows are never deleted, so numbers grow without AUTOINCREMENT.
CREATE TABLE contract (
    n        INTEGER PRIMARY KEY,
    agent    TEXT    NOT NULL,
    task     BLOB    NOT NULL,
    seq      INTEGER NOT NULL,
    duty     TEXT    NOT NULL,
    run      BLOB    NOT NULL,
    at       INTEGER NOT NULL,
    contract TEXT    NOT NULL
) STRICT;

CREATE INDEX contract_agent ON contract (agent, n);

CREATE TABLE runtime_ack (
    agent TEXT    NOT NULL PRIMARY KEY,
    n     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The task a request was about, and where its chain ended then.
ALTER TABLE idempotency ADD COLUMN task BLOB;
ALTER TABLE idempotency ADD COLUMN seq INTEGER;

-- The project whose task a record is about, so that what happens there is one range; NULL for
-- everything else.
ALTER TABLE record ADD COLUMN project TEXT;

CREATE INDEX record_project ON record (project, position) WHERE project IS NOT NULL;
