//! The events of the directory: projects, agents, people, credentials, delegation rules and webhook
//! endpoints.

use serde::{Deserialize, Serialize};

use super::{Agent, Human, Key, Project, Rule, Webhook};
use crate::audit::Digest;
use crate::time::Time;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(counter: &u32) -> bool {
    *counter == 0
}

/// An event of the directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum DirectoryEvent {
    /// A project was added or changed.
    ProjectSaved(Box<Project>),
    /// An agent was added or changed.
    AgentSaved(Box<Agent>),
    /// A person was added or changed.
    HumanSaved(Box<Human>),
    /// A person was erased. The id stays and can never be used again. The store deletes the
    /// contents of all earlier records of the person.
    HumanErased,
    /// This person destroyed the private key of a retired signing key. Every receipt it signed has
    /// its signature stored by now.
    SigningKeyDestroyed {
        /// The key id of the signing key.
        kid: String,
    },
    /// A credential was issued.
    KeyIssued(Box<Key>),
    /// A credential was revoked or used up.
    KeyRevoked,
    /// An agent's key was revoked, together with the review, submit and poll tokens of the open
    /// asks that were created with it.
    KeyRevokedWithTokens,
    /// A credential of an erased person was revoked, and its label and public key were deleted.
    KeyErased,
    /// A passkey made an assertion, which updates its record.
    PasskeyUsed {
        /// The public data for checking assertions from now on.
        public: String,
        /// The challenge it signed. Absent in events from before challenges were remembered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        challenge: Option<Digest>,
        /// The signature counter; 0 if the authenticator does not count.
        #[serde(default, skip_serializing_if = "is_zero")]
        counter: u32,
    },
    /// An administrator confirmed a waiting passkey: it counts from now on.
    PasskeyConfirmed,
    /// A delegation rule was added.
    RuleAdded(Box<Rule>),
    /// A delegation rule was removed.
    RuleRemoved,
    /// A webhook endpoint was added or changed.
    WebhookSaved(Box<Webhook>),
    /// The secret of a webhook endpoint was replaced.
    WebhookRotated {
        /// Until when the previous secret signs as well.
        until: Option<Time>,
    },
    /// A test event was sent to a webhook endpoint.
    WebhookTested,
    /// A webhook endpoint answered that it is gone.
    WebhookGone,
    /// A webhook endpoint was removed.
    WebhookRemoved,
}

impl DirectoryEvent {
    /// The event's name, as stored and shown.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ProjectSaved(_) => "project_saved",
            Self::AgentSaved(_) => "agent_saved",
            Self::HumanSaved(_) => "human_saved",
            Self::HumanErased => "human_erased",
            Self::SigningKeyDestroyed { .. } => "signing_key_destroyed",
            Self::KeyIssued(_) => "key_issued",
            Self::KeyRevoked => "key_revoked",
            Self::KeyRevokedWithTokens => "key_revoked_with_tokens",
            Self::KeyErased => "key_erased",
            Self::PasskeyUsed { .. } => "passkey_used",
            Self::PasskeyConfirmed => "passkey_confirmed",
            Self::RuleAdded(_) => "rule_added",
            Self::RuleRemoved => "rule_removed",
            Self::WebhookSaved(_) => "webhook_saved",
            Self::WebhookRotated { .. } => "webhook_rotated",
            Self::WebhookTested => "webhook_tested",
            Self::WebhookGone => "webhook_gone",
            Self::WebhookRemoved => "webhook_removed",
        }
    }
}
