//! The questions an agent may ask, and the answers to them.
//!
//! A constructed [`Question`] can be answered: constructors refuse anything else. An [`Answer`] is
//! typed to its question and checked against it by [`Question::check`].

mod answer;
mod check;
mod editable;
mod secret_values;

pub use answer::{Answer, AnswerKind, Reply};
pub use check::{AnswerError, CheckedReply, LONGEST_COMMENT};
pub use editable::Editable;
pub use secret_values::SecretValues;

use std::collections::BTreeSet;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::form::{self, Form};
use crate::refusal::Refusal;
use crate::strict::{nothing_more, unbuffered, with_path};
use crate::text::{is_storable, is_storable_json};

/// An invalid question: the field that is wrong and the expected value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: expected {expected}")]
pub struct QuestionError {
    /// The field, as the kernel names it.
    pub field: &'static str,
    /// The accepted values.
    pub expected: &'static str,
}

/// The typed body of an ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(try_from = "Unchecked")]
pub struct Question {
    #[cfg_attr(feature = "openapi", schema(min_length = 1))]
    prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    #[serde(flatten)]
    body: QuestionBody,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `kind` and `prompt`")]
struct Unchecked {
    prompt: String,
    context: Option<String>,
    #[serde(flatten, deserialize_with = "unbuffered")]
    body: QuestionBody,
}

impl TryFrom<Unchecked> for Question {
    type Error = QuestionError;

    fn try_from(question: Unchecked) -> Result<Self, QuestionError> {
        Self::new(question.prompt, question.context, question.body)
    }
}

/// The kinds of question with their data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = QuestionBody))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum QuestionBody {
    /// An approval of an action.
    Approve {
        /// The complete details of the action.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        details: Map<String, Value>,
        /// The details for which the agent accepts edits.
        #[serde(default)]
        editable: Editable,
        /// Whether a rejection requires a reason.
        #[serde(default)]
        reject_requires_reason: bool,
        /// Suggested reasons for a rejection. Other reasons can be entered as text.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "reject_options"
        )]
        #[cfg_attr(feature = "openapi", schema(max_items = 20))]
        reject_options: Vec<Choice>,
    },
    /// A choice of one or more options.
    Choose {
        /// The options.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<Choice>, min_items = 2, max_items = 1000))]
        #[serde(deserialize_with = "options")]
        options: Options,
        /// How many options can be chosen.
        pick: PickMode,
        /// The option that the agent suggests.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suggested: Option<String>,
    },
    /// A form with values that only a person can provide.
    Provide {
        /// The fields.
        #[serde(deserialize_with = "form")]
        form: Form,
    },
    /// A confirmation of a list of items.
    Confirm {
        /// The items to confirm; may be empty.
        #[serde(deserialize_with = "items")]
        items: Vec<Choice>,
        /// The label of the button that confirms.
        yes: String,
        /// The label of the button that declines.
        no: String,
    },
    /// An escalation after a failure: retry, skip or abort.
    Escalate {
        /// The failure.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        error: Map<String, Value>,
        /// The parameters that a retry can change.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        params: Map<String, Value>,
    },
    /// A message that expects a reply in free text.
    #[serde(deserialize_with = "nothing_more")]
    Converse,
}

fn options<'de, D: Deserializer<'de>>(from: D) -> Result<Options, D::Error> {
    Options::new(with_path("options", from)?).map_err(D::Error::custom)
}

fn reject_options<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Choice>, D::Error> {
    with_path("reject_options", from)
}

fn items<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Choice>, D::Error> {
    with_path("items", from)
}

fn form<'de, D: Deserializer<'de>>(from: D) -> Result<Form, D::Error> {
    with_path("form", from)
}

/// The kind of a question, as one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = QuestionKind))]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// See [`QuestionBody::Approve`].
    Approve,
    /// See [`QuestionBody::Choose`].
    Choose,
    /// See [`QuestionBody::Provide`].
    Provide,
    /// See [`QuestionBody::Confirm`].
    Confirm,
    /// See [`QuestionBody::Escalate`].
    Escalate,
    /// See [`QuestionBody::Converse`].
    Converse,
}

impl QuestionKind {
    /// All kinds, in the order of declaration.
    pub const ALL: [Self; 6] =
        [Self::Approve, Self::Choose, Self::Provide, Self::Confirm, Self::Escalate, Self::Converse];

    /// The kind as it is stored and shown to developers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Choose => "choose",
            Self::Provide => "provide",
            Self::Confirm => "confirm",
            Self::Escalate => "escalate",
            Self::Converse => "converse",
        }
    }
}

/// An option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The ID that the agent receives.
    pub id: String,
    /// The label that the person sees.
    pub label: String,
    /// A description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl Choice {
    /// A choice whose id is its label.
    pub fn plain(label: impl Into<String>) -> Self {
        let label = label.into();
        Self { id: label.clone(), label, description: None }
    }
}

