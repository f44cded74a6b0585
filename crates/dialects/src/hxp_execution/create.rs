//! `POST /hxp/v1/requests`: turns the body into a [`NewAsk`]. Sections 2, 3 and 5.1.
//!
//! Unknown members are ignored: later minor versions may add some. `null` counts as absent.

use std::collections::BTreeSet;

use kernel::AskId;
use kernel::ask::irreversible::any_marks_irreversible;
use kernel::ask::{Dialect, Labels, NewExperienceEnvelope, Priority, Route};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::question::{Answer, Reply};
use kernel::text::{is_storable, is_storable_json};
use kernel::time::LONGEST_TIMEOUT;
use serde_json::{Map, Value};

use super::errors::{HxpWireError, code};
use super::parse::{allowed, named, object, present};
use super::payload::{ParsedPayload, parse_payload};
use super::view::ask_id;
use super::wire::{Action, Fallback, Role};
use crate::hxp_experience::claims::{self, NotAnObject};
use crate::members::PRIORITIES;

/// Maximum number of tags.
const MOST_TAGS: usize = 50;

pub fn parse_create(bytes: &[u8]) -> Result<NewAsk, HxpWireError> {
    let body = object(bytes)?;
    let given = present(&body, "action");
    let action = given.and_then(Value::as_str).and_then(Action::named);
    let action = action.ok_or_else(|| {
        let expected = allowed(&ACTIONS, given);
        HxpWireError::field(400, code::INVALID_ACTION, "action", &expected)
    })?;
    let roles = (code::INVALID_ROLE, &["owner", "delegate", "pool"][..]);
    let role = named(&body, "role", Role::Owner, role, roles)?;
    let priorities = (code::INVALID_PRIORITY, &PRIORITIES[..]);
    let priority = named(&body, "priority", Priority::Normal, priority, priorities)?;
    let fallbacks = (code::INVALID_FALLBACK, &["pause", "fail", "default"][..]);
    let fallback = named(&body, "fallback", Fallback::Pause, fallback, fallbacks)?;
    let timeout = timeout(&body)?;
    let labels = Labels {
        agent: label(&body, "agent_id", code::INVALID_AGENT_ID)?,
        project: label(&body, "project_id", code::INVALID_PROJECT_ID)?,
    };
    let mut metadata = metadata(&body)?;
    if is_marked_irreversible(&body) {
        metadata.insert("irreversible".to_owned(), Value::Bool(true));
    }
    let tags = tags(&metadata)?;
    let route = route(role, &metadata)?;
    let ParsedPayload { question, default } = parse_payload(action, present(&body, "payload"))?;
    let on_expiry = match (fallback, default) {
        (Fallback::Pause, _) => NewOnExpiry::StayOpen,
        (Fallback::Fail, _) => NewOnExpiry::Fail,
        (Fallback::Default, Some(option)) => {
            let answer = Answer::Chosen { options: vec![option] };
            NewOnExpiry::Answer(Reply { answer, comment: None })
        }
        (Fallback::Default, None) => {
            let (field, expected) = match action {
                Action::Decide => ("payload.default_option", "one of the options"),
                Action::Approve | Action::Provide => {
                    ("fallback", "pause or fail; default needs DECIDE with a default_option")
                }
            };
            return Err(HxpWireError::field(400, code::INVALID_PAYLOAD, field, expected));
        }
    };
    Ok(NewAsk {
        dialect: Dialect::HxpExecution,
        question,
        metadata,
        labels,
        tags,
        priority,
        route,
        timeout,
        on_expiry,
        reminders: Vec::new(),
        follows: follows(&body)?,
        grants: Vec::new(),
        inline: None,
        callback: None,
        verification: None,
        assurance: None,
        posting_address: None,
        copies: Vec::new(),
        claims: claims(bytes, &body)?,
    })
}

/// The agent's envelope, in the format of HXP eXperience.
fn claims(
    bytes: &[u8],
    body: &Map<String, Value>,
) -> Result<Option<Box<NewExperienceEnvelope>>, HxpWireError> {
    if present(body, claims::MEMBER).is_none() {
        return Ok(None);
    }
    let bad =
        |_| HxpWireError::field(400, code::INVALID_HXP, claims::MEMBER, NotAnObject::EXPECTED);
    claims::read_envelope(bytes, &[claims::MEMBER]).map_err(bad)
}

pub(super) fn priority(name: &str) -> Option<Priority> {
    match name {
        "low" => Some(Priority::Low),
        "normal" => Some(Priority::Normal),
        "high" => Some(Priority::High),
        "critical" => Some(Priority::Critical),
        _ => None,
    }
}

/// The names of the actions on the wire.
pub(super) const ACTIONS: [&str; 3] = ["DECIDE", "APPROVE", "PROVIDE"];

