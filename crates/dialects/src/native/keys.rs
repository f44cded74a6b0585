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
    /// An agent key for this agent…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// …that sees its own asks or the whole project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<KeyScope>,
    /// Whether it may pass on answers the agent says it got from people; only an administrator
    /// gives that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub respond: bool,
    /// Whether what the agent asks may be said by an app of its own, with the `bot_token` of an A2H
    /// channel; only an administrator gives that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_app: bool,
    /// Or a token for this person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub human: Option<HumanId>,
    /// What to call it.
    #[serde(default)]
    pub label: String,
    /// Until when it works; without it, until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

/// A credential as it is listed: never with its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Key))]
pub struct KeyView {
    /// Its id.
    pub id: KeyId,
    /// `agent_key`, `token`, `link`, `session` or `passkey`.
    pub kind: String,
    /// Whose.
    pub holder: String,
    /// The project of an agent key.
    pub project: Option<ProjectId>,
    /// How far an agent key sees.
    pub reach: Option<KeyScope>,
    /// Whether an agent key may pass on answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub respond: bool,
    /// Whether what its agent asks may be said by an app of the agent's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_app: bool,
    /// What its maker called it.
    pub label: String,
    /// Since when.
    pub issued_at: Time,
    /// Until when.
    pub expires_at: Option<Time>,
    /// Revoked or used up.
    pub revoked_at: Option<Time>,
    /// To the minute; `null` if never.
    pub last_used_at: Option<Time>,
    /// What a passkey counts for; absent for other credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passkey: Option<PasskeyView>,
}

/// What a passkey counts for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Passkey))]
pub struct PasskeyView {
    /// From when answers it confirms have the assurance `passkey`. It signs in before that.
    pub counts_from: Time,
    /// Whether it does not count yet, so that an administrator can confirm it:
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

/// A fresh credential: the only time its secret is shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IssuedKey {
    /// The credential.
    #[serde(flatten)]
    pub key: KeyView,
    /// What its holder presents.
    pub secret: String,
}

/// A browser in which somebody is signed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Session))]
pub struct SessionView {
    /// Its id: a credential, revoked like any other.
    pub id: KeyId,
    /// What the browser calls itself, in short.
    pub browser: String,
    /// How they signed in; `null` if it was not noted.
    pub way: Option<SignInMethod>,
    /// Since when.
    pub issued_at: Time,
    /// To the minute.
    pub last_used_at: Time,
    /// Until when, however much it is used.
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

/// Where somebody is signed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Sessions))]
pub struct SessionListView {
    /// The newest first.
    pub sessions: Vec<SessionView>,
}