/// At least two choices with distinct, non-empty ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Options(Vec<Choice>);

impl Options {
    /// Checks the choices: at least two, with distinct and non-empty ids.
    pub fn new(choices: Vec<Choice>) -> Result<Self, QuestionError> {
        let field = "options";
        if choices.len() < 2 {
            return Err(QuestionError { field, expected: "at least two options" });
        }
        if choices.len() > 1000 {
            return Err(QuestionError { field, expected: "at most 1000 options" });
        }
        distinct(&choices, field)?;
        Ok(Self(choices))
    }

    /// The choices in the agent's order.
    pub fn choices(&self) -> &[Choice] {
        &self.0
    }

    /// Whether one of the choices has this id.
    pub fn contains(&self, id: &str) -> bool {
        self.0.iter().any(|choice| choice.id == id)
    }
}

/// The maximum number of offered reasons. Each is a button, and too many would hide the one that
/// approves.
const MOST_REASONS: usize = 20;

fn distinct(choices: &[Choice], field: &'static str) -> Result<(), QuestionError> {
    let mut seen = BTreeSet::new();
    for choice in choices {
        if choice.id.trim().is_empty() || choice.label.trim().is_empty() {
            return Err(QuestionError { field, expected: "non-empty strings" });
        }
        let texts = [Some(&choice.id), Some(&choice.label), choice.description.as_ref()];
        if !texts.into_iter().flatten().all(|text| is_storable(text)) {
            return Err(QuestionError { field, expected: "strings without NUL characters" });
        }
        if !seen.insert(choice.id.as_str()) {
            return Err(QuestionError { field, expected: "distinct options" });
        }
    }
    Ok(())
}

/// How many options can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = Pick))]
pub enum PickMode {
    /// Exactly one.
    One,
    /// Any number, at least one.
    Many,
}

impl Question {
    /// Creates a question with its prompt and optional context; refused if it is not valid.
    pub fn new(
        prompt: impl Into<String>,
        context: Option<String>,
        body: QuestionBody,
    ) -> Result<Self, QuestionError> {
        let prompt = prompt.into();
        if prompt.trim().is_empty() {
            return Err(QuestionError { field: "prompt", expected: "a non-empty string" });
        }
        let storable = "a string without NUL characters";
        if !is_storable(&prompt) {
            return Err(QuestionError { field: "prompt", expected: storable });
        }
        if !context.as_deref().is_none_or(is_storable) {
            return Err(QuestionError { field: "context", expected: storable });
        }
        body.storable()?;
        Ok(Self { prompt, context, body })
    }

