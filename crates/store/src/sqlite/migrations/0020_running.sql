-- Counts as running totals: how many there were up to the end of a day. What a stretch of days comes to
-- is the difference of two, however long it is.
CREATE TABLE running (
    project TEXT    NOT NULL,
    agent   TEXT    NOT NULL,
    measure TEXT    NOT NULL,
    bin     TEXT    NOT NULL,
    day     INTEGER NOT NULL,
    total   INTEGER NOT NULL,
    PRIMARY KEY (project, agent, measure, bin, day)
) STRICT, WITHOUT ROWID;

INSERT INTO running (project, agent, measure, bin, day, total)
SELECT project, agent, measure, bin, day,
    SUM(n) OVER (PARTITION BY project, agent, measure, bin ORDER BY day)
FROM tally;

DROP TABLE tally;

-- The first day of which anything is told; of all if nothing was forgotten.
ALTER TABLE tally_place ADD COLUMN since INTEGER;
