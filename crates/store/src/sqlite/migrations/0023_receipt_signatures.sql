-- The signatures of receipts whose signing key is destroyed. `claims` is the digest of what was signed.
CREATE TABLE receipt_signature (
    ask       BLOB NOT NULL,
    claims    BLOB NOT NULL,
    kid       TEXT NOT NULL,
    signature BLOB NOT NULL,
    PRIMARY KEY (ask, claims)
) STRICT, WITHOUT ROWID;
