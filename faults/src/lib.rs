//! A standing checker of durability: it starts the real binary, drives it over HTTP as its clients do,
//! injects faults, remembers every acknowledgement, and reports what does not hold afterwards.
//! `docs/reliability.md` says how to run it, ADR 0053 why it is built this way.
//!
//! | module | what it holds |
//! |---|---|
//! | [`history`] | what clients were told, as a flat list of events |
//! | [`check`] | the invariants, as a pure function of a history |
//! | [`report`] | the table and the report of a violation |
//! | [`load`], [`tasks`], [`receiver`], [`client`] | the clients: creators, answerers, observers, uploads, tasks, webhooks |
//! | [`node`], [`postgres`], [`proxy`], [`disk`], [`power`] | what faults are injected into |
//! | [`campaign`] | a run: which fault when, and what is read back in the end |

pub mod campaign;
pub mod check;
pub mod client;
pub mod dice;
pub mod disk;
pub mod history;
pub mod load;
pub mod node;
pub mod postgres;
pub mod power;
pub mod proxy;
pub mod receiver;
pub mod report;
pub mod tasks;
