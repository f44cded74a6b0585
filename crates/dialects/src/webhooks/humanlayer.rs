//! `HumanLayer`'s webhooks (A2H-110, A2H-112): an envelope around a function call, a human contact,
//! or a conversation that a person began (A2H-115, A2H-132). Before v1beta3, a conversation begun
//! by email or in Slack is sent as the message received there (A2H-113, A2H-114).
//!
//! The object inside equals [the one its SDKs read](crate::a2h::call()), byte for byte, so a
//! webhook and a poll return the same data. Every ask of any dialect maps to a function call or a
//! human contact.

use kernel::{Ask, Time};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{EmailPayload, News, SlackThread};
use crate::a2h::wire::{
    FunctionCall, FunctionCallSpec, FunctionCallStatus, Moment, NewConversation, Ours,
};
use crate::a2h::{Beside, Kind, call, new_conversation};
use crate::origin::{Origin, first_words};

/// The body of a webhook.
#[derive(Debug, Clone, Serialize)]
pub struct Envelope {
    is_test: bool,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The object without its envelope, as v1beta1 sends it.
    pub event: Value,
}

/// The version of the webhook format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// v1beta2: a conversation begun by email or in Slack has an event type of its own.
    Beta2,
    /// v1beta3: every conversation has the same event type, and every event of a conversation names
    /// it.
    Beta3,
}

/// A2H's `NewConversation`, plus the members that `HumanLayer`'s v1beta3 reads.
#[derive(Debug, Clone, Serialize)]
struct Conversation {
    #[serde(flatten)]
    object: NewConversation,
    #[serde(flatten)]
    names: Names,
    #[serde(flatten)]
    received: Option<Received>,
}

/// The members with which an agent continues a conversation.
#[derive(Debug, Clone, Serialize)]
struct Names {
    user_message: String,
    contact_channel_id: String,
    agent_name: String,
    thread_id: String,
}

/// The message that began the conversation, if it came from outside Countersign.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
enum Received {
    Email(EmailPayload),
    Slack(SlackThread),
}

/// The received message, and the members with which the agent continues.
#[derive(Debug, Clone, Serialize)]
struct Beginning<T> {
    #[serde(flatten)]
    received: T,
    #[serde(flatten)]
    names: Names,
}

impl Envelope {
    /// The body to send. `None` before the ask ends and once its text is erased.
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

/// The event type and the body for a conversation that began.
fn opening(ask: &Ask, version: Version, is_test: bool) -> Option<(&'static str, WebhookMessage)> {
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

type WebhookMessage = serde_json::Result<Value>;

/// The event type without its version, which only the settings name (A2H-111).
fn completed(kind: Kind) -> &'static str {
    match kind {
        Kind::FunctionCall => "function_call.completed",
        Kind::HumanContact | Kind::Message => "human_contact.completed",
    }
}

/// The sample of a test delivery (A2H-118); receivers ignore it. It approves nothing, in case an
/// older receiver does not recognize the test.
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
