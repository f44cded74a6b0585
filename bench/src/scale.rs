//! The sizes of all measurements, so that a run is bounded.

use std::time::Duration;

/// The duration and size of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) name: &'static str,
    /// How often and for how long each side is measured, in turns.
    pub(crate) turns: u32,
    pub(crate) turn: Duration,
    /// The number of answers for each way of waiting.
    pub(crate) wakes: usize,
    /// The number of idle waiting agents.
    pub(crate) idle: usize,
    /// The number of open asks during creates.
    pub(crate) open: usize,
    /// The number of asks that expire in the same second.
    pub(crate) expiries: usize,
    /// The number of webhooks that wait for one endpoint.
    pub(crate) webhooks: usize,
    /// The number of people in the large directory.
    pub(crate) people: usize,
    /// The number of messages that wait for one channel, and how many it accepts per second.
    pub(crate) messages: usize,
    pub(crate) limit: u32,
    /// The number of critical notifications, and of queued ones of low priority beside them.
    pub(crate) critical: usize,
    pub(crate) low: usize,
    /// The number of tasks in the large store, and the number of events of the longest task.
    pub(crate) tasks: usize,
    pub(crate) events: usize,
    /// The number of counted messages in the large store.
    pub(crate) counted: u64,
    /// How long a process is idle before its memory is read.
    pub(crate) calm: Duration,
    /// The number of server starts.
    pub(crate) starts: usize,
}

impl Scale {
    /// The scale of published results.
    pub(crate) const FULL: Self = Self {
        name: "full",
        turns: 4,
        turn: Duration::from_millis(2_500),
        wakes: 3_000,
        idle: 10_000,
        open: 1_000_000,
        expiries: 100_000,
        webhooks: 10_000,
        people: 100_000,
        messages: 10_000,
        limit: 500,
        critical: 500,
        low: 100_000,
        tasks: 1_000_000,
        events: 10_000,
        counted: 10_000_000,
        calm: Duration::from_secs(2),
        starts: 10,
    };

    /// About a minute: shows failures, but not performance.
    pub(crate) const QUICK: Self = Self {
        name: "quick",
        turns: 2,
        turn: Duration::from_secs(1),
        wakes: 300,
        idle: 1_000,
        open: 30_000,
        expiries: 5_000,
        webhooks: 2_000,
        people: 20_000,
        messages: 2_000,
        limit: 500,
        critical: 100,
        low: 10_000,
        tasks: 30_000,
        events: 10_000,
        counted: 1_000_000,
        calm: Duration::from_secs(1),
        starts: 3,
    };

    /// Seconds, even in a debug build: shows that the benchmark itself works.
    pub(crate) const SMOKE: Self = Self {
        name: "smoke",
        turns: 1,
        turn: Duration::from_millis(200),
        wakes: 20,
        idle: 20,
        open: 300,
        expiries: 100,
        webhooks: 50,
        people: 1_200,
        messages: 50,
        limit: 100,
        critical: 10,
        low: 200,
        tasks: 1_500,
        events: 300,
        counted: 20_000,
        calm: Duration::from_millis(100),
        starts: 1,
    };
}
