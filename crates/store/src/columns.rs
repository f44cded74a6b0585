//! Conversions between columns and types.

use kernel::Subject;
use kernel::ask::SimilarityKey;
use kernel::audit::{self, Digest, Record};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Result, StoreError};

/// Stands for an event name that contradicts the event, and matches none.
const ALTERED: &str = "altered";

/// Opens a damaged row too: the verifier reports what is wrong with it.
pub(crate) fn open_row(row: audit::RecordRow, subject: Subject) -> Record {
    // The event without its contents: it has its own name and the number of its contents.
    let event = audit::open(&row.body, &[]);
    let name = event.as_ref().map(|event| event.what.name());
    let contents = if let Some(json) = &row.contents {
        serde_json::from_str(json).unwrap_or_else(|_| vec![Value::String("unreadable".to_owned())])
    } else {
        let mut erased = Vec::new();
        if let Some(mut event) = event {
            event.what.slots(&mut |_| erased.push(Value::Null));
        }
        erased
    };
    Record {
        subject,
        seq: row.seq,
        at: row.at,
        what: name.filter(|name| *name == row.what).unwrap_or(ALTERED),
        prev: row.prev,
        hash: row.hash,
        body: row.body,
        contents,
    }
}

/// The record in a row. Fails if the subject cannot be parsed.
pub(crate) fn record(row: audit::RecordRow) -> Result<Record> {
    let subject = subject(&row.subject, row.seq)?;
    Ok(open_row(row, subject))
}

/// The subject of a record. Fails if the name cannot be parsed.
pub(crate) fn subject(text: &str, seq: u64) -> Result<Subject> {
    text.parse().map_err(|error: kernel::ids::BadId| StoreError::Damaged {
        what: format!("record {text} event {seq}"),
        source: error.into(),
    })
}

/// A digest from its column. A value of the wrong length becomes a digest that matches nothing, so
/// that a comparison fails.
pub(crate) fn digest(bytes: &[u8]) -> Digest {
    bytes.try_into().map_or_else(|_| Digest::of(bytes), Digest)
}

/// A number as databases store it. Ours never reach the top bit.
pub(crate) fn int(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A similarity key as databases store numbers.
pub(crate) fn similarity_column(key: SimilarityKey) -> i64 {
    i64::from_be_bytes(key.0.to_be_bytes())
}

/// A number from its column; values stored by [`int`] are never negative.
pub(crate) fn uint(number: i64) -> u64 {
    number.try_into().unwrap_or(0)
}

/// The JSON of a state, as stored.
pub(crate) fn state(what: &str, value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| damaged(what, error))
}

/// Parses a stored state.
pub(crate) fn read_state<T: DeserializeOwned>(what: &str, state: &str) -> Result<T> {
    serde_json::from_str(state).map_err(|error| damaged(what, error))
}

fn damaged(what: &str, error: serde_json::Error) -> StoreError {
    StoreError::Damaged { what: what.to_owned(), source: error.into() }
}
