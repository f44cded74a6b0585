//! The outermost layer of Countersign and its one binary: HTTP, the command line, settings. The
//! crate [`gateway`] holds the use cases, the crate [`notify`] the work that follows a commit.
//!
//! | module | contents |
//! |---|---|
//! | [`http`] | every route; each dialect in its own file, each error in its own shape |
//! | [`workers`] | deadlines, retention, housekeeping, key changes |
//! | [`config`], [`telemetry`] | settings, logs |
//! | [`serve`], [`listener`], [`connections`] | starting, stopping, accepting connections |
//! | [`cli`] | the `countersign` command |
//! | [`script`] | scripted people, for testing agents |
//! | [`name_spelling`] | names of several words in both spellings |

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
