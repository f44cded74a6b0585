-- What agents, projects and people use, for quotas. Counters that last follow the tables they count, so
-- they cannot differ from them; counters of an hour or a day have a moment after which they are deleted.
CREATE TABLE usage (
    name  TEXT    NOT NULL PRIMARY KEY,
    used  INTEGER NOT NULL,
    until INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_until ON usage (until) WHERE until IS NOT NULL;

-- Bytes of files, by whom or what they were given to, so that they can be subtracted again.
CREATE TABLE usage_held (
    holder BLOB    NOT NULL,
    name   TEXT    NOT NULL,
    bytes  INTEGER NOT NULL,
    PRIMARY KEY (holder, name)
) STRICT, WITHOUT ROWID;

INSERT INTO usage (name, used)
SELECT 'open_asks/' || scope, count(*) FROM listing
WHERE phase IN ('waiting', 'engaged')
    AND substr(scope, 1, instr(scope, '/')) IN ('agent/', 'project/', 'human/')
GROUP BY scope;

INSERT INTO usage (name, used)
SELECT name, sum(bytes) FROM (
    SELECT 'stored_bytes/agent/' || (state ->> '$.asked.agent') AS name,
        length(CAST(state AS BLOB)) AS bytes
    FROM ask WHERE json_valid(state)
    UNION ALL
    SELECT 'stored_bytes/project/' || (state ->> '$.asked.project'), length(CAST(state AS BLOB))
    FROM ask WHERE json_valid(state)
) WHERE name IS NOT NULL GROUP BY name;

CREATE TRIGGER usage_listed AFTER INSERT ON listing
WHEN new.phase IN ('waiting', 'engaged')
    AND substr(new.scope, 1, instr(new.scope, '/')) IN ('agent/', 'project/', 'human/')
BEGIN
    INSERT INTO usage (name, used) VALUES ('open_asks/' || new.scope, 1)
    ON CONFLICT (name) DO UPDATE SET used = used + 1;
END;

CREATE TRIGGER usage_unlisted AFTER DELETE ON listing
WHEN old.phase IN ('waiting', 'engaged')
    AND substr(old.scope, 1, instr(old.scope, '/')) IN ('agent/', 'project/', 'human/')
BEGIN
    UPDATE usage SET used = used - 1 WHERE name = 'open_asks/' || old.scope;
END;

CREATE TRIGGER usage_asked AFTER INSERT ON ask WHEN json_valid(new.state)
BEGIN
    INSERT INTO usage (name, used)
    SELECT name, length(CAST(new.state AS BLOB)) FROM (
        SELECT 'stored_bytes/agent/' || (new.state ->> '$.asked.agent') AS name
        UNION ALL SELECT 'stored_bytes/project/' || (new.state ->> '$.asked.project')
    ) WHERE name IS NOT NULL
    ON CONFLICT (name) DO UPDATE SET used = used + excluded.used;
END;

CREATE TRIGGER usage_changed AFTER UPDATE OF state ON ask
WHEN length(CAST(new.state AS BLOB)) <> length(CAST(old.state AS BLOB))
    AND json_valid(old.state) AND json_valid(new.state)
BEGIN
    UPDATE usage SET used = used + length(CAST(new.state AS BLOB)) - length(CAST(old.state AS BLOB))
    WHERE name IN (
        'stored_bytes/agent/' || (new.state ->> '$.asked.agent'),
        'stored_bytes/project/' || (new.state ->> '$.asked.project')
    );
END;

CREATE TRIGGER usage_held_more AFTER INSERT ON usage_held
BEGIN
    INSERT INTO usage (name, used) VALUES (new.name, new.bytes)
    ON CONFLICT (name) DO UPDATE SET used = used + excluded.used;
END;

CREATE TRIGGER usage_held_changed AFTER UPDATE OF bytes ON usage_held
BEGIN
    UPDATE usage SET used = used + new.bytes - old.bytes WHERE name = new.name;
END;

CREATE TRIGGER usage_held_less AFTER DELETE ON usage_held
BEGIN
    UPDATE usage SET used = used - old.bytes WHERE name = old.name;
END;
