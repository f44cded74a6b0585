-- Counts as running totals: how many there were up to the end of a day. What a stretch of days comes to
-- is the difference of two, however long it is. The newest rows are written again and again, in place.
CREATE TABLE running (
    project text COLLATE "C" NOT NULL,
    agent   text COLLATE "C" NOT NULL,
    measure text COLLATE "C" NOT NULL,
    bin     text COLLATE "C" NOT NULL,
    day     bigint           NOT NULL,
    total   bigint           NOT NULL,
    PRIMARY KEY (project, agent, measure, bin, day)
) WITH (fillfactor = 70);

INSERT INTO running (project, agent, measure, bin, day, total)
SELECT project, agent, measure, bin, day,
    (SUM(n) OVER (PARTITION BY project, agent, measure, bin ORDER BY day))::bigint
FROM tally;

DROP TABLE tally;

-- The first day of which anything is told; of all if nothing was forgotten.
ALTER TABLE tally_place ADD COLUMN since bigint;
