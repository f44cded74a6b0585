//! Whether an ask is irreversible, and which answers to it need a second, deliberate step.

use serde_json::{Map, Value};

use super::Priority;
use crate::command::NewAsk;
use crate::event::Asked;
use crate::question::{Answer, AnswerKind, Question, QuestionBody};
use crate::task::CheckpointDetails;

impl Asked {
    /// Whether the agent marks the requested action as irreversible: `irreversible: true` or
    /// `reversible: false` anywhere in its free data (where dialects keep their additions), in the
    /// details or parameters of the question, in the actions and the context of a checkpoint, or in
    /// its HXP eXperience envelope.
    ///
    /// Erased data marks nothing.
    pub fn is_irreversible(&self) -> bool {
        let envelope = self.claims.as_ref().and_then(|claims| claims.content.value());
        says_irreversible(self.question.value(), [self.metadata.value(), envelope])
            || self.checkpoint_marks_irreversible()
    }

    /// Whether the data beside the question of a task's checkpoint marks the action as
    /// irreversible.
    fn checkpoint_marks_irreversible(&self) -> bool {
        let beside = self.checkpoint.as_ref().and_then(|checkpoint| checkpoint.details.value());
        beside.is_some_and(|CheckpointDetails { context, proposed_actions, .. }| {
            let mut details = proposed_actions.iter().filter_map(|action| action.detail.as_ref());
            let mut shown = context.iter().filter_map(|evidence| evidence.content.as_ref());
            details.any(marks_irreversible) || shown.any(contains_irreversible_mark)
        })
    }

    /// Whether an answer that lets the agent proceed needs a second, deliberate step: the ask is
    /// irreversible or critical. Every interface on which a person answers checks this.
    pub fn needs_confirmation(&self) -> bool {
        self.priority == Priority::Critical || self.is_irreversible()
    }

    /// Whether this answer needs the second step. An answer that stops the agent, or returns the
    /// ask to it, never does.
    pub fn must_confirm(&self, answer: &Answer) -> bool {
        answer.lets_proceed() && self.needs_confirmation()
    }
}

impl NewAsk {
    /// The same as [`Asked::needs_confirmation`], before the ask is created.
    pub fn needs_confirmation(&self) -> bool {
        let envelope = self.claims.as_ref().map(|claims| &claims.content);
        let free = [Some(&self.metadata), envelope];
        self.priority == Priority::Critical || says_irreversible(Some(&self.question), free)
    }
}

/// Whether a question, or free data beside it, marks the requested action as irreversible.
fn says_irreversible(
    question: Option<&Question>,
    beside: [Option<&Map<String, Value>>; 2],
) -> bool {
    let (first, second) = match question.map(Question::body) {
        Some(QuestionBody::Approve { details, .. }) => (Some(details), None),
        Some(QuestionBody::Escalate { error, params }) => (Some(error), Some(params)),
        Some(
            QuestionBody::Choose { .. }
            | QuestionBody::Provide { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Converse,
        )
        | None => (None, None),
    };
    let [metadata, envelope] = beside;
    [metadata, envelope, first, second].into_iter().flatten().any(marks_irreversible)
}

impl AnswerKind {
    /// Whether the agent continues with an answer of this kind.
    pub fn lets_proceed(self) -> bool {
        match self {
            Self::Approve
            | Self::Choose
            | Self::Provide
            | Self::Confirm
            | Self::Retry
            | Self::Skip
            | Self::Reply => true,
            Self::Reject | Self::Change | Self::Decline | Self::Abort => false,
        }
    }
}

impl Answer {
    /// Whether the agent continues with this answer. It does unless the answer stops it or asks for
    /// changes first.
    pub fn lets_proceed(&self) -> bool {
        self.stance().lets_proceed()
    }
}

/// Whether an object marks an action as irreversible, at any depth. Agents write JSON by hand, so
/// `"true"`, `"yes"` and `1` count as `true`, and upper case counts as lower case.
pub fn marks_irreversible(data: &Map<String, Value>) -> bool {
    any_marks_irreversible(data)
}

/// The same for some members of an object.
pub fn any_marks_irreversible<'a>(
    members: impl IntoIterator<Item = (&'a String, &'a Value)>,
) -> bool {
    members.into_iter().any(|(key, value)| {
        (key.eq_ignore_ascii_case("irreversible") && is_any_of(value, &["true", "yes", "1"]))
            || (key.eq_ignore_ascii_case("reversible") && is_any_of(value, &["false", "no", "0"]))
            || contains_irreversible_mark(value)
    })
}

