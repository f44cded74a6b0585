//! Secret answers, and bot tokens that are borrowed from an agent for one ask.

use std::time::Duration;

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::{AskId, Time};

use super::{SideCondition, SideKind, SideRow, SideSelection, SideStore, key_part, row};
use crate::{Result, later};

/// How long a secret can be read again after its first read, so that a lost response does
/// not lose it.
pub const SECRET_READABLE_FOR: Duration = Duration::from_mins(10);

/// Storage of secrets. None of these writes is an event. Secrets are opaque to the store: they are
/// encrypted, under the name that the answer gives them.
#[async_trait]
pub trait SecretStore: SideStore {
    /// Stores a secret of an ask, such as a borrowed bot token. The secret values of an answer are
    /// written by the [job](crate::Job) that answers.
    async fn put_secret(&self, ask: AskId, name: Digest, closed: Vec<u8>) -> Result<()> {
        self.put_side(secret_row(ask, name, closed), SideCondition::Always).await.map(drop)
    }

    /// A secret answer, for the agent. It expires [`SECRET_READABLE_FOR`] after the first read.
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

    /// A secret for the server's own use. Reading it here does not make it expire.
    async fn peek_secret(&self, ask: AskId, name: Digest) -> Result<Option<Vec<u8>>> {
        Ok(row(self, SideKind::Secret, key(ask, name)).await?.map(|row| row.value))
    }

    /// Deletes the secrets of an ask: all of them, or the one with this name.
    async fn delete_secrets(&self, ask: AskId, name: Option<Digest>) -> Result<()> {
        let rows = match name {
            Some(name) => SideSelection::Key(key(ask, name)),
            None => SideSelection::Asks(vec![ask]),
        };
        self.delete_side(vec![(SideKind::Secret, rows)]).await.map(drop)
    }
}

/// The row of an encrypted secret.
pub(crate) fn secret_row(ask: AskId, name: Digest, value: Vec<u8>) -> SideRow {
    SideRow {
        kind: SideKind::Secret,
        key: key(ask, name),
        ask: Some(ask),
        human: None,
        version: 0,
        expires_at: None,
        value,
    }
}

impl<S: SideStore + ?Sized> SecretStore for S {}

fn key(ask: AskId, name: Digest) -> String {
    format!("{}/{name}", key_part(ask.ulid()))
}
