-- What is kept beside the record: anchors, codes, devices, drafts, secrets, snoozes. One row each, found
-- by its key, by its ask and by its person, and deleted when it expires. `version` counts how often a row was
-- written, so that of those who race one writes.
CREATE TABLE side (
    kind       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    ask        BLOB,
    human      TEXT,
    version    INTEGER NOT NULL,
    expires_at INTEGER,
    value      BLOB    NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX side_ask ON side (ask, kind) WHERE ask IS NOT NULL;
CREATE INDEX side_human ON side (human, kind) WHERE human IS NOT NULL;
CREATE INDEX side_expires ON side (expires_at) WHERE expires_at IS NOT NULL;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'draft', lower(hex(ask)), ask, NULL, 1, NULL, draft FROM draft;

-- A secret expires ten minutes after it was first read.
INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'secret', lower(hex(ask)) || '/' || lower(hex(name)), ask, NULL, 1, read_at + 600000, closed
    FROM confided;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'snooze', human || '/' || lower(hex(ask)), ask, human, 1, until, x'' FROM snooze;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'device', lower(hex(name)), NULL, human, 1, NULL,
        CAST(json_object('key', CASE WHEN key IS NULL THEN NULL ELSE lower(hex(key)) END,
            'made_at', made_at, 'closed', lower(hex(closed))) AS BLOB)
    FROM device;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'device_notified', lower(hex(device)) || '/' || lower(hex(ask)), ask, NULL, 1, NULL, x''
    FROM told;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'code', human || '/' || lower(hex(means)), NULL, human, 1, expires_at,
        CAST(json_object('hash', lower(hex(hash)), 'tries', tries) AS BLOB)
    FROM code;

INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    SELECT 'anchor', 'blocks', NULL, NULL, 1, NULL, CAST(CAST(n AS TEXT) AS BLOB) FROM anchor;

DROP TABLE anchor;
DROP TABLE draft;
DROP TABLE confided;
DROP TABLE snooze;
DROP TABLE device;
DROP TABLE told;
DROP TABLE code;
