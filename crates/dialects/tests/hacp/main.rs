//! HACP 0.1 and HLP 0.2 as their callers meet them: bytes in, bytes out, no server between.
#![expect(clippy::unwrap_used, reason = "tests")]

mod audit;
mod errors;
mod leave;
mod mistakes;
mod read;
mod rpc;
mod runtime;
mod schemas;
mod stage;
mod versions;
mod views;
