-- The signatures of receipts whose signing key is destroyed. `claims` is the digest of what was signed.
CREATE TABLE receipt_signature (
    ask       uuid  NOT NULL,
    claims    bytea NOT NULL,
    kid       text  NOT NULL,
    signature bytea NOT NULL,
    PRIMARY KEY (ask, claims)
);
