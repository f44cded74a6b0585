//! The `payload` of `POST /hxp/v1/requests`: turns JSON into a [`Question`]. Section 2.

use kernel::form::{Bound, Field, FieldSpec, Form, FormChoice as Entry, FormError};
use kernel::question::{Choice, Editable, Options, PickMode, Question, QuestionBody};
use kernel::text::is_storable_json;
use serde_json::{Map, Number, Value};

use super::errors::{HxpWireError, code};
use super::parse::Members;
use super::projection::{FREE_SELECTION, KEY, LABEL, MOST_OPTIONS};
use super::wire::{Action, InputType};

/// Maximum length of a context, in characters.
const LONGEST_CONTEXT: usize = 500;

/// The rules that a `validation` may hold; the specification calls `pattern` `regex`.
const RULES: [&str; 5] = ["pattern", "regex", "min", "max", "allowed_values"];

/// The parsed payload.
pub(super) struct ParsedPayload {
    pub(super) question: Question,
    /// `default_option`, one of the options.
    pub(super) default: Option<String>,
}

pub(super) fn parse_payload(
    action: Action,
    payload: Option<&Value>,
) -> Result<ParsedPayload, HxpWireError> {
    let bad = |expected| HxpWireError::field(400, code::INVALID_PAYLOAD, "payload", expected);
    let Some(Value::Object(map)) = payload else {
        return Err(bad("an object with the fields of the action"));
    };
    if !payload.is_none_or(is_storable_json) {
        return Err(bad("strings without NUL characters"));
    }
    let members = Members::new(map, "payload");
    let context = context(members)?;
    let (prompt, body, default) = match action {
        Action::Decide => {
            let options = options(members)?;
            let default = default_option(members, &options)?;
            let suggested = default.clone();
            let body = QuestionBody::Choose { options, pick: PickMode::One, suggested };
            (members.required("question")?, body, default)
        }
        Action::Approve => {
            let body = QuestionBody::Approve {
                details: members.object("details")?.cloned().unwrap_or_default(),
                editable: editable(members)?,
                reject_requires_reason: members.flag("reject_requires_reason")?.unwrap_or(false),
                reject_options: Vec::new(),
            };
            (members.required("item")?, body, None)
        }
        Action::Provide => {
            let prompt = members.required("prompt")?;
            (prompt, QuestionBody::Provide { form: form(members)? }, None)
        }
    };
    let question = Question::new(prompt, context, body)
        .map_err(|error| members.bad(error.field, error.expected))?;
    Ok(ParsedPayload { question, default })
}

fn context(members: Members<'_>) -> Result<Option<String>, HxpWireError> {
    let text = members.text("context")?;
    if text.is_some_and(|text| text.chars().count() > LONGEST_CONTEXT) {
        return Err(members.bad("context", "at most 500 characters"));
    }
    Ok(text.map(ToOwned::to_owned))
}

/// A Countersign extension: the details that a person may change before they approve.
fn editable(members: Members<'_>) -> Result<Editable, HxpWireError> {
    let Some(value) = members.present("editable") else { return Ok(Editable::default()) };
    let bad = |_| members.bad("editable", "true, false or an object with `fields`");
    serde_json::from_value(value.clone()).map_err(bad)
}

fn options(members: Members<'_>) -> Result<Options, HxpWireError> {
    let bad = || members.bad("options", "2 to 6 distinct non-empty strings");
    let values = members.present("options").and_then(Value::as_array).ok_or_else(bad)?;
    if values.len() > MOST_OPTIONS {
        return Err(bad());
    }
    let texts: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
    let choices = texts.ok_or_else(bad)?.into_iter().map(Choice::plain).collect();
    Options::new(choices).map_err(|_| bad())
}

fn default_option(members: Members<'_>, options: &Options) -> Result<Option<String>, HxpWireError> {
    let Some(value) = members.present("default_option") else { return Ok(None) };
    let option = value.as_str().filter(|option| options.contains(option));
    let bad = || members.bad("default_option", "one of the options");
    option.map(|option| Some(option.to_owned())).ok_or_else(bad)
}

