//! Chains with their current states.

use std::collections::BTreeMap;

use kernel::audit::RecordRow;

use super::state::{MemoryState, json, row};
use crate::{ChainPage, StoredState};

impl MemoryState {
    /// All states, as JSON, by name.
    fn states(&self) -> BTreeMap<String, StoredState> {
        let asks = self.asks.values().map(|ask| {
            (ask.id.to_string(), StoredState { version: ask.head.seq, state: json(ask) })
        });
        let entities = self.directory.subjects().filter_map(|subject| {
            let entity = self.directory.entity(&subject)?;
            let state = StoredState { version: entity.head().seq, state: json(&entity) };
            Some((subject.to_string(), state))
        });
        let tasks = self.tasks.values().map(|task| {
            (task.id.to_string(), StoredState { version: task.head.seq, state: json(task) })
        });
        let artifacts = self.artifacts.values().map(|made| {
            (made.id.to_string(), StoredState { version: made.head.seq, state: json(made) })
        });
        let entries = self.entries.values().map(|entry| {
            (entry.id.to_string(), StoredState { version: entry.head.seq, state: json(entry) })
        });
        asks.chain(entities).chain(tasks).chain(artifacts).chain(entries).collect()
    }

    pub(super) fn chains(&self, after: Option<&str>, limit: usize) -> ChainPage {
        let behind = |name: &str| after.is_none_or(|after| name > after);
        let mut rows: Vec<RecordRow> =
            self.records.iter().enumerate().map(|(place, record)| row(place, record)).collect();
        rows.retain(|row| behind(&row.subject));
        rows.sort_by(|a, b| (&a.subject, a.seq).cmp(&(&b.subject, b.seq)));
        let whole = |n: &usize| match (rows.get(n - 1), rows.get(*n)) {
            (Some(last), Some(next)) => last.subject != next.subject,
            (_, None) | (None, _) => true,
        };
        let end = (limit.max(1)..rows.len()).find(whole).unwrap_or(rows.len());
        let more = end < rows.len();
        rows.truncate(end);
        let next = rows.last().filter(|_| more).map(|last| last.subject.clone());
        let mut states = self.states();
        states.retain(|name, _| behind(name) && next.as_ref().is_none_or(|next| name <= next));
        ChainPage::join(rows, states.into_iter().collect(), next)
    }
}
