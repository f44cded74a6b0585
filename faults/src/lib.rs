//! A durability checker: it starts the real binary, drives it over HTTP as its clients do, injects
//! faults, records every acknowledgement, and reports violations. `docs/reliability.md` explains
//! how to run it, ADR 0053 why it is built this way.
//!
//! | module | contents |
//! |---|---|
//! | [`observations`] | the observations of clients, as a flat list |
//! | [`check`] | the invariants, as a pure function of the observations |
//! | [`report`] | the table and the report of a violation |
//! | [`load`], [`tasks`], [`receiver`], [`client`] | the clients: creators, answerers, observers, uploads, tasks, webhooks |
//! | [`node`], [`postgres`], [`proxy`], [`disk`], [`power_loss`] | the targets of faults |
//! | [`campaign`] | a run: the schedule of faults, and the final read |

pub mod campaign;
pub mod check;
pub mod client;
pub mod disk;
pub mod load;
pub mod node;
pub mod observations;
pub mod postgres;
pub mod power_loss;
pub mod proxy;
pub mod random;
pub mod receiver;
pub mod report;
pub mod tasks;
