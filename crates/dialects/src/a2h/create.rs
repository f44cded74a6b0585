//! `POST /function_calls`, `POST /human_contacts`, `POST /contact_requests`: from the body to a
//! [`NewAsk`] (A2H-014, A2H-020 to A2H-029, A2H-040, A2H-042).
//!
//! What the kernel has no word for is kept as it is shown again, in the ask's metadata under `a2h`, and
//! is forgotten with the words.

use std::collections::BTreeSet;

use kernel::ask::{DefaultAction, Dialect, Labels, Place, Priority, Route};
use kernel::audit::Digest;
use kernel::command::{NewAsk, Silence};
use kernel::question::{Body, Choice, Options, Pick, Question, QuestionError, Stance};
use kernel::text::is_storable_json;
use kernel::{AskId, HumanId};
use serde_json::{Map, Value, json};

use super::channel::{self, BotToken, Channel};
use super::conversation;
use super::errors::WireError;
use super::options::{self, ResponseOption};
use super::parse::{Members, object};
use super::{KEPT, Kind};
use crate::hxp_experience::claims;

/// The longest `call_id` and `run_id`, in bytes; the vendor's API took 64 of both together.
const LONGEST_ID: usize = 200;
/// What stands beside an only option: a choice is among two at least.
pub(super) const OTHER: &str = "none_of_these";
/// And how people read it.
pub(super) const OTHERWISE: &str = "None of these";

/// Under which it is noted that the agent lent an app of its own; its token lies elsewhere.
pub(super) const OWN_APP: &str = "own_app";

/// A call to be made. How long it may wait is the operator's to say.
#[derive(Debug, Clone)]
pub struct NewCall {
    /// The ask, without a deadline.
    pub ask: NewAsk,
    /// What the caller calls it.
    pub call_id: String,
    /// Of its spec: the same call sent again has the same.
    pub fingerprint: Digest,
    /// Whom the channel names.
    pub to: Addressed,
    /// Where the channel leads.
    pub place: Option<Place>,
    /// The conversation it goes on with, if it does (A2H-133); then that says whom it is for.
    pub conversation: Option<AskId>,
    /// The app of the agent's own by which it is said (A2H-084).
    pub bot_token: Option<BotToken>,
}

impl NewCall {
    fn claiming(mut self, bytes: &[u8]) -> Self {
        self.ask = claiming(self.ask, bytes);
        self
    }
}

/// With what the agent says of what it asks. `state` is the caller's own, so what is no envelope there
/// is no mistake either; whatever it is comes back as it came.
pub(super) fn claiming(mut ask: NewAsk, bytes: &[u8]) -> NewAsk {
    let state = ask.metadata.get(KEPT).and_then(|kept| kept.get("state"));
    if state.is_some_and(|state| state.get(claims::MEMBER).is_some()) {
        ask.claims = claims::within(bytes, &["spec", "state", claims::MEMBER]).ok().flatten();
    }
    ask
}

/// Whom a channel names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Addressed {
    /// Nobody in particular.
    Nobody,
    /// A person, by id.
    Human(HumanId),
    /// Whoever has this mail address; perhaps nobody we know.
    Address(String),
}

impl From<&Channel> for Addressed {
    fn from(channel: &Channel) -> Self {
        match (&channel.human, channel.addresses.first()) {
            (Some(human), _) => Self::Human(human.clone()),
            (None, Some(address)) => Self::Address(address.clone()),
            (None, None) => Self::Nobody,
        }
    }
}

/// Reads a function call.
pub fn parse_function_call(bytes: &[u8]) -> Result<NewCall, WireError> {
    let body = storable(bytes)?;
    let call = Members::new(&body, "");
    let spec = spec(call)?;
    let name = spec.required("fn")?;
    // A call without arguments may come without the member (A2H-022).
    let kwargs = spec.object("kwargs")?.cloned().unwrap_or_default();
    let reject_options = options::read(spec, "reject_options")?;
    let question = Question::new(
        name,
        None,
        Body::Approve {
            details: kwargs,
            editable: false.into(),
            reject_requires_reason: false,
            reject_options: reject_options.iter().map(ResponseOption::choice).collect(),
        },
    );
    let question = question.map_err(|error| refused(&error, "fn"))?;
    let parts = Parts { kind: Kind::FunctionCall, options: ("reject_options", reject_options) };
    let silence = DefaultAction::Reject;
    let new = parts.make(call, spec, question, &[Stance::Approve, Stance::Reject], silence)?;
    Ok(new.claiming(bytes))
}

/// Reads a human contact.
pub fn parse_human_contact(bytes: &[u8]) -> Result<NewCall, WireError> {
    let body = storable(bytes)?;
    let call = Members::new(&body, "");
    let spec = spec(call)?;
    let msg = spec.required("msg")?;
    let subject = spec.text("subject")?.filter(|subject| !subject.trim().is_empty());
    let response_options = options::read(spec, "response_options")?;
    let mut choices: Vec<Choice> = response_options.iter().map(ResponseOption::choice).collect();
    if choices.len() == 1 {
        let description = Some("Write what you want instead as a comment".to_owned());
        choices.push(Choice { id: OTHER.to_owned(), label: OTHERWISE.to_owned(), description });
    }
    let (body, stance) = if choices.is_empty() {
        (Body::Converse, Stance::Reply)
    } else {
        let options = Options::new(choices).map_err(|error| refused(&error, "msg"))?;
        (Body::Choose { options, pick: Pick::One, suggested: None }, Stance::Choose)
    };
    let question = match subject {
        Some(subject) => Question::new(subject, Some(msg.to_owned()), body),
        None => Question::new(msg, None, body),
    };
    let question = question.map_err(|error| refused(&error, "msg"))?;
    let parts = Parts { kind: Kind::HumanContact, options: ("response_options", response_options) };
    Ok(parts.make(call, spec, question, &[stance], DefaultAction::Skip)?.claiming(bytes))
}

