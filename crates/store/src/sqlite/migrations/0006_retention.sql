-- When an ask ended, while its words are still here: what retention goes by. NULL while it is open, and
-- once it is erased.
ALTER TABLE ask ADD COLUMN over_at INTEGER;

UPDATE ask SET over_at =
    CAST(round(unixepoch(json_extract(state, '$.state.place.at'), 'subsec') * 1000) AS INTEGER)
WHERE json_extract(state, '$.state.is') = 'over'
    AND json_extract(state, '$.asked.question.content') IS NOT NULL;

CREATE INDEX ask_over ON ask (over_at, id) WHERE over_at IS NOT NULL;

-- Which files were given to which ask. The same bytes may be given to several, and are kept once.
CREATE TABLE file_use (
    ask    BLOB NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (ask, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX file_use_digest ON file_use (digest);

-- What answered an ask before this was remembered.
INSERT OR IGNORE INTO file_use (ask, digest)
    SELECT id, unhex(sha256) FROM (
        SELECT ask.id, CASE field.type WHEN 'object' THEN json_extract(field.value, '$.sha256') END
            AS sha256
        FROM ask, json_each(ask.state, '$.state.ending.reply.content.value.answer.values') AS field
    )
    WHERE length(unhex(sha256)) = 32;