    /// The form of the question and the name of the member that holds it, if it has one.
    fn form(&self) -> Option<(&'static str, &Form)> {
        match &self.body {
            QuestionBody::Provide { form } => Some(("form", form)),
            QuestionBody::Approve { editable, .. } => Some("editable").zip(editable.form()),
            QuestionBody::Choose { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Escalate { .. }
            | QuestionBody::Converse => None,
        }
    }

    /// Checks a new question against the cost [limits](form::MAX_FIELDS) and compiles its patterns.
    /// To be called before the question is decided on: compiling takes time, and the patterns stay
    /// compiled while the result exists.
    pub fn prepare(&self) -> Result<form::PreparedPatterns, Refusal> {
        let Some((field, form)) = self.form() else { return Ok(form::PreparedPatterns::default()) };
        form.prepare().map_err(|error| Refusal::TooComplex { field, why: error.to_string() })
    }

    /// Whether checking an answer compiles patterns or searches with them.
    pub fn has_patterns(&self) -> bool {
        self.form().is_some_and(|(_, form)| form.has_patterns())
    }

    /// The compiled patterns of a stored question, without limits.
    pub fn compile(&self) -> form::PreparedPatterns {
        self.form().map(|(_, form)| form.compile()).unwrap_or_default()
    }

    /// The question as the agent words it.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Background information from the agent.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// The typed part of the question.
    pub fn body(&self) -> &QuestionBody {
        &self.body
    }

    /// Whether a file may be part of the answer.
    pub fn wants_file(&self) -> bool {
        match &self.body {
            QuestionBody::Provide { form } => {
                form.fields().any(|field| *field.kind() == form::FieldKind::File)
            }
            QuestionBody::Approve { .. }
            | QuestionBody::Choose { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Escalate { .. }
            | QuestionBody::Converse => false,
        }
    }

    /// Whether it asks for values that must not be sent through a chat: a secret, or a file.
    pub fn is_confidential(&self) -> bool {
        match &self.body {
            QuestionBody::Provide { form } => {
                self.wants_file() || form.fields().any(form::Field::is_sensitive)
            }
            QuestionBody::Approve { .. }
            | QuestionBody::Choose { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Escalate { .. }
            | QuestionBody::Converse => false,
        }
    }

    /// The kind of question.
    pub fn kind(&self) -> QuestionKind {
        match self.body {
            QuestionBody::Approve { .. } => QuestionKind::Approve,
            QuestionBody::Choose { .. } => QuestionKind::Choose,
            QuestionBody::Provide { .. } => QuestionKind::Provide,
            QuestionBody::Confirm { .. } => QuestionKind::Confirm,
            QuestionBody::Escalate { .. } => QuestionKind::Escalate,
            QuestionBody::Converse => QuestionKind::Converse,
        }
    }
}

impl QuestionBody {
    fn storable(&self) -> Result<(), QuestionError> {
        let expected = "strings without NUL characters";
        let whole = |field, map: &Map<String, Value>| {
            if map.iter().all(|(key, value)| is_storable(key) && is_storable_json(value)) {
                Ok(())
            } else {
                Err(QuestionError { field, expected })
            }
        };
        match self {
            Self::Approve { details, editable, reject_options, .. } => {
                whole("details", details)?;
                let field = "reject_options";
                distinct(reject_options, field)?;
                if reject_options.len() > MOST_REASONS {
                    return Err(QuestionError { field, expected: "at most 20 options" });
                }
                editable.check_fields(details)
            }
            Self::Confirm { items, yes, no } => {
                distinct(items, "items")?;
                for (field, label) in [("yes", yes), ("no", no)] {
                    if label.trim().is_empty() || !is_storable(label) {
                        let expected = "a non-empty string without NUL characters";
                        return Err(QuestionError { field, expected });
                    }
                }
                if yes == no {
                    let expected = "a label other than that of `yes`";
                    return Err(QuestionError { field: "no", expected });
                }
                Ok(())
            }
            Self::Escalate { error, params } => {
                whole("error", error)?;
                whole("params", params)
            }
            // A form holds text in many places; checking its JSON covers all of them.
            Self::Provide { form } => {
                let form = serde_json::to_value(form);
                if form.is_ok_and(|form| is_storable_json(&form)) {
                    Ok(())
                } else {
                    Err(QuestionError { field: "form", expected })
                }
            }
            // Options were checked when they were constructed.
            Self::Choose { options, suggested, .. } => {
                if suggested.as_ref().is_none_or(|id| options.contains(id)) {
                    Ok(())
                } else {
                    Err(QuestionError { field: "suggested", expected: "one of the options" })
                }
            }
            Self::Converse => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_kind_is_a_word_and_not_its_number() {
        for kind in [json!(0), json!(5), json!(null), json!("0"), json!(["approve"])] {
            let question = json!({"prompt": "p", "kind": kind});
            assert!(serde_json::from_value::<Question>(question.clone()).is_err(), "{question}");
            let text = question.to_string();
            assert!(serde_json::from_str::<Question>(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn nul_is_refused_wherever_an_agent_can_write() {
        let choice = json!({"id": "a", "label": "A"});
        let field = json!({"key": "k", "label": "K", "type": "text"});
        let plain = [
            json!({"kind": "approve", "details": {"x": ["y"]}, "reject_options": [
                {"id": "a", "label": "A", "description": "D"}]}),
            json!({"kind": "choose", "pick": "one", "options": [
                {"id": "a", "label": "A", "description": "D"}, {"id": "b", "label": "B"}]}),
            json!({"kind": "confirm", "yes": "Y", "no": "N", "items": [choice]}),
            json!({"kind": "confirm", "yes": "Y", "no": "N", "items": [
                {"id": "a", "label": "A", "description": "D"}]}),
            json!({"kind": "escalate", "error": {"e": "E"}, "params": {"p": "P"}}),
            json!({"kind": "provide", "form": {"session_id": "S", "steps": [
                {"title": "T", "description": "D", "fields": [field]}]}}),
            json!({"kind": "provide", "form": {"fields": [
                {"key": "k", "label": "K", "type": "select", "hint": "H", "placeholder": "P",
                    "options": [{"value": "v", "label": "V"}], "default": "v"},
                {"key": "l", "label": "L", "type": "text", "validation": {"pattern": "p"},
                    "conditional": {"field": "k", "operator": "eq", "value": "v"}}]}}),
            json!({"kind": "converse"}),
        ];
        for body in plain {
            let mut whole = json!({"prompt": "p", "context": "c"});
            whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            assert!(serde_json::from_value::<Question>(whole.clone()).is_ok(), "{whole}");
            let text = whole.to_string();
            for (at, _) in text.match_indices('"') {
                let spoilt = format!("{}\\u0000{}", &text[..at], &text[at..]);
                // If the result is still JSON, one of its texts now ends in NUL.
                let Ok(spoilt) = serde_json::from_str::<Value>(&spoilt) else { continue };
                let read = serde_json::from_value::<Question>(spoilt.clone());
                let kept = read.map(|question| serde_json::to_value(question).unwrap());
                assert!(kept.as_ref().map_or(true, is_storable_json), "{spoilt}");
            }
        }
    }
}
