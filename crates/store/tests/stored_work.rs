//! The JSON of work that waits in a database.
//!
//! `tests/stored` holds one line for every shape that releases have written. A line must be read
//! and written back byte for byte, so a renamed Rust type, field or variant cannot change a stored
//! name. Lines are only ever added: work that waits when a server is upgraded stays readable.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;

use serde_json::{Value, json};
use store::Work;

/// The values of a member in the lines of a file.
fn names<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let name =
        |line| serde_json::from_str::<Value>(line).unwrap()["effect"].as_str().map(str::to_owned);
    lines.filter_map(name).collect()
}

#[test]
fn work_is_stored_as_it_always_was() {
    let (text, earlier) =
        (include_str!("stored/work.jsonl"), include_str!("stored/work-earlier.jsonl"));
    for line in text.lines() {
        let read: Work = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), line);
    }
    for line in earlier.lines() {
        serde_json::from_str::<Work>(line).unwrap();
    }
    // The names that are known, from the error about one that is not.
    let unknown = json!({ "effect": "no such name" });
    let error = serde_json::from_value::<Work>(unknown).unwrap_err().to_string();
    let (_, known) = error.split_once("expected").unwrap();
    let known = known.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(names(text.lines().chain(earlier.lines())), known);
}
