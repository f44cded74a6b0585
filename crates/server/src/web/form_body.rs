//! What a browser posted, as a reply to the question it was posted for. Pure.
//!
//! | name | what it carries |
//! |---|---|
//! | `action` | the button: `approve reject changes choose provide confirm decline retry skip abort reply` |
//! | `choose` | the id of an option, where every option is a button; implies `action=choose` |
//! | `option` | the ids of chosen options, where they are radio buttons or check boxes |
//! | `comment` | reason, note, feedback |
//! | `edits`, `params` | JSON, as the person changed it |
//! | `reply` | the free text of a conversation |
//! | `from` | `inbox` when answered from the list; for the handler, which goes back there |
//! | `field.{key}` | the value of a form field; uploads are handed in beside |

use dialects::nesting::{DEEPEST, too_deep};
use kernel::form::{FileRef, Form, Kind, Values};
use kernel::question::{Answer, AnswerError, Body, Question, Reply};
use serde_json::{Map, Value};

use super::problem::{FormProblem, Place};

/// A decoded form: names and values in the order of the page, and uploads by the name of their
/// input.
#[derive(Debug, Clone, Default)]
pub struct Submitted {
    /// Decoded pairs.
    pub pairs: Vec<(String, String)>,
    /// Files already stored, by the name of their input (`field.{key}`).
    pub files: Vec<(String, FileRef)>,
}

impl Submitted {
    /// A form without uploads.
    pub fn new(pairs: Vec<(String, String)>) -> Self {
        Self { pairs, files: Vec::new() }
    }

    /// The last value under a name: a pressed button comes after everything before it on the page.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A text area's value; browsers write line breaks as CRLF.
    fn text(&self, name: &str) -> Option<String> {
        self.value(name).map(unix)
    }
}

/// The reply a form makes to a question, checked against it, in normal form.
pub fn reply(question: &Question, submitted: &Submitted) -> Result<Reply, FormProblem> {
    let answer = answer(question, submitted)?;
    let mut comment = submitted.text("comment").filter(|text| !text.trim().is_empty());
    // A conversation has one box to write in, whichever button is pressed.
    if comment.is_none() && answer == Answer::CHANGES && *question.body() == Body::Converse {
        comment = submitted.text("reply");
    }
    let checked = question.check(Reply { answer, comment });
    checked.map(kernel::question::Checked::into_reply).map_err(|error| {
        let mut problem = FormProblem::of(&error, question);
        let box_is_reply =
            error == AnswerError::ReasonRequired && *question.body() == Body::Converse;
        for problem in problem.problems.iter_mut().filter(|_| box_is_reply) {
            problem.place = Place::Reply;
        }
        problem
    })
}

fn answer(question: &Question, submitted: &Submitted) -> Result<Answer, FormProblem> {
    let action = submitted.value("action").or_else(|| submitted.value("choose").map(|_| "choose"));
    let unfit = || FormProblem::one(Place::Page, "Use one of the buttons to answer");
    match (question.body(), action.ok_or_else(unfit)?) {
        (_, "changes") => Ok(Answer::CHANGES),
        (Body::Approve { details, editable, .. }, "approve") => {
            let edits = submitted.value("edits").filter(|_| *editable);
            let edits = edits.map(|text| object(text, Place::Edits)).transpose()?;
            Ok(Answer::Approved { edits: edits.filter(|edits| edits != details) })
        }
        (Body::Approve { .. }, "reject") => Ok(Answer::Rejected),
        (Body::Choose { options, .. }, "choose") => {
            let sent = submitted.values("option").chain(submitted.values("choose"));
            let id = |sent: &str| {
                let known = options.choices().iter().find(|choice| same(&choice.id, sent));
                known.map_or_else(|| sent.to_owned(), |choice| choice.id.clone())
            };
            Ok(Answer::Chosen { options: sent.map(id).collect() })
        }
        (Body::Provide { form }, "provide") => {
            let values = provided(form, submitted)
                .map_err(|errors| FormProblem::of(&AnswerError::Fields(errors), question))?;
            Ok(Answer::Provided { values })
        }
        // Everything listed was shown, so going ahead means all of it.
        (Body::Confirm { items, .. }, "confirm") => {
            Ok(Answer::Confirmed { items: items.iter().map(|item| item.id.clone()).collect() })
        }
        (Body::Confirm { .. }, "decline") => Ok(Answer::Declined),
        (Body::Escalate { params, .. }, "retry") => {
            let sent = submitted.value("params").map(|text| object(text, Place::Params));
            let mut changed = sent.transpose()?.unwrap_or_default();
            changed.retain(|key, value| params.get(key) != Some(value));
            Ok(Answer::Retry { params: changed })
        }
        (Body::Escalate { .. }, "skip") => Ok(Answer::Skip),
        (Body::Escalate { .. }, "abort") => Ok(Answer::Abort),
        (Body::Converse, "reply") => {
            Ok(Answer::Replied { text: submitted.text("reply").unwrap_or_default() })
        }
        (
            Body::Approve { .. }
            | Body::Choose { .. }
            | Body::Provide { .. }
            | Body::Confirm { .. }
            | Body::Escalate { .. }
            | Body::Converse,
            _,
        ) => Err(unfit()),
    }
}

fn provided(form: &Form, submitted: &Submitted) -> Result<Values, Vec<kernel::form::FieldError>> {
    let mut values = Map::new();
    for field in form.fields() {
        let name = format!("field.{}", field.key());
        let known = |sent: &str| {
            let option = field.options().iter().find(|option| same(&option.value, sent));
            Value::from(option.map_or(sent, |option| option.value.as_str()))
        };
        let value = match field.kind() {
            Kind::File => {
                let file = submitted.files.iter().rfind(|(key, _)| *key == name);
                file.and_then(|(_, file)| serde_json::to_value(file).ok())
            }
            Kind::Multiselect(_) => {
                let sent: Vec<Value> = submitted.values(&name).map(known).collect();
                Some(Value::Array(sent))
            }
            Kind::Select(_) => submitted.value(&name).map(known),
            Kind::Text(_)
            | Kind::Textarea(_)
            | Kind::Email(_)
            | Kind::Url(_)
            | Kind::Custom(..)
            | Kind::Number(_)
            | Kind::Range { .. }
            | Kind::Date(_)
            | Kind::Boolean => submitted.value(&name).map(Value::from),
        };
        if let Some(value) = value {
            values.insert(field.key().to_owned(), value);
        }
    }
    form.validate(&values)
}

fn object(text: &str, place: Place) -> Result<Map<String, Value>, FormProblem> {
    if too_deep(text.as_bytes()) {
        let message = format!("Nest the JSON at most {DEEPEST} levels deep");
        return Err(FormProblem::one(place, message));
    }
    serde_json::from_str(text).map_err(|error| {
        let message = format!(
            "Check the JSON: line {}, column {} cannot be read",
            error.line().max(1),
            error.column()
        );
        FormProblem::one(place, message)
    })
}

/// Whether two values are the same to a browser, which rewrites line breaks.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a == b || ((a.contains(['\r', '\n']) || b.contains(['\r', '\n'])) && unix(a) == unix(b))
}

fn unix(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
