//! The last block of the chain that was anchored outside the server.

use async_trait::async_trait;

use super::{SideCondition, SideKind, SideRow, SideStore, read, row};
use crate::Result;
use crate::columns::state;

/// There is at most one row.
const KEY: &str = "blocks";

/// Storage of the anchor position. It is not an event: it says how far an external
/// command has come.
#[async_trait]
pub trait AnchorStore: SideStore {
    /// The last anchored block; `None` if nothing was anchored yet.
    async fn anchored(&self) -> Result<Option<u64>> {
        let found = row(self, SideKind::Anchor, KEY.to_owned()).await?;
        found.map(|row| read("anchor", &row.value)).transpose()
    }

    /// Records that every block up to `n` is anchored. The number never decreases.
    async fn anchor(&self, n: u64) -> Result<()> {
        loop {
            let found = row(self, SideKind::Anchor, KEY.to_owned()).await?;
            let condition = match &found {
                Some(found) if read::<u64>("anchor", &found.value)? >= n => return Ok(()),
                Some(found) => SideCondition::Version(found.version),
                None => SideCondition::Absent,
            };
            let next = SideRow {
                kind: SideKind::Anchor,
                key: KEY.to_owned(),
                ask: None,
                human: None,
                version: 0,
                expires_at: None,
                value: state("anchor", &n)?.into_bytes(),
            };
            if self.put_side(next, condition).await? {
                return Ok(());
            }
        }
    }
}

impl<S: SideStore + ?Sized> AnchorStore for S {}
