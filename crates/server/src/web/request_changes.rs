//! What a person changed in an agent's proposal, value by value: before it is approved, on a step of
//! its own, and afterwards beside the answer.

use kernel::form::Form;
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use super::edits;
use super::facts::leaves;
use super::form_body::Submitted;
use super::problem::PROOFS;
use super::words::Words;

/// Longer texts are shown one whole above the other: a page does not stand still over a diff.
const LONGEST: usize = 20_000;

/// One value that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// What the value is called.
    pub label: Words,
    /// What became of it.
    pub how: How,
}

/// What became of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// One line in place of another.
    Line {
        /// What the agent proposed.
        was: Words,
        /// What stands there now.
        now: Words,
    },
    /// Lines among others.
    Lines(Vec<Line>),
}

/// A line of a text that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `+`, `-`, or a space for one that stayed.
    pub sign: char,
    /// The same for those who do not see it.
    pub word: &'static str,
    /// The line.
    pub text: Words,
}

/// Every value that differs, in the agent's order.
pub fn changes(proposed: &Map<String, Value>, edited: &Map<String, Value>) -> Vec<Changed> {
    let mut found = Vec::new();
    for leaf in leaves(proposed) {
        let now = leaf.path.iter().try_fold(None, |at: Option<&Value>, key| match at {
            None => edited.get(*key).map(Some),
            Some(value) => value.get(*key).map(Some),
        });
        let Some(Some(now)) = now else { continue };
        if now != leaf.value {
            found.push(Changed { label: leaf.label(), how: How::new(leaf.value, now) });
        }
    }
    found
}

impl How {
    fn new(was: &Value, now: &Value) -> Self {
        let (was, now) = (text(was), text(now));
        let small = was.len() + now.len() <= LONGEST;
        if small && (was.contains('\n') || now.contains('\n')) {
            let diff = TextDiff::from_lines(was.as_str(), now.as_str());
            let line = |change: similar::Change<&str>| {
                let (sign, word) = match change.tag() {
                    ChangeTag::Delete => ('-', "removed"),
                    ChangeTag::Insert => ('+', "added"),
                    ChangeTag::Equal => (' ', "kept"),
                };
                Line { sign, word, text: Words::of(change.value().trim_end_matches('\n')) }
            };
            return Self::Lines(diff.iter_all_changes().map(line).collect());
        }
        Self::Line { was: Words::of(&was), now: Words::of(&now) }
    }
}

/// A value as people read it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "(empty)".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => "(empty)".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(_) | Value::Object(_) => {
            serde_json::to_string_pretty(value).unwrap_or_default()
        }
    }
}

/// The step between editing a proposal and approving it.
#[derive(Debug, Clone)]
pub struct Step {
    /// What was changed.
    pub changed: Vec<Changed>,
    /// Everything that was entered, to be sent again.
    pub entered: Vec<(String, String)>,
    /// The words that go with it.
    pub comment: Option<Words>,
}

/// What the button of the step sends beside the answer.
pub const SEEN: &str = "seen";

impl Step {
    /// The step for an approval that changes something; none for one that does not, or whose
    /// changes were seen already.
    pub fn wanted(
        proposed: &Map<String, Value>,
        form: Option<&Form>,
        edits: &Map<String, Value>,
        sent: &Submitted,
    ) -> Option<Self> {
        let mut typed = edits.clone();
        // Whoever took a tick away has seen what that changes.
        typed.retain(|key, _| !edits::is_ticked(form, key));
        let changed = changes(proposed, &typed);
        if sent.value(SEEN).is_some() || changed.is_empty() {
            return None;
        }
        let orders = ["action", SEEN];
        let entered = |(name, _): &&(String, String)| {
            !PROOFS.contains(&name.as_str()) && !orders.contains(&name.as_str())
        };
        let comment = sent.text("comment").filter(|text| !text.trim().is_empty());
        Some(Self {
            changed,
            entered: sent.pairs.iter().filter(entered).cloned().collect(),
            comment: comment.as_deref().map(Words::of),
        })
    }

    /// "2 changes".
    pub fn count(&self) -> String {
        match self.changed.len() {
            1 => "1 change".to_owned(),
            n => format!("{n} changes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    fn shown(changed: &[Changed]) -> Vec<String> {
        let how = |how: &How| match how {
            How::Line { was, now } => format!("{was} → {now}"),
            How::Lines(lines) => {
                let lines: Vec<String> =
                    lines.iter().map(|line| format!("{}{}", line.sign, line.text)).collect();
                lines.join("|")
            }
        };
        changed.iter().map(|change| format!("{}: {}", change.label, how(&change.how))).collect()
    }

    #[test]
    fn only_what_differs_is_told_and_nothing_hides_in_it() {
        let was = map(json!({
            "amount": 40, "to": "Ada", "now": true, "items": [1],
            "address": {"city": "Bonn", "zip": 1}, "body": "Hi\nall\nbye",
        }));
        let mut edited = was.clone();
        assert_eq!(changes(&was, &edited), []);
        edited.insert("amount".to_owned(), json!(30.5));
        edited.insert("to".to_owned(), json!("E\u{202e}ve"));
        edited.insert("now".to_owned(), json!(false));
        edited.insert("address".to_owned(), json!({"city": "Kiel", "zip": 1}));
        edited.insert("body".to_owned(), json!("Hi\neverybody\nbye"));
        assert_eq!(
            shown(&changes(&was, &edited)),
            [
                "Amount: 40 → 30.5",
                "To: Ada → E⟨U+202E⟩ve",
                "Now: yes → no",
                "Address › City: Bonn → Kiel",
                "Body:  Hi|-all|+everybody| bye",
            ]
        );
    }

    #[test]
    fn the_step_comes_once_and_only_for_changes() {
        let was = map(json!({"amount": 40}));
        let now = map(json!({"amount": 30}));
        let sent = |more: &[(&str, &str)]| {
            let pairs = [("csrf", "x"), ("edits.0", "30"), ("action", "approve")];
            let pairs = pairs.iter().chain(more).map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
            Submitted::new(pairs.collect())
        };
        let step = Step::wanted(&was, None, &now, &sent(&[("comment", "Less")])).unwrap();
        assert_eq!(step.count(), "1 change");
        let names: Vec<&str> = step.entered.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["edits.0", "comment"], "no token and no order is repeated");
        assert!(Step::wanted(&was, None, &now, &sent(&[(SEEN, "1")])).is_none());
        assert!(Step::wanted(&was, None, &was, &sent(&[])).is_none());
    }

    #[test]
    fn a_long_text_is_shown_whole() {
        let was = map(json!({"body": "a\n".repeat(LONGEST)}));
        let now = map(json!({"body": "b"}));
        assert!(matches!(changes(&was, &now)[0].how, How::Line { .. }));
    }
}
