-- What is kept beside the record: anchors, codes, devices, drafts, secrets, snoozes. One row each, found
-- by its key, by its ask and by its person, and deleted when it expires. `version` counts how often a row was
-- written, so that of those who race one writes.
CREATE TABLE side (
    kind       text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    ask        uuid,
    human      text COLLATE "C",
    version    bigint           NOT NULL,
    expires_at bigint,
    value      bytea            NOT NULL,
    PRIMARY KEY (kind, key)
);

CREATE INDEX side_ask ON side (ask, kind) WHERE ask IS NOT NULL;
CREATE INDEX side_human ON side (human, kind) WHERE human IS NOT NULL;
CREATE INDEX side_expires ON side (expires_at) WHERE expires_at IS NOT NULL;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'draft', replace(ask::text, '-', ''), ask, NULL, 1, NULL, draft FROM draft;

-- A secret expires ten minutes after it was first read.
INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'secret', replace(ask::text, '-', '') || '/' || encode(name, 'hex'), ask, NULL, 1,
        read_at + 600000, closed
    FROM confided;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'snooze', human || '/' || replace(ask::text, '-', ''), ask, human, 1, until, ''::bytea
    FROM snooze;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'device', encode(name, 'hex'), NULL, human, 1, NULL,
        convert_to(json_build_object('key', replace(key::text, '-', ''), 'made_at', made_at,
            'closed', encode(closed, 'hex'))::text, 'UTF8')
    FROM device;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'device_notified', encode(device, 'hex') || '/' || replace(ask::text, '-', ''), ask, NULL, 1,
        NULL, ''::bytea
    FROM told;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'code', human || '/' || encode(means, 'hex'), NULL, human, 1, expires_at,
        convert_to(json_build_object('hash', encode(hash, 'hex'), 'tries', tries)::text, 'UTF8')
    FROM code;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'anchor', 'blocks', NULL, NULL, 1, NULL, convert_to(n::text, 'UTF8') FROM anchor;

DROP TABLE anchor;
DROP TABLE draft;
DROP TABLE confided;
DROP TABLE snooze;
DROP TABLE device;
DROP TABLE told;
DROP TABLE code;
