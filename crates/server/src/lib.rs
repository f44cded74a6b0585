//! The imperative shell of Countersign and its one binary.
//!
//! | module | what it holds |
//! |---|---|
//! | [`gateway`] | the door to the kernel: ids, salts and actor around a command |
//! | [`http`] | every route; each dialect in its own file, each error in its own shape |
//! | [`web`] | pages people read and answer on: pure rendering |
//! | [`channels`], [`mail`] | how people learn that something waits; mail over SMTP |
//! | [`workers`] | deadlines, deliveries, blocks, the index of words, housekeeping |
//! | [`audit`] | checking the record, exporting it, proving one event of it |
//! | [`table`] | asks as CSV |
//! | [`wake`], [`streams`] | who waits for what, and how many may |
//! | [`auth`], [`jwt`], [`passkeys`], [`oidc`] | from a credential to an actor |
//! | [`knocks`] | how often somebody may try to sign in |
//! | [`home`] | what an installation keeps, and where |
//! | [`vault`], [`secrets`], [`signing`] | the server's own keys, and what is done with them |
//! | `erasing` | erasing people, tasks and artifacts (GDPR) |
//! | [`mark`], [`feed_head`] | the newest block and the head of the feed, kept outside the database |
//! | [`readiness`] | whether the store can be written |
//! | [`files`] | uploads |
//! | [`reach`] | getting notices through to people, by whatever means they have |
//! | [`push`] | people's devices, told through the push services of their browsers |
//! | `command` | commands of the operator's |
//! | [`config`], [`telemetry`] | settings, logs |
//! | [`serve`], [`bootstrap`] | starting, and who there is on the first start |
//! | [`cli`] | the `countersign` command |
//! | [`script`] | scripted people, for testing agents |
//! | [`clock`], [`ids`] | the only places that read the clock and draw random numbers |

pub mod audit;
pub mod auth;
pub mod blobs;
pub mod bootstrap;
pub mod callbacks;
pub mod channels;
pub mod cli;
pub mod clock;
mod command;
mod confided;
pub mod config;
pub mod connections;
mod erasing;
pub mod feed_head;
pub mod files;
pub mod gateway;
pub mod home;
pub mod http;
pub mod ids;
pub mod insights;
pub mod jwt;
pub mod knocks;
mod lent;
pub mod listener;
pub mod mail;
pub mod mark;
pub mod oidc;
pub mod passkeys;
mod prepare;
pub mod push;
pub mod quotas;
pub mod reach;
pub mod readiness;
pub mod script;
pub mod secrets;
pub mod serve;
pub mod signing;
pub mod span;
pub mod spelling;
pub mod streams;
pub mod table;
mod tasks;
pub mod telemetry;
pub mod vault;
pub mod verification;
pub mod wake;
pub mod web;
pub mod webhooks;
pub mod workers;
