//! `POST /hitl/v1/cases`: turns the body into a [`NewAsk`]. Sections 6 and 10; the fields of the
//! `hitl` object that the service chooses.
//!
//! Members without a kernel equivalent are stored as sent, in the ask's metadata under `hitl`. The
//! server can then rebuild the same `hitl` object, and erases them with the ask's text.

use std::collections::BTreeSet;

use kernel::ask::{DefaultAction, Dialect, Labels, NewExperienceEnvelope, Priority, Route};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::spelling::suggestion;
use kernel::text::is_storable_json;
use kernel::{Ask, Time};
use serde_json::{Map, Value, json};

use super::errors::{HitlWireError, code};
use super::parse::{Members, object};
use super::question::question;
use super::types::{CaseType, HitlAction};
use super::{HitlVersion, ask_id, policy, timeout};
use crate::hxp_experience::claims::{self, NotAnObject};
use crate::members::PRIORITIES;

/// Maximum length of a prompt, in characters (HITL-015).
const LONGEST_PROMPT: usize = 500;
/// Maximum length of a message, in characters.
const LONGEST_MESSAGE: usize = 2000;
/// The metadata member that stores data without a kernel equivalent.
const METADATA_KEY: &str = "hitl";

const FIELDS: [&str; 21] = [
    "type",
    "prompt",
    "context",
    "message",
    "data",
    "timeout",
    "default_action",
    "reminder_at",
    "previous_case_id",
    "hitl_callback_url",
    "inline_actions",
    "surface",
    "spec_version",
    "verification_policy",
    "role",
    "person",
    "project",
    "priority",
    "tags",
    "routing",
    claims::MEMBER,
];
const ROUTING: [&str; 5] = ["role", "person", "project", "priority", "tags"];

/// A case to create. The server adds its tokens and the challenge of its proofs, and checks
/// `hitl_callback_url`.
#[derive(Debug, Clone)]
pub struct NewHitlCase {
    /// The ask, without tokens.
    pub ask: NewAsk,
    pub version: HitlVersion,
}

/// The stored data of this dialect.
pub(super) fn stored_members(ask: &Ask) -> Option<&Map<String, Value>> {
    if ask.dialect != Dialect::Hitl {
        return None;
    }
    ask.metadata.value()?.get(METADATA_KEY)?.as_object()
}

pub fn parse_create(bytes: &[u8]) -> Result<NewHitlCase, HitlWireError> {
    let body = object(bytes)?;
    if !body.values().all(is_storable_json) {
        return Err(HitlWireError::field("body", "strings without NUL characters"));
    }
    let members = Members::new(&body, "");
    members.only(&FIELDS)?;
    let version = version(members)?;
    let verification = policy::policy(members)?.map(Box::new);
    let kind = review_type(members)?;
    let prompt = prompt(members)?;
    let none = Map::new();
    let context = members.object("context")?;
    let question = question(&kind, prompt, context.unwrap_or(&none))?;
    let timeout = members.text("timeout")?.unwrap_or(timeout::DEFAULT);
    let seconds = timeout::seconds(timeout);
    let seconds = seconds.ok_or_else(|| members.bad("timeout", timeout::EXPECTED))?;
    let reminders = reminders(members)?;
    let follows = members.text("previous_case_id")?.map(|id| {
        let expected = "the ID of a case: review_ followed by a ULID";
        ask_id(id).ok_or_else(|| members.bad("previous_case_id", expected))
    });
    let inline = inline(members, &kind)?;
    let people = routing(members)?;
    let mut kept = Map::new();
    if let CaseType::Custom(name) = &kind {
        kept.insert("type".to_owned(), json!(name));
    }
    if version != HitlVersion::default() {
        kept.insert("spec_version".to_owned(), json!(version.as_str()));
    }
    kept.insert("timeout".to_owned(), json!(timeout));
    for (key, value) in [
        ("message", message(members)?.map(|text| json!(text))),
        ("data", members.object("data")?.map(|data| json!(data))),
        ("surface", surface(members)?.map(|surface| json!(surface))),
        ("reminder_at", reminders.as_ref().map(ReminderTimes::shown)),
        ("context", context.filter(|_| kind != CaseType::Approval).map(|context| json!(context))),
    ] {
        kept.extend(value.map(|value| (key.to_owned(), value)));
    }
    let callback = members.text("hitl_callback_url")?.map(ToOwned::to_owned);
    let ask = NewAsk {
        dialect: Dialect::Hitl,
        question,
        metadata: Map::from_iter([(METADATA_KEY.to_owned(), Value::Object(kept))]),
        labels: Labels { agent: None, project: people.text("project")?.map(ToOwned::to_owned) },
        tags: people.texts("tags")?.unwrap_or_default().into_iter().collect::<BTreeSet<_>>(),
        priority: priority(people)?,
        route: route(people)?,
        timeout: Some(seconds),
        on_expiry: NewOnExpiry::Report(default_action(members)?),
        reminders: reminders.map(ReminderTimes::times).unwrap_or_default(),
        follows: follows.transpose()?,
        grants: Vec::new(),
        inline,
        callback,
        verification,
        assurance: None,
        posting_address: None,
        copies: Vec::new(),
        claims: envelope(bytes, members, context)?,
    };
    Ok(NewHitlCase { ask, version })
}

