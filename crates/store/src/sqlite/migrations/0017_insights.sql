-- Counts of what happened, by day. No project and no agent has an empty name: those are the counts of
-- all agents of a project, and of all projects.
CREATE TABLE tally (
    project TEXT    NOT NULL,
    agent   TEXT    NOT NULL,
    measure TEXT    NOT NULL,
    day     INTEGER NOT NULL,
    bin     TEXT    NOT NULL,
    n       INTEGER NOT NULL,
    PRIMARY KEY (project, agent, measure, day, bin)
) STRICT, WITHOUT ROWID;

-- Up to where the record was counted.
CREATE TABLE tally_place (
    one      INTEGER PRIMARY KEY DEFAULT 1 CHECK (one = 1),
    position INTEGER NOT NULL
) STRICT;

INSERT INTO tally_place (position) VALUES (0);

-- Projects may keep words for different whiles: each has a range of its own.
CREATE INDEX ask_kept ON ask (json_extract(state, '$.asked.project'), over_at, id)
    WHERE over_at IS NOT NULL;
DROP INDEX ask_over;
CREATE INDEX task_kept ON task (json_extract(state, '$.created.project'), over_at, id)
    WHERE over_at IS NOT NULL;
DROP INDEX task_over;
