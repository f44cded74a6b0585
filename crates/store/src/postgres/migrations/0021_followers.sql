-- Work is written by followers of the feed. Each keeps its position here, in the same commit as its work. One
-- node at a time runs a follower: the one that holds the lease.
ALTER TABLE outbox RENAME TO work;

CREATE TABLE follower (
    name         text COLLATE "C" PRIMARY KEY,
    position     bigint NOT NULL,
    node         uuid,
    leased_until bigint NOT NULL DEFAULT 0
);

-- The work of everything committed so far was written with it, also of what has no position yet. So that gets
-- its position first.
WITH taken AS (
    DELETE FROM pending RETURNING n, subjects, seqs, agents, lists, projects
), last AS (
    SELECT coalesce(max(position), 0) AS position FROM feed
)
INSERT INTO feed (position, subject, seq, agent, lists, project)
    SELECT last.position + row_number() OVER (ORDER BY n, place), subject, seq, agent, told, project
    FROM last, taken, unnest(subjects, seqs, agents, lists, projects)
        WITH ORDINALITY AS event (subject, seq, agent, told, project, place);

INSERT INTO follower (name, position) SELECT 'deliveries', coalesce(max(position), 0) FROM feed;