/// A body whose texts can be stored.
pub(super) fn storable(bytes: &[u8]) -> Result<Map<String, Value>, WireError> {
    let body = object::<WireError>(bytes)?;
    if body.values().all(is_storable_json) {
        return Ok(body);
    }
    Err(WireError::field("", "texts without NUL characters"))
}

fn spec(call: Members<'_>) -> Result<Members<'_>, WireError> {
    let spec = call.object("spec")?.ok_or_else(|| call.bad("spec", "an object"))?;
    Ok(Members::new(spec, "spec"))
}

fn refused(error: &QuestionError, prompt: &str) -> WireError {
    let place = match error.field {
        "prompt" | "context" => prompt,
        "details" => "kwargs",
        "options" => "response_options",
        other => other,
    };
    WireError::field(&format!("spec.{place}"), error.expected)
}

/// An id that every client can put into an address (A2H-014, A2H-015).
pub(super) fn id(from: Members<'_>, key: &str) -> Result<String, WireError> {
    let expected =
        "1 to 200 bytes without / ? # % \\, control characters and blank ends, and not . or ..";
    let bad = || from.bad(key, expected);
    let id = from.given(key).and_then(Value::as_str).ok_or_else(bad)?;
    let odd = |c: char| matches!(c, '/' | '?' | '#' | '%' | '\\') || c.is_control();
    let fits = (1..=LONGEST_ID).contains(&id.len()) && id.trim() == id && !id.contains(odd);
    if fits && !matches!(id, "." | "..") { Ok(id.to_owned()) } else { Err(bad()) }
}

/// Whether the body says that the request cannot be undone where nothing is kept: beside the members of
/// the protocol. In `kwargs` and `state` it is kept.
pub(super) fn marks_beside(call: Members<'_>, spec: Members<'_>) -> bool {
    call.marks_irreversible(&["spec", "status"])
        || spec.marks_irreversible(&["kwargs", "state", "response_schema"])
}

/// What is particular to a kind of call.
struct Parts {
    kind: Kind,
    options: (&'static str, Vec<ResponseOption>),
}

impl Parts {
    fn make(
        self,
        call: Members<'_>,
        spec: Members<'_>,
        question: Question,
        stances: &[Stance],
        silence: DefaultAction,
    ) -> Result<NewCall, WireError> {
        let run_id = call.required("run_id")?;
        if run_id.len() > LONGEST_ID {
            return Err(call.bad("run_id", "at most 200 bytes"));
        }
        let call_id = id(call, "call_id")?;
        let channel = channel::read(spec, "channel")?;
        let state = spec.object("state")?;
        let (name, options) = self.options;
        let options = (!options.is_empty()).then(|| json!(options));
        let mut kept = Map::new();
        for (key, value) in [
            ("kind", Some(json!(self.kind.as_str()))),
            ("run_id", Some(json!(run_id))),
            ("call_id", Some(json!(call_id))),
            ("channel", channel.shown.clone()),
            (name, options),
            ("state", state.map(|state| json!(state))),
            (OWN_APP, channel.bot_token.as_ref().map(|_| json!(true))),
            ("irreversible", marks_beside(call, spec).then(|| json!(true))),
        ] {
            kept.extend(value.map(|value| (key.to_owned(), value)));
        }
        // The names are the caller's, and who says it changes nothing; what they stand for is the rest.
        let named = |key: &String| matches!(key.as_str(), "run_id" | "call_id" | OWN_APP);
        let told: Map<String, Value> = kept
            .iter()
            .filter(|(key, _)| !named(key))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let fingerprint = Digest::of_json(&json!({ "question": question, "kept": told }));
        let to = Addressed::from(&channel);
        let conversation = channel.conversation.as_ref().map(conversation::named).transpose()?;
        let copies = channel.copies();
        let ask = NewAsk { copies, ..ask(question, kept, stances, silence) };
        let (place, bot_token) = (channel.place, channel.bot_token);
        Ok(NewCall { ask, call_id, fingerprint, to, place, conversation, bot_token })
    }
}

/// The ask of a call or a message. Whoever may pass on answers is the shell's to judge; what could be
/// passed on is said here (A2H-044).
pub(super) fn ask(
    question: Question,
    kept: Map<String, Value>,
    stances: &[Stance],
    silence: DefaultAction,
) -> NewAsk {
    NewAsk {
        dialect: Dialect::A2h,
        question,
        metadata: Map::from_iter([(KEPT.to_owned(), Value::Object(kept))]),
        labels: Labels::default(),
        tags: BTreeSet::new(),
        priority: Priority::Normal,
        route: Route::Owner,
        timeout: None,
        on_expiry: Silence::Report(silence),
        reminders: Vec::new(),
        follows: None,
        grants: Vec::new(),
        inline: Some(stances.iter().copied().collect()),
        callback: None,
        verification: None,
        assurance: None,
        place: None,
        copies: Vec::new(),
        claims: None,
    }
}
