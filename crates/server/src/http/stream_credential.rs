//! A credential that is used for longer than one request: a stream, a long poll or an open page ends when
//! its credential does.

use axum::http::HeaderMap;
use gateway::Gateway;
use gateway::auth::Denied;
use gateway::wake::Topic;
use kernel::ask::Purpose;
use kernel::audit::Digest;
use kernel::{Actor, Ask, AskId, KeyId, Subject};

use crate::http::callers::Callers;

/// A credential, for as long as it holds.
pub struct StreamCredential {
    /// Whose it is.
    pub actor: Actor,
    /// One of our own keys; else a token of the issuer, to be checked again as it came.
    key: Result<KeyId, HeaderMap>,
}

impl StreamCredential {
    /// That of whoever just showed it in these headers.
    pub fn new(callers: &Callers, actor: Actor, headers: &HeaderMap) -> Self {
        let key = callers.key(headers);
        Self { actor, key: key.ok_or_else(|| headers.clone()) }
    }

    /// That of somebody who is signed in with this session.
    pub fn of_session(actor: Actor, session: KeyId) -> Self {
        Self { actor, key: Ok(session) }
    }

    /// What its streams are counted under.
    pub fn counted(&self) -> Option<Subject> {
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

    /// What may end it.
    pub fn topics(&self) -> impl Iterator<Item = Topic> {
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
            .map(Topic::Subject)
    }

    /// Whether key and person are what they were.
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

    /// The same, and a token of the issuer is read again: it runs out without anybody saying so.
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

/// A review or poll token of one ask, for as long as it works.
pub struct StreamToken {
    ask: AskId,
    purpose: Purpose,
    hash: Digest,
    /// The key of the agent that asked, with which its tokens may end.
    key: Option<KeyId>,
    /// The person the token was sent to, with whose access it ends.
    sent_to: Option<kernel::HumanId>,
}

impl StreamToken {
    /// That of a token that was just found to work.
    pub fn new(ask: &Ask, purpose: Purpose, token: &str) -> Self {
        let hash = Digest::of(token.as_bytes());
        let mut grants = ask.grants.iter().filter(|grant| grant.purpose == purpose);
        let grant = grants.find(|grant| grant.hash.is_same(&hash));
        let sent_to = grant.and_then(|grant| grant.sent_to.clone());
        Self { ask: ask.id, purpose, hash, key: ask.key, sent_to }
    }

    /// The ask, and what may end the token.
    pub fn topics(&self) -> impl Iterator<Item = Topic> {
        let key = self.key.map(Subject::Key);
        let person = self.sent_to.clone().map(Subject::Human);
        let all = [Subject::Ask(self.ask)].into_iter().chain(key).chain(person);
        all.map(Topic::Subject)
    }

    /// Whether it works for the ask as it is now.
    pub fn holds(&self, gateway: &Gateway, ask: &Ask) -> bool {
        ask.token_works(self.purpose, &self.hash, &gateway.directory())
    }
}
