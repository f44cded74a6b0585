-- When an ask ended, while its words are still here: what retention goes by. Apart from the ask, so that
-- a claim does not write its state again; `leased_until` is in no index, so a claim is written in place.
CREATE TABLE ended (
    ask          uuid   PRIMARY KEY,
    at           bigint NOT NULL,
    leased_until bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 80);

CREATE INDEX ended_at ON ended (at, ask);

INSERT INTO ended (ask, at)
    SELECT id, round(extract(epoch FROM (over #>> '{state,place,at}')::timestamptz) * 1000)
    FROM ask, LATERAL (SELECT state::json) AS parsed (over)
    WHERE over #>> '{state,is}' = 'over' AND over #> '{asked,question,content}' IS NOT NULL;

-- Kept by the database itself: a program of the version before, which still runs beside this one while
-- nodes are replaced, does not know of it. Only a state that is over has these letters, because quotes
-- inside of words are escaped.
CREATE FUNCTION ask_ended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    over json := NEW.state;
BEGIN
    IF over #> '{asked,question,content}' IS NULL THEN
        DELETE FROM ended WHERE ask = NEW.id;
    ELSE
        INSERT INTO ended (ask, at)
        VALUES (
            NEW.id, round(extract(epoch FROM (over #>> '{state,place,at}')::timestamptz) * 1000)
        )
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER ask_ended AFTER UPDATE ON ask FOR EACH ROW
    WHEN (NEW.state LIKE '%"state":{"is":"over"%')
    EXECUTE FUNCTION ask_ended();

-- Which files were given to which ask. The same bytes may be given to several, and are kept once.
CREATE TABLE file_use (
    ask    uuid  NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (ask, digest)
);

CREATE INDEX file_use_digest ON file_use (digest);

-- What answered an ask before this was remembered.
INSERT INTO file_use (ask, digest)
    SELECT DISTINCT ask.id, decode(field.value ->> 'sha256', 'hex')
    FROM ask, json_each(
        CASE json_typeof(state::json #> '{state,ending,reply,content,value,answer,values}')
            WHEN 'object' THEN state::json #> '{state,ending,reply,content,value,answer,values}'
        END
    ) AS field
    WHERE json_typeof(field.value) = 'object' AND field.value ->> 'sha256' ~ '^[0-9a-f]{64}$';
