//! Receipts as those meet them who check one: what they claim, what is refused, what people read.
#![expect(clippy::unwrap_used, reason = "tests")]

mod claims;
mod fixtures;
mod inclusion;
mod invalid_receipts;
mod passkey_vectors;
mod strict;
mod vectors;
mod words;
