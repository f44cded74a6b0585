//! Mail as it really comes: letters of the kinds that mail programs write, and real mail servers
//! (Exim and Dovecot) that carry them. Those run on loopback, from a folder that goes with the test.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod ears;
mod imap;
mod letters;
mod listener;
mod script;
mod servers;
mod tls;
