-- What was given in confidence with an answer: encrypted, under the name the answer has for it, until the
-- agent has acknowledged it or a while after it was first read.
CREATE TABLE confided (
    ask     uuid   NOT NULL,
    name    bytea  NOT NULL,
    closed  bytea  NOT NULL,
    read_at bigint,
    PRIMARY KEY (ask, name)
);

CREATE INDEX confided_read ON confided (read_at) WHERE read_at IS NOT NULL;
