//! `POST /function_calls`, `POST /human_contacts`, `POST /contact_requests`: turns the body into a
//! [`NewAsk`] (A2H-014, A2H-020 to A2H-029, A2H-040, A2H-042).
//!
//! Members without a kernel equivalent are stored as sent, in the ask's metadata under `a2h`, and
//! are erased with the ask's text.

use std::collections::BTreeSet;

use kernel::ask::{DefaultAction, Dialect, Labels, PostingAddress, Priority, Route};
use kernel::audit::Digest;
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::question::{
    AnswerKind, Choice, Options, PickMode, Question, QuestionBody, QuestionError,
};
use kernel::text::is_storable_json;
use kernel::{AskId, HumanId};
use serde_json::{Map, Value, json};

use super::channel::{self, BotToken, ParsedChannel};
use super::conversation;
use super::errors::A2hWireError;
use super::options::{self, ResponseOption};
use super::parse::{Members, object};
use super::{CallKind, METADATA_KEY};
use crate::hxp_experience::claims;

/// The longest `call_id` and `run_id`, in bytes; the vendor's API took 64 of both together.
const LONGEST_ID: usize = 200;
/// The name of the option added beside a single option, because a choice needs at least two.
pub(super) const OTHER: &str = "none_of_these";
/// The title of that option.
pub(super) const OTHER_LABEL: &str = "None of these";

/// The member that records that the call has a borrowed bot token. The token is stored elsewhere.
pub(super) const OWN_APP: &str = "own_app";

/// A call to create. The operator's configuration sets its deadline.
#[derive(Debug, Clone)]
pub struct NewCall {
    /// The ask, without a deadline.
    pub ask: NewAsk,
    /// The caller's own id.
    pub call_id: String,
    /// The digest of the spec. The same call sent again has the same digest.
    pub fingerprint: Digest,
    /// The recipient that the channel names.
    pub to: CallRecipient,
    /// The destination that the channel names.
    pub place: Option<PostingAddress>,
    /// The conversation that this call continues, if any (A2H-133). The conversation then
    /// determines the recipient.
    pub conversation: Option<AskId>,
    /// The token of the agent's own Slack app, which posts the message (A2H-084).
    pub bot_token: Option<BotToken>,
}

impl NewCall {
    fn with_claims(mut self, bytes: &[u8]) -> Self {
        self.ask = with_claims(self.ask, bytes);
        self
    }
}

/// Adds the agent's claims about its request. `state` belongs to the caller, so a member that is no
/// envelope is not an error; the server returns it unchanged.
pub(super) fn with_claims(mut ask: NewAsk, bytes: &[u8]) -> NewAsk {
    let state = ask.metadata.get(METADATA_KEY).and_then(|kept| kept.get("state"));
    if state.is_some_and(|state| state.get(claims::MEMBER).is_some()) {
        ask.claims =
            claims::read_envelope(bytes, &["spec", "state", claims::MEMBER]).ok().flatten();
    }
    ask
}

/// The recipient that a channel names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallRecipient {
    /// The call names no person.
    Nobody,
    Human(HumanId),
    /// The person with this email address, who may be unknown to the server.
    Address(String),
}

impl From<&ParsedChannel> for CallRecipient {
    fn from(channel: &ParsedChannel) -> Self {
        match (&channel.human, channel.addresses.first()) {
            (Some(human), _) => Self::Human(human.clone()),
            (None, Some(address)) => Self::Address(address.clone()),
            (None, None) => Self::Nobody,
        }
    }
}

pub fn parse_function_call(bytes: &[u8]) -> Result<NewCall, A2hWireError> {
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
        QuestionBody::Approve {
            details: kwargs,
            editable: false.into(),
            reject_requires_reason: false,
            reject_options: reject_options.iter().map(ResponseOption::choice).collect(),
        },
    );
    let question = question.map_err(|error| refused(&error, "fn"))?;
    let parts =
        CallParts { kind: CallKind::FunctionCall, options: ("reject_options", reject_options) };
    let silence = DefaultAction::Reject;
    let new =
        parts.make(call, spec, question, &[AnswerKind::Approve, AnswerKind::Reject], silence)?;
    Ok(new.with_claims(bytes))
}

pub fn parse_human_contact(bytes: &[u8]) -> Result<NewCall, A2hWireError> {
    let body = storable(bytes)?;
    let call = Members::new(&body, "");
    let spec = spec(call)?;
    let msg = spec.required("msg")?;
    let subject = spec.text("subject")?.filter(|subject| !subject.trim().is_empty());
    let response_options = options::read(spec, "response_options")?;
    let mut choices: Vec<Choice> = response_options.iter().map(ResponseOption::choice).collect();
    if choices.len() == 1 {
        let description = Some("Write what you want instead as a comment".to_owned());
        choices.push(Choice { id: OTHER.to_owned(), label: OTHER_LABEL.to_owned(), description });
    }
    let (body, stance) = if choices.is_empty() {
        (QuestionBody::Converse, AnswerKind::Reply)
    } else {
        let options = Options::new(choices).map_err(|error| refused(&error, "msg"))?;
        (QuestionBody::Choose { options, pick: PickMode::One, suggested: None }, AnswerKind::Choose)
    };
    let question = match subject {
        Some(subject) => Question::new(subject, Some(msg.to_owned()), body),
        None => Question::new(msg, None, body),
    };
    let question = question.map_err(|error| refused(&error, "msg"))?;
    let parts =
        CallParts { kind: CallKind::HumanContact, options: ("response_options", response_options) };
    Ok(parts.make(call, spec, question, &[stance], DefaultAction::Skip)?.with_claims(bytes))
}

