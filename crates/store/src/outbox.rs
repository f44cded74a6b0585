//! Work that was committed and is to be done outside, in lanes, and the log of what endpoints were told.
//!
//! A lane is whatever deliveries wait for one another: people's notices are one, each endpoint is one.
//! Whoever works a lane off claims from it alone, so that nobody waits for somebody else's endpoint.

use std::time::Duration;

use async_trait::async_trait;
use kernel::ask::CallbackResult;
use kernel::effect::Told;
use kernel::{Effect, Time, WebhookId};
use serde::{Deserialize, Serialize};

use crate::Result;

/// Work claimed from the outbox, to be settled before the lease ends or it is claimed again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id.
    pub id: u64,
    /// What to do.
    pub effect: Effect,
    /// How often it was claimed, this time included.
    pub attempt: u32,
    /// When it was written.
    pub written_at: Time,
}

/// What became of a claimed delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// Done; the row goes.
    Done,
    /// Done; the row goes, and these come in its place, each to be tried by itself. What has a
    /// [name](Effect::name) under which something waits already is not written again.
    Split {
        /// What is to be done, from when on.
        into: Vec<(Time, Effect)>,
    },
    /// Failed; try again at this moment.
    Retry {
        /// When.
        at: Time,
        /// What went wrong.
        error: String,
    },
    /// Not tried, or not now: the row waits until this moment, and the claim does not count.
    Back {
        /// When.
        at: Time,
    },
    /// Given up; the row stays and shows.
    Dead {
        /// What went wrong.
        error: String,
    },
}

/// How much waits in the outbox, each figure counted up to [`BACKLOG_COUNTED`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Waiting or claimed.
    pub waiting: u64,
    /// Given up, here and in the log of what endpoints were told.
    pub dead: u64,
}

/// A backlog of this many is told as this many: no query scans what grows without bound.
pub const BACKLOG_COUNTED: u64 = 100_000;

/// How long the log of what endpoints were told is kept, counted from the last attempt.
pub const LOG_DAYS: u64 = 30;
/// So many attempts of one delivery are remembered, the newest.
pub const MOST_ATTEMPTS: usize = 20;

/// What an endpoint was told, or is to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// Which endpoint.
    pub webhook: WebhookId,
    /// What.
    pub told: Told,
    /// How that stands.
    pub status: Standing,
    /// The delivery that waits, if one does.
    pub delivery: Option<u64>,
    /// When it is tried next.
    pub next_at: Option<Time>,
    /// What came of each attempt, oldest first.
    pub attempts: Vec<Attempt>,
    /// When anything last became of it.
    pub updated_at: Time,
}

/// How a delivery to an endpoint stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is tried again.
    Waiting,
    /// It was taken.
    Done,
    /// It was given up.
    Dead,
}

impl Standing {
    /// Every way it may stand.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Done, Self::Dead];

    /// How it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }
}

/// One attempt to tell an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// When.
    pub at: Time,
    /// What came of it.
    #[serde(flatten)]
    pub result: CallbackResult,
    /// The beginning of what the endpoint answered, if it did not take it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// What is to be noted of a delivery that is settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Which endpoint.
    pub webhook: WebhookId,
    /// What it was told.
    pub told: Told,
    /// How that stands now.
    pub status: Standing,
    /// The delivery.
    pub delivery: u64,
    /// When it is tried next.
    pub next_at: Option<Time>,
    /// What came of it, if it was tried.
    pub attempt: Option<Attempt>,
    /// The moment.
    pub at: Time,
}

impl Entry {
    /// What the log says with this in it.
    pub(crate) fn onto(self, before: Option<Logged>) -> Logged {
        let mut attempts = before.map_or_else(Vec::new, |before| before.attempts);
        attempts.extend(self.attempt);
        let spare = attempts.len().saturating_sub(MOST_ATTEMPTS);
        attempts.drain(..spare);
        Logged {
            webhook: self.webhook,
            told: self.told,
            status: self.status,
            delivery: (self.status == Standing::Waiting).then_some(self.delivery),
            next_at: self.next_at.filter(|_| self.status == Standing::Waiting),
            attempts,
            updated_at: self.at,
        }
    }
}

