//! HXP Execution 0.1 as its callers meet it: bytes in, bytes out, no server between.
#![expect(clippy::unwrap_used, reason = "tests")]

mod create;
mod errors;
mod evidence;
mod fixtures;
mod projections;
mod queries;
mod resolve;
mod rules;
mod socket;
mod views;
