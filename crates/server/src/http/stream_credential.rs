//! Credentials of long requests: a stream, a long poll or an open page ends when its credential
//! does.

use axum::http::HeaderMap;
use gateway::Gateway;
use gateway::auth::Denied;
use gateway::waiters::WakeTopic;
use kernel::ask::TokenPurpose;
use kernel::audit::Digest;
use kernel::{Actor, Ask, AskId, KeyId, Subject};

use crate::http::callers::Callers;

/// A credential, checked again while a stream is open.
pub struct StreamCredential {
    /// The actor it belongs to.
    pub actor: Actor,
    /// A key of this server; otherwise the headers with a token of the JWT issuer,
    /// which is verified again.
    key: Result<KeyId, HeaderMap>,
}

impl StreamCredential {
    /// The credential in these headers, which belongs to `actor`.
    pub fn new(callers: &Callers, actor: Actor, headers: &HeaderMap) -> Self {
        let key = callers.key(headers);
        Self { actor, key: key.ok_or_else(|| headers.clone()) }
    }

    /// The credential of a person with this session.
    pub fn of_session(actor: Actor, session: KeyId) -> Self {
        Self { actor, key: Ok(session) }
    }

    /// The subject whose stream limit applies.
    pub fn stream_subject(&self) -> Option<Subject> {
        match (&self.key, &self.actor) {
            (Ok(key), _) => Some(Subject::Key(*key)),
            (Err(_), Actor::Human { id, .. }) => Some(Subject::Human(id.clone())),
            (
                Err(_),
                Actor::Agent { .. }
                | Actor::LinkHolder { .. }
                | Actor::Relay { .. }
                | Actor::Guest { .. }
                | Actor::System,
            ) => None,
        }
    }

    /// The topics whose events may end the credential.
    pub fn topics(&self) -> impl Iterator<Item = WakeTopic> {
        let person = match &self.actor {
            Actor::Human { id, .. } => Some(Subject::Human(id.clone())),
            Actor::Agent { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. }
            | Actor::System => None,
        };
        self.key
            .as_ref()
            .ok()
            .copied()
            .map(Subject::Key)
            .into_iter()
            .chain(person)
            .map(WakeTopic::Subject)
    }

    /// Whether the key is still valid and the person still active.
    pub fn holds(&self, gateway: &Gateway) -> bool {
        let directory = gateway.directory();
        let live = |key: &KeyId| directory.key(*key).is_some_and(|key| key.is_live(gateway.now()));
        let active = match &self.actor {
            Actor::Human { id, .. } => directory.human(id).is_some_and(|human| human.active),
            Actor::Agent { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. }
            | Actor::System => true,
        };
        active && self.key.as_ref().map_or(true, live)
    }

    /// Like [`Self::holds`], but also verifies a token of the JWT issuer again: it
    /// expires without an event.
    pub async fn still_holds(&self, gateway: &Gateway, callers: &Callers) -> bool {
        if let Err(headers) = &self.key {
            let again = callers.human(headers).await;
            if matches!(again, Err(Denied::Missing | Denied::Unknown)) {
                return false;
            }
        }
        self.holds(gateway)
    }
}

/// A review or poll token of one ask, checked again while a stream is open.
pub struct StreamToken {
    ask: AskId,
    purpose: TokenPurpose,
    hash: Digest,
    /// The key of the agent that asked. Its tokens may end with it.
    key: Option<KeyId>,
    /// The person the token was sent to. It ends with their access.
    sent_to: Option<kernel::HumanId>,
}

impl StreamToken {
    /// A token that was just verified.
    pub fn new(ask: &Ask, purpose: TokenPurpose, token: &str) -> Self {
        let hash = Digest::of(token.as_bytes());
        let mut grants = ask.grants.iter().filter(|grant| grant.purpose == purpose);
        let grant = grants.find(|grant| grant.hash.is_same(&hash));
        let sent_to = grant.and_then(|grant| grant.sent_to.clone());
        Self { ask: ask.id, purpose, hash, key: ask.key, sent_to }
    }

    /// The topics of the ask, and those whose events may end the token.
    pub fn topics(&self) -> impl Iterator<Item = WakeTopic> {
        let key = self.key.map(Subject::Key);
        let person = self.sent_to.clone().map(Subject::Human);
        let all = [Subject::Ask(self.ask)].into_iter().chain(key).chain(person);
        all.map(WakeTopic::Subject)
    }

    /// Whether the token is valid for the ask as it is now.
    pub fn holds(&self, gateway: &Gateway, ask: &Ask) -> bool {
        ask.token_works(self.purpose, &self.hash, &gateway.directory())
    }
}
