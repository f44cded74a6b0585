//! Answers that people began and have not sent.

use async_trait::async_trait;
use kernel::AskId;

use super::{SideCondition, SideKind, SideRow, SideStore, key_part, row};
use crate::Result;

/// Storage of drafts. None of these writes is an event. A draft is deleted in the transaction that
/// ends its ask.
#[async_trait]
pub trait DraftStore: SideStore {
    /// Stores a draft, replacing the earlier one of this ask. Returns `false` and stores nothing
    /// unless the ask exists and is open. The draft is opaque to the store: it is encrypted.
    async fn put_draft(&self, ask: AskId, draft: Vec<u8>) -> Result<bool> {
        let row = SideRow {
            kind: SideKind::Draft,
            key: key_part(ask.ulid()),
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
        Ok(row(self, SideKind::Draft, key_part(ask.ulid())).await?.map(|row| row.value))
    }
}

impl<S: SideStore + ?Sized> DraftStore for S {}
