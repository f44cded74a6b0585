//! Mail as it really comes: emails of the kinds that email clients write, and real mail servers
//! (Exim and Dovecot) that carry them. Those run on loopback, from a folder that goes with the
//! test.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod emails;
mod handlers;
mod imap;
mod listener;
mod script;
mod servers;
mod tls;
