//! A record as it lies there, made into one the verifier understands.

use kernel::Subject;
use kernel::audit::{self, Record};
use serde_json::Value;

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
