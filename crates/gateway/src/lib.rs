//! The use cases of the gateway, without HTTP server types and without HTML: commands,
//! authentication, the server's own keys, receipts, the audit log, files, and waking waiters.
//!
//! | module | contents |
//! |---|---|
//! | [`gateway`](mod@gateway) | ids, salts and actor around a command; reads that check for expiry; secret answers |
//! | [`quotas`] | counts what callers use, and refuses calls beyond a limit |
//! | [`waiters`], [`streams`] | who waits for which change, and how many streams a credential may open |
//! | [`auth`], [`jwt`], [`oidc`], [`passkeys`], [`login_rate_limit`] | from a credential to an actor |
//! | [`sessions`], [`sealed_values`] | idle browser sessions; values that a browser carries |
//! | [`cli_login`] | signing in on the command line with the keys of the installation |
//! | [`verification`] | providers that can prove that a person is present |
//! | [`installation`], [`database`] | the data of an installation, and where it is |
//! | [`vault`], [`key_ring`], [`signing`], [`secrets`] | the server's own keys, and secrets derived from them |
//! | [`receipts`], [`key_destruction`] | signed receipts; destroying the private half of a retired key |
//! | [`sealed_head`], [`feed_head`] | the newest block and the head of the feed, kept outside the database |
//! | [`audit`], [`task_history`] | verifying, exporting and proving the audit log; earlier states of tasks |
//! | [`files`], [`blobs`], [`answer_files`] | storage of bytes; artifacts; files that answer an ask |
//! | [`data_eraser`] | erasing people, tasks and artifacts (GDPR) |
//! | [`borrowed_bot_token`] | the token of an agent's own app, stored for one ask |
//! | [`runtime_contracts`] | contracts for the runtimes of agents, as HACP events |
//! | [`insights`], [`csv_export`] | counts, and asks as CSV |
//! | [`readiness`], [`bootstrap`] | whether the store can be written; the first start |
//! | [`ssrf_guard`] | which hosts the server may call |
//! | [`clock`], [`ids`] | the only places that read the clock and generate random values |

pub mod answer_files;
pub mod audit;
pub mod auth;
pub mod auth_error;
pub mod blobs;
pub mod bootstrap;
pub mod borrowed_bot_token;
pub mod cli_login;
pub mod clock;
pub mod csv_export;
pub mod data_eraser;
pub mod database;
pub mod feed_head;
pub mod files;
pub mod gateway;
pub mod ids;
pub mod insights;
pub mod installation;
pub mod jwt;
pub mod key_destruction;
pub mod key_ring;
pub mod login_rate_limit;
pub mod oidc;
pub mod passkeys;
pub mod quotas;
pub mod readiness;
pub mod receipts;
pub mod runtime_contracts;
pub mod sealed_head;
pub mod sealed_values;
pub mod secrets;
pub mod sessions;
pub mod signing;
pub mod ssrf_guard;
pub mod streams;
pub mod task_history;
pub mod vault;
pub mod verification;
pub mod waiters;

pub use crate::gateway::{CommandCheck, CommandConditions, DATABASE_USER, Gateway};
