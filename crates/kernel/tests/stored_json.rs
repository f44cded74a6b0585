//! The JSON that stores hold: events as they are hashed, and states.
//!
//! `tests/stored` holds one line for every shape that releases have written. A line must be read
//! and written back byte for byte, so a renamed Rust type, field or variant cannot change a stored
//! name. Lines are only ever added: data that has been written stays readable.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;

use kernel::audit::{Digest, Record, open};
use kernel::directory::{Agent, Human, Key, Project, Rule, Webhook, WithHead};
use kernel::task::{Artifact, ArtifactEvent, Entry, Task, TaskEvent};
use kernel::{Ask, AskEvent, DirectoryEvent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The lines of one file.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty())
}

/// Every line is read as `T` and written back as it was.
fn holds<T: DeserializeOwned + Serialize>(what: &str, text: &str) {
    assert!(lines(text).count() > 0, "no line of {what}");
    for line in lines(text) {
        let read: T = serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("a stored {what} is not read: {error}: {line}"));
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(written, line, "a stored {what} is written differently");
    }
}

/// The names that a tagged enum knows, from what it says about one it does not know.
fn variants<T: DeserializeOwned + std::fmt::Debug>(tag: &str) -> BTreeSet<String> {
    let unknown = json!({ tag: "no such name" });
    let said = serde_json::from_value::<T>(unknown).unwrap_err().to_string();
    let (_, names) = said.split_once("expected").unwrap();
    names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The values that a member has in the lines of a file.
fn found<'a>(values: impl Iterator<Item = Value> + 'a, tag: &'a str) -> BTreeSet<String> {
    values.filter_map(|value| value[tag].as_str().map(str::to_owned)).collect()
}

#[test]
fn states_are_stored_as_they_always_were() {
    holds::<Ask>("ask", include_str!("stored/ask.jsonl"));
    holds::<Task>("task", include_str!("stored/task.jsonl"));
    holds::<Artifact>("artifact", include_str!("stored/artifact.jsonl"));
    holds::<Entry>("ledger entry", include_str!("stored/entry.jsonl"));
    holds::<WithHead<Project>>("project", include_str!("stored/project.jsonl"));
    holds::<WithHead<Agent>>("agent", include_str!("stored/agent.jsonl"));
    holds::<WithHead<Human>>("person", include_str!("stored/human.jsonl"));
    holds::<WithHead<Key>>("credential", include_str!("stored/key.jsonl"));
    holds::<WithHead<Rule>>("delegation rule", include_str!("stored/rule.jsonl"));
    holds::<WithHead<Webhook>>("webhook endpoint", include_str!("stored/webhook.jsonl"));
}

/// Each line is one record: the text that was hashed, and the erasable contents beside it.
#[test]
fn events_are_stored_as_they_always_were() {
    let mut events = Vec::new();
    for line in lines(include_str!("stored/record.jsonl")) {
        let stored: Value = serde_json::from_str(line).unwrap();
        let body = stored["body"].as_str().unwrap();
        let contents = stored["contents"].as_array().unwrap();
        let read = open(body, contents).unwrap_or_else(|| panic!("not read: {body}"));
        let mut event = read.clone();
        let record = Record::link(Digest::ZERO, &mut event);
        assert_eq!(event, read, "linking changed the event");
        assert_eq!(record.body, body, "an event is hashed differently");
        assert_eq!(&record.contents, contents, "contents are written differently: {body}");
        assert_eq!(record.what, stored["name"], "an event has another name: {body}");
        events.push(serde_json::from_str::<Value>(body).unwrap()["what"].clone());
    }
    let known =
        variants::<AskEvent>("event").into_iter().chain(variants::<DirectoryEvent>("event"));
    let of_tasks = ["task", "artifact", "entry_written"].map(str::to_owned);
    assert_eq!(found(events.iter().cloned(), "event"), known.chain(of_tasks).collect());
    let of = |name: &str| {
        let named = events.iter().filter(|event| event["event"] == name).cloned();
        found(named.collect::<Vec<_>>().into_iter(), "act")
    };
    assert_eq!(of("task"), variants::<TaskEvent>("act"));
    assert_eq!(of("artifact"), variants::<ArtifactEvent>("act"));
}
