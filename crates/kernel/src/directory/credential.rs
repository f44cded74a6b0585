//! Credentials, their kinds and their holders.

use serde::{Deserialize, Serialize};

use super::passkey::{Enrolment, PasskeyUses};
use crate::actor::KeyScope;
use crate::audit::Digest;
use crate::ids::{AgentId, HumanId, KeyId};
use crate::time::Time;

/// A credential. The server stores only its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The id of the credential, which is not secret.
    pub id: KeyId,
    /// SHA-256 of the secret that the holder presents.
    pub hash: Digest,
    /// The kind of the credential and its holder.
    #[serde(rename = "holder")]
    pub kind: CredentialKind,
    /// The name its creator gave it.
    pub label: String,
    /// When it was issued.
    pub issued_at: Time,
    /// When it expires; `None` for never.
    pub expires_at: Option<Time>,
    /// When it was revoked or used up; `None` while it works.
    pub revoked_at: Option<Time>,
    /// Whether its revocation also revoked the review, submit and poll tokens of asks that were
    /// open then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_ended: bool,
}

impl Key {
    /// The person who holds it; `None` for an agent's key.
    pub fn human(&self) -> Option<&HumanId> {
        match &self.kind {
            CredentialKind::Agent { .. } => None,
            CredentialKind::Token { human }
            | CredentialKind::Link { human, .. }
            | CredentialKind::Passkey { human, .. }
            | CredentialKind::Session { human, .. } => Some(human),
        }
    }

    /// The remainder of the credential after its holder was erased.
    pub(crate) fn erased(self, at: Time) -> Self {
        let holder = match self.kind {
            CredentialKind::Passkey { human, .. } => CredentialKind::Passkey {
                human,
                public: String::new(),
                enrolment: None,
                uses: PasskeyUses::default(),
            },
            holder @ (CredentialKind::Agent { .. }
            | CredentialKind::Token { .. }
            | CredentialKind::Link { .. }
            | CredentialKind::Session { .. }) => holder,
        };
        let revoked_at = self.revoked_at.or(Some(at));
        Self { kind: holder, label: String::new(), revoked_at, ..self }
    }
}

/// The kind of a credential, with its holder. The kinds are disjoint: none can replace another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum CredentialKind {
    /// A key for an agent.
    Agent {
        /// The agent that holds the key.
        agent: AgentId,
        /// Whose asks the key may see.
        #[serde(rename = "reach")]
        scope: KeyScope,
        /// Whether it may pass on answers that people gave to the agent.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        respond: bool,
        /// Whether it may let the agent's own app post its questions.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        own_app: bool,
    },
    /// A token for the programs of a person.
    Token {
        /// The person who holds the token.
        human: HumanId,
    },
    /// A one-time sign-in link.
    Link {
        /// The person who can sign in with the link.
        human: HumanId,
        /// Whether the server sent it by email; otherwise it was handed over directly.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        mailed: bool,
    },
    /// A passkey. Its hash is that of the credential id.
    Passkey {
        /// The person who holds the passkey.
        human: HumanId,
        /// The public data for checking assertions. It contains no secret.
        public: String,
        /// How it was enrolled. Absent in passkeys from before this was recorded, and once the
        /// person was erased.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enrolment: Option<Box<Enrolment>>,
        /// The assertions it made, so that none is accepted twice.
        #[serde(default, skip_serializing_if = "PasskeyUses::is_empty")]
        uses: PasskeyUses,
    },
    /// A signed-in browser.
    Session {
        /// The person who signed in.
        human: HumanId,
        /// The sign-in method and the browser. A session from before this was recorded no longer
        /// works.
        #[serde(rename = "visit", default, skip_serializing_if = "Option::is_none")]
        binding: Option<BrowserBinding>,
    },
}

/// The sign-in method and the browser of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserBinding {
    /// The sign-in method.
    #[serde(rename = "way")]
    pub method: SignInMethod,
    /// SHA-256 of the secret that binds the session to this browser. The session works in no other.
    pub browser: Digest,
}

/// A sign-in method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = Way))]
pub enum SignInMethod {
    /// A sign-in link from an administrator.
    Link,
    /// A sign-in link from an email.
    Mail,
    /// With a passkey.
    Passkey,
    /// Single sign-on (OIDC).
    Oidc,
}

impl Key {
    /// Whether the credential works at `now`.
    pub fn is_live(&self, now: Time) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}
