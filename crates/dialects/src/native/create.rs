//! The body with which an agent creates an ask.

use std::collections::BTreeSet;

use kernel::ask::{
    DefaultAction, Dialect, Labels, NewExperienceEnvelope, PostingAddress, Priority, Route,
};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::question::{Question, Reply};
use kernel::{AskId, Assurance, Time};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// `POST /api/v1/asks`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateAsk {
    /// The question.
    pub question: Question,
    /// The priority.
    #[serde(default)]
    pub priority: Priority,
    /// Who is asked.
    #[serde(default = "owner")]
    pub route: Route,
    /// The number of seconds until the ask expires; absent or 0 means never.
    #[serde(default, deserialize_with = "seconds")]
    #[cfg_attr(feature = "openapi", schema(maximum = 3_162_240_000_u64))]
    pub timeout_seconds: u64,
    /// What happens at the deadline.
    #[serde(default)]
    pub on_expiry: SilenceAction,
    /// When to remind the assignees.
    #[serde(default)]
    pub reminders: Vec<Time>,
    /// Tags for routing and filters.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub tags: BTreeSet<String>,
    /// Whether the action is irreversible. Stored in `metadata` as `irreversible: true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub irreversible: bool,
    /// Custom data.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub metadata: Map<String, Value>,
    /// The ask that this one continues.
    #[serde(default)]
    pub follows: Option<AskId>,
    /// The conversation to continue. The person who began it is asked, so leave out `route` and
    /// `follows`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<AskId>,
    /// The minimum assurance of an answer, such as `passkey`. It can only raise the project's
    /// minimum.
    #[serde(default)]
    pub assurance: Option<Assurance>,
    /// The callback URL. The server sends one signed call (Standard Webhooks) when the ask is
    /// closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_url: Option<String>,
    /// An additional address where the server posts the ask, such as a Slack channel, a phone
    /// number or an email address. Anyone who is reached there can answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PostingAddress>,
    /// The envelope of HXP eXperience, with the agent's claims about its message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub hxp: Option<Map<String, Value>>,
}

/// A number of seconds. The error for an invalid number names the allowed range; the kernel rejects
/// a number that is too large.
fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let expected =
        || D::Error::custom("expected a whole number of seconds from 0 (never) to 100 years");
    Value::deserialize(from)?.as_u64().ok_or_else(expected)
}

fn owner() -> Route {
    Route::Owner
}

/// What happens at the deadline if there is no answer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = OnSilence))]
pub enum SilenceAction {
    /// The ask stays open.
    #[default]
    #[serde(alias = "stay-open")]
    StayOpen,
    /// The ask fails.
    Fail,
    /// This default answer is taken.
    Answer(Reply),
    /// The ask expires, and the agent does this.
    Report(DefaultAction),
}

impl CreateAsk {
    /// The ask. `claims` is the envelope in `hxp`, validated in its original bytes.
    pub fn into_ask(mut self, claims: Option<Box<NewExperienceEnvelope>>) -> NewAsk {
        if self.irreversible {
            self.metadata.insert("irreversible".to_owned(), Value::Bool(true));
        }
        NewAsk {
            dialect: Dialect::Native,
            question: self.question,
            metadata: self.metadata,
            labels: Labels::default(),
            tags: self.tags,
            priority: self.priority,
            route: self.route,
            timeout: Some(self.timeout_seconds).filter(|seconds| *seconds > 0),
            on_expiry: match self.on_expiry {
                SilenceAction::StayOpen => NewOnExpiry::StayOpen,
                SilenceAction::Fail => NewOnExpiry::Fail,
                SilenceAction::Answer(reply) => NewOnExpiry::Answer(reply),
                SilenceAction::Report(action) => NewOnExpiry::Report(action),
            },
            reminders: self.reminders,
            follows: self.follows,
            grants: Vec::new(),
            inline: None,
            callback: self.callback_url,
            verification: None,
            assurance: self.assurance,
            posting_address: self.place,
            copies: Vec::new(),
            claims,
        }
    }
}
