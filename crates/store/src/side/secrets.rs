//! Secret answers, and bot tokens that agents lend for one ask.

use std::time::Duration;

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::{AskId, Time};

use super::{Side, SideCondition, SideKind, SideRow, SideRows, part, row};
use crate::{Result, later};

/// How long after its first reading a secret can be read again: a lost response must not lose it.
pub const SECRET_READABLE_FOR: Duration = Duration::from_mins(10);

/// Nothing here is an event. Secrets are opaque: they come encrypted, under the name the answer has
/// for them.
#[async_trait]
pub trait Secrets: Side {
    /// Keeps a secret, before the answer it belongs to is decided.
    async fn put_secret(&self, ask: AskId, name: Digest, closed: Vec<u8>) -> Result<()> {
        let row = SideRow {
            kind: SideKind::Secret,
            key: key(ask, name),
            ask: Some(ask),
            human: None,
            version: 0,
            expires_at: None,
            value: closed,
        };
        self.put_side(row, SideCondition::Always).await.map(drop)
    }

    /// A secret answer, for the agent. The first reading begins the time after which it is gone,
    /// [`SECRET_READABLE_FOR`].
    async fn read_secret(&self, ask: AskId, name: Digest, now: Time) -> Result<Option<Vec<u8>>> {
        loop {
            let found = row(self, SideKind::Secret, key(ask, name)).await?;
            let Some(mut found) = found else { return Ok(None) };
            if let Some(until) = found.expires_at {
                return Ok((until > now).then_some(found.value));
            }
            found.expires_at = Some(later(now, SECRET_READABLE_FOR));
            let version = SideCondition::Version(found.version);
            if self.put_side(found.clone(), version).await? {
                return Ok(Some(found.value));
            }
        }
    }

    /// A secret for the server's own use: no time begins, and it is there until it is deleted.
    async fn peek_secret(&self, ask: AskId, name: Digest) -> Result<Option<Vec<u8>>> {
        Ok(row(self, SideKind::Secret, key(ask, name)).await?.map(|row| row.value))
    }

    /// Deletes the secrets of an ask: all of them, or the one of this name.
    async fn delete_secrets(&self, ask: AskId, name: Option<Digest>) -> Result<()> {
        let rows = match name {
            Some(name) => SideRows::Key(key(ask, name)),
            None => SideRows::Asks(vec![ask]),
        };
        self.delete_side(vec![(SideKind::Secret, rows)]).await.map(drop)
    }
}

impl<S: Side + ?Sized> Secrets for S {}

fn key(ask: AskId, name: Digest) -> String {
    format!("{}/{name}", part(ask.ulid()))
}
