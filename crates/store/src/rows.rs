//! What lies in rows, made into what it means.

use kernel::Subject;
use kernel::ask::Fold;
use kernel::audit::{self, Digest, Record};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Result, StoreError};

/// Stands for a name that is not the one in the event, and matches none.
const ALTERED: &str = "altered";

/// A damaged row is still handed out: it is the verifier who says what is wrong with it.
pub(crate) fn opened(row: audit::Row, subject: Subject) -> Record {
    // The event with its slots still closed: it says its own name and how many contents it had.
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

/// The record in a row. One whose subject cannot be read is an error of the store.
pub(crate) fn record(row: audit::Row) -> Result<Record> {
    let subject = subject(&row.subject, row.seq)?;
    Ok(opened(row, subject))
}

/// The subject of a record. One whose name cannot be read is an error of the store.
pub(crate) fn subject(text: &str, seq: u64) -> Result<Subject> {
    text.parse().map_err(|error: kernel::ids::BadId| StoreError::Damaged {
        what: format!("record {text} event {seq}"),
        source: error.into(),
    })
}

/// A digest from its column. One of the wrong length is turned into another that matches nothing,
/// so that whoever compares it finds out.
pub(crate) fn digest(bytes: &[u8]) -> Digest {
    bytes.try_into().map_or_else(|_| Digest::of(bytes), Digest)
}

/// Numbers as databases have them. Ours never reach the top bit.
pub(crate) fn int(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A key of nearly identical asks as databases have numbers.
pub(crate) fn fold(key: Fold) -> i64 {
    i64::from_be_bytes(key.0.to_be_bytes())
}

/// A number as we have it; what was stored by [`int`] is never negative.
pub(crate) fn uint(number: i64) -> u64 {
    number.try_into().unwrap_or(0)
}

/// Something as it lies in a row.
pub(crate) fn state(what: &str, value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| damaged(what, error))
}

/// What lies in a row.
pub(crate) fn read_state<T: DeserializeOwned>(what: &str, state: &str) -> Result<T> {
    serde_json::from_str(state).map_err(|error| damaged(what, error))
}

fn damaged(what: &str, error: serde_json::Error) -> StoreError {
    StoreError::Damaged { what: what.to_owned(), source: error.into() }
}
