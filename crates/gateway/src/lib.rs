//! The use cases of the gateway, without HTTP server types and without HTML: running commands, who may,
//! the server's own keys, receipts, the audit log, files, and waking those who wait.
//!
//! | module | what it holds |
//! |---|---|
//! | [`gateway`](mod@gateway) | ids, salts and actor around a command; reads that judge expiry; secret answers |
//! | [`quotas`] | counting what callers use, and refusing what is beyond a limit |
//! | [`wake`], [`streams`] | who waits for what, and how many streams a credential may have |
//! | [`auth`], [`jwt`], [`oidc`], [`passkeys`], [`login_rate_limit`] | from a credential to an actor |
//! | [`verification`] | who can prove that a person is there |
//! | [`installation`], [`database`] | what an installation keeps, and where |
//! | [`vault`], [`key_ring`], [`signing`], [`secrets`] | the server's own keys, and what is derived from them |
//! | [`receipts`], [`key_destruction`] | signed receipts; destroying the private half of a retired key |
//! | [`sealed_head`], [`feed_head`] | the newest block and the head of the feed, kept outside the database |
//! | [`audit`], [`task_history`] | checking, exporting and proving the audit log; tasks as they were |
//! | [`files`], [`blobs`], [`answer_files`] | where bytes are kept; artifacts; files that answer an ask |
//! | [`erasure`] | erasing people, tasks and artifacts (GDPR) |
//! | [`borrowed_bot_token`] | the token of an agent's own app, kept for one ask |
//! | [`insights`], [`csv_export`] | counts, and asks as CSV |
//! | [`readiness`], [`bootstrap`] | whether the store can be written; the first start |
//! | [`ssrf_guard`] | where calls may go |
//! | [`clock`], [`ids`] | the only places that read the clock and draw random numbers |

pub mod answer_files;
pub mod audit;
pub mod auth;
pub mod blobs;
pub mod bootstrap;
pub mod borrowed_bot_token;
pub mod clock;
pub mod csv_export;
pub mod database;
pub mod denied;
pub mod erasure;
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
pub mod sealed_head;
pub mod secrets;
pub mod signing;
pub mod ssrf_guard;
pub mod streams;
pub mod task_history;
pub mod vault;
pub mod verification;
pub mod wake;

pub use crate::gateway::{Considering, Gateway, REQUESTS, Terms};
