-- The outbox without AUTOINCREMENT, which writes a row of a second table with every delivery. Rows still
-- go when they are done, and an id must still never name another delivery: the writer counts them. It
-- may begin again with a new process, because nobody has a claim from before.
ALTER TABLE outbox RENAME TO outbox_before;
DROP INDEX outbox_waiting;
DROP INDEX outbox_dead;

CREATE TABLE outbox (
    id         INTEGER PRIMARY KEY,
    rank       INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    attempt    INTEGER NOT NULL DEFAULT 0,
    written_at INTEGER NOT NULL,
    dead       INTEGER NOT NULL DEFAULT 0,
    effect     TEXT    NOT NULL,
    error      TEXT
) STRICT;

INSERT INTO outbox (id, rank, due_at, attempt, written_at, dead, effect, error)
    SELECT id, rank, due_at, attempt, written_at, dead, effect, error FROM outbox_before;

DROP TABLE outbox_before;

CREATE INDEX outbox_waiting ON outbox (rank, due_at) WHERE dead = 0;
CREATE INDEX outbox_dead ON outbox (id) WHERE dead = 1;
