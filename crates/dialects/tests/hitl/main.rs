//! HITL 0.7 and 0.8 as its callers meet it: bytes in, bytes out, no server between.
#![expect(clippy::unwrap_used, reason = "tests")]

mod create;
mod cross;
mod errors;
mod events;
mod fixtures;
mod respond;
mod schemas;
mod state_table;
mod verification;
mod views;
