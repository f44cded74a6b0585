//! Credentials: what opens something here, and whose it is.

use serde::{Deserialize, Serialize};

use super::passkey::{Enrolment, PasskeyUses};
use crate::actor::Reach;
use crate::audit::Digest;
use crate::ids::{AgentId, HumanId, KeyId};
use crate::time::Time;

/// A credential. Only the hash of it is known here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Its id.
    pub id: KeyId,
    /// SHA-256 of what is presented.
    pub hash: Digest,
    /// What it is and whose.
    pub holder: Holder,
    /// What its maker called it.
    pub label: String,
    /// Since when.
    pub issued_at: Time,
    /// Until when.
    pub expires_at: Option<Time>,
    /// Revoked or used up.
    pub revoked_at: Option<Time>,
    /// Whether its revocation also ended the review, submit and poll tokens of asks that were open then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_ended: bool,
}

impl Key {
    /// The person it belongs to, if it is a person's.
    pub fn human(&self) -> Option<&HumanId> {
        match &self.holder {
            Holder::Agent { .. } => None,
            Holder::Token { human }
            | Holder::Link { human, .. }
            | Holder::Passkey { human, .. }
            | Holder::Session { human, .. } => Some(human),
        }
    }

    /// What is left of it once the person it belongs to was erased.
    pub(crate) fn erased(self, at: Time) -> Self {
        let holder = match self.holder {
            Holder::Passkey { human, .. } => Holder::Passkey {
                human,
                public: String::new(),
                enrolment: None,
                uses: PasskeyUses::default(),
            },
            holder @ (Holder::Agent { .. }
            | Holder::Token { .. }
            | Holder::Link { .. }
            | Holder::Session { .. }) => holder,
        };
        let revoked_at = self.revoked_at.or(Some(at));
        Self { holder, label: String::new(), revoked_at, ..self }
    }
}

/// What a credential is and whose. The kinds are disjoint: none stands in for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Holder {
    /// A key for an agent.
    Agent {
        /// Which agent.
        agent: AgentId,
        /// Whose asks it may see.
        reach: Reach,
        /// Whether it may pass on answers the agent says it got from people.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        respond: bool,
        /// Whether it may have what its agent asks be said by an app of the agent's own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        own_app: bool,
    },
    /// A token for a person's programs.
    Token {
        /// Whose.
        human: HumanId,
    },
    /// A one-time sign-in link.
    Link {
        /// Whose.
        human: HumanId,
        /// Whether it was sent by mail; otherwise somebody handed it over.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        mailed: bool,
    },
    /// A passkey: its hash is that of what the authenticator calls it.
    Passkey {
        /// Whose.
        human: HumanId,
        /// What it is checked with, for whoever checks it. Nothing in it is secret.
        public: String,
        /// How it was enrolled. Absent in passkeys of before this was recorded, and once its person was
        /// erased.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enrolment: Option<Box<Enrolment>>,
        /// The assertions it made, so that none is taken twice.
        #[serde(default, skip_serializing_if = "PasskeyUses::is_empty")]
        uses: PasskeyUses,
    },
    /// A browser that signed in.
    Session {
        /// Whose.
        human: HumanId,
        /// How and where. A session from before this was noted opens nothing any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visit: Option<Visit>,
    },
}

/// How somebody signed in, and in which browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// How.
    pub way: Way,
    /// SHA-256 of what that browser alone has: the session opens nothing in another.
    pub browser: Digest,
}

/// How somebody signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// With a link somebody handed them.
    Link,
    /// With a link that came by mail.
    Mail,
    /// With a passkey.
    Passkey,
    /// With somebody else's identities.
    Oidc,
}

impl Key {
    /// Whether it opens anything at `now`.
    pub fn is_live(&self, now: Time) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}
