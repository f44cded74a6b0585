//! A request as text for a terminal. Text from agents is made safe to show.

use kernel::ActorRef;
use kernel::text::reveal;
use serde_json::{Map, Value};

use super::output::say;

/// How much of a request is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DetailLevel {
    /// The question and its outcome.
    Brief,
    /// Everything a person needs to answer it.
    Whole,
}

/// Prints a request for people.
pub(super) fn ask(ask: &client::Ask, detail: DetailLevel) {
    say!("{}  {}", ask.id, state(ask));
    if is_irreversible(ask) {
        say!("  ! This can't be undone");
    }
    if let Some(question) = &ask.question {
        say!("{}", block(text(question, "prompt"), "  "));
        let context = text(question, "context");
        if !context.is_empty() {
            say!("{}", block(context, "  "));
        }
        if detail == DetailLevel::Whole {
            body(question);
        }
    } else {
        say!("  (erased)");
    }
    if let Some((what, how)) = outcome(ask) {
        say!("{}", block(&what, "  → "));
        pairs(edits(ask));
        say!("{}", block(&how, "    "));
        if ask.question.is_some() {
            say!("    receipt: countersign receipts show {}", ask.id);
        }
    } else if detail == DetailLevel::Whole {
        say!("  {} asked on {}", rest(ask, "agent"), rest(ask, "created_at"));
        if !rest(ask, "expires_at").is_empty() {
            say!("  expires on {}", rest(ask, "expires_at"));
        }
        say!("\n  countersign answer {} {}", ask.id, hint(ask));
    }
}

/// The state of the request as text.
fn state(ask: &client::Ask) -> String {
    let state = ask.state.replace('_', " ");
    match rest(ask, "priority") {
        "critical" => format!("{state}, URGENT"),
        "high" => format!("{state}, high priority"),
        _ => state,
    }
}

/// The subject of the decision.
fn body(question: &Value) {
    for object in ["details", "error"] {
        if let Some(Value::Object(members)) = question.get(object) {
            pairs(members.iter().map(|(key, value)| (reveal(key), inline(value))).collect());
        }
    }
    for named in ["options", "reject_options", "items"] {
        let list = list(question, named);
        let shown = |(id, label): &(&str, &str)| {
            let suggests = if named == "options" { suggests(question, id) } else { "" };
            (reveal(id), format!("{}{suggests}", reveal(label)))
        };
        pairs(list.iter().map(shown).collect());
    }
    let field = |field: &PrintedField<'_>| {
        let required = if field.required { ", required" } else { "" };
        (field.key.to_owned(), format!("{} ({}{required})", reveal(field.label), field.kind))
    };
    pairs(fields(question).iter().map(field).collect());
}

/// Prints names and values in two columns.
fn pairs(pairs: Vec<(String, String)>) {
    let width = pairs.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, value) in pairs {
        let value = value.replace('\n', &format!("\n{}", " ".repeat(width + 6)));
        say!("    {name:<width$}  {value}");
    }
}

/// The outcome of the request, and how it was reached.
fn outcome(ask: &client::Ask) -> Option<(String, String)> {
    let (what, how) = recorded_outcome(ask)?;
    let Some(revoked) = &ask.revoked else { return Some((what, how)) };
    let reason = revoked.reason.as_ref().map(|reason| format!(" ({})", reveal(reason)));
    let reason = reason.unwrap_or_default();
    Some((format!("{what}, then revoked{reason}"), format!("{how}; revoked on {}", revoked.at)))
}

fn recorded_outcome(ask: &client::Ask) -> Option<(String, String)> {
    let result = ask.result.as_ref()?;
    let (at, by) = (&result.at, &result.by);
    Some(match (ask.state.as_str(), by) {
        ("completed", ActorRef::System) => {
            (answer_text(ask), format!("by default: no one answered until {at}"))
        }
        ("completed", by) => (answer_text(ask), format!("by {by} on {at}")),
        ("cancelled", by) => {
            let reason = result.reason.as_ref();
            let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
            let by = if *by == ActorRef::System { "the server".to_owned() } else { by.to_string() };
            (format!("cancelled{reason}"), format!("by {by} on {at}"))
        }
        _ => ("no one answered".to_owned(), format!("until {at}")),
    })
}

/// The answer as text.
fn answer_text(ask: &client::Ask) -> String {
    let result = ask.result.as_ref();
    let (Some(answer), Some(verdict)) =
        (result.and_then(|result| result.answer.as_ref()), ask.verdict())
    else {
        return "the answer was erased".to_owned();
    };
    let said = match verdict {
        "chosen" => {
            let labels = ask.question.as_ref().map(options).unwrap_or_default();
            let label = |id| labels.iter().find(|option| option.0 == id).map_or(id, |one| one.1);
            strings(answer.get("options")).into_iter().map(label).collect::<Vec<_>>().join(", ")
        }
        "provided" => match answer.get("values") {
            Some(Value::Object(values)) => provided(ask, values),
            _ => String::new(),
        },
        "replied" => text(answer, "text").to_owned(),
        "approved" if answer.get("edits").is_some() => "approved with changes".to_owned(),
        other => other.replace('_', " "),
    };
    let comment = result.and_then(|result| result.comment.as_deref()).unwrap_or_default();
    if comment.is_empty() { said } else { format!("{said} ({comment})") }
}

