-- Counts of what happened, by day. No project and no agent has an empty name: those are the counts of
-- all agents of a project, and of all projects. The same few rows are written again and again, in place.
CREATE TABLE tally (
    project text COLLATE "C" NOT NULL,
    agent   text COLLATE "C" NOT NULL,
    measure text COLLATE "C" NOT NULL,
    day     bigint           NOT NULL,
    bin     text COLLATE "C" NOT NULL,
    n       bigint           NOT NULL,
    PRIMARY KEY (project, agent, measure, day, bin)
) WITH (fillfactor = 70);

-- Up to where the record was counted. Who counts holds it until the end of the transaction.
CREATE TABLE tally_place (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    position bigint  NOT NULL
);

INSERT INTO tally_place (position) VALUES (0);

-- Projects may keep words for different whiles: each has a range of its own. Kept by the database itself,
-- as the moment is: a program of the version before does not know of it.
ALTER TABLE ended ADD COLUMN project text COLLATE "C" NOT NULL DEFAULT '';

UPDATE ended SET project = ask.state::json #>> '{asked,project}' FROM ask WHERE ask.id = ended.ask;

CREATE INDEX ended_kept ON ended (project, at, ask);

CREATE OR REPLACE FUNCTION ask_ended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    over json := NEW.state;
BEGIN
    IF over #> '{asked,question,content}' IS NULL THEN
        DELETE FROM ended WHERE ask = NEW.id;
    ELSE
        INSERT INTO ended (ask, at, project)
        VALUES (
            NEW.id,
            round(extract(epoch FROM (over #>> '{state,place,at}')::timestamptz) * 1000),
            over #>> '{asked,project}'
        )
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

ALTER TABLE task ADD COLUMN project text COLLATE "C";

UPDATE task SET project = state::json #>> '{created,project}' WHERE over_at IS NOT NULL;

CREATE INDEX task_kept ON task (project, over_at, id) WHERE over_at IS NOT NULL;

CREATE FUNCTION task_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.project := NEW.state::json #>> '{created,project}';
    RETURN NEW;
END
$$;

CREATE TRIGGER task_ended BEFORE INSERT OR UPDATE ON task FOR EACH ROW
    WHEN (NEW.over_at IS NOT NULL)
    EXECUTE FUNCTION task_ended();
