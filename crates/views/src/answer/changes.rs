//! The changes of a person to an agent's proposal, value by value: in the second step before the
//! approval, and afterwards next to the answer.

use kernel::question::{Answer, Question, QuestionBody, Reply};
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use crate::components::facts::leaves;
use crate::components::wording::VisibleText;

/// Longer texts are shown in full one above the other, because a diff would delay the page.
const LONGEST: usize = 20_000;

/// One changed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedValue {
    pub label: VisibleText,
    pub how: ValueChange,
}

/// How a value changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueChange {
    /// A single line that replaces another.
    Line {
        /// The agent's proposal.
        was: VisibleText,
        /// The new value.
        now: VisibleText,
    },
    /// A line diff.
    Lines(Vec<ChangedLine>),
}

/// A line of a changed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLine {
    /// `+`, `-`, or a space for an unchanged line.
    pub sign: char,
    /// The same as a word, for screen readers.
    pub word: String,
    pub text: VisibleText,
}

/// Every changed value, in the agent's order.
pub fn changes(proposed: &Map<String, Value>, edited: &Map<String, Value>) -> Vec<ChangedValue> {
    let mut found = Vec::new();
    for leaf in leaves(proposed) {
        let now = leaf.path.iter().try_fold(None, |at: Option<&Value>, key| match at {
            None => edited.get(*key).map(Some),
            Some(value) => value.get(*key).map(Some),
        });
        let Some(Some(now)) = now else { continue };
        if now != leaf.value {
            found
                .push(ChangedValue { label: leaf.label(), how: ValueChange::new(leaf.value, now) });
        }
    }
    found
}

impl ValueChange {
    fn new(was: &Value, now: &Value) -> Self {
        let (was, now) = (text(was), text(now));
        let small = was.len() + now.len() <= LONGEST;
        if small && (was.contains('\n') || now.contains('\n')) {
            let diff = TextDiff::from_lines(was.as_str(), now.as_str());
            let line = |change: similar::Change<&str>| {
                let (sign, word) = match change.tag() {
                    ChangeTag::Delete => ('-', t!("change-removed")),
                    ChangeTag::Insert => ('+', t!("change-added")),
                    ChangeTag::Equal => (' ', t!("change-kept")),
                };
                ChangedLine {
                    sign,
                    word,
                    text: VisibleText::of(change.value().trim_end_matches('\n')),
                }
            };
            return Self::Lines(diff.iter_all_changes().map(line).collect());
        }
        Self::Line { was: VisibleText::of(&was), now: VisibleText::of(&now) }
    }
}

/// A value as text for people.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => t!("value-empty"),
        Value::String(text) => text.clone(),
        Value::Bool(true) => t!("value-yes"),
        Value::Bool(false) => t!("value-no"),
        Value::Null => t!("value-empty"),
        Value::Number(number) => number.to_string(),
        Value::Array(_) | Value::Object(_) => {
            serde_json::to_string_pretty(value).unwrap_or_default()
        }
    }
}

/// Every value that an approval changes in the agent's proposal; empty for other answers. The
/// values of a request for changes are shown the same way, although they are only a wish.
pub fn of_reply(question: Option<&Question>, reply: Option<&Reply>) -> Vec<ChangedValue> {
    match (question.map(Question::body), reply.map(|reply| &reply.answer)) {
        (
            Some(QuestionBody::Approve { details, .. }),
            Some(
                Answer::Approved { edits: Some(edits) }
                | Answer::ChangesRequested { edits: Some(edits) },
            ),
        ) => changes(details, edits),
        _ => Vec::new(),
    }
}

impl ChangedValue {
    /// "Amount: 120 → 90", on one line for lists and messages.
    pub fn line(&self) -> String {
        match &self.how {
            ValueChange::Line { was, now } => format!("{}: {was} → {now}", self.label),
            ValueChange::Lines(lines) => {
                let count = |sign| lines.iter().filter(|line| line.sign == sign).count();
                t!("change-lines", label = self.label, added = count('+'), removed = count('-'))
            }
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

    fn shown(changed: &[ChangedValue]) -> Vec<String> {
        let how = |how: &ValueChange| match how {
            ValueChange::Line { was, now } => format!("{was} → {now}"),
            ValueChange::Lines(lines) => {
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
    fn a_long_text_is_shown_whole() {
        let was = map(json!({"body": "a\n".repeat(LONGEST)}));
        let now = map(json!({"body": "b"}));
        assert!(matches!(changes(&was, &now)[0].how, ValueChange::Line { .. }));
    }
}
