-- What whoever holds a review link has entered and not sent: one row per ask, encrypted by the server,
-- gone when the ask is over.
CREATE TABLE draft (
    ask   uuid  PRIMARY KEY,
    draft bytea NOT NULL
);