/// A form of one field, named [`KEY`].
fn form(members: Members<'_>) -> Result<Form, HxpWireError> {
    let kind = members.present("input_type").and_then(Value::as_str).and_then(InputType::named);
    let kind = kind.ok_or_else(|| {
        let names = ["text", "number", "url", "email", "file", "selection"];
        members.not_among("input_type", &names)
    })?;
    let empty = Map::new();
    let given = members.object("validation")?.unwrap_or(&empty);
    let rules = Members::new(given, "payload.validation");
    if let Some(unknown) = rules.keys().find(|key| !RULES.contains(key)) {
        return Err(rules.bad(
            unknown,
            "no value; the rules of this protocol are pattern, min, max and allowed_values",
        ));
    }
    let mut spec = FieldSpec::new(KEY, LABEL, "");
    spec.required = true;
    spec.sensitive = members.flag("sensitive")?.unwrap_or(false);
    spec.placeholder = members.text("placeholder")?.map(ToOwned::to_owned);
    let mut validation = kernel::form::Validation {
        pattern: rules.text("pattern")?.map(ToOwned::to_owned),
        ..Default::default()
    };
    if validation.pattern.is_none() {
        validation.pattern = rules.text("regex")?.map(ToOwned::to_owned);
    }
    let allowed = rules.present("allowed_values").map(|values| {
        values.as_array().cloned().ok_or_else(|| rules.bad("allowed_values", "a list of values"))
    });
    let allowed = allowed.transpose()?;
    spec.kind = match (kind, allowed) {
        (InputType::Selection, Some(values)) => {
            spec.options = entries(rules, &values)?;
            "select".to_owned()
        }
        (InputType::Selection, None) => FREE_SELECTION.to_owned(),
        (InputType::Text, allowed) => limited(&mut validation, allowed, "text"),
        (InputType::Number, allowed) => limited(&mut validation, allowed, "number"),
        (InputType::Url, allowed) => limited(&mut validation, allowed, "url"),
        (InputType::Email, allowed) => limited(&mut validation, allowed, "email"),
        (InputType::File, allowed) => limited(&mut validation, allowed, "file"),
    };
    let (min, max) = (number(rules, "min")?, number(rules, "max")?);
    match kind {
        // For text types the limits are lengths; other types use them as values or reject them.
        InputType::Text | InputType::Url | InputType::Email => {
            validation.min_length = length(rules, "min", min)?;
            validation.max_length = length(rules, "max", max)?;
        }
        InputType::Number | InputType::File | InputType::Selection => {
            validation.min = min.cloned().map(Bound::Number);
            validation.max = max.cloned().map(Bound::Number);
        }
    }
    spec.validation = Some(validation);
    let form = Field::try_from(spec).and_then(Form::single);
    let within = form.and_then(|form| form.prepare().map(|_| form));
    within.map_err(|error| refused(members, rules, &error))
}

fn limited(
    validation: &mut kernel::form::Validation,
    allowed: Option<Vec<Value>>,
    kind: &str,
) -> String {
    validation.allowed_values = allowed;
    kind.to_owned()
}

/// The options of a selection. Only strings are allowed, because the answer must equal one of them
/// exactly.
fn entries(rules: Members<'_>, values: &[Value]) -> Result<Vec<Entry>, HxpWireError> {
    let entry = |value: &Value| {
        let text = value.as_str().filter(|text| !text.trim().is_empty())?;
        Some(Entry { value: text.to_owned(), label: text.to_owned() })
    };
    let entries: Option<Vec<Entry>> = values.iter().map(entry).collect();
    entries.ok_or_else(|| {
        rules.bad(
            "allowed_values",
            "distinct non-empty strings, because the input_type is selection",
        )
    })
}

fn number<'m>(rules: Members<'m>, key: &str) -> Result<Option<&'m Number>, HxpWireError> {
    rules
        .present(key)
        .map(|value| value.as_number().ok_or_else(|| rules.bad(key, "a number")))
        .transpose()
}

fn length(
    rules: Members<'_>,
    key: &str,
    given: Option<&Number>,
) -> Result<Option<u64>, HxpWireError> {
    given
        .map(|number| {
            let expected = "a number of characters, because the value is a string";
            number.as_u64().ok_or_else(|| rules.bad(key, expected))
        })
        .transpose()
}

/// Translates the kernel's errors to the names of this protocol.
fn refused(members: Members<'_>, rules: Members<'_>, error: &FormError) -> HxpWireError {
    match error {
        FormError::Pattern { reason, .. } => {
            let expected = format!("a regular expression that runs in linear time ({reason})");
            rules.bad("pattern", &expected)
        }
        FormError::PatternsTooLong { .. } | FormError::PatternsTooLarge { .. } => {
            rules.bad("pattern", &format!("a smaller pattern ({error})"))
        }
        FormError::TooManyAllowed { .. } | FormError::TooManyOptions { .. } => {
            rules.bad("allowed_values", "at most 1000 values")
        }
        FormError::Lengths { .. } | FormError::Bounds { .. } => rules.bad("min", "at most max"),
        FormError::AllowedValues { .. } => {
            rules.bad("allowed_values", "a non-empty list of values of the input_type")
        }
        FormError::OptionsMissing { .. }
        | FormError::OptionEmpty { .. }
        | FormError::DuplicateOption { .. } => rules.bad(
            "allowed_values",
            "distinct non-empty strings, because the input_type is selection",
        ),
        FormError::RuleDoesNotApply { rule, .. } => {
            rules.bad(rule, "no value, because this rule does not apply to the input_type")
        }
        // The other errors cannot occur in this protocol.
        other => members.bad("validation", &other.to_string()),
    }
}
