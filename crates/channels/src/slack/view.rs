//! A form as a Slack modal, and which forms fit into one.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use kernel::form::{Bounds, Field, FieldKind, Form, FormChoice, FormChoices, Moment, TextRules};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};
use views::message_card::{DialogFields, FormDialog, TEXT_KEY};
use views::t;

use super::text::{LABEL, OPTIONS, beginning, escape, length, option, or_dash, plain, sections};

/// The callback id of all modals.
pub(super) const CALLBACK: &str = "countersign";

/// The most blocks in a modal.
const BLOCKS: usize = 100;
/// The longest title and button label.
const TITLE: usize = 24;
/// The longest input and initial value of a field.
const TYPED: u64 = 3000;
/// The longest label or hint.
const HINT: usize = 2000;
/// The longest placeholder.
const PLACEHOLDER: usize = 150;
/// The longest value of an option.
const VALUE: usize = 150;
/// The most options shown as checkboxes instead of a menu.
const BOXES: usize = 10;
/// The largest number that Slack's number fields hold exactly: JavaScript's safe integers.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// The private metadata of a modal: its token, and where a reply goes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ModalMetadata {
    pub(super) token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) thread: Option<String>,
}

/// Whether a form fits into a modal: one page, no conditions, no secrets, no files, and only fields
/// that Slack can show in full.
pub(super) fn fits(form: &Form) -> bool {
    form.step_count() == 1
        && form.fields().count() <= BLOCKS / 2
        && form.fields().next().is_some()
        && form.fields().all(|field| element(field).is_some())
}

/// The modal for a form. Returns `None` if the form does not fit.
pub(super) fn modal(sheet: &FormDialog, carried: &ModalMetadata) -> Option<Value> {
    let mut blocks = Vec::new();
    if length(&escape(&sheet.title)) > TITLE {
        blocks.extend(sections(&sheet.title));
    }
    blocks.extend(sections(&sheet.words));
    match &sheet.fields {
        DialogFields::Words { label, filled, optional } => {
            let rules = json!({ "multiline": true, "max_length": TYPED });
            let input = text("plain_text_input", rules, Some(filled))?;
            blocks.push(block(TEXT_KEY, label, None, *optional, &input));
        }
        DialogFields::Form(form) if !fits(form) => return None,
        DialogFields::Form(form) => {
            for field in form.fields() {
                let (optional, input) = (!field.is_required(), element(field)?);
                blocks.push(block(field.key(), field.label(), field.hint(), optional, &input));
            }
        }
    }
    let metadata = serde_json::to_string(carried).ok()?;
    (blocks.len() <= BLOCKS).then(|| {
        json!({
            "type": "modal",
            "callback_id": CALLBACK,
            "private_metadata": metadata,
            "title": plain(or_dash(beginning(&sheet.title, TITLE))),
            "submit": plain(or_dash(beginning(&sheet.send, TITLE))),
            "close": plain(t!("chat-cancel")),
            "blocks": blocks,
        })
    })
}

fn block(key: &str, label: &str, hint: Option<&str>, optional: bool, element: &Value) -> Value {
    let mut block = json!({
        "type": "input", "block_id": key, "label": plain(or_dash(escape(label))),
        "optional": optional, "element": element,
    });
    if let Some(hint) = hint.map(escape).filter(|hint| !hint.trim().is_empty()) {
        block["hint"] = plain(hint);
    }
    block
}

/// The input element of a field. Returns `None` if Slack cannot show it in full.
fn element(field: &Field) -> Option<Value> {
    let showable = field.condition().is_none()
        && !field.is_sensitive()
        && field.default_ref().is_none()
        && field.allowed_values().is_empty()
        && length(&escape(field.label())) <= HINT
        && field.hint().is_none_or(|hint| length(&escape(hint)) <= HINT)
        && field.placeholder().is_none_or(|text| length(&escape(text)) <= PLACEHOLDER);
    if !showable {
        return None;
    }
    let filled = field.default_value();
    let words = filled.and_then(Value::as_str);
    let mut element = match field.kind() {
        FieldKind::Text(rules) => text("plain_text_input", lengths(rules)?, words)?,
        FieldKind::Textarea(rules) => {
            let mut given = lengths(rules)?;
            given["multiline"] = json!(true);
            text("plain_text_input", given, words)?
        }
        FieldKind::Email(_) => text("email_text_input", json!({}), words)?,
        FieldKind::Url(_) => text("url_text_input", json!({}), words)?,
        FieldKind::Number(bounds) => number(bounds.min(), bounds.max(), filled)?,
        FieldKind::Range { min, max } => number(Some(min), Some(max), filled)?,
        FieldKind::Date(bounds) => return date(bounds, words),
        FieldKind::Boolean => return Some(boolean(filled)),
        FieldKind::Select(choices) => return select(choices, words),
        FieldKind::Multiselect(choices) => return several(choices, filled),
        FieldKind::Custom(..) | FieldKind::File => return None,
    };
    let placeholder = field.placeholder().map(escape);
    if let Some(shown) = placeholder.filter(|shown| !shown.trim().is_empty()) {
        element["placeholder"] = plain(shown);
    }
    Some(element)
}

fn text(kind: &str, mut rules: Value, filled: Option<&str>) -> Option<Value> {
    rules["type"] = json!(kind);
    rules["action_id"] = json!("text");
    if let Some(filled) = filled.filter(|filled| !filled.is_empty()) {
        if length(filled) as u64 > TYPED {
            return None;
        }
        rules["initial_value"] = json!(filled);
    }
    Some(rules)
}

