-- Work is written by followers of the feed. Each keeps its position here, in the same commit as its work.
ALTER TABLE outbox RENAME TO work;

CREATE TABLE follower (
    name     TEXT    PRIMARY KEY,
    position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The work of everything committed so far was written with it.
INSERT INTO follower (name, position) SELECT 'deliveries', coalesce(max(position), 0) FROM record;
