-- Deliveries wait for others of their lane, and for no other: people's notices are one lane, each endpoint
-- is one.
ALTER TABLE outbox ADD COLUMN lane TEXT NOT NULL DEFAULT '';

UPDATE outbox SET lane = 'callback:' WHERE effect LIKE '%"effect":"call_back"%';
UPDATE outbox SET lane = 'device:' WHERE effect LIKE '%"effect":"push"%';
UPDATE outbox SET lane = 'mail' WHERE effect LIKE '%"effect":"mail_link"%';

DROP INDEX outbox_waiting;
CREATE INDEX outbox_people ON outbox (rank, due_at) WHERE dead = 0 AND lane = '';
CREATE INDEX outbox_lane ON outbox (lane, due_at) WHERE dead = 0 AND lane <> '';

-- What endpoints were told, for a while: a delivery that was tried, how it stands, and what came of each
-- attempt.
CREATE TABLE delivery_log (
    webhook    BLOB    NOT NULL,
    message    TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    status     TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    UNIQUE (webhook, message)
) STRICT;

CREATE INDEX delivery_log_at ON delivery_log (status, webhook, at, message);
CREATE INDEX delivery_log_updated ON delivery_log (updated_at);