fn contains_irreversible_mark(value: &Value) -> bool {
    match value {
        Value::Object(inner) => marks_irreversible(inner),
        Value::Array(items) => items.iter().any(contains_irreversible_mark),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether a value is one of these words.
fn is_any_of(value: &Value, words: &[&str]) -> bool {
    let said = match value {
        Value::String(text) => text.trim().to_lowercase(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return false,
    };
    words.contains(&said.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::task::{CheckpointKind, Evidence};
    use crate::testing::{Cast, claims, new_ask, new_task, raising};

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn the_mark_counts_in_every_spelling_and_at_every_depth() {
        for (data, expected) in [
            (json!({}), false),
            (json!({ "irreversible": true }), true),
            (json!({ "irreversible": false }), false),
            (json!({ "irreversible": null }), false),
            (json!({ "reversible": false }), true),
            (json!({ "reversible": true }), false),
            (json!({ "irreversible": "true" }), true),
            (json!({ "irreversible": " Yes " }), true),
            (json!({ "irreversible": 1 }), true),
            (json!({ "irreversible": "false" }), false),
            (json!({ "irreversible": "unknown" }), false),
            (json!({ "reversible": "no" }), true),
            (json!({ "reversible": 0 }), true),
            (json!({ "Irreversible": true }), true),
            (json!({ "is_it": "irreversible" }), false),
            (json!({ "hitl": { "context": { "irreversible": true } } }), true),
            (json!({ "options": [{ "id": "a" }, { "reversible": false }] }), true),
            (json!({ "steps": [[{ "irreversible": true }]] }), true),
            (json!({ "reversible": { "irreversible": true } }), true),
        ] {
            assert_eq!(marks_irreversible(&object(&data)), expected, "{data}");
        }
    }

    #[test]
    fn the_mark_counts_wherever_an_agent_can_put_it() {
        let mark = || object(&json!({ "reversible": false }));
        let with =
            |body| NewAsk { question: Question::new("So?", None, body).unwrap(), ..new_ask() };
        let approve = QuestionBody::Approve {
            details: mark(),
            editable: false.into(),
            reject_requires_reason: false,
            reject_options: Vec::new(),
        };
        let mut envelope = claims();
        envelope.content.insert("content".to_owned(), json!({ "reversible": false }));
        let mut cast = Cast::new();
        for (place, new, expected) in [
            ("nowhere", new_ask(), false),
            ("metadata", NewAsk { metadata: mark(), ..new_ask() }, true),
            ("details", with(approve), true),
            ("error", with(QuestionBody::Escalate { error: mark(), params: Map::new() }), true),
            ("params", with(QuestionBody::Escalate { error: Map::new(), params: mark() }), true),
            ("envelope", NewAsk { claims: Some(envelope), ..new_ask() }, true),
        ] {
            assert_eq!(new.needs_confirmation(), expected, "{place}");
            let id = cast.ask(new);
            assert_eq!(cast.seen(id).is_irreversible(), expected, "{place}");
            assert_eq!(cast.seen(id).needs_confirmation(), expected, "{place}");
        }
    }

    #[test]
    fn the_mark_counts_in_every_kind_of_checkpoint() {
        for kind in [
            CheckpointKind::Approval,
            CheckpointKind::Choice,
            CheckpointKind::Input,
            CheckpointKind::Escalation,
        ] {
            let mark = json!({ "irreversible": true });
            let mut proposing = raising(kind).proposing(&["drop"]);
            proposing.proposed_actions[0].detail = Some(object(&mark));
            let mut showing = raising(kind);
            let (id, version, content) = (None, None, Some(mark));
            showing.context = vec![Evidence { kind: "plan".to_owned(), id, version, content }];
            for (new, expected) in [(raising(kind), false), (proposing, true), (showing, true)] {
                let mut cast = Cast::new();
                let task = cast.begun(new_task());
                let id = cast.raised(task, new);
                assert_eq!(cast.seen(id).is_irreversible(), expected, "{kind:?}");
            }
        }
    }

    #[test]
    fn only_what_lets_the_agent_proceed_needs_the_second_step() {
        let mut cast = Cast::new();
        let plain = cast.ask(new_ask());
        let critical = cast.ask(NewAsk { priority: Priority::Critical, ..new_ask() });
        let metadata = object(&json!({ "irreversible": true }));
        let marked = cast.ask(NewAsk { metadata, ..new_ask() });
        let chosen = Answer::Chosen { options: vec!["a".to_owned()] };
        let confirmed = Answer::Confirmed { items: Vec::new() };
        let retry = Answer::Retry { params: Map::new() };
        let replied = Answer::Replied { text: "Go".to_owned() };
        let approved = Answer::Approved { edits: None };
        for (answer, proceeds) in [
            (approved, true),
            (chosen, true),
            (confirmed, true),
            (retry, true),
            (Answer::Skip, true),
            (replied, true),
            (Answer::REJECTED, false),
            (Answer::CHANGES, false),
            (Answer::Declined, false),
            (Answer::Abort, false),
        ] {
            assert!(!cast.seen(plain).must_confirm(&answer), "{answer:?}");
            assert_eq!(cast.seen(critical).must_confirm(&answer), proceeds, "{answer:?}");
            assert_eq!(cast.seen(marked).must_confirm(&answer), proceeds, "{answer:?}");
        }
    }
}
