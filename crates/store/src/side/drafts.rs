//! Answers that were begun and not sent.

use async_trait::async_trait;
use kernel::AskId;

use super::{Side, SideCondition, SideKind, SideRow, part, row};
use crate::Result;

/// Nothing here is an event. A draft is deleted in the transaction that ends its ask.
#[async_trait]
pub trait Drafts: Side {
    /// Keeps what somebody has entered and not sent yet, in place of what was kept for this ask
    /// before. `false`, and nothing is kept, unless the ask is there and open. What is kept is opaque:
    /// it comes encrypted.
    async fn put_draft(&self, ask: AskId, draft: Vec<u8>) -> Result<bool> {
        let row = SideRow {
            kind: SideKind::Draft,
            key: part(ask.ulid()),
            ask: Some(ask),
            human: None,
            version: 0,
            expires_at: None,
            value: draft,
        };
        self.put_side(row, SideCondition::AskOpen).await
    }

    /// The draft of an ask.
    async fn draft(&self, ask: AskId) -> Result<Option<Vec<u8>>> {
        Ok(row(self, SideKind::Draft, part(ask.ulid())).await?.map(|row| row.value))
    }
}

impl<S: Side + ?Sized> Drafts for S {}
