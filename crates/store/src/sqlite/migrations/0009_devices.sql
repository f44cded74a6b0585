-- Devices that people want to be told on: by the digest of their address, which is encrypted with all
-- that reaches them. And which were told of what, so that they can be told that it is over.
CREATE TABLE device (
    name    BLOB    NOT NULL PRIMARY KEY,
    human   TEXT    NOT NULL,
    key     BLOB,
    made_at INTEGER NOT NULL,
    closed  BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX device_human ON device (human);

CREATE TABLE told (
    ask    BLOB NOT NULL,
    device BLOB NOT NULL,
    PRIMARY KEY (ask, device)
) STRICT, WITHOUT ROWID;

CREATE INDEX told_device ON told (device);
