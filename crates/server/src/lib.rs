//! The outermost layer of Countersign and its one binary: HTTP, the command line, settings. What it serves is
//! in the crate [`gateway`]; what happens after a commit is in the crate [`notify`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`http`] | every route; each dialect in its own file, each error in its own shape |
//! | [`workers`] | deadlines, retention, housekeeping, key changes |
//! | [`config`], [`telemetry`] | settings, logs |
//! | [`serve`], [`listener`], [`connections`] | starting, stopping, accepting connections |
//! | [`cli`] | the `countersign` command |
//! | [`script`] | scripted people, for testing agents |
//! | [`spelling`] | names of several words in both spellings |

pub mod cli;
pub mod config;
pub mod connections;
pub mod http;
pub mod listener;
pub mod name_spelling;
pub mod script;
pub mod serve;
pub mod telemetry;
pub mod workers;
