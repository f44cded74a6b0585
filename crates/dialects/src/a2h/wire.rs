//! The objects of A2H, field for field. Absent optional members are left out. Only `status` and
//! `channel` have additional members, because some clients reject unknown ones elsewhere (A2H-037).

use kernel::{AnswerInterface, Time};
use serde::Serialize;
use serde_json::{Map, Value};

use super::options::ResponseOption;
use crate::hxp_experience::claims::{EnvelopeVerdict, PickedActionView};

/// A function call (A2H-020).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionCall {
    pub run_id: String,
    /// The caller's own id.
    pub call_id: String,
    pub spec: FunctionCallSpec,
    pub status: FunctionCallStatus,
}

/// The spec of a function call (A2H-021).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionCallSpec {
    /// The name of the function to run.
    #[serde(rename = "fn")]
    pub name: String,
    /// The arguments of the function, by name.
    pub kwargs: Map<String, Value>,
    /// How to contact a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<Value>,
    /// Reasons for a denial to choose from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reject_options: Option<Vec<ResponseOption>>,
    /// The caller's own data, returned unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}

/// The status of a function call (A2H-023, A2H-051).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionCallStatus {
    pub requested_at: Moment,
    /// Present once the call has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responded_at: Option<Moment>,
    /// Present once the call has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// The person's comment; always present with a denial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The person who answered, if known and if the agent may know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_info: Option<UserInfo>,
    /// The name of the chosen reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reject_option_name: Option<String>,
    /// The Slack message that asks the question, so that a client can reply in its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack_message_ts: Option<String>,
    /// The members that Countersign adds.
    #[serde(flatten)]
    pub ours: Ours,
}

/// A human contact (A2H-024).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HumanContact {
    pub run_id: String,
    /// The caller's own id.
    pub call_id: String,
    pub spec: HumanContactSpec,
    pub status: HumanContactStatus,
}

/// The spec of a human contact (A2H-025).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HumanContactSpec {
    pub msg: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// How to contact a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<Value>,
    /// Answers to choose from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_options: Option<Vec<ResponseOption>>,
    /// The caller's own data, returned unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}

/// The status of a human contact (A2H-026, A2H-051).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HumanContactStatus {
    pub requested_at: Moment,
    /// Present once the call has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responded_at: Option<Moment>,
    /// The answer; never empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// The name of the chosen answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_option_name: Option<String>,
    /// The Slack message that asks the question, so that a client can reply in its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack_message_ts: Option<String>,
    /// The members that Countersign adds.
    #[serde(flatten)]
    pub ours: Ours,
}

/// Members that Countersign adds to every status, where clients ignore unknown members.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ours {
    /// The ask's id in every other dialect.
    pub ask_id: String,
    /// How the ask ended: `answered`, `default`, `expired`, `failed` or `cancelled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    /// The signed receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// The findings about the envelope in `state`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hxp_verdict: Option<EnvelopeVerdict>,
    /// The envelope's actions that people chose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hxp_picked: Vec<PickedActionView>,
}

/// The person who answered (A2H-063): their name and the channel they used, never a contact method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UserInfo {
    pub name: String,
    /// The channel through which they answered.
    pub source: String,
}

/// `proto.a2h.dev/v1alpha1`, kind `Message` (A2H-131).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    #[serde(rename = "apiVersion")]
    pub api_version: &'static str,
    /// Always `Message`.
    pub kind: &'static str,
    pub metadata: Metadata,
    pub spec: MessageSpec,
    pub status: MessageStatus,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metadata {
    /// The caller's id, or the server's if the caller gave none.
    pub uid: String,
}

/// The agent's message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageSpec {
    pub message: String,
    /// The JSON Schema of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel_id: Option<Value>,
    /// The caller's own data, returned unchanged. Its member `hxp` holds the agent's claims about
    /// the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}

/// The person's answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageStatus {
    pub requested_at: Moment,
    /// Present once the message was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responded_at: Option<Moment>,
    /// The answer as text.
    #[serde(rename = "humanMessage", skip_serializing_if = "Option::is_none")]
    pub human_message: Option<String>,
    /// The answer as the schema describes it; present only if it is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
    /// Why the answer does not match the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_validation_details: Option<Value>,
    /// The members that Countersign adds.
    #[serde(flatten)]
    pub ours: Ours,
}

/// `proto.a2h.dev/v1alpha1`, kind `NewConversation` (A2H-132).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewConversation {
    #[serde(rename = "apiVersion")]
    pub api_version: &'static str,
    /// Always `NewConversation`.
    pub kind: &'static str,
    pub metadata: Metadata,
    pub spec: NewConversationSpec,
    pub status: NewConversationStatus,
}

/// The person's message, under the member names of the specification and of the later template
/// (A2H-133).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewConversationSpec {
    pub message: String,
    /// The same text as `message`.
    pub user_message: String,
    /// The conversation. A message sent with this id goes to the person who began it.
    pub channel_id: String,
    /// The agent to which they wrote.
    pub agent_name: String,
}

/// The status of a conversation, set by the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewConversationStatus {
    pub requested_at: Moment,
    /// The person who began it.
    pub human_id: String,
    /// Whether the agent has replied.
    pub replied: bool,
    /// The ask's id in every other dialect.
    pub ask_id: String,
}

/// A channel by its id (A2H-050): a conversation that a person began. A call with this channel goes
/// to that person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContactChannel {
    pub id: String,
    /// The same id, under the name that calls use.
    pub channel_id: String,
    /// The agent to which the person wrote.
    pub agent_name: String,
    /// The channel through which the person wrote.
    pub source: AnswerInterface,
}

/// A time as every client reads it: microseconds and `Z` (A2H-036).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(pub Time);

impl Serialize for Moment {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // The kernel's time has milliseconds.
        let text = self.0.to_string();
        to.collect_str(&format_args!("{}000Z", text.trim_end_matches('Z')))
    }
}
