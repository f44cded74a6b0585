//! How much of everything, so that a run is bounded.

use std::time::Duration;

/// How long and how many.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) name: &'static str,
    /// Each side is measured this often, in turns, for this long.
    pub(crate) turns: u32,
    pub(crate) turn: Duration,
    /// Answers waited for, each way of waiting.
    pub(crate) wakes: usize,
    /// Agents that wait and do nothing.
    pub(crate) idle: usize,
    /// Asks that are open while others are made.
    pub(crate) open: usize,
    /// Asks that run out in the same second.
    pub(crate) expiries: usize,
    /// Webhooks that wait for one endpoint.
    pub(crate) webhooks: usize,
    /// People who can be asked, beside a directory of a few.
    pub(crate) people: usize,
    /// Messages that wait for one channel, and how many of them it takes in a second.
    pub(crate) messages: usize,
    pub(crate) limit: u32,
    /// Tasks, beside a store with a thousand; and what happened to the longest one.
    pub(crate) tasks: usize,
    pub(crate) events: usize,
    /// Messages whose counts are there, beside those of a thousand over the same days.
    pub(crate) counted: u64,
    /// How long a process is left alone before its memory is read.
    pub(crate) calm: Duration,
    /// Starts of the server.
    pub(crate) starts: usize,
}

impl Scale {
    /// What counts.
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
        tasks: 1_000_000,
        events: 10_000,
        counted: 10_000_000,
        calm: Duration::from_secs(2),
        starts: 10,
    };

    /// About a minute: shows what is broken, not what is slow.
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
        tasks: 30_000,
        events: 10_000,
        counted: 1_000_000,
        calm: Duration::from_secs(1),
        starts: 3,
    };

    /// Seconds, in a debug build too: shows that the driver itself still works.
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
        tasks: 1_500,
        events: 300,
        counted: 20_000,
        calm: Duration::from_millis(100),
        starts: 1,
    };
}
