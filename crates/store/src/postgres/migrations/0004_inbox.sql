-- Every list by urgency or by age: the rank is the priority's in all of them.
UPDATE listing SET rank = priority WHERE rank <> priority;

-- What nearly identical asks have in common, while they are open. Those of before have none.
ALTER TABLE listing ADD COLUMN fold bigint;

-- All of a kind. Every ask has one row as its agent's.
INSERT INTO listing (scope, phase, rank, id, kind, priority, agent_label, project_label)
    SELECT 'kind/' || kind, phase, priority, id, kind, priority, agent_label, project_label
    FROM listing WHERE scope LIKE 'agent/%';

-- What a person has ended.
INSERT INTO listing (scope, phase, rank, id, kind, priority, agent_label, project_label)
    SELECT 'by/' || (ask.state::json #>> '{state,ending,by,id}'),
        phase, priority, listing.id, kind, priority, agent_label, project_label
    FROM listing JOIN ask ON ask.id = listing.id
    WHERE scope LIKE 'agent/%' AND ask.state::json #>> '{state,ending,by,kind}' = 'human';

-- When open asks run out, in the lists of people, pools and kinds.
CREATE TABLE deadline (
    scope text COLLATE "C" NOT NULL,
    at    bigint           NOT NULL,
    id    uuid             NOT NULL,
    PRIMARY KEY (scope, at, id)
);

INSERT INTO deadline (scope, at, id)
    SELECT scope,
        round(extract(epoch FROM (state::json #>> '{asked,expires_at}')::timestamptz) * 1000)::bigint,
        listing.id
    FROM listing JOIN ask ON ask.id = listing.id
    WHERE (scope LIKE 'human/%' OR scope LIKE 'pool/%' OR scope LIKE 'kind/%')
        AND phase IN ('waiting', 'engaged')
        AND state::json #>> '{asked,expires_at}' IS NOT NULL
        AND state::json #>> '{asked,on_expiry,on_expiry}' <> 'stay_open';

-- What asks are found by: tokens without their places, made from the feed a little behind it.
CREATE TABLE search (
    id    uuid     PRIMARY KEY,
    words tsvector NOT NULL
);

CREATE INDEX search_words ON search USING gin (words);

-- How far the index has come. Who brings it on holds this row.
CREATE TABLE search_place (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    position bigint  NOT NULL
);

INSERT INTO search_place (position) VALUES (0);

-- What people have hidden from their own lists, and until when.
CREATE TABLE snooze (
    human text COLLATE "C" NOT NULL,
    ask   uuid             NOT NULL,
    until bigint           NOT NULL,
    PRIMARY KEY (human, ask)
);

CREATE INDEX snooze_until ON snooze (until);

-- Who looks at what, for a minute at a time. Not worth a log: after a crash nobody looks.
CREATE UNLOGGED TABLE looking (
    ask   uuid             NOT NULL,
    human text COLLATE "C" NOT NULL,
    until bigint           NOT NULL,
    PRIMARY KEY (ask, human)
);

CREATE INDEX looking_until ON looking (until);
