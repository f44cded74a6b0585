//! Webhook endpoints, which receive the events of asks and the contracts of agent runtimes: their
//! owner, URL, topics and signing secret.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Directory, WithHead, after};
use crate::actor::Actor;
use crate::ask::Ask;
use crate::follow_up::{FollowUp, WebhookMessage};
use crate::ids::{AgentId, ProjectId, WebhookId};
use crate::task::Contract;
use crate::time::Time;
use crate::topic::Topic;

/// A webhook endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// The id of the endpoint.
    pub id: WebhookId,
    /// Whose asks it receives events of.
    pub of: WebhookScope,
    /// The URL of the endpoint.
    pub url: String,
    /// The topics it receives.
    pub events: BTreeSet<Topic>,
    /// The format of its deliveries.
    pub format: WebhookFormat,
    /// The purpose of the endpoint, as its owner describes it.
    pub description: String,
    /// When it was added.
    pub created_at: Time,
    /// The number of the signing secret, from 1. The secret itself is derived and stored nowhere.
    pub generation: u32,
    /// Until when the previous secret signs as well.
    pub previous_until: Option<Time>,
    /// Why it receives no deliveries at the moment; `None` if it is enabled.
    pub disabled: Option<WebhookDisabledReason>,
    /// Whether it was removed. A removed endpoint stays in the directory, so its id is not reused.
    pub removed: bool,
}

/// Whose asks an endpoint receives events of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookScope {
    /// The asks of one agent.
    Agent(AgentId),
    /// The asks of all agents of a project that have no endpoint of their own.
    Project(ProjectId),
}

/// The format of deliveries to an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WebhookFormat))]
#[serde(rename_all = "kebab-case")]
pub enum WebhookFormat {
    /// Countersign's format (Standard Webhooks).
    #[default]
    Standard,
    /// `HumanLayer`'s format: `{ "is_test", "type", "event" }`.
    Humanlayer,
    /// `HumanLayer`'s v1beta1 format: the object without an envelope.
    #[serde(rename = "humanlayer-v1beta1", alias = "humanlayer_v1beta1")]
    HumanlayerV1beta1,
    /// `HumanLayer`'s v1beta3 format: the same envelope, and all conversations in one shape.
    #[serde(rename = "humanlayer-v1beta3", alias = "humanlayer_v1beta3")]
    HumanlayerV1beta3,
}

impl WebhookFormat {
    /// All formats, in the order of declaration.
    pub const ALL: [Self; 4] =
        [Self::Standard, Self::Humanlayer, Self::HumanlayerV1beta1, Self::HumanlayerV1beta3];

    /// The name of the format on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Humanlayer => "humanlayer",
            Self::HumanlayerV1beta1 => "humanlayer-v1beta1",
            Self::HumanlayerV1beta3 => "humanlayer-v1beta3",
        }
    }

    /// Whether this format can express a topic. `HumanLayer` formats have only the ending of a
    /// request and a new conversation.
    pub fn supports(self, topic: Topic) -> bool {
        self == Self::Standard || Topic::DEFAULT.contains(&topic)
    }
}

/// Why an endpoint is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = Disabled))]
pub enum WebhookDisabledReason {
    /// A person disabled it.
    ByHand,
    /// The endpoint answered 410 Gone.
    Gone,
}

impl WebhookDisabledReason {
    /// Why the endpoint receives no deliveries, as a sentence for people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::ByHand => "the endpoint is disabled",
            Self::Gone => "the endpoint answered 410 Gone and was disabled",
        }
    }
}

impl Directory {
    pub(super) fn put_webhook(&mut self, kept: WithHead<Webhook>) {
        let theirs = self.by_hears.entry(kept.of.clone()).or_default();
        if kept.removed {
            theirs.remove(&kept.id);
        } else {
            theirs.insert(kept.id);
        }
        self.webhooks.insert(kept.id, Arc::new(kept));
    }

    /// An endpoint by id, unless it was removed.
    pub fn webhook(&self, id: WebhookId) -> Option<&Webhook> {
        self.webhooks.get(&id).map(|kept| &kept.entity).filter(|webhook| !webhook.removed)
    }

    /// Whether this endpoint exists or existed.
    pub(super) fn had_webhook(&self, id: WebhookId) -> bool {
        self.webhooks.contains_key(&id)
    }

    /// The endpoints after this id, oldest first.
    pub fn webhooks_after<'a>(
        &'a self,
        id: Option<&WebhookId>,
    ) -> impl Iterator<Item = &'a Webhook> + use<'a> {
        after(&self.webhooks, id).filter(|webhook| !webhook.removed)
    }

    /// The endpoints of an agent or of a project. There are at most 20.
    pub fn webhooks_of(&self, of: &WebhookScope) -> impl Iterator<Item = &Webhook> {
        self.by_hears.get(of).into_iter().flatten().filter_map(|id| self.webhook(*id))
    }

    /// Whether the actor may manage such endpoints: an administrator, and for one agent its owner.
    pub fn manages_webhooks(&self, actor: &Actor, of: &WebhookScope) -> bool {
        if self.administers(actor) {
            return true;
        }
        let Ok(person) = self.person(actor) else { return false };
        match of {
            WebhookScope::Agent(agent) => {
                self.agent(agent).is_some_and(|agent| agent.owner == person.id)
            }
            WebhookScope::Project(_) => false,
        }
    }

    /// The deliveries to webhook endpoints for an event of an ask.
    pub(crate) fn webhook_follow_ups(
        &self,
        ask: &Ask,
        message: &WebhookMessage,
        topic: Topic,
    ) -> Vec<FollowUp> {
        let tell =
            |webhook: &Webhook| FollowUp::Webhook { webhook: webhook.id, message: message.clone() };
        self.webhooks_for(&ask.agent, &ask.project, topic).map(tell).collect()
    }

    /// The deliveries to webhook endpoints for a contract of an agent's runtime.
    pub(crate) fn contract_follow_ups(
        &self,
        contract: &Contract,
        project: &ProjectId,
    ) -> Vec<FollowUp> {
        let tell = |webhook: &Webhook| FollowUp::Webhook {
            webhook: webhook.id,
            message: WebhookMessage::of_contract(contract),
        };
        let topic = Topic::of_duty(contract.duty);
        self.webhooks_for(&contract.agent, project, topic).map(tell).collect()
    }

    /// The endpoints that receive a topic: the agent's own, or those of the project if the agent
    /// has none.
    fn webhooks_for(
        &self,
        agent: &AgentId,
        project: &ProjectId,
        topic: Topic,
    ) -> impl Iterator<Item = &Webhook> {
        let own = WebhookScope::Agent(agent.clone());
        let alone = self.webhooks_of(&own).next().is_none();
        let of = if alone { WebhookScope::Project(project.clone()) } else { own };
        let ids = self.by_hears.get(&of).into_iter().flatten();
        ids.filter_map(|id| self.webhook(*id))
            .filter(move |webhook| webhook.disabled.is_none() && webhook.events.contains(&topic))
    }
}
