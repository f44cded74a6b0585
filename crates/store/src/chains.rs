//! The record by subject: what a check of it reads.

use std::str::FromStr;

use kernel::Subject;
use kernel::audit::Row;

/// Part of the record by subject, as it lies there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chains {
    /// Whole chains, in the order of their subjects' names.
    pub chains: Vec<Chain>,
    /// What to go on behind; `None` at the end.
    pub next: Option<String>,
}

/// One subject's records and its state of the same moment, nothing of it checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Its name as it lies there.
    pub subject: String,
    /// Its records in order; none for a state that nothing led to.
    pub rows: Vec<Row>,
    /// Its state, if it has one.
    pub state: Option<Held>,
}

/// A state as it lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Which version the row says it is.
    pub version: u64,
    /// JSON: of an [`Ask`](kernel::Ask), a [`Task`](kernel::Task), an
    /// [`Artifact`](kernel::task::Artifact) or an [`Entry`](kernel::task::Entry); of anything else an
    /// [`Entity`](kernel::Entity).
    pub state: String,
}

impl Chains {
    /// Puts rows and states together; both are in the order of names.
    pub(crate) fn join(rows: Vec<Row>, held: Vec<(String, Held)>, next: Option<String>) -> Self {
        let mut chains: Vec<Chain> = Vec::new();
        let mut held = held.into_iter().peekable();
        let alone = |(subject, held)| Chain { subject, rows: Vec::new(), state: Some(held) };
        for row in rows {
            if let Some(chain) = chains.last_mut()
                && chain.subject == row.subject
            {
                chain.rows.push(row);
                continue;
            }
            while let Some(state) = held.next_if(|(subject, _)| *subject < row.subject) {
                chains.push(alone(state));
            }
            let state = held.next_if(|(subject, _)| *subject == row.subject).map(|(_, held)| held);
            chains.push(Chain { subject: row.subject.clone(), rows: vec![row], state });
        }
        chains.extend(held.map(alone));
        Self { chains, next }
    }
}

/// Where a reading that has these rows stops before the next one: between two subjects, when there
/// are enough, and only behind one whose name can be read, since many names are turned into
/// ids to find their states.
pub(crate) fn stop(rows: &[Row], next: &Row, limit: usize) -> Option<String> {
    let last = rows.last().filter(|last| rows.len() >= limit && last.subject != next.subject)?;
    last.subject.parse::<Subject>().is_ok().then(|| last.subject.clone())
}

/// What is named by ids of a kind among the names behind `after` up to and with `to`: the ids behind
/// and up to which it is; `None` if there can be none. All such names begin with the prefix of the
/// kind, so other names come before all of them or after all of them.
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
