-- What whoever holds a review link has entered and not sent: one row per ask, encrypted by the server,
-- gone when the ask is over.
CREATE TABLE draft (
    ask   BLOB NOT NULL PRIMARY KEY,
    draft BLOB NOT NULL
) STRICT, WITHOUT ROWID;
