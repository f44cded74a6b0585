//! The work that workers execute, in lanes, and the log of webhook deliveries.
//!
//! Work waits only for other work of its lane: the notifications of people are one lane, each
//! webhook endpoint is one. A worker claims from one lane at a time, so a slow endpoint delays only
//! its own deliveries.

use std::time::Duration;

use async_trait::async_trait;
use kernel::ask::CallbackResult;
use kernel::follow_up::WebhookMessage;
use kernel::{Time, WebhookId};
use serde::{Deserialize, Serialize};

use crate::{Result, Work};

/// Claimed work. It is claimed again if it is not settled before the lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedWork {
    /// The id of the row.
    pub id: u64,
    /// The work that the claiming worker executes.
    pub work: Work,
    /// How often it was claimed, this time included.
    pub attempt: u32,
    /// When the row was written.
    pub written_at: Time,
}

/// The result of claimed work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// Done; the row is deleted.
    Done,
    /// Done; the row is deleted and these are written in its place. Work is not written again if
    /// work with the same [name](Work::name) waits already.
    Split {
        /// The new work, and from when on it is due.
        into: Vec<(Time, Work)>,
    },
    /// Failed; it is tried again at this time.
    Retry {
        /// When it is tried again.
        at: Time,
        /// Why it failed.
        error: String,
    },
    /// Not tried. The row waits until this time, and the claim does not count as an attempt.
    Back {
        /// When it can be claimed again.
        at: Time,
    },
    /// The worker gave up. The row stays in the queue, marked as dead, and is not claimed again.
    Dead {
        /// Why it failed.
        error: String,
    },
}

/// How much work waits, each number counted up to [`BACKLOG_COUNTED`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Waiting or claimed.
    pub waiting: u64,
    /// Given up, in the queue and in the delivery log.
    pub dead: u64,
}

/// A larger backlog is reported as this many, because no query scans what grows without bound.
pub const BACKLOG_COUNTED: u64 = 100_000;

/// How long the delivery log is kept, counted from the last attempt.
pub const LOG_DAYS: u64 = 30;
/// The number of attempts of one delivery that are logged; the newest are kept.
pub const MOST_ATTEMPTS: usize = 20;

/// One entry of the log of webhook deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryLogEntry {
    /// The endpoint that receives the message.
    pub webhook: WebhookId,
    /// The message as data. The server renders its body when it sends it.
    #[serde(rename = "told")]
    pub message: WebhookMessage,
    /// The status of the delivery.
    pub status: WebhookDeliveryStatus,
    /// The id of the work that waits, if some does.
    pub delivery: Option<u64>,
    /// When the next attempt is due.
    pub next_at: Option<Time>,
    /// The attempts, oldest first.
    pub attempts: Vec<WebhookDeliveryAttempt>,
    /// When the entry last changed.
    pub updated_at: Time,
}

/// The status of a delivery to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookDeliveryStatus {
    /// It waits for the next attempt.
    Waiting,
    /// The endpoint accepted it.
    Done,
    /// It was given up.
    Dead,
}

impl WebhookDeliveryStatus {
    /// Every status. A query that names no status reads the log of all of them.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Done, Self::Dead];

    /// The name under which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }
}

/// One attempt to deliver to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookDeliveryAttempt {
    /// The time of the attempt.
    pub at: Time,
    /// Whether the endpoint accepted the message, refused it, or could not be reached.
    #[serde(flatten)]
    pub result: CallbackResult,
    /// The beginning of the response, if the endpoint did not accept the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// An attempt to be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLogUpdate {
    /// The endpoint that receives the message.
    pub webhook: WebhookId,
    /// The message that the attempt delivers.
    pub message: WebhookMessage,
    /// The status after the attempt.
    pub status: WebhookDeliveryStatus,
    /// The id of the work.
    pub delivery: u64,
    /// When the next attempt is due.
    pub next_at: Option<Time>,
    /// The attempt, if one was made.
    pub attempt: Option<WebhookDeliveryAttempt>,
    /// The time of the entry.
    pub at: Time,
}

impl DeliveryLogUpdate {
    /// The log entry with this attempt added.
    pub(crate) fn onto(self, before: Option<DeliveryLogEntry>) -> DeliveryLogEntry {
        let mut attempts = before.map_or_else(Vec::new, |before| before.attempts);
        attempts.extend(self.attempt);
        let spare = attempts.len().saturating_sub(MOST_ATTEMPTS);
        attempts.drain(..spare);
        DeliveryLogEntry {
            webhook: self.webhook,
            message: self.message,
            status: self.status,
            delivery: (self.status == WebhookDeliveryStatus::Waiting).then_some(self.delivery),
            next_at: self.next_at.filter(|_| self.status == WebhookDeliveryStatus::Waiting),
            attempts,
            updated_at: self.at,
        }
    }
}

