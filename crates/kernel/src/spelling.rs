//! Names of several words are accepted with `_` and with `-`; one of the two is canonical.
//!
//! Canonical names are what we write, list in errors and document. The other spellings are accepted
//! wherever our own API, command line and settings read a name. Protocols keep their own strict values.

/// The spellings that are accepted besides the canonical ones. Each is a `serde(alias)` of its enum;
/// lists of what is accepted leave them out.
pub const ACCEPTED_TOO: &[&str] = &[
    // Assurance
    "agent_attested",
    // Answer
    "changes-requested",
    // What happens when an ask expires
    "stay-open",
    // Formats of webhook endpoints
    "humanlayer_v1beta1",
    "humanlayer_v1beta3",
    // Topics of webhook endpoints
    "ask.action-picked",
    "ask.changes-requested",
];

/// The same name with the other separator between its words.
pub fn other(name: &str) -> String {
    let swap = |c: char| match c {
        '_' => '-',
        '-' => '_',
        c => c,
    };
    name.chars().map(swap).collect()
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;
    use crate::actor::Assurance;
    use crate::directory::Format;
    use crate::question::Answer;
    use crate::topic::Topic;

    /// What a name means, written canonically.
    fn canonical<T: DeserializeOwned + Serialize>(name: &str) -> Option<Value> {
        let read: T = serde_json::from_value(json!(name)).ok()?;
        Some(serde_json::to_value(read).unwrap())
    }

    #[test]
    fn both_spellings_mean_the_same_and_one_is_written() {
        for name in ["agent_attested", "agent-attested"] {
            assert_eq!(canonical::<Assurance>(name), Some(json!("agent-attested")));
        }
        for format in Format::ALL {
            let name = format.as_str();
            assert_eq!(canonical::<Format>(&other(name)), Some(json!(name)));
        }
        for topic in Topic::ALL {
            let name = topic.as_str();
            assert_eq!(canonical::<Topic>(&other(name)), Some(json!(name)));
        }
        for verdict in ["changes_requested", "changes-requested"] {
            let read: Answer = serde_json::from_value(json!({ "verdict": verdict })).unwrap();
            assert_eq!(read, Answer::CHANGES);
            assert_eq!(serde_json::to_value(read).unwrap()["verdict"], "changes_requested");
        }
    }
}
