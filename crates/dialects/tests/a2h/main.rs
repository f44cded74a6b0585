//! A2H as its callers meet it: bytes in, bytes out, no server between.
#![expect(clippy::unwrap_used, reason = "tests")]

mod channels;
mod conversations;
mod create;
mod errors;
mod fixtures;
mod humans;
mod messages;
mod respond;
mod views;
