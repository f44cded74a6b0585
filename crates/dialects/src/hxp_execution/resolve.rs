//! `POST /hxp/v1/requests/{request_id}/resolve` and `…/cancel`: turns the body into a [`Reply`].
//! Section 5.1.

use kernel::form::Form;
use kernel::question::{Answer, AnswerError, Choice, PickMode, Question, QuestionBody, Reply};
use serde_json::{Map, Value};

use super::errors::{HxpWireError, code};
use super::parse::{object, present};
use super::projection::{ABORT, RETRY, SKIP, offered, only_field};
use super::wire::Resolve;

/// Reads a resolve body against its question, which may come from any dialect.
pub fn parse_resolve(bytes: &[u8], question: &Question) -> Result<Reply, HxpWireError> {
    read_resolve(bytes)?.reply(question)
}

/// The first half of [`parse_resolve`]: the checks that do not depend on the question.
pub fn read_resolve(bytes: &[u8]) -> Result<Resolve, HxpWireError> {
    let body = object(bytes)?;
    let result = present(&body, "result").cloned().ok_or_else(|| {
        HxpWireError::field(400, code::MISSING_RESULT, "result", "the answer to the question")
    })?;
    let reason = match present(&body, "reason") {
        None => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => return Err(HxpWireError::result("reason", "wrong_type", "expected a string")),
    };
    Ok(Resolve { result, reason })
}

/// The reason in the body of a cancel, which may be empty.
pub fn parse_cancel(bytes: &[u8]) -> Result<Option<String>, HxpWireError> {
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    match present(&object(bytes)?, "reason") {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.trim().is_empty())),
        Some(_) => Err(HxpWireError::field(400, code::INVALID_PAYLOAD, "reason", "a string")),
    }
}

impl Resolve {
    /// The kernel's reply, checked against its question.
    pub fn reply(self, question: &Question) -> Result<Reply, HxpWireError> {
        let answer = answer(&self.result, question.body())?;
        let checked = question.check(Reply { answer, comment: self.reason });
        checked
            .map(kernel::question::CheckedReply::into_reply)
            .map_err(|error| HxpWireError::answer(&error))
    }
}

fn answer(result: &Value, body: &QuestionBody) -> Result<Answer, HxpWireError> {
    match body {
        QuestionBody::Approve { .. } => match result.as_str() {
            Some("approved") => Ok(Answer::Approved { edits: None }),
            Some("rejected") => Ok(Answer::REJECTED),
            _ => Err(not_among(["approved", "rejected"])),
        },
        QuestionBody::Choose { options, pick, .. } => {
            let texts = match (pick, result) {
                (PickMode::Many, Value::Array(items)) => items.iter().collect(),
                (PickMode::One | PickMode::Many, one) => vec![one],
            };
            let ids: Result<Vec<String>, HxpWireError> =
                texts.into_iter().map(|text| chosen(text, options.choices())).collect();
            Ok(Answer::Chosen { options: ids? })
        }
        QuestionBody::Provide { form } => provided(result, form),
        QuestionBody::Confirm { items, yes, no } => match result.as_str() {
            Some(label) if label == yes => {
                Ok(Answer::Confirmed { items: items.iter().map(|item| item.id.clone()).collect() })
            }
            Some(label) if label == no => Ok(Answer::Declined),
            _ => Err(not_among([yes.as_str(), no.as_str()])),
        },
        QuestionBody::Escalate { .. } => match result.as_str() {
            Some(RETRY) => Ok(Answer::Retry { params: Map::new() }),
            Some(SKIP) => Ok(Answer::Skip),
            Some(ABORT) => Ok(Answer::Abort),
            _ => Err(not_among([RETRY, SKIP, ABORT])),
        },
        QuestionBody::Converse => match result.as_str() {
            Some(text) => Ok(Answer::Replied { text: text.to_owned() }),
            None => Err(HxpWireError::result("result", "wrong_type", "expected a string")),
        },
    }
}

fn chosen(text: &Value, choices: &[Choice]) -> Result<String, HxpWireError> {
    let found = offered(choices).find(|(offer, _)| text.as_str() == Some(offer));
    found
        .map(|(_, choice)| choice.id.clone())
        .ok_or_else(|| not_among(offered(choices).map(|(offer, _)| offer)))
}

/// One value for a form of one field, otherwise an object by key. The web client only posts
/// strings, so a string may hold the JSON of an object.
fn provided(result: &Value, form: &Form) -> Result<Answer, HxpWireError> {
    let submitted = match (only_field(form), result) {
        (Some(field), value) => Map::from_iter([(field.key().to_owned(), value.clone())]),
        (None, Value::Object(values)) => values.clone(),
        (None, other) => {
            let text = other.as_str().and_then(|text| serde_json::from_str(text).ok());
            text.ok_or_else(|| {
                HxpWireError::result(
                    "result",
                    "wrong_type",
                    "expected an object of the form's fields",
                )
            })?
        }
    };
    let values = form.validate(&submitted).map_err(AnswerError::Fields);
    values.map(|values| Answer::Provided { values }).map_err(|error| HxpWireError::answer(&error))
}

fn not_among<'t>(offers: impl IntoIterator<Item = &'t str>) -> HxpWireError {
    let offers: Vec<String> = offers.into_iter().map(|offer| format!("{offer:?}")).collect();
    let message = format!("expected one of {}", offers.join(", "));
    HxpWireError::result("result", "not_an_option", &message)
}
