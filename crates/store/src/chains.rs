//! The audit log by subject, as the verification reads it.

use std::str::FromStr;

use kernel::Subject;
use kernel::audit::RecordRow;

/// A part of the audit log by subject, as stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainPage {
    /// Complete chains, in the order of their subjects' names.
    pub chains: Vec<StoredChain>,
    /// The subject to continue after; `None` at the end.
    pub next: Option<String>,
}

/// One subject's records and its state at the same time. Neither is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChain {
    /// The subject's name as stored.
    pub subject: String,
    /// Its records in order; empty for a state without records.
    pub rows: Vec<RecordRow>,
    /// Its state, if it has one.
    pub state: Option<StoredState>,
}

/// A state as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredState {
    /// The version column of the row.
    pub version: u64,
    /// JSON: of an [`Ask`](kernel::Ask), a [`Task`](kernel::Task), an
    /// [`Artifact`](kernel::task::Artifact) or an [`Entry`](kernel::task::Entry); of anything
    /// else an [`Entity`](kernel::Entity).
    pub state: String,
}

impl ChainPage {
    /// Joins rows and states; both are ordered by name.
    pub(crate) fn join(
        rows: Vec<RecordRow>,
        states: Vec<(String, StoredState)>,
        next: Option<String>,
    ) -> Self {
        let mut chains: Vec<StoredChain> = Vec::new();
        let mut states = states.into_iter().peekable();
        let alone =
            |(subject, state)| StoredChain { subject, rows: Vec::new(), state: Some(state) };
        for row in rows {
            if let Some(chain) = chains.last_mut()
                && chain.subject == row.subject
            {
                chain.rows.push(row);
                continue;
            }
            while let Some(state) = states.next_if(|(subject, _)| *subject < row.subject) {
                chains.push(alone(state));
            }
            let state =
                states.next_if(|(subject, _)| *subject == row.subject).map(|(_, state)| state);
            chains.push(StoredChain { subject: row.subject.clone(), rows: vec![row], state });
        }
        chains.extend(states.map(alone));
        Self { chains, next }
    }
}

/// The subject to stop after, before reading `next`: at a boundary between two subjects once there
/// are `limit` rows, and only if the subject's name can be parsed, because many names are turned
/// into ids to find their states.
pub(crate) fn stop(rows: &[RecordRow], next: &RecordRow, limit: usize) -> Option<String> {
    let last = rows.last().filter(|last| rows.len() >= limit && last.subject != next.subject)?;
    last.subject.parse::<Subject>().is_ok().then(|| last.subject.clone())
}

/// The range of ids of one kind whose names come after `after`, up to and including `to`; `None` if
/// it is empty. All such names begin with the prefix of the kind, so other names sort before or
/// after all of them.
pub(crate) fn between<T: FromStr>(
    prefix: &str,
    after: Option<&str>,
    to: Option<&str>,
) -> Option<(Option<T>, Option<T>)> {
    let from = match after.map(|name| (name, name.parse())) {
        Some((_, Ok(id))) => Some(id),
        Some((name, Err(_))) if name >= prefix => return None,
        Some((_, Err(_))) | None => None,
    };
    let to = match to.map(|name| (name, name.parse())) {
        Some((_, Ok(id))) => Some(id),
        Some((name, Err(_))) if name < prefix => return None,
        Some((_, Err(_))) | None => None,
    };
    Some((from, to))
}
