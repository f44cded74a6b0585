//! Credentials on the wire.

use kernel::actor::KeyScope;
use kernel::directory::{CredentialKind, Directory, Key, SignInMethod};
use kernel::{AgentId, HumanId, KeyId, ProjectId, Time};
use serde::{Deserialize, Serialize};

/// `POST /api/v1/keys`: what to issue and to whom.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct IssueKey {
    /// The agent that gets a key. Send either `agent` or `human`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Whether the agent key sees its own asks or those of the whole project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<KeyScope>,
    /// Whether the agent can pass on answers that it received from people. Only an administrator
    /// can grant this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub respond: bool,
    /// Whether the agent can use its own Slack app, with the `bot_token` of an A2H channel. Only an
    /// administrator can grant this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_app: bool,
    /// The person who gets a token. Send either `agent` or `human`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub human: Option<HumanId>,
    /// A label for lists.
    #[serde(default)]
    pub label: String,
    /// When the credential expires; if left out, it is valid until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

/// A credential, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Key))]
pub struct KeyView {
    /// The ID.
    pub id: KeyId,
    /// `agent_key`, `token`, `link`, `session` or `passkey`.
    pub kind: String,
    /// The agent or person it belongs to.
    pub holder: String,
    /// The project of an agent key.
    pub project: Option<ProjectId>,
    /// Whether an agent key sees its own asks or those of the whole project.
    pub reach: Option<KeyScope>,
    /// Whether an agent key can pass on answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub respond: bool,
    /// Whether the agent can use its own Slack app.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_app: bool,
    /// The label.
    pub label: String,
    /// The time of issue.
    pub issued_at: Time,
    /// The expiry time.
    pub expires_at: Option<Time>,
    /// When it was revoked or used up.
    pub revoked_at: Option<Time>,
    /// The last use, to the minute; `null` if it was never used.
    pub last_used_at: Option<Time>,
    /// The status of a passkey; absent for other credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passkey: Option<PasskeyView>,
}

/// The status of a passkey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Passkey))]
pub struct PasskeyView {
    /// The time from which answers confirmed with this passkey have the assurance `passkey`. It can
    /// be used to sign in before that.
    pub counts_from: Time,
    /// Whether the passkey is still in its waiting period, so that an administrator can confirm it:
    /// `POST /api/v1/keys/{id}/confirm`.
    pub confirmable: bool,
}

impl PasskeyView {
    fn of(key: &Key, now: Time) -> Option<Self> {
        let CredentialKind::Passkey { enrolment, .. } = &key.kind else { return None };
        // A passkey from before enrolments were recorded counts from when it was added.
        let counts_from = enrolment.as_ref().map_or(key.issued_at, |it| it.counts_from);
        let confirmable = key.is_live(now) && !key.counts_as_passkey(now);
        Some(Self { counts_from, confirmable })
    }
}

impl KeyView {
    /// Shows a credential in its current state.
    pub fn of(key: &Key, directory: &Directory, last_used_at: Option<Time>, now: Time) -> Self {
        let (kind, holder, reach, project) = match &key.kind {
            CredentialKind::Agent { agent, scope: reach, .. } => {
                let project = directory.agent(agent).map(|agent| agent.project.clone());
                ("agent_key", agent.to_string(), Some(*reach), project)
            }
            CredentialKind::Token { human } => ("token", human.to_string(), None, None),
            CredentialKind::Link { human, .. } => ("link", human.to_string(), None, None),
            CredentialKind::Session { human, .. } => ("session", human.to_string(), None, None),
            CredentialKind::Passkey { human, .. } => ("passkey", human.to_string(), None, None),
        };
        Self {
            id: key.id,
            kind: kind.to_owned(),
            holder,
            project,
            reach,
            respond: matches!(key.kind, CredentialKind::Agent { respond: true, .. }),
            own_app: matches!(key.kind, CredentialKind::Agent { own_app: true, .. }),
            label: key.label.clone(),
            issued_at: key.issued_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            last_used_at,
            passkey: PasskeyView::of(key, now),
        }
    }
}

/// A new credential. This is the only response that contains its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IssuedKey {
    /// The credential.
    #[serde(flatten)]
    pub key: KeyView,
    /// The secret to send as `Authorization: Bearer …`.
    pub secret: String,
}

/// A session: a browser in which a person is signed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Session))]
pub struct SessionView {
    /// The ID of the session, which is a credential and can be revoked like any other.
    pub id: KeyId,
    /// The name of the browser.
    pub browser: String,
    /// The sign-in method; `null` if it was not recorded.
    pub way: Option<SignInMethod>,
    /// The time of issue.
    pub issued_at: Time,
    /// The last use, to the minute.
    pub last_used_at: Time,
    /// When the session expires, regardless of use.
    pub expires_at: Option<Time>,
}

impl SessionView {
    /// Shows a session with the time of its last use.
    pub fn of(key: &Key, last_used_at: Time) -> Self {
        let way = match &key.kind {
            CredentialKind::Session { binding: visit, .. } => visit.map(|visit| visit.method),
            CredentialKind::Agent { .. }
            | CredentialKind::Token { .. }
            | CredentialKind::Link { .. }
            | CredentialKind::Passkey { .. } => None,
        };
        Self {
            id: key.id,
            browser: key.label.clone(),
            way,
            issued_at: key.issued_at,
            last_used_at,
            expires_at: key.expires_at,
        }
    }
}

/// The sessions of a person.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Sessions))]
pub struct SessionListView {
    /// The sessions, newest first.
    pub sessions: Vec<SessionView>,
}
