//! The objects of A2H, field for field. What is optional is left out where it is not there; beside
//! `status` and `channel` nothing is added, because some clients refuse what they do not know
//! (A2H-037).

use kernel::{Time, Via};
use serde::Serialize;
use serde_json::{Map, Value};

use super::options::ResponseOption;
use crate::hxp_experience::claims::{Picked, Verdict};

/// A function call (A2H-020).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionCall {
    /// The run it belongs to.
    pub run_id: String,
    /// What the caller calls it.
    pub call_id: String,
    /// What was asked.
    pub spec: FunctionCallSpec,
    /// What came of it.
    pub status: FunctionCallStatus,
}

/// A2H-021.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionCallSpec {
    /// What is to be done.
    #[serde(rename = "fn")]
    pub name: String,
    /// With what.
    pub kwargs: Map<String, Value>,
    /// How a person is to be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<Value>,
    /// Reasons for a denial to pick from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reject_options: Option<Vec<ResponseOption>>,
    /// The caller's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}

/// A2H-023, A2H-051.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionCallStatus {
    /// When it was asked.
    pub requested_at: Moment,
    /// When it was answered; only once it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responded_at: Option<Moment>,
    /// Whether it was approved; only once it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// What was said; always with a denial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Who answered, where that is known and may be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_info: Option<UserInfo>,
    /// The reason that was picked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reject_option_name: Option<String>,
    /// The message in Slack that asks it, for whoever goes on in its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack_message_ts: Option<String>,
    /// What is ours to say.
    #[serde(flatten)]
    pub ours: Ours,
}

/// A human contact (A2H-024).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HumanContact {
    /// The run it belongs to.
    pub run_id: String,
    /// What the caller calls it.
    pub call_id: String,
    /// What was said.
    pub spec: HumanContactSpec,
    /// What came of it.
    pub status: HumanContactStatus,
}

/// A2H-025.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HumanContactSpec {
    /// The message.
    pub msg: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// How a person is to be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<Value>,
    /// Answers to pick from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_options: Option<Vec<ResponseOption>>,
    /// The caller's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}

/// A2H-026, A2H-051.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HumanContactStatus {
    /// When it was asked.
    pub requested_at: Moment,
    /// When it was answered; only once it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responded_at: Option<Moment>,
    /// What was said; never empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// The answer that was picked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_option_name: Option<String>,
    /// The message in Slack that asks it, for whoever goes on in its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack_message_ts: Option<String>,
    /// What is ours to say.
    #[serde(flatten)]
    pub ours: Ours,
}

/// What every status says beside the protocol: clients ignore what they do not know there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ours {
    /// The same ask in every other dialect.
    pub ask_id: String,
    /// How it ended: `answered`, `default`, `expired`, `failed` or `cancelled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    /// The signed proof of how it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// What was found about the envelope in its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hxp_verdict: Option<Verdict>,
    /// Which of its actions people picked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hxp_picked: Vec<Picked>,
}

/// Who answered (A2H-063): what they are called, and through which door. Never how to reach them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UserInfo {
    /// What they are called.
    pub name: String,
    /// Through which door.
    pub source: String,
}

/// `proto.a2h.dev/v1alpha1`, kind `Message` (A2H-131).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    /// Always the same.
    #[serde(rename = "apiVersion")]
    pub api_version: &'static str,
    /// Always `Message`.
    pub kind: &'static str,
    /// Its name.
    pub metadata: Metadata,
    /// What the agent said.
    pub spec: MessageSpec,
    /// What the person said.
    pub status: MessageStatus,
}

/// The name of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metadata {
    /// The caller's, or ours where it gave none.
    pub uid: String,
}

/// What the agent said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageSpec {
    /// The message.
    pub message: String,
    /// What the answer must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
    /// The conversation it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel_id: Option<Value>,
    /// The caller's own, as it came; `hxp` in it is what the agent says of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}

/// What the person said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageStatus {
    /// When it was asked.
    pub requested_at: Moment,
    /// When it was answered; only once it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responded_at: Option<Moment>,
    /// In words.
    #[serde(rename = "humanMessage", skip_serializing_if = "Option::is_none")]
    pub human_message: Option<String>,
    /// As the schema wants it; only where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
    /// Why the answer is not what the schema wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_validation_details: Option<Value>,
    /// What is ours to say.
    #[serde(flatten)]
    pub ours: Ours,
}

/// `proto.a2h.dev/v1alpha1`, kind `NewConversation` (A2H-132).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewConversation {
    /// Always the same.
    #[serde(rename = "apiVersion")]
    pub api_version: &'static str,
    /// Always `NewConversation`.
    pub kind: &'static str,
    /// Its name.
    pub metadata: Metadata,
    /// What the person wrote.
    pub spec: NewConversationSpec,
    /// What is ours to say.
    pub status: NewConversationStatus,
}

/// What the person wrote, in the words of the text and of the later template (A2H-133).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewConversationSpec {
    /// What they wrote.
    pub message: String,
    /// The same.
    pub user_message: String,
    /// The conversation: whatever is sent with it goes to whoever began it.
    pub channel_id: String,
    /// To whom they wrote.
    pub agent_name: String,
}

/// What is ours to say of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewConversationStatus {
    /// When it began.
    pub requested_at: Moment,
    /// Who began it.
    pub human_id: String,
    /// Whether the agent went on with it.
    pub replied: bool,
    /// The same in every other dialect.
    pub ask_id: String,
}

/// A channel by its id (A2H-050): a conversation somebody began. As the `channel` of a call it leads to
/// whoever that is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContactChannel {
    /// What it is known by.
    pub id: String,
    /// The same, as calls name it.
    pub channel_id: String,
    /// To whom was written.
    pub agent_name: String,
    /// By which door.
    pub source: Via,
}

/// A moment as every client reads it: microseconds and `Z` (A2H-036).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(pub Time);

impl Serialize for Moment {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // Ours has milliseconds.
        let text = self.0.to_string();
        to.collect_str(&format_args!("{}000Z", text.trim_end_matches('Z')))
    }
}
