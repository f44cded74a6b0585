//! Up to which block the chain was anchored elsewhere.

use async_trait::async_trait;

use super::{Side, SideCondition, SideKind, SideRow, read, row};
use crate::Result;
use crate::rows::state;

/// There is one row at most.
const KEY: &str = "blocks";

/// Nothing here is an event: it says how far a command outside has come.
#[async_trait]
pub trait Anchors: Side {
    /// Up to which block the chain was anchored elsewhere; `None` if that never began.
    async fn anchored(&self) -> Result<Option<u64>> {
        let found = row(self, SideKind::Anchor, KEY.to_owned()).await?;
        found.map(|row| read("anchor", &row.value)).transpose()
    }

    /// Remembers that every block up to `n` is anchored. Never goes back.
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

impl<S: Side + ?Sized> Anchors for S {}
