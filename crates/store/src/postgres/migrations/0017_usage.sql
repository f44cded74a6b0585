-- What agents, projects and people use, for quotas. Counters that last follow the tables they count, so
-- they cannot differ from them; counters of an hour or a day have a moment after which they are deleted.
-- A counter is the sum of its shards: each connection has one, so that they do not wait for each other.
CREATE TABLE usage (
    name  text COLLATE "C" NOT NULL,
    shard integer          NOT NULL,
    used  bigint           NOT NULL,
    until bigint,
    PRIMARY KEY (name, shard)
) WITH (fillfactor = 70);

CREATE INDEX usage_until ON usage (until) WHERE until IS NOT NULL;

-- Bytes of files, by whom or what they were given to, so that they can be subtracted again.
CREATE TABLE usage_held (
    holder uuid             NOT NULL,
    name   text COLLATE "C" NOT NULL,
    bytes  bigint           NOT NULL,
    PRIMARY KEY (holder, name)
);

CREATE FUNCTION usage_of_lists() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage AS known (name, shard, used)
    SELECT 'open_asks/' || scope, pg_backend_pid() % 1024,
        count(*) * CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END
    FROM changed
    WHERE phase IN ('waiting', 'engaged')
        AND (scope LIKE 'agent/%' OR scope LIKE 'project/%' OR scope LIKE 'human/%')
    GROUP BY scope ORDER BY scope
    ON CONFLICT (name, shard) DO UPDATE SET used = known.used + excluded.used;
    RETURN NULL;
END $$;

CREATE TRIGGER usage_listed AFTER INSERT ON listing
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION usage_of_lists();
CREATE TRIGGER usage_unlisted AFTER DELETE ON listing
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION usage_of_lists();

-- An ask begins with its project and agent; texts of others have their quotes escaped, so the first
-- match is the one of the ask.
CREATE FUNCTION usage_names(state text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY['stored_bytes/project/' || found[1], 'stored_bytes/agent/' || found[2]]
    FROM regexp_match(state, '"asked":\{"project":"([^"]*)","agent":"([^"]*)"') AS found
    WHERE found IS NOT NULL
$$;

CREATE FUNCTION usage_of_asks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO usage AS known (name, shard, used)
        SELECT name, pg_backend_pid() % 1024, sum(octet_length(state))
        FROM new_asks, unnest(usage_names(state)) AS name
        GROUP BY name ORDER BY name
        ON CONFLICT (name, shard) DO UPDATE SET used = known.used + excluded.used;
    ELSE
        INSERT INTO usage AS known (name, shard, used)
        SELECT name, pg_backend_pid() % 1024,
            sum(octet_length(new_asks.state) - octet_length(old_asks.state))
        FROM new_asks JOIN old_asks USING (id), unnest(usage_names(new_asks.state)) AS name
        GROUP BY name
        HAVING sum(octet_length(new_asks.state) - octet_length(old_asks.state)) <> 0
        ORDER BY name
        ON CONFLICT (name, shard) DO UPDATE SET used = known.used + excluded.used;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER usage_asked AFTER INSERT ON ask
    REFERENCING NEW TABLE AS new_asks FOR EACH STATEMENT EXECUTE FUNCTION usage_of_asks();
CREATE TRIGGER usage_changed AFTER UPDATE ON ask
    REFERENCING OLD TABLE AS old_asks NEW TABLE AS new_asks
    FOR EACH STATEMENT EXECUTE FUNCTION usage_of_asks();

CREATE FUNCTION usage_of_files() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    counter text;
    more    bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN
        counter := NEW.name;
        more := NEW.bytes;
    ELSIF TG_OP = 'UPDATE' THEN
        counter := NEW.name;
        more := NEW.bytes - OLD.bytes;
    ELSE
        counter := OLD.name;
        more := -OLD.bytes;
    END IF;
    INSERT INTO usage AS known (name, shard, used) VALUES (counter, pg_backend_pid() % 1024, more)
    ON CONFLICT (name, shard) DO UPDATE SET used = known.used + excluded.used;
    RETURN NULL;
END $$;

CREATE TRIGGER usage_held AFTER INSERT OR UPDATE OR DELETE ON usage_held
    FOR EACH ROW EXECUTE FUNCTION usage_of_files();

INSERT INTO usage (name, shard, used)
SELECT 'open_asks/' || scope, 0, count(*) FROM listing
WHERE phase IN ('waiting', 'engaged')
    AND (scope LIKE 'agent/%' OR scope LIKE 'project/%' OR scope LIKE 'human/%')
GROUP BY scope;

INSERT INTO usage (name, shard, used)
SELECT name, 0, sum(octet_length(state)) FROM ask, unnest(usage_names(state)) AS name GROUP BY name;
