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
    /// The agent whose events the endpoint receives. Send either `agent` or `project`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// The project whose events the endpoint receives, except those of agents with their own
    /// endpoints. Send either `agent` or `project`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The URL.
    pub url: String,
    /// The topics; by default the outcomes of asks and new conversations.
    #[serde(default = "default_topics")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Topic>))]
    pub events: BTreeSet<Topic>,
    /// The format of the deliveries.
    #[serde(default)]
    pub format: WebhookFormat,
    /// A description.
    #[serde(default)]
    pub description: String,
    /// Whether the endpoint is enabled.
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

/// A webhook endpoint, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Webhook))]
pub struct WebhookView {
    /// The ID.
    pub id: WebhookId,
    /// The agent whose events the endpoint receives.
    pub agent: Option<AgentId>,
    /// The project whose events the endpoint receives.
    pub project: Option<ProjectId>,
    /// The URL.
    pub url: String,
    /// The topics.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Topic>))]
    pub events: BTreeSet<Topic>,
    /// The format of the deliveries.
    pub format: WebhookFormat,
    /// A description.
    pub description: String,
    /// Whether the endpoint is enabled.
    pub enabled: bool,
    /// Why the endpoint is disabled.
    pub disabled: Option<WebhookDisabledReason>,
    /// The time of creation.
    pub created_at: Time,
    /// The number of the current secret, counted from 1.
    pub secret_version: u32,
    /// How long deliveries are also signed with the previous secret; `null` if there was none.
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

/// A webhook endpoint with a new secret. This is the only response that contains it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookSecret {
    /// The webhook endpoint.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// The secret that signs every delivery: `whsec_…`
    pub secret: String,
}

/// `POST /api/v1/webhooks/{id}/rotate`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RotateBody {
    /// How many seconds the previous secret also signs; one day by default. Use 0 if it leaked.
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

/// The secret that signs an agent's callbacks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CallbackSecret {
    /// The secret `whsec_…` of the calling agent key.
    pub secret: String,
}

/// The state of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// The server will retry.
    Waiting,
    /// The endpoint accepted it.
    Done,
    /// The server gave up after the last attempt.
    Dead,
}

/// A delivery to a webhook endpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Delivery))]
pub struct DeliveryView {
    /// The `webhook-id` of the delivery.
    pub id: String,
    /// The type of the event.
    #[serde(rename = "type")]
    pub kind: String,
    /// The ask; `null` in a test and in a delivery to a runtime.
    pub ask: Option<AskId>,
    /// The task, in a delivery to a runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The time of the event.
    pub at: Time,
    /// The state.
    pub status: DeliveryStatus,
    /// The time of the next attempt.
    pub next_at: Option<Time>,
    /// The newest attempts, oldest first.
    pub attempts: Vec<DeliveryAttempt>,
}

/// One attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeliveryAttempt {
    /// The time and the result.
    #[serde(flatten)]
    pub attempt: CallbackAttempt,
    /// The start of the endpoint's response, if it did not accept the delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}
