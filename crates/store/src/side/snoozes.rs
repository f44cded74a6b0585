//! Asks that people have snoozed.

use async_trait::async_trait;
use kernel::{AskId, HumanId, Time};

use super::{SideCondition, SideKind, SideRow, SideSelection, SideStore, key_part};
use crate::Result;

/// The most asks a person may snooze at once: every list of the person reads all of them.
pub const MOST_SNOOZED: usize = 500;

/// Storage of snoozes. None of these writes is an event, because they concern only one person.
#[async_trait]
pub trait SnoozeStore: SideStore {
    /// Hides an ask from a person's own lists until the given time, or shows it again. Returns
    /// `false` and stores nothing if the person has [`MOST_SNOOZED`] already.
    async fn snooze(&self, human: HumanId, ask: AskId, until: Option<Time>) -> Result<bool> {
        let key = format!("{human}/{}", key_part(ask.ulid()));
        let Some(until) = until else {
            self.delete_side(vec![(SideKind::Snooze, SideSelection::Key(key))]).await?;
            return Ok(true);
        };
        let row = SideRow {
            kind: SideKind::Snooze,
            key,
            ask: Some(ask),
            human: Some(human),
            version: 0,
            expires_at: Some(until),
            value: Vec::new(),
        };
        self.put_side(row, SideCondition::FewerThan(MOST_SNOOZED)).await
    }

    /// All asks a person has snoozed at `now`, with the end of the snooze; soonest first.
    async fn snoozed(&self, human: HumanId, now: Time) -> Result<Vec<(AskId, Time)>> {
        let rows = self.side(SideKind::Snooze, SideSelection::Humans(vec![human])).await?;
        let hidden = |row: SideRow| row.ask.zip(row.expires_at.filter(|until| *until > now));
        let mut snoozed: Vec<(AskId, Time)> = rows.into_iter().filter_map(hidden).collect();
        snoozed.sort_unstable_by_key(|(ask, until)| (*until, *ask));
        Ok(snoozed)
    }
}

impl<S: SideStore + ?Sized> SnoozeStore for S {}
