-- Ids are the 16 bytes of a ULID kept as uuid, so they sort by time. Moments are milliseconds since
-- 1970. States and bodies are text, not jsonb: what was hashed must come back letter for letter.

CREATE TABLE ask (
    id      uuid   PRIMARY KEY,
    version bigint NOT NULL,
    state   text   NOT NULL
);

-- When something is due on an ask, or when its claim by a node ends. Apart from the ask, so that a
-- claim does not write its state again.
CREATE TABLE wake (
    ask uuid   PRIMARY KEY,
    at  bigint NOT NULL
);

CREATE INDEX wake_at ON wake (at, ask);

-- The ordered set every list is a range of.
CREATE TABLE listing (
    scope         text COLLATE "C" NOT NULL,
    phase         text COLLATE "C" NOT NULL,
    rank          smallint         NOT NULL,
    id            uuid             NOT NULL,
    kind          text COLLATE "C" NOT NULL,
    priority      smallint         NOT NULL,
    agent_label   text COLLATE "C",
    project_label text COLLATE "C",
    PRIMARY KEY (scope, phase, rank, id)
);

-- `changed` is the version of the directory that brought this state.
CREATE TABLE entity (
    kind    text COLLATE "C" NOT NULL,
    id      text COLLATE "C" NOT NULL,
    version bigint           NOT NULL,
    changed bigint           NOT NULL,
    state   text             NOT NULL,
    PRIMARY KEY (kind, id)
);

CREATE INDEX entity_changed ON entity (changed);
CREATE INDEX entity_id ON entity (id);

-- One row: who changes the directory holds it until the end of the transaction.
CREATE TABLE directory (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    version bigint  NOT NULL
);

INSERT INTO directory (version) VALUES (0);

CREATE TABLE record (
    subject  text COLLATE "C" NOT NULL,
    seq      bigint           NOT NULL,
    at       bigint           NOT NULL,
    what     text             NOT NULL,
    prev     bytea            NOT NULL,
    hash     bytea            NOT NULL,
    body     text             NOT NULL,
    contents text,
    PRIMARY KEY (subject, seq)
);

-- Committed and not in the feed yet: the events of one transaction, in the order in which they
-- happened. Rows come and go, as in the outbox: cleaned up after by their number, not by how many
-- there are. `n` is the order of writing, so of two events of one subject the first comes first.
CREATE TABLE pending (
    n        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subjects text[]   NOT NULL,
    seqs     bigint[] NOT NULL,
    agents   text[]   NOT NULL,
    lists    text[]   NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- The order of everything that was committed, without a gap. Filled from `pending` by one session at
-- a time, after the commit: what is committed late gets a late position, so nobody who follows the
-- feed passes it over. `agent` is whose ask it is about, `lists` are those the ask then stood in:
-- nodes that follow need not look at it to know whom to wake.
CREATE TABLE feed (
    position bigint PRIMARY KEY,
    subject  text COLLATE "C" NOT NULL,
    seq      bigint           NOT NULL,
    agent    text COLLATE "C",
    lists    text             NOT NULL DEFAULT '',
    UNIQUE (subject, seq)
);

CREATE INDEX feed_agent ON feed (agent, position) WHERE agent IS NOT NULL;

-- `leased_until` is in no index, and there is room beside every row: a claim is written in place.
CREATE TABLE outbox (
    id           bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rank         smallint NOT NULL,
    due_at       bigint   NOT NULL,
    leased_until bigint   NOT NULL DEFAULT 0,
    attempt      integer  NOT NULL DEFAULT 0,
    written_at   bigint   NOT NULL,
    dead         boolean  NOT NULL DEFAULT false,
    effect       text     NOT NULL,
    error        text
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

CREATE INDEX outbox_waiting ON outbox (rank, due_at, id) WHERE NOT dead;
CREATE INDEX outbox_dead ON outbox (id) WHERE dead;

CREATE TABLE idempotency (
    scope       text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    fingerprint bytea            NOT NULL,
    ask         uuid,
    at          bigint           NOT NULL,
    PRIMARY KEY (scope, key)
);

CREATE INDEX idempotency_at ON idempotency (at);

CREATE TABLE key_use (
    key uuid   PRIMARY KEY,
    at  bigint NOT NULL
);

CREATE TABLE block (
    n      bigint PRIMARY KEY,
    first  bigint NOT NULL UNIQUE,
    count  bigint NOT NULL,
    root   bytea  NOT NULL,
    prev   bytea  NOT NULL,
    at     bigint NOT NULL,
    issuer text   NOT NULL,
    jws    text   NOT NULL
);

-- One row at most: every block up to this one was handed to the anchor command.
CREATE TABLE anchor (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    n   bigint  NOT NULL
);

-- What all nodes share, encrypted before it comes here.
CREATE TABLE secret (
    name    text COLLATE "C" PRIMARY KEY,
    version bigint           NOT NULL,
    secret  bytea            NOT NULL
);

-- Uploads by the SHA-256 of their content. They are compressed already, or not worth it.
CREATE TABLE file (
    digest bytea PRIMARY KEY,
    bytes  bytea NOT NULL
);

ALTER TABLE file ALTER COLUMN bytes SET STORAGE EXTERNAL;
