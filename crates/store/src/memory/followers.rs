//! Positions of followers, in a map.

use std::time::Duration;

use async_trait::async_trait;
use kernel::Time;
use kernel::audit::RecordRow;
use ulid::Ulid;

use super::Memory;
use crate::followers::{FollowerAdvance, FollowerStore};
use crate::{AuditFeed, FeedQuery, Result};

#[async_trait]
impl FollowerStore for Memory {
    async fn follower(&self, name: &'static str) -> Result<u64> {
        Ok(self.state().followers.get(name).copied().unwrap_or(0))
    }

    async fn events_after(&self, position: u64, limit: usize) -> Result<Vec<RecordRow>> {
        self.rows(FeedQuery::After(position), limit).await
    }

    async fn advance(&self, step: FollowerAdvance) -> Result<bool> {
        let mut state = self.state();
        let position = state.followers.entry(step.follower).or_default();
        if *position != step.from {
            return Ok(false);
        }
        *position = step.to;
        for (at, work) in step.work {
            if !state.has_waiting(&work) {
                state.put_work(work, at);
            }
        }
        Ok(true)
    }

    async fn acquire_lead(&self, _: &'static str, _: Ulid, _: Time, _: Duration) -> Result<bool> {
        Ok(true)
    }
}
