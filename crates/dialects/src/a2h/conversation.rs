//! `NewConversation` of `proto.a2h.dev/v1alpha1`: a person's first message as the agent receives it
//! (A2H-132), and the `channel_id` with which the agent continues the conversation (A2H-133).

use kernel::{Ask, AskId};
use serde_json::Value;

use super::errors::A2hWireError;
use super::message::API_VERSION;
use super::wire::{
    ContactChannel, Metadata, Moment, NewConversation, NewConversationSpec, NewConversationStatus,
};
use crate::conversation_origin::opening_text;

/// A conversation as its agent receives it; `None` if the ask is no conversation or its text was
/// erased.
pub fn new_conversation(ask: &Ask) -> Option<NewConversation> {
    let begun = ask.conversation.as_ref().filter(|_| ask.starts_conversation())?;
    let text = opening_text(ask)?.to_owned();
    let id = super::call_id(ask);
    Some(NewConversation {
        api_version: API_VERSION,
        kind: "NewConversation",
        metadata: Metadata { uid: id.clone() },
        spec: NewConversationSpec {
            message: text.clone(),
            user_message: text,
            channel_id: id.clone(),
            agent_name: ask.agent.to_string(),
        },
        status: NewConversationStatus {
            requested_at: Moment(ask.created_at),
            human_id: begun.with.to_string(),
            replied: ask.latest.is_some(),
            ask_id: id,
        },
    })
}

/// A conversation as a channel (A2H-050); `None` if the ask is no conversation. An erased
/// conversation remains a channel, so the agent can continue it.
pub fn contact_channel(ask: &Ask) -> Option<ContactChannel> {
    let begun = ask.deciding_answer().filter(|_| ask.starts_conversation())?;
    let id = super::call_id(ask);
    Some(ContactChannel {
        channel_id: id.clone(),
        id,
        agent_name: ask.agent.to_string(),
        source: begun.via,
    })
}

/// The conversation that a `channel_id` names, which may not exist. A malformed id is reported like
/// a missing conversation.
pub(super) fn conversation_id(channel_id: &Value) -> Result<AskId, A2hWireError> {
    let id = channel_id.as_str().and_then(super::ask_id);
    id.ok_or_else(A2hWireError::no_conversation)
}
