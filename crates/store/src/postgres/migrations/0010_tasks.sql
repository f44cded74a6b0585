-- Tasks, what they deliver, what ledgers remember, and what the runtimes of agents have to do.

-- `over_at` is when a task ended that still has its words.
CREATE TABLE task (
    id      uuid   PRIMARY KEY,
    version bigint NOT NULL,
    over_at bigint,
    state   text   NOT NULL
);

CREATE INDEX task_over ON task (over_at, id) WHERE over_at IS NOT NULL;

-- The ordered set every list of tasks is a range of: a task stands there once for every way in which
-- a list can be narrowed.
CREATE TABLE task_list (
    scope text COLLATE "C" NOT NULL,
    id    uuid             NOT NULL,
    PRIMARY KEY (scope, id)
);

CREATE TABLE artifact (
    id      uuid   PRIMARY KEY,
    version bigint NOT NULL,
    state   text   NOT NULL
);

-- The id is the name of the subject: a digest of scope and key.
CREATE TABLE entry (
    id      text COLLATE "C" PRIMARY KEY,
    version bigint           NOT NULL,
    scope   text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    state   text             NOT NULL
);

CREATE INDEX entry_key ON entry (scope, key);

-- A review is part of its task; this leads there.
CREATE TABLE review (
    id   uuid PRIMARY KEY,
    task uuid NOT NULL
);

-- `n` is given out after the commit, by one session at a time: what is committed late gets a late
-- number, so nobody who goes on behind the last one passes it over. `id` is the order of writing.
CREATE TABLE contract (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    n        bigint,
    agent    text COLLATE "C" NOT NULL,
    task     uuid             NOT NULL,
    seq      bigint           NOT NULL,
    duty     text             NOT NULL,
    run      uuid             NOT NULL,
    at       bigint           NOT NULL,
    contract text             NOT NULL
);

CREATE UNIQUE INDEX contract_n ON contract (n) WHERE n IS NOT NULL;
CREATE INDEX contract_agent ON contract (agent, n) WHERE n IS NOT NULL;
CREATE INDEX contract_waiting ON contract (id) WHERE n IS NULL;

CREATE TABLE runtime_ack (
    agent text COLLATE "C" PRIMARY KEY,
    n     bigint           NOT NULL
);

-- The task a request was about, and where its chain ended then.
ALTER TABLE idempotency ADD COLUMN task uuid, ADD COLUMN seq bigint;

-- The project whose task a record is about, so that what happens there is one range; NULL for
-- everything else.
ALTER TABLE pending ADD COLUMN projects text[] NOT NULL DEFAULT '{}';
ALTER TABLE feed ADD COLUMN project text COLLATE "C";

CREATE INDEX feed_project ON feed (project, position) WHERE project IS NOT NULL;
