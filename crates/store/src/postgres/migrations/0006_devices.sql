-- Devices that people want to be told on: by the digest of their address, which is encrypted with all
-- that reaches them. And which were told of what, so that they can be told that it is over.
CREATE TABLE device (
    name    bytea  NOT NULL PRIMARY KEY,
    human   text   NOT NULL,
    key     uuid,
    made_at bigint NOT NULL,
    closed  bytea  NOT NULL
);

CREATE INDEX device_human ON device (human);

CREATE TABLE told (
    ask    uuid  NOT NULL,
    device bytea NOT NULL,
    PRIMARY KEY (ask, device)
);

CREATE INDEX told_device ON told (device);
