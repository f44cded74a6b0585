//! The side table, in a map.

use async_trait::async_trait;
use kernel::{Ask, Time};

use super::Memory;
use super::state::MemoryState;
use crate::Result;
use crate::side::{SideCondition, SideKind, SideRow, SideSelection, SideStore};

#[async_trait]
impl SideStore for Memory {
    async fn put_side(&self, row: SideRow, condition: SideCondition) -> Result<bool> {
        let mut state = self.state();
        let key = (row.kind, row.key.clone());
        let before = state.side.get(&key).map(|row| row.version);
        let holds = match condition {
            SideCondition::Always => true,
            SideCondition::Absent => before.is_none(),
            SideCondition::Version(version) => before == Some(version),
            SideCondition::AskOpen => {
                row.ask.is_some_and(|ask| state.asks.get(&ask).is_some_and(Ask::is_open))
            }
            SideCondition::FewerThan(most) => {
                let other = |(kind, key): &(SideKind, String), other: &SideRow| {
                    *kind == row.kind && *key != row.key && other.human == row.human
                };
                state.side.iter().filter(|(key, row)| other(key, row)).count() < most
            }
        };
        if holds {
            let version = before.unwrap_or(0) + 1;
            state.side.insert(key, SideRow { version, ..row });
        }
        Ok(holds)
    }

    async fn side(&self, kind: SideKind, rows: SideSelection) -> Result<Vec<SideRow>> {
        let state = self.state();
        Ok(state.side.values().filter(|row| chosen(row, kind, &rows)).cloned().collect())
    }

    async fn delete_side(&self, rows: Vec<(SideKind, SideSelection)>) -> Result<Vec<u64>> {
        let mut state = self.state();
        let delete = |(kind, rows): (SideKind, SideSelection)| {
            let before = state.side.len();
            state.side.retain(|_, row| !chosen(row, kind, &rows));
            (before - state.side.len()) as u64
        };
        Ok(rows.into_iter().map(delete).collect())
    }
}

fn chosen(row: &SideRow, kind: SideKind, rows: &SideSelection) -> bool {
    row.kind == kind
        && match rows {
            SideSelection::Key(key) => row.key == *key,
            SideSelection::Prefix(prefix) => row.key.starts_with(prefix),
            SideSelection::Asks(asks) => row.ask.is_some_and(|ask| asks.contains(&ask)),
            SideSelection::Humans(humans) => {
                row.human.as_ref().is_some_and(|one| humans.contains(one))
            }
        }
}

impl MemoryState {
    /// Deletes expired rows.
    pub(super) fn sweep_side(&mut self, now: Time) {
        self.side.retain(|_, row| row.expires_at.is_none_or(|until| until > now));
    }
}
