-- What is to be done once however often it is wanted has a name: while one waits under it, no other is
-- written.
ALTER TABLE outbox ADD COLUMN name TEXT;

CREATE UNIQUE INDEX outbox_name ON outbox (name) WHERE name IS NOT NULL AND dead = 0;

-- Codes that were sent to addresses of people, who show by them that these are theirs.
CREATE TABLE code (
    human      TEXT    NOT NULL,
    means      BLOB    NOT NULL,
    hash       BLOB    NOT NULL,
    expires_at INTEGER NOT NULL,
    tries      INTEGER NOT NULL,
    PRIMARY KEY (human, means)
) STRICT, WITHOUT ROWID;

CREATE INDEX code_expires ON code (expires_at);
