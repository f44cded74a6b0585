//! What the tests share: a cast with cases of every type in every state.

use dialects::hitl::{CaseLinks, HitlWireError, accepted, parse_create, poll};
use kernel::actor::AttestedIdentity;
use kernel::command::{AskCommand, NewAsk};
use kernel::testing::Cast;
use kernel::{Actor, Ask, AskId};
use serde_json::{Value, json};

/// Every type, a custom one too.
pub(crate) const TYPES: [&str; 6] =
    ["approval", "selection", "input", "confirmation", "escalation", "x-acme-compare"];

/// A case of each type with a context of its own.
pub(crate) fn body(kind: &str) -> Value {
    let context = match kind {
        "approval" => json!({"artifact": {"title": "Deploy", "content": "v2.1.0"}, "risk": "low"}),
        "selection" => json!({
            "search": "Frontend, Berlin",
            "items": [
                {"id": "job_1", "title": "Staff", "description": "Klarna", "salary": "90k"},
                {"id": "job_2", "title": "Senior", "metadata": {"remote": true}},
                {"id": "job_3", "label": "Lead"},
            ],
        }),
        "confirmation" => json!({
            "description": "Two mails go out.",
            "items": [{"id": "m1", "label": "To Klarna"}, {"id": "m2", "label": "To Zalando"}],
            "irreversible": true,
        }),
        "escalation" => json!({
            "error": {"title": "Time-out", "summary": "8 pods failed"},
            "params": {"strategy": "rolling"},
            "application": "acme-web",
        }),
        _ => json!({
            "job": "Staff engineer",
            "form": {"fields": [
                {"key": "salary", "label": "Salary", "type": "number", "required": true,
                    "sensitive": true, "validation": {"min": 0, "max": 500_000}},
                {"key": "start", "label": "Start", "type": "date"},
                {"key": "remote", "label": "Remote?", "type": "boolean"},
                {"key": "days", "label": "Days", "type": "range",
                    "validation": {"min": 1, "max": 5},
                    "conditional": {"field": "remote", "operator": "eq", "value": true}},
            ]},
        }),
    };
    json!({ "type": kind, "prompt": format!("Please decide on {kind}."), "context": context })
}

/// One answer of each type that holds.
pub(crate) fn answer(kind: &str) -> Value {
    match kind {
        "approval" => json!({"action": "approve", "data": {"feedback": "fine"}}),
        "selection" => json!({"action": "select", "data": {"selected": ["job_3", "job_1"]}}),
        "confirmation" => json!({"action": "confirm", "data": {"confirmed_items": ["m2"]}}),
        "escalation" => json!({
            "action": "retry",
            "data": {"modified_params": {"strategy": "canary"}, "reason": "smaller steps"},
        }),
        _ => json!({
            "action": "submit",
            "data": {"salary": 100, "start": "2026-05-01", "remote": true, "days": 3},
        }),
    }
}

/// What comes back, with one word for whatever was given in confidence: its commitment is salted.
pub(crate) fn hushed(mut result: Value) -> Value {
    if let Some(data) = result["data"].as_object_mut() {
        for value in data.values_mut() {
            let mark = value.as_str().and_then(|text| text.strip_prefix("[redacted:"));
            if mark.is_some_and(|rest| rest.len() == 65 && rest.ends_with(']')) {
                *value = json!("[redacted]");
            }
        }
    }
    result
}

/// What the record has of an answer to `input`: all but what is sensitive.
pub(crate) fn recorded(mut answer: Value) -> Value {
    answer["data"]["salary"] = json!("[redacted]");
    answer
}

pub(crate) fn with(mut body: Value, more: Value) -> Value {
    let Value::Object(more) = more else { return more };
    for (key, value) in more {
        body[key] = value;
    }
    body
}

pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    serde_json::to_vec(value).unwrap()
}

pub(crate) fn new(value: &Value) -> NewAsk {
    parse_create(&bytes(value)).unwrap_or_else(|error| panic!("{error}: {value}")).ask
}

pub(crate) fn refused(value: &Value) -> HitlWireError {
    parse_create(&bytes(value)).unwrap_err()
}

pub(crate) fn made(value: &Value) -> (Cast, AskId) {
    let mut cast = Cast::new();
    let id = cast.ask(new(value));
    (cast, id)
}

pub(crate) fn links(ask: &Ask) -> CaseLinks {
    let id = dialects::hitl::case_id(ask.id);
    let base = "https://countersign.example";
    let at = |what: &str| format!("{base}/hitl/v1/reviews/{id}/{what}");
    CaseLinks {
        review: format!("{base}/review/{id}?token={}", "r".repeat(43)),
        poll: format!("{}?token={}", at("status"), "p".repeat(43)),
        events: format!("{}?token={}", at("events"), "p".repeat(43)),
        submit: ask.inline.as_ref().map(|_| (at("submit"), "s".repeat(43))),
    }
}

pub(crate) fn shown(ask: &Ask) -> Value {
    serde_json::to_value(accepted(ask, links(ask)).unwrap()).unwrap()
}

pub(crate) fn polled(ask: &Ask) -> Value {
    serde_json::to_value(poll(ask, None, None)).unwrap()
}

pub(crate) fn someone() -> AttestedIdentity {
    AttestedIdentity {
        via: "slack_block_action".to_owned(),
        platform: "slack".to_owned(),
        platform_user_id: "U1".to_owned(),
        display_name: Some("Ann".to_owned()),
    }
}

/// Answers as whoever holds the link.
pub(crate) fn respond(cast: &mut Cast, id: AskId, body: &Value) -> Result<(), HitlWireError> {
    let read = dialects::hitl::read_respond(&bytes(body))?;
    let reply = read.by_person(cast.seen(id), Ok)?;
    let holder = Actor::link_holder(id);
    cast.attempt(holder, AskCommand::Answer(id, Box::new(reply)))
        .map_err(|refusal| HitlWireError::refused(&refusal))
}