/// The details a person changed: each with the agent's value and the new one.
fn edits(ask: &client::Ask) -> Vec<(String, String)> {
    let answer = ask.result.as_ref().and_then(|result| result.answer.as_ref());
    let Some(edits) = answer.and_then(|answer| answer.get("edits")?.as_object()) else {
        return Vec::new();
    };
    let details = ask.question.as_ref().and_then(|question| question.get("details"));
    let detail = |key: &str| details.and_then(|details| details.get(key));
    let asked = |key: &str| detail(key).map_or_else(|| "(nothing)".to_owned(), inline);
    let edit =
        |(key, now): (&String, &Value)| (reveal(key), format!("{} → {}", asked(key), inline(now)));
    edits.iter().filter(|(key, now)| detail(key) != Some(*now)).map(edit).collect()
}

/// The provided values; sensitive ones are not shown.
fn provided(ask: &client::Ask, values: &Map<String, Value>) -> String {
    let fields = ask.question.as_ref().map(fields).unwrap_or_default();
    let hidden = |key: &str| fields.iter().any(|field| field.key == key && field.sensitive);
    let shown = |(key, value): (&String, &Value)| {
        (reveal(key), if hidden(key) { "(hidden)".to_owned() } else { inline(value) })
    };
    let shown: Vec<_> = values.iter().map(shown).collect();
    match shown.as_slice() {
        [(_, only)] => only.clone(),
        many => {
            many.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
        }
    }
}

/// The possible answers.
pub(super) fn hint(ask: &client::Ask) -> String {
    match ask.kind.as_str() {
        "approve" => {
            let reasons = ask.question.as_ref().map(reject_options).unwrap_or_default();
            let each = reasons.iter().map(|(id, _)| format!("reject {} | ", quoted(id)));
            format!("approve | {}reject | changes", each.collect::<String>())
        }
        "confirm" => "confirm | decline".to_owned(),
        "escalate" => "retry | skip | abort".to_owned(),
        "choose" => {
            let ids = ask.question.as_ref().map(options).unwrap_or_default();
            ids.iter().map(|option| quoted(option.0)).collect::<Vec<_>>().join(" | ")
        }
        "provide" => match ask.question.as_ref().map(fields).unwrap_or_default().as_slice() {
            [_] => "VALUE".to_owned(),
            many => many.iter().map(|f| format!("{}=…", f.key)).collect::<Vec<_>>().join(" "),
        },
        _ => "YOUR REPLY".to_owned(),
    }
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let shown = reveal(word);
    if !shown.is_empty() && shown.chars().all(plain) {
        shown
    } else {
        format!("'{}'", shown.replace('\'', r"'\''"))
    }
}

pub(super) struct PrintedField<'a> {
    pub(super) key: &'a str,
    pub(super) label: &'a str,
    pub(super) kind: &'a str,
    pub(super) required: bool,
    sensitive: bool,
}

pub(super) fn fields(question: &Value) -> Vec<PrintedField<'_>> {
    let fields = question.pointer("/form/fields").and_then(Value::as_array);
    let flag = |field: &Value, key| field.get(key).and_then(Value::as_bool).unwrap_or(false);
    let field = |field| PrintedField {
        key: text(field, "key"),
        label: text(field, "label"),
        kind: text(field, "type"),
        required: flag(field, "required"),
        sensitive: flag(field, "sensitive"),
    };
    fields.into_iter().flatten().map(field).collect()
}

/// Whether the agent says that the action cannot be undone.
pub(super) fn is_irreversible(ask: &client::Ask) -> bool {
    ask.rest.get("irreversible").and_then(Value::as_bool).unwrap_or(false)
}

/// The text after the label of the option that the agent suggests.
pub(super) fn suggests(question: &Value, id: &str) -> &'static str {
    if question.get("suggested").and_then(Value::as_str) == Some(id) {
        "  (Agent suggests)"
    } else {
        ""
    }
}

/// The options of a question: id and label.
pub(super) fn options(question: &Value) -> Vec<(&str, &str)> {
    list(question, "options")
}

/// The reasons a question offers for a rejection: id and label.
pub(super) fn reject_options(question: &Value) -> Vec<(&str, &str)> {
    list(question, "reject_options")
}

fn list<'v>(question: &'v Value, key: &str) -> Vec<(&'v str, &'v str)> {
    let items = question.get(key).and_then(Value::as_array).into_iter().flatten();
    items
        .filter_map(|item| Some((item.get("id")?.as_str()?, item.get("label")?.as_str()?)))
        .collect()
}

/// Indents several lines under a label.
fn block(words: &str, before: &str) -> String {
    let indent = " ".repeat(before.chars().count());
    format!("{before}{}", reveal(words).replace('\n', &format!("\n{indent}")))
}

fn inline(value: &Value) -> String {
    reveal(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn rest<'a>(ask: &'a client::Ask, key: &str) -> &'a str {
    ask.rest.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
