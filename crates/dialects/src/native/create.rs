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
    /// What is asked.
    pub question: Question,
    /// How urgent.
    #[serde(default)]
    pub priority: Priority,
    /// Who is asked.
    #[serde(default = "owner")]
    pub route: Route,
    /// After how many seconds it runs out; absent or 0 for never.
    #[serde(default, deserialize_with = "seconds")]
    #[cfg_attr(feature = "openapi", schema(maximum = 3_162_240_000_u64))]
    pub timeout_seconds: u64,
    /// What then.
    #[serde(default)]
    pub on_expiry: SilenceAction,
    /// When to remind.
    #[serde(default)]
    pub reminders: Vec<Time>,
    /// What it is about.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub tags: BTreeSet<String>,
    /// Whether what is asked for cannot be undone. Kept in `metadata`, as `irreversible: true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub irreversible: bool,
    /// Free data.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub metadata: Map<String, Value>,
    /// The ask it continues.
    #[serde(default)]
    pub follows: Option<AskId>,
    /// The conversation it goes on with: whoever began it is asked, after the newest ask of it.
    /// Nothing is said of `route` and `follows` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<AskId>,
    /// The least assurance an answer needs, such as `passkey`; more than the project wants, or the
    /// project's counts.
    #[serde(default)]
    pub assurance: Option<Assurance>,
    /// Where to tell the agent that it is over: one signed call, as Standard Webhooks has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_url: Option<String>,
    /// Where to put it, besides to people: a channel in Slack, a number, an address. Whoever is
    /// reached there may answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PostingAddress>,
    /// What the agent says of its message, as HXP eXperience has it.
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

/// What happens when nobody answers in time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = OnSilence))]
pub enum SilenceAction {
    /// It stays open.
    #[default]
    #[serde(alias = "stay-open")]
    StayOpen,
    /// It fails.
    Fail,
    /// This answer is taken.
    Answer(Reply),
    /// It expires, and the agent does this.
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
