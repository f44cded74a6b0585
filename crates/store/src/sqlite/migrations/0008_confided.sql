-- What was given in confidence with an answer: encrypted, under the name the answer has for it, until the
-- agent has acknowledged it or a while after it was first read.
CREATE TABLE confided (
    ask     BLOB NOT NULL,
    name    BLOB NOT NULL,
    closed  BLOB NOT NULL,
    read_at INTEGER,
    PRIMARY KEY (ask, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX confided_read ON confided (read_at) WHERE read_at IS NOT NULL;
