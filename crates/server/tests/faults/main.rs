//! What may go wrong around the real binary: one file per property. Everything runs on loopback,
//! in a folder of its own, and is bounded in number and time.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod agent;
mod artifacts;
mod bucket;
mod channels_later;
mod clock_back;
mod clock_jumps;
mod cluster;
mod database_killed;
mod delivered_later;
mod disk_full;
mod erased_person;
mod first_start;
mod followers;
mod held_answers;
mod hostile_input;
mod kill_nine;
mod load;
mod lost_log;
mod master_key;
mod migration;
mod one_winner;
#[path = "../../../store/tests/postgres/proxy.rs"]
mod proxy;
mod receiver;
mod repeated;
mod restart_timers;
mod rolling_restart;
mod sealing;
mod shutdown;
mod slow_database;
#[expect(dead_code, reason = "other tests need more of it")]
#[path = "../support/bucket.rs"]
mod store_of_files;
mod streams;
#[path = "../support/mod.rs"]
mod support;
mod tasks;
mod test_storage;
mod tls;
mod two_servers;
mod waiting;
mod webhooks_later;
