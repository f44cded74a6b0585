-- What went out to people about asks, and what became of it.
CREATE TABLE message (
    name       bytea NOT NULL PRIMARY KEY,
    ask        uuid NOT NULL,
    medium     text NOT NULL,
    recipient  bytea NOT NULL,
    at         bigint NOT NULL,
    posted     text COLLATE "C",
    thread     text COLLATE "C",
    over       boolean NOT NULL,
    updated_at bigint NOT NULL,
    state      text NOT NULL
);

CREATE INDEX message_ask ON message (ask, at DESC, name);
CREATE INDEX message_recipient ON message (recipient, at DESC, name);
CREATE INDEX message_posted ON message (medium, posted) WHERE posted IS NOT NULL;
CREATE INDEX message_thread ON message (medium, thread, at DESC, name) WHERE thread IS NOT NULL;
CREATE INDEX message_over ON message (updated_at) WHERE over;