/// Reads a body whose strings the store accepts.
pub(super) fn storable(bytes: &[u8]) -> Result<Map<String, Value>, A2hWireError> {
    let body = object::<A2hWireError>(bytes)?;
    if body.values().all(is_storable_json) {
        return Ok(body);
    }
    Err(A2hWireError::field("", "strings without NUL characters"))
}

fn spec(call: Members<'_>) -> Result<Members<'_>, A2hWireError> {
    let spec = call.object("spec")?.ok_or_else(|| call.bad("spec", "an object"))?;
    Ok(Members::new(spec, "spec"))
}

fn refused(error: &QuestionError, prompt: &str) -> A2hWireError {
    let place = match error.field {
        "prompt" | "context" => prompt,
        "details" => "kwargs",
        "options" => "response_options",
        other => other,
    };
    A2hWireError::field(&format!("spec.{place}"), error.expected)
}

/// An id that every client can put into a URL (A2H-014, A2H-015).
pub(super) fn id(from: Members<'_>, key: &str) -> Result<String, A2hWireError> {
    let expected = "a string of 1 to 200 bytes other than . and .., without / ? # % \\, control \
                    characters, or spaces at either end";
    let bad = || from.bad(key, expected);
    let id = from.present(key).and_then(Value::as_str).ok_or_else(bad)?;
    let odd = |c: char| matches!(c, '/' | '?' | '#' | '%' | '\\') || c.is_control();
    let fits = (1..=LONGEST_ID).contains(&id.len()) && id.trim() == id && !id.contains(odd);
    if fits && !matches!(id, "." | "..") { Ok(id.to_owned()) } else { Err(bad()) }
}

/// Whether a member beside those of the protocol marks the request as irreversible. The server does
/// not store these members; it stores marks inside `kwargs` and `state`.
pub(super) fn is_marked_irreversible(call: Members<'_>, spec: Members<'_>) -> bool {
    call.marks_irreversible(&["spec", "status"])
        || spec.marks_irreversible(&["kwargs", "state", "response_schema"])
}

/// The parts that differ between the kinds of call.
struct CallParts {
    kind: CallKind,
    options: (&'static str, Vec<ResponseOption>),
}

impl CallParts {
    fn make(
        self,
        call: Members<'_>,
        spec: Members<'_>,
        question: Question,
        stances: &[AnswerKind],
        silence: DefaultAction,
    ) -> Result<NewCall, A2hWireError> {
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
            ("irreversible", is_marked_irreversible(call, spec).then(|| json!(true))),
        ] {
            kept.extend(value.map(|value| (key.to_owned(), value)));
        }
        // The fingerprint leaves out the caller's ids and whether its own app posts the message:
        // they do not change the content.
        let named = |key: &String| matches!(key.as_str(), "run_id" | "call_id" | OWN_APP);
        let told: Map<String, Value> = kept
            .iter()
            .filter(|(key, _)| !named(key))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let fingerprint = Digest::of_json(&json!({ "question": question, "kept": told }));
        let to = CallRecipient::from(&channel);
        let conversation =
            channel.conversation.as_ref().map(conversation::conversation_id).transpose()?;
        let copies = channel.copy_recipients();
        let ask = NewAsk { copies, ..ask(question, kept, stances, silence) };
        let (place, bot_token) = (channel.place, channel.bot_token);
        Ok(NewCall { ask, call_id, fingerprint, to, place, conversation, bot_token })
    }
}

/// The ask of a call or a message. This names the answers that an agent could pass on (A2H-044);
/// the server decides which agents may do so.
pub(super) fn ask(
    question: Question,
    kept: Map<String, Value>,
    stances: &[AnswerKind],
    silence: DefaultAction,
) -> NewAsk {
    NewAsk {
        dialect: Dialect::A2h,
        question,
        metadata: Map::from_iter([(METADATA_KEY.to_owned(), Value::Object(kept))]),
        labels: Labels::default(),
        tags: BTreeSet::new(),
        priority: Priority::Normal,
        route: Route::Owner,
        timeout: None,
        on_expiry: NewOnExpiry::Report(silence),
        reminders: Vec::new(),
        follows: None,
        grants: Vec::new(),
        inline: Some(stances.iter().copied().collect()),
        callback: None,
        verification: None,
        assurance: None,
        posting_address: None,
        copies: Vec::new(),
        claims: None,
    }
}