/// The service's envelope. It is shown in `context`, so `context` must not hold another one.
fn envelope(
    bytes: &[u8],
    members: Members<'_>,
    context: Option<&Map<String, Value>>,
) -> Result<Option<Box<NewExperienceEnvelope>>, HitlWireError> {
    if members.present(claims::MEMBER).is_none() {
        return Ok(None);
    }
    if context.is_some_and(|context| context.contains_key(claims::MEMBER)) {
        return Err(members.bad(
            "context.hxp",
            "no value, because `hxp` is present; the server shows it in context.hxp",
        ));
    }
    claims::read_envelope(bytes, &[claims::MEMBER])
        .map_err(|_| members.bad(claims::MEMBER, NotAnObject::EXPECTED))
}

/// The object that names people: `routing` or the body itself, but not both.
fn routing(members: Members<'_>) -> Result<Members<'_>, HitlWireError> {
    let Some(routing) = members.object("routing")? else { return Ok(members) };
    let routing = Members::new(routing, "routing");
    routing.only(&ROUTING)?;
    match ROUTING.into_iter().find(|key| members.present(key).is_some()) {
        Some(twice) => Err(members
            .bad(twice, "no value, because `routing` is present; move this field into `routing`")),
        None => Ok(routing),
    }
}

fn version(members: Members<'_>) -> Result<HitlVersion, HitlWireError> {
    let expected = "\"0.7\" or \"0.8\"";
    let version = match members.text("spec_version")? {
        None => HitlVersion::default(),
        Some(name) => {
            HitlVersion::named(name).ok_or_else(|| members.bad("spec_version", expected))?
        }
    };
    match (members.present(policy::FIELD), version) {
        (Some(_), HitlVersion::V07) => {
            Err(members.bad("spec_version", "\"0.8\", because verification_policy requires it"))
        }
        (None, _) | (Some(_), HitlVersion::V08) => Ok(version),
    }
}

fn review_type(members: Members<'_>) -> Result<CaseType, HitlWireError> {
    members.present("type").and_then(Value::as_str).and_then(CaseType::named).ok_or_else(|| {
        let standard = CaseType::STANDARD.map(|one| one.as_str().to_owned()).join(", ");
        let given = members.present("type").and_then(Value::as_str).unwrap_or_default();
        let meant = suggestion(given, CaseType::STANDARD.iter().map(CaseType::as_str));
        let expected = format!("{standard}, or a custom name that starts with x-{meant}");
        HitlWireError::named(400, code::INVALID_TYPE, "type", &expected)
    })
}

fn prompt(members: Members<'_>) -> Result<&str, HitlWireError> {
    let prompt = members.required("prompt")?;
    if prompt.chars().count() > LONGEST_PROMPT {
        return Err(members.bad("prompt", "at most 500 characters"));
    }
    Ok(prompt)
}

fn message(members: Members<'_>) -> Result<Option<&str>, HitlWireError> {
    let message = members.text("message")?;
    if message.is_some_and(|text| text.chars().count() > LONGEST_MESSAGE) {
        return Err(members.bad("message", "at most 2000 characters"));
    }
    Ok(message)
}

fn default_action(members: Members<'_>) -> Result<DefaultAction, HitlWireError> {
    match members.present("default_action").map(Value::as_str) {
        None => Ok(DefaultAction::default()),
        Some(Some("skip")) => Ok(DefaultAction::Skip),
        Some(Some("approve")) => Ok(DefaultAction::Approve),
        Some(Some("reject")) => Ok(DefaultAction::Reject),
        Some(Some("abort")) => Ok(DefaultAction::Abort),
        Some(_) => {
            Err(members.not_among("default_action", &["skip", "approve", "reject", "abort"]))
        }
    }
}

/// `reminder_at`: one time or several, returned in the form they were given.
enum ReminderTimes {
    One(Time),
    Many(Vec<Time>),
}

impl ReminderTimes {
    fn shown(&self) -> Value {
        match self {
            Self::One(at) => json!(at),
            Self::Many(times) => json!(times),
        }
    }

    fn times(self) -> Vec<Time> {
        match self {
            Self::One(at) => vec![at],
            Self::Many(times) => times,
        }
    }
}

fn reminders(members: Members<'_>) -> Result<Option<ReminderTimes>, HitlWireError> {
    let key = "reminder_at";
    let bad = || members.bad(key, "a time in RFC 3339 format, or a list of at most 20 of them");
    let time = |value: &Value| value.as_str().and_then(|text| text.parse::<Time>().ok());
    match members.present(key) {
        None => Ok(None),
        Some(Value::Array(times)) if times.len() <= 20 => {
            let times: Option<Vec<Time>> = times.iter().map(time).collect();
            times.map(|times| Some(ReminderTimes::Many(times))).ok_or_else(bad)
        }
        Some(one) => time(one).map(|at| Some(ReminderTimes::One(at))).ok_or_else(bad),
    }
}

/// The answers that may be submitted inline: those named, otherwise those that fit a button. An
/// empty list means none (HITL-027, HITL-076).
fn inline(
    members: Members<'_>,
    kind: &CaseType,
) -> Result<Option<BTreeSet<kernel::question::AnswerKind>>, HitlWireError> {
    let key = "inline_actions";
    let actions: Vec<HitlAction> = match members.texts(key)? {
        None => kind.inline(),
        Some(names) => {
            let expected = format!("actions of this type, which are {}", kind.offers());
            let action = |name: &String| kind.action(name);
            let actions: Option<Vec<HitlAction>> = names.iter().map(action).collect();
            actions.ok_or_else(|| members.bad(key, &expected))?
        }
    };
    let stances: BTreeSet<_> = actions.iter().map(|action| action.stance).collect();
    Ok(Some(stances).filter(|stances| !stances.is_empty()))
}

fn surface(members: Members<'_>) -> Result<Option<&Map<String, Value>>, HitlWireError> {
    let Some(surface) = members.object("surface")? else { return Ok(None) };
    let inner = Members::new(surface, "surface");
    inner.text("format")?;
    inner.text("version")?;
    Ok(Some(surface))
}

fn priority(members: Members<'_>) -> Result<Priority, HitlWireError> {
    match members.present("priority").map(Value::as_str) {
        None => Ok(Priority::default()),
        Some(Some("low")) => Ok(Priority::Low),
        Some(Some("normal")) => Ok(Priority::Normal),
        Some(Some("high")) => Ok(Priority::High),
        Some(Some("critical")) => Ok(Priority::Critical),
        Some(_) => Err(members.not_among("priority", &PRIORITIES)),
    }
}

/// The people who see the case in their inbox, in addition to the link.
fn route(members: Members<'_>) -> Result<Route, HitlWireError> {
    let (role, person) = (members.text("role")?, members.text("person")?);
    match (role, person) {
        (Some(_), Some(_)) => {
            Err(members
                .bad("person", "no value, because role is present; send either person or role"))
        }
        (None, Some(id)) => {
            let human = id.parse().map_err(|_| members.bad("person", "the ID of a person"))?;
            Ok(Route::Person { human })
        }
        (None | Some("owner"), None) => Ok(Route::Owner),
        (Some("delegate"), None) => Ok(Route::Delegate),
        (Some("pool"), None) => Ok(Route::Pool { group: None }),
        (Some(group), None) => {
            let expected = "owner, delegate, pool or the ID of a group";
            let group = group.parse().map_err(|_| members.bad("role", expected))?;
            Ok(Route::Pool { group: Some(group) })
        }
    }
}
