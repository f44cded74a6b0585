//! HITL from the outside: an agent before services that behave and services that do not, and a
//! service before the real server.
#![expect(clippy::unwrap_used, reason = "tests")]

mod agent;
mod fake;
mod real;
mod server;
mod service;
mod streams;
