-- Bytes on their way, as far as they have come. Where the bytes are is known by the digests of their
-- pieces; `checksum` and `manifest` are there once all of them are.
CREATE TABLE upload (
    id         uuid    NOT NULL PRIMARY KEY,
    owner      text    NOT NULL,
    length     bigint,
    media_type text,
    size       bigint  NOT NULL DEFAULT 0,
    pieces     bigint  NOT NULL DEFAULT 0,
    checksum   bytea,
    manifest   bytea,
    used       boolean NOT NULL DEFAULT false,
    given_up   boolean NOT NULL DEFAULT false,
    at         bigint  NOT NULL
);

CREATE INDEX upload_open ON upload (owner) WHERE checksum IS NULL AND NOT given_up;
CREATE INDEX upload_at ON upload (at);
CREATE INDEX upload_given_up ON upload (id) WHERE given_up;

CREATE TABLE upload_piece (
    upload uuid   NOT NULL,
    n      bigint NOT NULL,
    digest bytea  NOT NULL,
    size   bigint NOT NULL,
    PRIMARY KEY (upload, n)
);
