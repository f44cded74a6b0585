//! HACP 0.1 and HLP 0.2 as their callers meet them: bytes in, bytes out, no server between.
#![expect(clippy::unwrap_used, reason = "tests")]

mod audit;
mod errors;
mod fixtures;
mod mistakes;
mod permissions;
mod read;
mod rpc;
mod runtime;
mod schemas;
mod versions;
mod views;
