//! Names of several words are accepted with `_` and with `-`; one of the two is canonical.
//!
//! The server writes, documents and lists in errors the canonical names. The other spellings are
//! accepted wherever the native API, the command line and the settings read a name, and in the
//! values of HACP. The other protocols keep their own strict values.

/// The spellings that are accepted besides the canonical ones. Each is a `serde(alias)` of its
/// enum; lists of accepted values leave them out.
pub const ALIASES: &[&str] = &[
    // Assurance levels.
    "agent_attested",
    // Answers.
    "changes-requested",
    // Actions on expiry.
    "stay-open",
    // Formats of webhook endpoints.
    "humanlayer_v1beta1",
    "humanlayer_v1beta3",
    // Topics of webhook endpoints.
    "ask.action-picked",
    "ask.changes-requested",
];

/// The same name with the other separator between its words.
pub fn other_separator(name: &str) -> String {
    let swap = |c: char| match c {
        '_' => '-',
        '-' => '_',
        c => c,
    };
    name.chars().map(swap).collect()
}

/// The name that a typo most likely means: at most a third of its characters differ.
pub fn nearest<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let bare = plain(given);
    let scored = names.map(|name| (distance(&bare, &plain(name)), name));
    let (typos, name) = scored.min_by_key(|(typos, _)| *typos)?;
    (given != name && typos * 3 <= name.chars().count().min(12)).then_some(name)
}

/// `; did you mean "…"?` with the name that a typo most likely means; empty if no name is close.
pub fn suggestion<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> String {
    nearest(given, names).map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

/// The names as a sentence, with the one that a typo most likely means.
pub fn listed(names: &[&str], given: &str) -> String {
    let all = match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    };
    format!("{all}{}", suggestion(given, names.iter().copied()))
}

/// What is wrong with a field that no one knows: the allowed names, and the one that was probably
/// meant.
pub fn unknown_field(given: &str, allowed: &[&str]) -> String {
    if allowed.is_empty() {
        return "unknown field; no fields are allowed here".to_owned();
    }
    let meant = suggestion(given, allowed.iter().copied());
    format!("unknown field; allowed fields: {}{meant}", allowed.join(", "))
}

/// The number of characters to change, add, remove or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    let at = |rows: &[Vec<usize>], i: usize, j: usize| {
        rows.get(i).and_then(|row| row.get(j)).copied().unwrap_or(usize::MAX)
    };
    for (i, of_a) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, of_b) in b.iter().enumerate() {
            let same = usize::from(of_a != of_b);
            let left = row.last().copied().unwrap_or_default();
            let mut least =
                (left + 1).min(at(&rows, i, j + 1) + 1).min(at(&rows, i, j).saturating_add(same));
            if i > 0 && j > 0 && a.get(i - 1) == Some(of_b) && b.get(j - 1) == Some(of_a) {
                least = least.min(at(&rows, i - 1, j - 1) + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    at(&rows, a.len(), b.len())
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;
    use crate::actor::Assurance;
    use crate::directory::WebhookFormat;
    use crate::question::Answer;
    use crate::topic::Topic;

    /// The canonical spelling of a name.
    fn canonical<T: DeserializeOwned + Serialize>(name: &str) -> Option<Value> {
        let read: T = serde_json::from_value(json!(name)).ok()?;
        Some(serde_json::to_value(read).unwrap())
    }

    #[test]
    fn errors_name_what_is_allowed_and_what_was_probably_meant() {
        let names = ["low", "normal", "high"];
        assert_eq!(listed(&names, "hihg"), "low, normal or high; did you mean \"high\"?");
        assert_eq!(listed(&names, "urgent"), "low, normal or high");
        assert_eq!(listed(&names, "High"), "low, normal or high; did you mean \"high\"?");
        let fields = ["question", "priority"];
        assert_eq!(
            unknown_field("quesiton", &fields),
            "unknown field; allowed fields: question, priority; did you mean \"question\"?"
        );
        assert_eq!(
            unknown_field("color", &fields),
            "unknown field; allowed fields: question, priority"
        );
        assert_eq!(unknown_field("color", &[]), "unknown field; no fields are allowed here");
    }

    #[test]
    fn both_spellings_mean_the_same_and_one_is_written() {
        for name in ["agent_attested", "agent-attested"] {
            assert_eq!(canonical::<Assurance>(name), Some(json!("agent-attested")));
        }
        for format in WebhookFormat::ALL {
            let name = format.as_str();
            assert_eq!(canonical::<WebhookFormat>(&other_separator(name)), Some(json!(name)));
        }
        for topic in Topic::ALL {
            let name = topic.as_str();
            assert_eq!(canonical::<Topic>(&other_separator(name)), Some(json!(name)));
        }
        for verdict in ["changes_requested", "changes-requested"] {
            let read: Answer = serde_json::from_value(json!({ "verdict": verdict })).unwrap();
            assert_eq!(read, Answer::CHANGES);
            assert_eq!(serde_json::to_value(read).unwrap()["verdict"], "changes_requested");
        }
    }
}
