//! Positions of followers.

use std::time::Duration;

use async_trait::async_trait;
use kernel::Time;
use kernel::audit::RecordRow;
use ulid::Ulid;

use super::Sqlite;
use super::statements::execute;
use crate::followers::{FollowerAdvance, FollowerStore};
use crate::sql::{self, values};
use crate::{AuditFeed, FeedQuery, Result};

#[async_trait]
impl FollowerStore for Sqlite {
    async fn follower(&self, name: &'static str) -> Result<u64> {
        sql::follower(self, name).await
    }

    async fn events_after(&self, position: u64, limit: usize) -> Result<Vec<RecordRow>> {
        self.rows(FeedQuery::After(position), limit).await
    }

    async fn advance(&self, step: FollowerAdvance) -> Result<bool> {
        self.in_writer(move |writing| {
            writing.atomically(|writing| {
                let sql = "UPDATE follower SET position = $3 WHERE name = $1 AND position = $2";
                let moved = values![step.follower, step.from, step.to];
                if execute(writing.conn(), sql, &moved)? == 0 {
                    return Ok(false);
                }
                writing.put_work(&step.work)?;
                Ok(true)
            })
        })
        .await
    }

    /// One process has the file open.
    async fn acquire_lead(&self, _: &'static str, _: Ulid, _: Time, _: Duration) -> Result<bool> {
        Ok(true)
    }
}
