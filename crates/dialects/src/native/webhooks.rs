//! Webhook endpoints on the wire.

use std::collections::BTreeSet;

use kernel::ask::CallbackAttempt;
use kernel::directory::{NewWebhook, Webhook, WebhookDisabledReason, WebhookFormat, WebhookScope};
use kernel::{AgentId, AskId, ProjectId, TaskId, Time, Topic, WebhookId};
use serde::{Deserialize, Serialize};

/// `POST /api/v1/webhooks`, `PUT /api/v1/webhooks/{id}`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WebhookBody {
    /// It hears of this agent's asks…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// …or of those of every agent of this project that has no endpoint of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Where it is.
    pub url: String,
    /// What it hears of; of how asks end and of new conversations, if nothing is said.
    #[serde(default = "default_topics")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Topic>))]
    pub events: BTreeSet<Topic>,
    /// How it is told.
    #[serde(default)]
    pub format: WebhookFormat,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// Whether it is told anything.
    #[serde(default = "yes")]
    pub enabled: bool,
}

fn default_topics() -> BTreeSet<Topic> {
    Topic::DEFAULT.into()
}

fn yes() -> bool {
    true
}

impl WebhookBody {
    /// The endpoint to create. `None` unless the body names exactly one agent or project.
    pub fn into_new_webhook(self, id: WebhookId) -> Option<NewWebhook> {
        let of = match (self.agent, self.project) {
            (Some(agent), None) => WebhookScope::Agent(agent),
            (None, Some(project)) => WebhookScope::Project(project),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        let Self { url, events, format, description, enabled, .. } = self;
        Some(NewWebhook { id, of, url, events, format, description, enabled })
    }
}

/// An endpoint, never with its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Webhook))]
pub struct WebhookView {
    /// Its id.
    pub id: WebhookId,
    /// The agent it hears of.
    pub agent: Option<AgentId>,
    /// The project it hears of.
    pub project: Option<ProjectId>,
    /// Where it is.
    pub url: String,
    /// What it hears of.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Topic>))]
    pub events: BTreeSet<Topic>,
    /// How it is told.
    pub format: WebhookFormat,
    /// What it is for.
    pub description: String,
    /// Whether it is told anything.
    pub enabled: bool,
    /// Why not.
    pub disabled: Option<WebhookDisabledReason>,
    /// Since when.
    pub created_at: Time,
    /// Which secret signs, counted from 1.
    pub secret_version: u32,
    /// Until when the secret before it signs as well; `null` if it never did.
    pub previous_secret_until: Option<Time>,
}

impl From<&Webhook> for WebhookView {
    fn from(webhook: &Webhook) -> Self {
        let (agent, project) = match &webhook.of {
            WebhookScope::Agent(agent) => (Some(agent.clone()), None),
            WebhookScope::Project(project) => (None, Some(project.clone())),
        };
        Self {
            id: webhook.id,
            agent,
            project,
            url: webhook.url.clone(),
            events: webhook.events.clone(),
            format: webhook.format,
            description: webhook.description.clone(),
            enabled: webhook.disabled.is_none(),
            disabled: webhook.disabled,
            created_at: webhook.created_at,
            secret_version: webhook.generation,
            previous_secret_until: webhook.previous_until,
        }
    }
}

/// An endpoint with a fresh secret: the only time it is shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookSecret {
    /// The endpoint.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// What every call is signed with: `whsec_…`
    pub secret: String,
}

/// `POST /api/v1/webhooks/{id}/rotate`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RotateBody {
    /// How long the secret before signs as well: a day, unless told; 0 if it leaked.
    #[serde(default = "day")]
    #[cfg_attr(feature = "openapi", schema(maximum = 604_800))]
    pub grace_seconds: u64,
}

impl Default for RotateBody {
    fn default() -> Self {
        Self { grace_seconds: day() }
    }
}

fn day() -> u64 {
    24 * 60 * 60
}

/// What an agent's callbacks are signed with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CallbackSecret {
    /// `whsec_…`: it belongs to the key that asks for it.
    pub secret: String,
}

/// How a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// It is tried again.
    Waiting,
    /// It was taken.
    Done,
    /// It was given up: a dead letter.
    Dead,
}

/// What an endpoint was told, or is to be told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Delivery))]
pub struct DeliveryView {
    /// Its `webhook-id`.
    pub id: String,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: String,
    /// To which ask; `null` in a test, and where a runtime was told what to do.
    pub ask: Option<AskId>,
    /// For which task, where a runtime was told what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// When it happened.
    pub at: Time,
    /// How it stands.
    pub status: DeliveryStatus,
    /// When it is tried next.
    pub next_at: Option<Time>,
    /// The newest attempts, oldest first.
    pub attempts: Vec<DeliveryAttempt>,
}

/// One attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeliveryAttempt {
    /// When, and what came of it.
    #[serde(flatten)]
    pub attempt: CallbackAttempt,
    /// The beginning of what the endpoint answered, if it did not take it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}
