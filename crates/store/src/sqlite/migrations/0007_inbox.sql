-- Every list by urgency or by age: the rank is the priority's in all of them.
UPDATE listing SET rank = priority WHERE rank <> priority;

-- What nearly identical asks have in common, while they are open. Those of before have none.
ALTER TABLE listing ADD COLUMN fold INTEGER;

-- All of a kind. Every ask has one row as its agent's.
INSERT INTO listing (scope, phase, rank, id, kind, priority, agent_label, project_label)
    SELECT 'kind/' || kind, phase, priority, id, kind, priority, agent_label, project_label
    FROM listing WHERE scope GLOB 'agent/*';

-- What a person has ended.
INSERT INTO listing (scope, phase, rank, id, kind, priority, agent_label, project_label)
    SELECT 'by/' || json_extract(ask.state, '$.state.ending.by.id'),
        phase, priority, listing.id, kind, priority, agent_label, project_label
    FROM listing JOIN ask ON ask.id = listing.id
    WHERE scope GLOB 'agent/*' AND json_extract(ask.state, '$.state.ending.by.kind') = 'human';

-- When open asks run out, in the lists of people, pools and kinds.
CREATE TABLE deadline (
    scope TEXT    NOT NULL,
    at    INTEGER NOT NULL,
    id    BLOB    NOT NULL,
    PRIMARY KEY (scope, at, id)
) STRICT, WITHOUT ROWID;

INSERT INTO deadline (scope, at, id)
    SELECT scope,
        CAST(round(unixepoch(json_extract(state, '$.asked.expires_at'), 'subsec') * 1000) AS INTEGER),
        listing.id
    FROM listing JOIN ask ON ask.id = listing.id
    WHERE (scope GLOB 'human/*' OR scope GLOB 'pool/*' OR scope GLOB 'kind/*')
        AND phase IN ('waiting', 'engaged')
        AND json_extract(state, '$.asked.expires_at') IS NOT NULL
        AND json_extract(state, '$.asked.on_expiry.on_expiry') <> 'stay_open';

-- What people have hidden from their own lists, and until when.
CREATE TABLE snooze (
    human TEXT    NOT NULL,
    ask   BLOB    NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (human, ask)
) STRICT, WITHOUT ROWID;

CREATE INDEX snooze_until ON snooze (until);
