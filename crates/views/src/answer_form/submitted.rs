//! Converts a submitted form to a reply to its question. This module is pure.
//!
//! | name | value |
//! |---|---|
//! | `action` | the button: `approve approve_edited reject changes choose provide confirm decline retry skip abort reply` |
//! | `choose` | the id of an option, where every option is a button; implies `action=choose` |
//! | `reject` | the id of a reason the agent offered for a rejection; implies `action=reject` |
//! | `option` | the ids of chosen options, where they are radio buttons or check boxes |
//! | `comment` | reason, note, feedback |
//! | `edits.{n}`, `params.{n}` | the values of an approval's details or of a retry's parameters, as the person left them |
//! | `reply` | the free text of a conversation |
//! | `from` | `inbox` for an answer from the list; the handler returns there |
//! | `field.{key}` | the value of a form field; uploads are in [`SubmittedForm::files`] |

use kernel::form::{FieldKind, FileRef, Form};
use kernel::question::{Answer, AnswerError, Choice, Question, QuestionBody, Reply};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer_form::edits;
use crate::answer_form::problem::{FormProblems, ProblemLocation};

/// The prefix of the controls for an approval's details.
pub const EDITS: &str = "edits";
/// The value of the button that approves only if a value was changed.
pub const APPROVE_EDITED: &str = "approve_edited";
/// The prefix of the controls for the parameters of a retry.
pub const PARAMS: &str = "params";

/// A decoded form: names and values in the order of the page, and uploads by the name
/// of their input.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SubmittedForm {
    pub pairs: Vec<(String, String)>,
    /// Files already stored, by the name of their input (`field.{key}`).
    pub files: Vec<(String, FileRef)>,
}

impl SubmittedForm {
    /// A form without uploads.
    pub fn new(pairs: Vec<(String, String)>) -> Self {
        Self { pairs, files: Vec::new() }
    }

    /// The last value under a name, because a pressed button comes after the controls before it.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Every value under a name.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The value of a text area, with the browser's CRLF line breaks converted.
    pub fn text(&self, name: &str) -> Option<String> {
        self.value(name).map(unix_line_breaks)
    }
}

/// The form as a reply, checked against the question and normalised.
pub fn reply(question: &Question, submitted: &SubmittedForm) -> Result<Reply, FormProblems> {
    let answer = answer(question, submitted)?;
    let comment = submitted.text("comment").filter(|text| !text.trim().is_empty());
    let checked = question.check(Reply { answer, comment });
    checked
        .map(kernel::question::CheckedReply::into_reply)
        .map_err(|error| FormProblems::of(&error, question))
}

