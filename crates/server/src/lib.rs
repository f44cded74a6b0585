//! The outermost layer of Countersign and its one binary: HTTP, the command line, settings, and the
//! workers that notify people. What it serves is in the crate [`gateway`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`http`] | every route; each dialect in its own file, each error in its own shape |
//! | [`channels`] | how people learn that something waits |
//! | [`reach`] | getting notices through to people, by whatever means they have |
//! | [`push`] | people's devices, told through the push services of their browsers |
//! | [`callbacks`], [`webhooks`] | calls to agents and to endpoints |
//! | [`workers`] | deadlines, deliveries, blocks, the index of words, housekeeping |
//! | `command` | commands of the operator's |
//! | [`config`], [`telemetry`] | settings, logs |
//! | [`serve`], [`listener`], [`connections`] | starting, stopping, accepting connections |
//! | [`cli`] | the `countersign` command |
//! | [`script`] | scripted people, for testing agents |
//! | [`spelling`] | names of several words in both spellings |

pub mod callbacks;
pub mod channels;
pub mod cli;
mod command;
pub mod config;
pub mod connections;
pub mod http;
pub mod listener;
pub mod push;
pub mod reach;
pub mod script;
pub mod serve;
pub mod spelling;
pub mod telemetry;
pub mod webhooks;
pub mod workers;
