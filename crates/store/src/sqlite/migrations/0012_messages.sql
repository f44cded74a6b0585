-- What went out to people about asks, and what became of it.
CREATE TABLE message (
    name       BLOB NOT NULL PRIMARY KEY,
    ask        BLOB NOT NULL,
    medium     TEXT NOT NULL,
    recipient  BLOB NOT NULL,
    at         INTEGER NOT NULL,
    posted     TEXT,
    thread     TEXT,
    over       INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    state      TEXT NOT NULL
) STRICT;

CREATE INDEX message_ask ON message (ask, at DESC, name);
CREATE INDEX message_recipient ON message (recipient, at DESC, name);
CREATE INDEX message_posted ON message (medium, posted) WHERE posted IS NOT NULL;
CREATE INDEX message_thread ON message (medium, thread, at DESC, name) WHERE thread IS NOT NULL;
CREATE INDEX message_over ON message (updated_at) WHERE over = 1;
