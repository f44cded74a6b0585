//! `HumanLayer`'s webhooks (A2H-110, A2H-112): an envelope around a function call or a human contact,
//! or around a conversation somebody began (A2H-115, A2H-132); before v1beta3 one that was begun by mail
//! or in Slack is what was received there (A2H-113, A2H-114).
//!
//! What is inside is [what its SDKs read](crate::a2h::call()), to the byte: whoever is told learns what
//! whoever asks would. An ask of any dialect is one of the two.

use kernel::{Ask, Time};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::News;
use super::received::{EmailPayload, SlackThread};
use crate::a2h::wire::{
    FunctionCall, FunctionCallSpec, FunctionCallStatus, Moment, NewConversation, Ours,
};
use crate::a2h::{Beside, Kind, call, new_conversation};
use crate::origin::{Origin, first_words};

/// What is sent.
#[derive(Debug, Clone, Serialize)]
pub struct Envelope {
    is_test: bool,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The bare object, as v1beta1 sends it.
    pub event: Value,
}

/// Which of its words are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// v1beta2: what came by mail or in Slack has a type of its own.
    Beta2,
    /// v1beta3: every conversation is one, and whatever belongs to one names it.
    Beta3,
}

/// `NewConversation` as A2H has it, and beside it the members `HumanLayer`'s v1beta3 reads.
#[derive(Debug, Clone, Serialize)]
struct Conversation {
    #[serde(flatten)]
    object: NewConversation,
    #[serde(flatten)]
    names: Names,
    #[serde(flatten)]
    received: Option<Received>,
}

/// What a conversation is gone on with.
#[derive(Debug, Clone, Serialize)]
struct Names {
    user_message: String,
    contact_channel_id: String,
    agent_name: String,
    thread_id: String,
}

/// Where it was written, if not here.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
enum Received {
    Email(EmailPayload),
    Slack(SlackThread),
}

/// What was received, and beside it how to go on.
#[derive(Debug, Clone, Serialize)]
struct Beginning<T> {
    #[serde(flatten)]
    received: T,
    #[serde(flatten)]
    names: Names,
}

impl Envelope {
    /// What is told: nothing before the end, and nothing once the words were erased.
    pub fn of(news: News<'_>, version: Version) -> Option<Self> {
        let is_test = news.is_test();
        let Some(ask) = news.ask else {
            let event = serde_json::to_value(sample(news.told.at)).ok()?;
            return Some(Self { is_test, kind: completed(Kind::FunctionCall), event });
        };
        if ask.is_opening() {
            let (kind, event) = opening(ask, version, is_test)?;
            return Some(Self { is_test, kind, event: event.ok()? });
        }
        ask.ending()?;
        let mut event = call(
            ask,
            Beside {
                name: news.name,
                receipt: news.receipt,
                slack_message_ts: news.slack_message_ts,
            },
        )?;
        if let (Version::Beta3, Some(talk), Some(members)) =
            (version, &ask.conversation, event.as_object_mut())
        {
            members.insert("contact_channel_id".to_owned(), json!(talk.opening));
        }
        Some(Self { is_test, kind: completed(Kind::of(ask)), event })
    }
}

/// What is told of a conversation that began, and under which type.
fn opening(ask: &Ask, version: Version, is_test: bool) -> Option<(&'static str, Told)> {
    let object = new_conversation(ask)?;
    let words = first_words(ask)?;
    let received = Origin::of(ask).map(|origin| match origin {
        Origin::Email(letter) => Received::Email(EmailPayload::of(letter, words, is_test)),
        Origin::Slack(post) => Received::Slack(SlackThread::of(post, words)),
    });
    let spec = object.spec.clone();
    let names = Names {
        user_message: spec.user_message,
        contact_channel_id: spec.channel_id.clone(),
        agent_name: spec.agent_name,
        thread_id: spec.channel_id,
    };
    Some(match (version, received) {
        (Version::Beta2, Some(Received::Email(received))) => {
            ("agent_email.received", serde_json::to_value(Beginning { received, names }))
        }
        (Version::Beta2, Some(Received::Slack(received))) => {
            ("agent_slack.received", serde_json::to_value(Beginning { received, names }))
        }
        (Version::Beta2 | Version::Beta3, received) => {
            ("conversation.created", serde_json::to_value(Conversation { object, names, received }))
        }
    })
}

type Told = serde_json::Result<Value>;

/// A2H-111: without the version, which only settings name.
fn completed(kind: Kind) -> &'static str {
    match kind {
        Kind::FunctionCall => "function_call.completed",
        Kind::HumanContact | Kind::Message => "human_contact.completed",
    }
}

/// A2H-118: what arrives in a test; receivers pass it over. Should one of before not know that, nothing
/// was approved.
fn sample(at: Time) -> FunctionCall {
    let test = || "test".to_owned();
    FunctionCall {
        run_id: test(),
        call_id: test(),
        spec: FunctionCallSpec {
            name: test(),
            kwargs: Map::new(),
            channel: None,
            reject_options: None,
            state: None,
        },
        status: FunctionCallStatus {
            requested_at: Moment(at),
            responded_at: Some(Moment(at)),
            approved: Some(false),
            comment: Some("a test".to_owned()),
            user_info: None,
            reject_option_name: None,
            slack_message_ts: None,
            ours: Ours {
                ask_id: test(),
                outcome: None,
                receipt: None,
                hxp_verdict: None,
                hxp_picked: Vec::new(),
            },
        },
    }
}
