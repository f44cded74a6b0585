//! `HumanLayer`'s webhooks (A2H-110, A2H-112): an envelope around a function call or a human contact,
//! or around a conversation somebody began (A2H-115, A2H-132).
//!
//! What is inside is [what its SDKs read](crate::a2h::call()), to the byte: whoever is told learns what
//! whoever asks would. An ask of any dialect is one of the two.

use kernel::{Ask, Time};
use serde::Serialize;
use serde_json::{Map, Value};

use super::News;
use crate::a2h::wire::{
    FunctionCall, FunctionCallSpec, FunctionCallStatus, Moment, NewConversation, Ours,
};
use crate::a2h::{Beside, Kind, call, new_conversation};

/// What is sent.
#[derive(Debug, Clone, Serialize)]
pub struct Envelope {
    is_test: bool,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The bare object, as v1beta1 sends it.
    pub event: Value,
}

/// `NewConversation` as A2H has it, and beside it the members `HumanLayer`'s v1beta3 reads.
#[derive(Debug, Clone, Serialize)]
struct Conversation {
    #[serde(flatten)]
    object: NewConversation,
    user_message: String,
    contact_channel_id: String,
    agent_name: String,
    thread_id: String,
}

impl Envelope {
    /// What is told: nothing before the end, and nothing once the words were erased.
    pub fn of(news: News<'_>) -> Option<Self> {
        let is_test = news.is_test();
        let Some(ask) = news.ask else {
            let event = serde_json::to_value(sample(news.told.at)).ok()?;
            return Some(Self { is_test, kind: completed(Kind::FunctionCall), event });
        };
        if ask.is_opening() {
            let event = serde_json::to_value(conversation(ask)?).ok()?;
            return Some(Self { is_test, kind: "conversation.created", event });
        }
        ask.ending()?;
        let event = call(
            ask,
            Beside {
                name: news.name,
                receipt: news.receipt,
                slack_message_ts: news.slack_message_ts,
            },
        )?;
        Some(Self { is_test, kind: completed(Kind::of(ask)), event })
    }
}

fn conversation(ask: &Ask) -> Option<Conversation> {
    let object = new_conversation(ask)?;
    let spec = object.spec.clone();
    Some(Conversation {
        object,
        user_message: spec.user_message,
        contact_channel_id: spec.channel_id.clone(),
        agent_name: spec.agent_name,
        thread_id: spec.channel_id,
    })
}

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
