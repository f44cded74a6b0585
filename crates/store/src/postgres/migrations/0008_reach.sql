-- What is to be done once however often it is wanted has a name: while one waits under it, no other is
-- written.
ALTER TABLE outbox ADD COLUMN name text COLLATE "C";

CREATE UNIQUE INDEX outbox_name ON outbox (name) WHERE name IS NOT NULL AND NOT dead;

-- Codes that were sent to addresses of people, who show by them that these are theirs.
CREATE TABLE code (
    human      text   NOT NULL,
    means      bytea  NOT NULL,
    hash       bytea  NOT NULL,
    expires_at bigint NOT NULL,
    tries      bigint NOT NULL,
    PRIMARY KEY (human, means)
);

CREATE INDEX code_expires ON code (expires_at);
