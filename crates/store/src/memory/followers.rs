//! Positions of followers, in a map.

use std::time::Duration;

use async_trait::async_trait;
use kernel::Time;
use kernel::audit::Row;
use ulid::Ulid;

use super::Memory;
use crate::followers::{Advance, Followers};
use crate::{AuditFeed, FeedQuery, Result};

#[async_trait]
impl Followers for Memory {
    async fn follower(&self, name: &'static str) -> Result<u64> {
        Ok(self.state().followers.get(name).copied().unwrap_or(0))
    }

    async fn events_after(&self, position: u64, limit: usize) -> Result<Vec<Row>> {
        self.rows(FeedQuery::After(position), limit).await
    }

    async fn advance(&self, step: Advance) -> Result<bool> {
        let mut state = self.state();
        let position = state.followers.entry(step.follower).or_default();
        if *position != step.from {
            return Ok(false);
        }
        *position = step.to;
        for (at, work) in step.work {
            if !state.waits(&work) {
                state.put_work(work, at);
            }
        }
        Ok(true)
    }

    async fn lead(&self, _: &'static str, _: Ulid, _: Time, _: Duration) -> Result<bool> {
        Ok(true)
    }
}