impl DeliveryLogEntry {
    /// The work that delivers the message once more.
    pub(crate) fn again(&self) -> Work {
        Work::Webhook { webhook: self.webhook, message: self.message.clone() }
    }

    /// The entry once that work is written.
    pub(crate) fn awaiting(self, delivery: u64, now: Time) -> Self {
        let delivery = Some(delivery);
        Self {
            status: WebhookDeliveryStatus::Waiting,
            delivery,
            next_at: Some(now),
            updated_at: now,
            ..self
        }
    }
}

/// A query of the log of one endpoint, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLogQuery {
    /// The endpoint whose log is read.
    pub webhook: WebhookId,
    /// Only entries with this status.
    pub status: Option<WebhookDeliveryStatus>,
    /// Entries after this one, by the time of its event and its id.
    pub after: Option<(Time, String)>,
    /// The most entries to return.
    pub limit: usize,
}

impl DeliveryLogQuery {
    /// Each status is a range of one index; the results are merged.
    pub(crate) fn statuses(&self) -> Vec<WebhookDeliveryStatus> {
        self.status.map_or_else(|| WebhookDeliveryStatus::ALL.to_vec(), |status| vec![status])
    }

    /// The place before which the page begins: its entries are older.
    pub(crate) fn place(&self) -> (i64, &str) {
        self.after.as_ref().map_or((i64::MAX, ""), |(at, message)| (at.millis(), message))
    }

    /// The newest entries of all ranges.
    pub(crate) fn newest(&self, mut found: Vec<DeliveryLogEntry>) -> Vec<DeliveryLogEntry> {
        found.sort_by(|one, other| {
            (other.message.at, &other.message.id).cmp(&(one.message.at, &one.message.id))
        });
        found.truncate(self.limit);
        found
    }
}

/// Entries that last changed at this time or earlier are deleted at `now`.
pub(crate) fn unlogged_before(now: Time) -> Time {
    let millis = i64::try_from(LOG_DAYS).unwrap_or(i64::MAX).saturating_mul(86_400_000);
    Time::from_millis(now.millis().saturating_sub(millis))
}

/// The work queue of a store.
#[async_trait]
pub trait WorkQueue: Send + Sync + 'static {
    /// Claims up to `limit` rows of one lane that are due at `now`, until `now + lease`: in the
    /// lane of people by priority, in any other in order of time.
    async fn claim(
        &self,
        lane: &str,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<ClaimedWork>>;

    /// The lanes after `after` in which work waits, by name, each with whether some of it can be
    /// claimed at `now`; at most `limit`. The lane of people, [`Work::PEOPLE`], comes before all
    /// others.
    async fn lanes(&self, after: &str, now: Time, limit: usize) -> Result<Vec<(String, bool)>>;

    /// Settles claimed work, by id, and logs deliveries, all in one commit. Settling work whose
    /// lease ended and that another worker settled is harmless.
    async fn settle(
        &self,
        settled: Vec<(u64, Settlement)>,
        log: Vec<DeliveryLogUpdate>,
    ) -> Result<()>;

    /// Makes work due now: it replaces waiting work with the same [name](Work::name); if none
    /// waits, it is written.
    async fn make_due(&self, work: Work, now: Time) -> Result<()>;

    /// How much work waits.
    async fn backlog(&self) -> Result<Backlog>;
}

/// The log of webhook deliveries.
#[async_trait]
pub trait DeliveryLog: Send + Sync {
    /// The delivery log of an endpoint, newest first.
    async fn delivery_log(&self, wanted: DeliveryLogQuery) -> Result<Vec<DeliveryLogEntry>>;

    /// Delivers a logged message to an endpoint once more: at once, whether it was accepted, given
    /// up or still waits. `None` if the log has no such message.
    async fn redeliver(
        &self,
        webhook: WebhookId,
        id: &str,
        now: Time,
    ) -> Result<Option<DeliveryLogEntry>>;

    /// Deletes at most `limit` log entries of a removed endpoint. Returns how many.
    async fn clear_delivery_log(&self, webhook: WebhookId, limit: usize) -> Result<usize>;
}
