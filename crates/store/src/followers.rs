//! Followers of the feed: how far each has come, and the work it writes.
//!
//! A follower reads committed events, in order, and turns them into work. It writes its position
//! and the work of the events up to there in one commit, so each event becomes work exactly once,
//! wherever the process dies.

use std::time::Duration;

use async_trait::async_trait;
use kernel::Time;
use kernel::audit::RecordRow;
use ulid::Ulid;

use crate::{Result, Work};

/// The follower that notifies people, webhook endpoints and agents, and deletes files.
pub const DELIVERIES: &str = "deliveries";

/// One step of a follower.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowerAdvance {
    /// The name of the follower.
    pub follower: &'static str,
    /// The position it was at.
    pub from: u64,
    /// The position of the last event that it handled.
    pub to: u64,
    /// The work that follows from these events, and from when on it is due. Work with a
    /// [name](Work::name) under which something waits already is not written again.
    pub work: Vec<(Time, Work)>,
}

/// Positions of followers.
#[async_trait]
pub trait FollowerStore: Send + Sync {
    /// The position up to which a follower has handled the feed.
    async fn follower(&self, name: &'static str) -> Result<u64>;

    /// The records after a position as they are stored, at most `limit`, for a follower that has to
    /// read them back. Afterwards the [directory](crate::Store::directory) is at least as new as
    /// they are.
    async fn events_after(&self, position: u64, limit: usize) -> Result<Vec<RecordRow>>;

    /// Moves a follower on and writes its work, in one commit. `false`, and nothing changed, if the
    /// follower is not at [`FollowerAdvance::from`]: another node has moved it.
    async fn advance(&self, step: FollowerAdvance) -> Result<bool>;

    /// Makes a node the one that runs a follower until `now + lease`, or extends that. `false` if
    /// another node runs it, which only a database shared by several nodes can report.
    async fn acquire_lead(
        &self,
        name: &'static str,
        node: Ulid,
        now: Time,
        lease: Duration,
    ) -> Result<bool>;
}