fn answer(question: &Question, submitted: &SubmittedForm) -> Result<Answer, FormProblems> {
    let implied = |name| submitted.value(name).map(|_| name);
    let action =
        submitted.value("action").or_else(|| implied("choose")).or_else(|| implied("reject"));
    let unfit = || FormProblems::one(ProblemLocation::Page, t!("problem-no-button"));
    match (question.body(), action.ok_or_else(unfit)?) {
        (QuestionBody::Approve { details, editable, .. }, "changes") => {
            let edited =
                edits::changed(&editable.offered(details), editable.form(), EDITS, submitted)?;
            let edits = edited.map(|edited| edits::changed_members(edited, details));
            Ok(Answer::ChangesRequested { edits })
        }
        (
            QuestionBody::Approve { details, editable, .. },
            action @ ("approve" | APPROVE_EDITED),
        ) => {
            let open = editable.offered(details);
            let edits = edits::changed(&open, editable.form(), EDITS, submitted)?;
            if edits.is_none() && action == APPROVE_EDITED {
                let message = t!("problem-nothing-edited");
                return Err(FormProblems::one(ProblemLocation::Edits, message));
            }
            // An edited approval is never sent without the edits, because the person did
            // not approve that.
            if edits.is_some() && !editable.is_any() {
                let message = t!("problem-not-editable-edits");
                return Err(FormProblems::one(ProblemLocation::Edits, message));
            }
            Ok(Answer::Approved { edits })
        }
        (QuestionBody::Approve { reject_options, .. }, "reject") => {
            let sent = submitted.value("reject");
            let option = sent.map(|sent| original_id(reject_options, sent));
            Ok(Answer::Rejected { option })
        }
        (QuestionBody::Choose { options, .. }, "choose") => {
            let sent = submitted.values("option").chain(submitted.values("choose"));
            let id = |sent| original_id(options.choices(), sent);
            Ok(Answer::Chosen { options: sent.map(id).collect() })
        }
        (QuestionBody::Provide { form }, "provide") => {
            let values = form
                .validate(&values(form, submitted))
                .map_err(|errors| FormProblems::of(&AnswerError::Fields(errors), question))?;
            Ok(Answer::Provided { values })
        }
        // The page listed every item, so the answer confirms all of them.
        (QuestionBody::Confirm { items, .. }, "confirm") => {
            Ok(Answer::Confirmed { items: items.iter().map(|item| item.id.clone()).collect() })
        }
        (QuestionBody::Confirm { .. }, "decline") => Ok(Answer::Declined),
        (QuestionBody::Escalate { params, .. }, "retry") => {
            let edited = edits::changed(params, None, PARAMS, submitted)?;
            let changed = edited.map(|edited| edits::changed_members(edited, params));
            Ok(Answer::Retry { params: changed.unwrap_or_default() })
        }
        (QuestionBody::Escalate { .. }, "skip") => Ok(Answer::Skip),
        (QuestionBody::Escalate { .. }, "abort") => Ok(Answer::Abort),
        (QuestionBody::Converse, "reply") => {
            Ok(Answer::Replied { text: submitted.text("reply").unwrap_or_default() })
        }
        (
            QuestionBody::Approve { .. }
            | QuestionBody::Choose { .. }
            | QuestionBody::Provide { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Escalate { .. }
            | QuestionBody::Converse,
            _,
        ) => Err(unfit()),
    }
}

/// Maps a submitted id to the agent's spelling of it.
fn original_id(choices: &[Choice], sent: &str) -> String {
    let choice = choices.iter().find(|choice| same_value(&choice.id, sent));
    choice.map_or_else(|| sent.to_owned(), |choice| choice.id.clone())
}

/// The submitted values of a form by key, unchecked.
pub fn values(form: &Form, submitted: &SubmittedForm) -> Map<String, Value> {
    let mut values = Map::new();
    for field in form.fields() {
        let name = format!("field.{}", field.key());
        let known = |sent: &str| {
            let option = field.options().iter().find(|option| same_value(&option.value, sent));
            Value::from(option.map_or(sent, |option| option.value.as_str()))
        };
        let value = match field.kind() {
            FieldKind::File => {
                let file = submitted.files.iter().rfind(|(key, _)| *key == name);
                file.and_then(|(_, file)| serde_json::to_value(file).ok())
            }
            FieldKind::Multiselect(_) => {
                let ticked = submitted.values(&name).filter(|value| !value.is_empty());
                let sent: Vec<Value> = ticked.map(known).collect();
                Some(Value::Array(sent))
            }
            FieldKind::Select(_) => submitted.value(&name).map(known),
            FieldKind::Text(_)
            | FieldKind::Textarea(_)
            | FieldKind::Email(_)
            | FieldKind::Url(_)
            | FieldKind::Custom(..)
            | FieldKind::Number(_)
            | FieldKind::Range { .. }
            | FieldKind::Date(_)
            | FieldKind::Boolean => submitted.value(&name).map(Value::from),
        };
        if let Some(value) = value {
            values.insert(field.key().to_owned(), value);
        }
    }
    values
}

/// Whether two values are equal for a browser, which rewrites line breaks.
pub(crate) fn same_value(a: &str, b: &str) -> bool {
    a == b
        || ((a.contains(['\r', '\n']) || b.contains(['\r', '\n']))
            && unix_line_breaks(a) == unix_line_breaks(b))
}

pub(crate) fn unix_line_breaks(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
