-- What closes the record for good: see docs/audit.md. Rows are only ever added, one per block.
CREATE TABLE block (
    n      INTEGER PRIMARY KEY,
    first  INTEGER NOT NULL UNIQUE,
    count  INTEGER NOT NULL,
    root   BLOB    NOT NULL,
    prev   BLOB    NOT NULL,
    at     INTEGER NOT NULL,
    issuer TEXT    NOT NULL,
    jws    TEXT    NOT NULL
) STRICT;

-- One row at most: every block up to this one was handed to the anchor command.
CREATE TABLE anchor (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    n  INTEGER NOT NULL
) STRICT;
