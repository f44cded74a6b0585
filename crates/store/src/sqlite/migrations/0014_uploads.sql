-- Bytes on their way, as far as they have come. Where the bytes are is known by the digests of their
-- pieces; `checksum` and `manifest` are there once all of them are.
CREATE TABLE upload (
    id         BLOB    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    length     INTEGER,
    media_type TEXT,
    size       INTEGER NOT NULL DEFAULT 0,
    pieces     INTEGER NOT NULL DEFAULT 0,
    checksum   BLOB,
    manifest   BLOB,
    used       INTEGER NOT NULL DEFAULT 0,
    given_up   INTEGER NOT NULL DEFAULT 0,
    at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX upload_open ON upload (owner) WHERE checksum IS NULL AND NOT given_up;
CREATE INDEX upload_at ON upload (at);
CREATE INDEX upload_given_up ON upload (id) WHERE given_up;

CREATE TABLE upload_piece (
    upload BLOB    NOT NULL,
    n      INTEGER NOT NULL,
    digest BLOB    NOT NULL,
    size   INTEGER NOT NULL,
    PRIMARY KEY (upload, n)
) STRICT, WITHOUT ROWID;
