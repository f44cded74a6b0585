//! Checks an answer against its question.

use std::collections::HashSet;

use super::{Answer, Choice, PickMode, Question, QuestionBody, QuestionKind, Reply};
use crate::form::FieldError;
use crate::text::{is_storable, is_storable_json};

/// The maximum length of a comment, in characters.
pub const LONGEST_COMMENT: usize = 10_000;

/// Why an answer does not answer its question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The answer belongs to another kind of question.
    #[error("this question expects {expected}")]
    WrongKind {
        /// The answers the question accepts.
        expected: &'static str,
    },
    /// A chosen id is not among the options.
    #[error("the answer must be one of the options")]
    UnknownOption,
    /// No option, or too many options, were chosen.
    #[error("choose {expected}")]
    WrongCount {
        /// The number of options to choose.
        expected: &'static str,
    },
    /// The agent demands a reason for a rejection, or a request for changes names none.
    #[error("a rejection or a request for changes needs a reason in `comment`")]
    ReasonRequired,
    /// The agent did not declare that it accepts edits.
    #[error("this request does not accept edits; request changes instead")]
    NotEditable,
    /// A detail was changed in a way the agent did not declare.
    #[error("edits.{place}: expected {expected}")]
    BadEdit {
        /// The place of the edit, as a path below the edits.
        place: String,
        /// The accepted values.
        expected: &'static str,
    },
    /// A required text is empty.
    #[error("the answer must not be empty")]
    Empty,
    /// A text is too long or contains NUL.
    #[error("{field}: expected {expected}")]
    BadText {
        /// The field that holds the text.
        field: &'static str,
        /// The accepted texts.
        expected: &'static str,
    },
    /// Values of form fields are not valid.
    #[error("{}", summary(.0))]
    Fields(Vec<FieldError>),
}

