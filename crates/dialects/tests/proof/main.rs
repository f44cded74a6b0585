//! Receipts as those meet them who check one: what they claim, what is refused, what people read.
#![expect(clippy::unwrap_used, reason = "tests")]

mod claims;
mod inclusion;
mod passkey_vectors;
mod spoilt;
mod stage;
mod strict;
mod vectors;
mod words;