fn role(name: &str) -> Option<Role> {
    match name {
        "owner" => Some(Role::Owner),
        "delegate" => Some(Role::Delegate),
        "pool" => Some(Role::Pool),
        _ => None,
    }
}

fn fallback(name: &str) -> Option<Fallback> {
    match name {
        "pause" => Some(Fallback::Pause),
        "fail" => Some(Fallback::Fail),
        "default" => Some(Fallback::Default),
        _ => None,
    }
}

/// Whole seconds; 0 means none.
fn timeout(body: &Map<String, Value>) -> Result<Option<u64>, HxpWireError> {
    let Some(value) = present(body, "timeout_seconds") else { return Ok(None) };
    let seconds =
        value.as_u64().filter(|seconds| *seconds <= LONGEST_TIMEOUT).ok_or_else(|| {
            let expected = "a whole number of seconds from 0 (none) to 100 years";
            HxpWireError::field(400, code::INVALID_TIMEOUT, "timeout_seconds", expected)
        })?;
    Ok(Some(seconds).filter(|seconds| *seconds > 0))
}

/// A Countersign extension: the request that this one continues.
fn follows(body: &Map<String, Value>) -> Result<Option<AskId>, HxpWireError> {
    let key = "previous_request_id";
    let Some(value) = present(body, key) else { return Ok(None) };
    let id = value.as_str().and_then(ask_id);
    let bad = || {
        HxpWireError::field(
            400,
            code::INVALID_BODY,
            key,
            "the ID of a request: hxp_ followed by a ULID",
        )
    };
    id.map(Some).ok_or_else(bad)
}

fn label(
    body: &Map<String, Value>,
    key: &str,
    code: &'static str,
) -> Result<Option<String>, HxpWireError> {
    let Some(value) = present(body, key) else { return Ok(None) };
    let text = value.as_str().filter(|text| is_short(text));
    let expected = "a string of at most 200 bytes, without NUL characters";
    text.map(|text| Some(text.to_owned()))
        .ok_or_else(|| HxpWireError::field(400, code, key, expected))
}

/// Whether the kernel accepts the text as a label or a tag.
fn is_short(text: &str) -> bool {
    text.len() <= 200 && is_storable(text)
}

fn metadata(body: &Map<String, Value>) -> Result<Map<String, Value>, HxpWireError> {
    match present(body, "metadata") {
        None => Ok(Map::new()),
        Some(value @ Value::Object(map)) if is_storable_json(value) => Ok(map.clone()),
        Some(_) => Err(bad_metadata("metadata", "an object without NUL characters")),
    }
}

/// Whether a member beside those of the protocol or of the payload marks the request as
/// irreversible. The server does not store these members; it stores marks in `metadata`, `details`
/// and the envelope.
fn is_marked_irreversible(body: &Map<String, Value>) -> bool {
    let without = |map: &Map<String, Value>, kept: &[&str]| {
        any_marks_irreversible(map.iter().filter(|(name, _)| !kept.contains(&name.as_str())))
    };
    let payload = body.get("payload").and_then(Value::as_object);
    without(body, &["metadata", "payload", claims::MEMBER])
        || payload.is_some_and(|payload| without(payload, &["details"]))
}

fn bad_metadata(field: &str, expected: &str) -> HxpWireError {
    HxpWireError::field(400, code::INVALID_METADATA, field, expected)
}

/// `metadata.tag` and `metadata.tags[]`: the specification has tags in rules only. Metadata is free
/// data, so a value that is no string is ignored.
fn tags(metadata: &Map<String, Value>) -> Result<BTreeSet<String>, HxpWireError> {
    let one = metadata.get("tag").into_iter();
    let many = metadata.get("tags").and_then(Value::as_array).into_iter().flatten();
    let texts = one.chain(many).filter_map(Value::as_str).filter(|tag| !tag.trim().is_empty());
    let tags: BTreeSet<String> = texts.map(ToOwned::to_owned).collect();
    if tags.len() > MOST_TAGS || !tags.iter().all(|tag| is_short(tag)) {
        return Err(bad_metadata("metadata.tags", "at most 50 tags of at most 200 bytes"));
    }
    Ok(tags)
}

fn route(role: Role, metadata: &Map<String, Value>) -> Result<Route, HxpWireError> {
    match role {
        Role::Owner => Ok(Route::Owner),
        Role::Delegate => Ok(Route::Delegate),
        Role::Pool => {
            let group = present(metadata, "group").map(|value| {
                let name = value.as_str().and_then(|name| name.parse().ok());
                name.ok_or_else(|| bad_metadata("metadata.group", "the ID of a group"))
            });
            Ok(Route::Pool { group: group.transpose()? })
        }
    }
}