impl Logged {
    /// The work that tells it once more.
    pub(crate) fn again(&self) -> Effect {
        Effect::Tell { webhook: self.webhook, told: self.told.clone() }
    }

    /// How it stands once that work is written.
    pub(crate) fn awaiting(self, delivery: u64, now: Time) -> Self {
        let delivery = Some(delivery);
        Self { status: Standing::Waiting, delivery, next_at: Some(now), updated_at: now, ..self }
    }
}

/// A part of the log of one endpoint, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogQuery {
    /// Which endpoint.
    pub webhook: WebhookId,
    /// Only what stands so.
    pub status: Option<Standing>,
    /// What comes after this one, by the moment of its event and its id.
    pub after: Option<(Time, String)>,
    /// At most so many.
    pub limit: usize,
}

impl LogQuery {
    /// Each is a range of one index; the log is where they meet.
    pub(crate) fn statuses(&self) -> Vec<Standing> {
        self.status.map_or_else(|| Standing::ALL.to_vec(), |status| vec![status])
    }

    /// Where it begins: what comes is older.
    pub(crate) fn place(&self) -> (i64, &str) {
        self.after.as_ref().map_or((i64::MAX, ""), |(at, message)| (at.millis(), message))
    }

    /// The newest of what was found in each.
    pub(crate) fn newest(&self, mut found: Vec<Logged>) -> Vec<Logged> {
        found.sort_by(|one, other| {
            (other.told.at, &other.told.id).cmp(&(one.told.at, &one.told.id))
        });
        found.truncate(self.limit);
        found
    }
}

/// What was last touched at this moment or earlier leaves the log at `now`.
pub(crate) fn unlogged_before(now: Time) -> Time {
    let millis = i64::try_from(LOG_DAYS).unwrap_or(i64::MAX).saturating_mul(86_400_000);
    Time::from_millis(now.millis().saturating_sub(millis))
}

/// The outbox of a store.
#[async_trait]
pub trait Outbox: Send + Sync + 'static {
    /// Claims up to `limit` deliveries of one lane that are due at `now`, until `now + lease`: people's
    /// most urgent first, any other in order of time.
    async fn claim(
        &self,
        lane: &str,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<Delivery>>;

    /// The lanes after `after` in which something waits, by name, each with whether something of it can
    /// be claimed at `now`; at most `limit`. People's own, [`Effect::PEOPLE`], is before all others.
    async fn lanes(&self, after: &str, now: Time, limit: usize) -> Result<Vec<(String, bool)>>;

    /// Settles claimed deliveries, by id, and notes what endpoints were told, all in one commit.
    /// Settling one whose lease ended and that somebody else settled is harmless.
    async fn settle(&self, settled: Vec<(u64, Settlement)>, log: Vec<Entry>) -> Result<()>;

    /// Has something done now: what waits under its [name](Effect::name) is due at once and is this from
    /// now on; where nothing does, it is written.
    async fn hasten(&self, effect: Effect, now: Time) -> Result<()>;

    /// How much waits.
    async fn backlog(&self) -> Result<Backlog>;

    /// What an endpoint was told, newest first.
    async fn logged(&self, wanted: LogQuery) -> Result<Vec<Logged>>;

    /// Has an endpoint told once more what it was told under this id: at once, whether it was taken,
    /// given up or still waits. `None` if nothing of that kind is in the log.
    async fn redeliver(&self, webhook: WebhookId, id: &str, now: Time) -> Result<Option<Logged>>;

    /// Forgets at most `limit` entries of the log of an endpoint that was removed; how many.
    async fn unlog(&self, webhook: WebhookId, limit: usize) -> Result<usize>;
}