/// The length limits of an input. If the form allows more than Slack, the modal accepts less. If
/// the form requires more, the field does not fit.
fn lengths(rules: &TextRules) -> Option<Value> {
    let mut given = json!({});
    if let Some(min) = rules.min_length().filter(|min| *min > 0) {
        given["min_length"] = json!(Some(min).filter(|min| *min <= TYPED)?);
    }
    // Slack requires at least 1.
    if let Some(max) = rules.max_length() {
        given["max_length"] = json!(max.clamp(1, TYPED));
    }
    Some(given)
}

fn number(min: Option<&Number>, max: Option<&Number>, filled: Option<&Value>) -> Option<Value> {
    let mut element =
        json!({ "type": "number_input", "action_id": "number", "is_decimal_allowed": true });
    for (name, bound) in [("min_value", min), ("max_value", max)] {
        if let Some(bound) = bound {
            let exact = bound.as_f64().is_some_and(|bound| bound.abs() <= EXACT);
            element[name] = json!(exact.then(|| bound.to_string())?);
        }
    }
    if let Some(filled) = filled.filter(|filled| filled.is_number()) {
        element["initial_value"] = json!(filled.to_string());
    }
    Some(element)
}

/// A date picker, or a picker with a time if the field uses times.
fn date(bounds: &Bounds<Moment>, filled: Option<&str>) -> Option<Value> {
    let has_time = |text: &str| text.len() > 10;
    let bound = |bound: Option<&Moment>| bound.is_some_and(|at| has_time(&at.to_string()));
    if bound(bounds.min()) || bound(bounds.max()) || filled.is_some_and(has_time) {
        let mut element = json!({ "type": "datetimepicker", "action_id": "datetime" });
        if let Some(filled) = filled.filter(|filled| has_time(filled)) {
            let at: jiff::Timestamp = filled.parse().ok()?;
            // Slack takes ten digits: the years 2001 to 2286.
            let seconds = at.as_second();
            element["initial_date_time"] =
                json!((1_000_000_000..=9_999_999_999).contains(&seconds).then_some(seconds)?);
        }
        return Some(element);
    }
    let mut element = json!({ "type": "datepicker", "action_id": "date" });
    if let Some(filled) = filled.filter(|filled| !filled.is_empty()) {
        element["initial_date"] = json!(filled);
    }
    Some(element)
}

fn boolean(filled: Option<&Value>) -> Value {
    let choices = [option(t!("chat-yes"), "true"), option(t!("chat-no"), "false")];
    let mut element =
        json!({ "type": "radio_buttons", "action_id": "boolean", "options": choices });
    match filled.and_then(Value::as_bool) {
        Some(true) => element["initial_option"] = choices[0].clone(),
        Some(false) => element["initial_option"] = choices[1].clone(),
        None => {}
    }
    element
}

fn select(choices: &FormChoices, filled: Option<&str>) -> Option<Value> {
    let options = options(choices)?;
    let mut element = json!({ "type": "static_select", "action_id": "select", "placeholder": plain(t!("chat-choose")) });
    if let Some(filled) = filled.filter(|filled| !filled.is_empty()) {
        element["initial_option"] = json!(chosen(choices, &options, &[filled]).first()?);
    }
    element["options"] = json!(options);
    Some(element)
}

fn several(choices: &FormChoices, filled: Option<&Value>) -> Option<Value> {
    let options = options(choices)?;
    let mut element = if options.len() <= BOXES {
        json!({ "type": "checkboxes", "action_id": "several" })
    } else {
        json!({
            "type": "multi_static_select", "action_id": "several", "placeholder": plain(t!("chat-choose")),
        })
    };
    let filled: Vec<&str> = match filled {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        other => other.and_then(Value::as_str).into_iter().collect(),
    };
    let chosen = chosen(choices, &options, &filled);
    if !chosen.is_empty() {
        element["initial_options"] = json!(chosen);
    }
    element["options"] = json!(options);
    Some(element)
}

fn options(choices: &FormChoices) -> Option<Vec<Value>> {
    let entry = |choice: &FormChoice| {
        let (label, value) = (escape(&choice.label), encode_value(&choice.value));
        (length(&label) <= LABEL && length(&value) <= VALUE).then(|| option(label, value))
    };
    let options: Option<Vec<Value>> = choices.iter().map(entry).collect();
    options.filter(|options| options.len() <= OPTIONS)
}

fn chosen<'o>(choices: &FormChoices, options: &'o [Value], filled: &[&str]) -> Vec<&'o Value> {
    let entries = choices.iter().zip(options);
    entries.filter(|(choice, _)| filled.contains(&choice.value.as_str())).map(|(_, o)| o).collect()
}

/// The value of an option for Slack: unchanged if Slack is certain to preserve
/// it, otherwise encoded.
fn encode_value(value: &str) -> String {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    if !value.is_empty() && value.bytes().all(safe) {
        value.to_owned()
    } else {
        format!("={}", BASE64_URL_SAFE_NO_PAD.encode(value))
    }
}

/// The original value of an option.
pub(super) fn decode_value(value: &str) -> Option<String> {
    match value.strip_prefix('=') {
        None => Some(value.to_owned()),
        Some(coded) => String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(coded).ok()?).ok(),
    }
}

#[cfg(test)]
mod tests;
