-- What a server must find again, encrypted before it comes here.
CREATE TABLE secret (
    name   TEXT NOT NULL PRIMARY KEY,
    secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;