fn summary(errors: &[FieldError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A reply that answers its question, in normal form: options in the agent's order, typed and
/// visible values only, no blank comment.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedReply(Reply);

impl CheckedReply {
    /// The checked reply.
    pub fn into_reply(self) -> Reply {
        self.0
    }
}

impl Reply {
    /// An answer with a comment, truncated to the maximum length.
    pub(crate) fn truncated(answer: Answer, said: Option<&str>) -> Self {
        let comment = said.map(|text| text.chars().take(LONGEST_COMMENT).collect());
        Self { answer, comment }
    }
}

impl Question {
    /// Checks a reply against this question and normalizes it.
    pub fn check(&self, reply: Reply) -> Result<CheckedReply, AnswerError> {
        let comment = comment(reply.comment)?;
        let answer = match (&self.body, reply.answer) {
            (QuestionBody::Approve { details, editable, .. }, Answer::Approved { edits }) => {
                let edits = edits.map(|edits| editable.apply(details, &edits)).transpose()?;
                Answer::Approved { edits: edits.flatten() }
            }
            (
                QuestionBody::Approve { reject_requires_reason, reject_options, .. },
                Answer::Rejected { option },
            ) => {
                let known = |id: &String| reject_options.iter().any(|choice| choice.id == *id);
                if !option.as_ref().is_none_or(known) {
                    return Err(AnswerError::UnknownOption);
                }
                // An offered reason counts as the reason.
                if *reject_requires_reason && comment.is_none() && option.is_none() {
                    return Err(AnswerError::ReasonRequired);
                }
                Answer::Rejected { option }
            }
            // A request for changes needs edits or a comment, or the agent would not know what to
            // change.
            (QuestionBody::Approve { .. }, Answer::ChangesRequested { edits }) => {
                let edits = edits.filter(|edits| !edits.is_empty());
                if comment.is_none() && edits.is_none() {
                    return Err(AnswerError::ReasonRequired);
                }
                let storable =
                    |(k, v): (&String, &serde_json::Value)| is_storable(k) && is_storable_json(v);
                if !edits.iter().flatten().all(storable) {
                    return Err(NUL);
                }
                Answer::ChangesRequested { edits }
            }
            (QuestionBody::Choose { options, pick, .. }, Answer::Chosen { options: chosen }) => {
                if !all_known(options.choices(), &chosen) {
                    return Err(AnswerError::UnknownOption);
                }
                let ordered = in_order(options.choices(), &chosen);
                match (pick, ordered.len()) {
                    (_, 0) => {
                        return Err(AnswerError::WrongCount { expected: "at least one option" });
                    }
                    (PickMode::One, 2..) => {
                        return Err(AnswerError::WrongCount { expected: "exactly one option" });
                    }
                    (PickMode::One | PickMode::Many, _) => Answer::Chosen { options: ordered },
                }
            }
            (QuestionBody::Provide { form }, Answer::Provided { values }) => {
                let values = form.validate(values.as_map()).map_err(AnswerError::Fields)?;
                if !values.iter().all(|(_, value)| is_storable_json(value)) {
                    return Err(NUL);
                }
                Answer::Provided { values }
            }
            (QuestionBody::Confirm { items, .. }, Answer::Confirmed { items: confirmed }) => {
                if !all_known(items, &confirmed) {
                    return Err(AnswerError::UnknownOption);
                }
                Answer::Confirmed { items: in_order(items, &confirmed) }
            }
            (QuestionBody::Confirm { .. }, Answer::Declined) => Answer::Declined,
            (QuestionBody::Escalate { .. }, Answer::Retry { params }) => {
                if !params.iter().all(|(k, v)| is_storable(k) && is_storable_json(v)) {
                    return Err(NUL);
                }
                Answer::Retry { params }
            }
            (QuestionBody::Escalate { .. }, answer @ (Answer::Skip | Answer::Abort)) => answer,
            (QuestionBody::Converse, Answer::Replied { text }) => {
                if text.trim().is_empty() {
                    return Err(AnswerError::Empty);
                }
                if !is_storable(&text) {
                    return Err(NUL);
                }
                Answer::Replied { text }
            }
            // Other questions do not take a request for changes: an agent would read it as a
            // result.
            (_, Answer::ChangesRequested { .. }) => {
                return Err(AnswerError::WrongKind {
                    expected: self.kind().expected_instead_of_changes(),
                });
            }
            (
                QuestionBody::Approve { .. }
                | QuestionBody::Choose { .. }
                | QuestionBody::Provide { .. }
                | QuestionBody::Confirm { .. }
                | QuestionBody::Escalate { .. }
                | QuestionBody::Converse,
                _,
            ) => return Err(AnswerError::WrongKind { expected: self.kind().expected_answers() }),
        };
        Ok(CheckedReply(Reply { answer, comment }))
    }
}

/// Whether every id is that of a choice.
fn all_known(choices: &[Choice], ids: &[String]) -> bool {
    let known: HashSet<&String> = choices.iter().map(|choice| &choice.id).collect();
    ids.iter().all(|id| known.contains(id))
}

/// The chosen ids in the agent's order, each once.
fn in_order(choices: &[Choice], chosen: &[String]) -> Vec<String> {
    let chosen: HashSet<&String> = chosen.iter().collect();
    let ids = choices.iter().map(|choice| &choice.id);
    ids.filter(|id| chosen.contains(id)).cloned().collect()
}

const NUL: AnswerError =
    AnswerError::BadText { field: "answer", expected: "strings without NUL characters" };

fn comment(comment: Option<String>) -> Result<Option<String>, AnswerError> {
    let Some(text) = comment.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    let field = "comment";
    if !is_storable(&text) {
        return Err(AnswerError::BadText { field, expected: "a string without NUL characters" });
    }
    if text.chars().count() > LONGEST_COMMENT {
        return Err(AnswerError::BadText { field, expected: "at most 10000 characters" });
    }
    Ok(Some(text))
}

impl QuestionKind {
    fn expected_answers(self) -> &'static str {
        match self {
            Self::Approve => "an approval or a rejection",
            Self::Choose => "one of its options",
            Self::Provide => "values for its fields",
            Self::Confirm => "a confirmation or a refusal",
            Self::Escalate => "retry, skip or abort",
            Self::Converse => "a text",
        }
    }

    /// The answers to suggest to a person who requested changes.
    fn expected_instead_of_changes(self) -> &'static str {
        match self {
            Self::Approve => "an approval, a rejection or a request for changes",
            Self::Choose => {
                "one of its options, with an optional comment; only an approval accepts a request \
                 for changes"
            }
            Self::Provide => {
                "values for its fields; only an approval accepts a request for changes; comment \
                 on this request instead"
            }
            Self::Confirm => {
                "a confirmation or a refusal, with an optional comment; only an approval accepts \
                 a request for changes"
            }
            Self::Escalate => {
                "retry, skip or abort, with an optional comment; only an approval accepts a \
                 request for changes"
            }
            Self::Converse => {
                "a text; only an approval accepts a request for changes; write it in the reply \
                 instead"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::question::Options;

    fn approve(reason: bool, editable: bool) -> Question {
        let body = QuestionBody::Approve {
            details: Map::from_iter([("amount".to_owned(), 40.into())]),
            editable: editable.into(),
            reject_requires_reason: reason,
            reject_options: Vec::new(),
        };
        Question::new("Refund?", None, body).unwrap()
    }

    fn choose(pick: PickMode) -> Question {
        let options = Options::new(["a", "b", "c"].map(Choice::plain).to_vec()).unwrap();
        Question::new("Which?", None, QuestionBody::Choose { options, pick, suggested: None })
            .unwrap()
    }

    /// One question of each kind.
    fn every() -> [Question; 6] {
        let form = serde_json::json!({"fields": [{"key": "k", "label": "K", "type": "text"}]});
        let form = serde_json::from_value(form).unwrap();
        let new = |body| Question::new("So?", None, body).unwrap();
        [
            approve(false, false),
            choose(PickMode::One),
            new(QuestionBody::Confirm { items: vec![], yes: "Go".into(), no: "Stop".into() }),
            new(QuestionBody::Escalate { error: Map::new(), params: Map::new() }),
            new(QuestionBody::Converse),
            new(QuestionBody::Provide { form }),
        ]
    }

    fn say(answer: Answer) -> Reply {
        Reply { answer, comment: None }
    }

    fn chosen(ids: &[&str]) -> Reply {
        say(Answer::Chosen { options: ids.iter().map(|id| (*id).to_owned()).collect() })
    }

    /// HXPX-028, HXPX-029: approved or rejected; a reason where one is demanded, never for a yes.
    #[test]
    fn approvals() {
        let strict = approve(true, false);
        assert!(strict.check(say(Answer::Approved { edits: None })).is_ok());
        assert_eq!(strict.check(say(Answer::REJECTED)), Err(AnswerError::ReasonRequired));
        let blank = Reply { answer: Answer::REJECTED, comment: Some(" \n".into()) };
        assert_eq!(strict.check(blank), Err(AnswerError::ReasonRequired));
        let reasoned = Reply { answer: Answer::REJECTED, comment: Some("too dear".into()) };
        assert!(strict.check(reasoned).is_ok());
        assert!(approve(false, false).check(say(Answer::REJECTED)).is_ok());
    }

    #[test]
    fn edits_only_where_the_agent_can_take_them() {
        let amount = |amount: u64| Map::from_iter([("amount".to_owned(), amount.into())]);
        let edited = |edits| say(Answer::Approved { edits: Some(edits) });
        let refused = approve(false, false).check(edited(amount(30)));
        assert_eq!(refused, Err(AnswerError::NotEditable));
        let checked = approve(false, true).check(edited(amount(30))).unwrap();
        assert_eq!(checked.into_reply(), edited(amount(30)));
        // An edit without a change is a plain approval.
        let plain = say(Answer::Approved { edits: None });
        for nothing in [Map::new(), amount(40)] {
            let checked = approve(false, true).check(edited(nothing)).unwrap();
            assert_eq!(checked.into_reply(), plain);
        }
    }

    /// HXPX-026: the result is one of the options.
    #[test]
    fn choices() {
        assert!(choose(PickMode::One).check(chosen(&["b"])).is_ok());
        assert_eq!(choose(PickMode::One).check(chosen(&["z"])), Err(AnswerError::UnknownOption));
        assert!(matches!(
            choose(PickMode::One).check(chosen(&["a", "b"])),
            Err(AnswerError::WrongCount { .. })
        ));
        assert!(matches!(
            choose(PickMode::Many).check(chosen(&[])),
            Err(AnswerError::WrongCount { .. })
        ));
        let many = choose(PickMode::Many).check(chosen(&["c", "a", "c"])).unwrap().into_reply();
        assert_eq!(many, chosen(&["a", "c"]));
    }

    #[test]
    fn every_kind_takes_only_its_own_answers() {
        let questions = every();
        let answers = [
            Answer::Approved { edits: None },
            Answer::Chosen { options: vec!["a".into()] },
            Answer::Confirmed { items: vec![] },
            Answer::Skip,
            Answer::Replied { text: "hi".into() },
            Answer::Provided { values: crate::form::Values::default() },
        ];
        for (q, question) in questions.iter().enumerate() {
            for (a, answer) in answers.iter().enumerate() {
                assert_eq!(question.check(say(answer.clone())).is_ok(), q == a, "{q} {a}");
            }
        }
    }

    /// Only an approval takes a request for changes, and it needs a reason. Any other question
    /// refuses it and says which answers it accepts.
    #[test]
    fn changes_are_requested_of_approvals_only_and_not_silently() {
        for question in every() {
            let asked = Reply { answer: Answer::CHANGES, comment: Some("smaller, please".into()) };
            let edits = serde_json::json!({"amount": 5}).as_object().cloned();
            let edited = say(Answer::ChangesRequested { edits });
            if question.kind() != QuestionKind::Approve {
                for refused in [say(Answer::CHANGES), asked, edited] {
                    let refused = question.check(refused).unwrap_err();
                    let AnswerError::WrongKind { expected } = refused else {
                        panic!("{refused:?}")
                    };
                    assert!(expected.contains("only an approval"), "{expected}");
                }
                continue;
            }
            assert_eq!(question.check(say(Answer::CHANGES)), Err(AnswerError::ReasonRequired));
            assert!(question.check(asked).is_ok());
            assert!(question.check(edited).is_ok());
            // HITL-140: the edits themselves are reason enough, if there are any.
            for nothing in [serde_json::json!({}), serde_json::json!({"amount": "5\0"})] {
                let asked = say(Answer::ChangesRequested { edits: nothing.as_object().cloned() });
                assert!(question.check(asked.clone()).is_err(), "{asked:?}");
            }
        }
    }

    #[test]
    fn confirmed_items_come_back_in_order_and_once() {
        let items = ["a", "b", "c"].map(Choice::plain).to_vec();
        let body = QuestionBody::Confirm { items, yes: "Go".into(), no: "Stop".into() };
        let question = Question::new("Go?", None, body).unwrap();
        let confirmed = |ids: &[&str]| {
            say(Answer::Confirmed { items: ids.iter().map(|id| (*id).to_owned()).collect() })
        };
        let checked = question.check(confirmed(&["c", "a", "c"])).unwrap().into_reply();
        assert_eq!(checked, confirmed(&["a", "c"]));
        assert_eq!(question.check(confirmed(&["a", "z"])), Err(AnswerError::UnknownOption));
    }

    #[test]
    fn nul_is_refused() {
        let talk = Question::new("Hello", None, QuestionBody::Converse).unwrap();
        assert!(talk.check(say(Answer::Replied { text: "a\0b".into() })).is_err());
        let noted =
            Reply { answer: Answer::Replied { text: "a".into() }, comment: Some("\0".into()) };
        assert!(talk.check(noted).is_err());
    }
}
