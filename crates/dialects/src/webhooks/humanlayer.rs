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

use super::{EmailPayload, SlackThread, WebhookEvent};
use crate::a2h::wire::{
    FunctionCall, FunctionCallSpec, FunctionCallStatus, Moment, NewConversation, Ours,
};
use crate::a2h::{CallContext, CallKind, call, new_conversation};
use crate::conversation_origin::{ConversationOrigin, opening_text};

/// The body of a webhook.
#[derive(Debug, Clone, Serialize)]
pub struct HumanlayerEnvelope {
    is_test: bool,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The object without its envelope, as v1beta1 sends it.
    pub event: Value,
}

/// The version of the webhook format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HumanlayerVersion {
    /// v1beta2: a conversation begun by email or in Slack has an event type of its own.
    Beta2,
    /// v1beta3: every conversation has the same event type, and every event of a conversation names
    /// it.
    Beta3,
}

/// A2H's `NewConversation`, plus the members that `HumanLayer`'s v1beta3 reads.
#[derive(Debug, Clone, Serialize)]
struct HumanlayerConversation {
    #[serde(flatten)]
    object: NewConversation,
    #[serde(flatten)]
    names: ConversationNames,
    #[serde(flatten)]
    received: Option<ReceivedMessage>,
}

/// The members with which an agent continues a conversation.
#[derive(Debug, Clone, Serialize)]
struct ConversationNames {
    user_message: String,
    contact_channel_id: String,
    agent_name: String,
    thread_id: String,
}

/// The message that began the conversation, if it came from outside Countersign.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
enum ReceivedMessage {
    Email(EmailPayload),
    Slack(SlackThread),
}

/// The received message, and the members with which the agent continues.
#[derive(Debug, Clone, Serialize)]
struct ConversationStart<T> {
    #[serde(flatten)]
    received: T,
    #[serde(flatten)]
    names: ConversationNames,
}

impl HumanlayerEnvelope {
    /// The body to send. `None` before the ask ends and once its text is erased.
    pub fn of(news: WebhookEvent<'_>, version: HumanlayerVersion) -> Option<Self> {
        let is_test = news.is_test();
        let Some(ask) = news.ask else {
            let event = serde_json::to_value(sample(news.told.at)).ok()?;
            return Some(Self {
                is_test,
                kind: completed_event_type(CallKind::FunctionCall),
                event,
            });
        };
        if ask.starts_conversation() {
            let (kind, event) = conversation_started(ask, version, is_test)?;
            return Some(Self { is_test, kind, event: event.ok()? });
        }
        ask.ending()?;
        let mut event = call(
            ask,
            CallContext {
                name: news.name,
                receipt: news.receipt,
                slack_message_ts: news.slack_message_ts,
            },
        )?;
        if let (HumanlayerVersion::Beta3, Some(talk), Some(members)) =
            (version, &ask.conversation, event.as_object_mut())
        {
            members.insert("contact_channel_id".to_owned(), json!(talk.opening));
        }
        Some(Self { is_test, kind: completed_event_type(CallKind::of(ask)), event })
    }
}

/// The event type and the body for a conversation that began.
fn conversation_started(
    ask: &Ask,
    version: HumanlayerVersion,
    is_test: bool,
) -> Option<(&'static str, SerializedEvent)> {
    let object = new_conversation(ask)?;
    let words = opening_text(ask)?;
    let received = ConversationOrigin::of(ask).map(|origin| match origin {
        ConversationOrigin::Email(letter) => {
            ReceivedMessage::Email(EmailPayload::of(letter, words, is_test))
        }
        ConversationOrigin::Slack(post) => ReceivedMessage::Slack(SlackThread::of(post, words)),
    });
    let spec = object.spec.clone();
    let names = ConversationNames {
        user_message: spec.user_message,
        contact_channel_id: spec.channel_id.clone(),
        agent_name: spec.agent_name,
        thread_id: spec.channel_id,
    };
    Some(match (version, received) {
        (HumanlayerVersion::Beta2, Some(ReceivedMessage::Email(received))) => {
            ("agent_email.received", serde_json::to_value(ConversationStart { received, names }))
        }
        (HumanlayerVersion::Beta2, Some(ReceivedMessage::Slack(received))) => {
            ("agent_slack.received", serde_json::to_value(ConversationStart { received, names }))
        }
        (HumanlayerVersion::Beta2 | HumanlayerVersion::Beta3, received) => (
            "conversation.created",
            serde_json::to_value(HumanlayerConversation { object, names, received }),
        ),
    })
}

type SerializedEvent = serde_json::Result<Value>;

/// The event type without its version, which only the settings name (A2H-111).
fn completed_event_type(kind: CallKind) -> &'static str {
    match kind {
        CallKind::FunctionCall => "function_call.completed",
        CallKind::HumanContact | CallKind::Message => "human_contact.completed",
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
