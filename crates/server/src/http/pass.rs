//! A credential that is used for longer than one request.

use axum::http::HeaderMap;
use kernel::{Actor, KeyId, Subject};

use crate::auth::Denied;
use crate::http::App;
use crate::wake::Topic;

/// A credential, for as long as it holds.
pub struct Pass {
    /// Whose it is.
    pub actor: Actor,
    /// One of our own keys; else a token of the issuer, to be checked again as it came.
    key: Result<KeyId, HeaderMap>,
}

impl Pass {
    /// That of whoever just showed it in these headers.
    pub fn new(app: &App, actor: Actor, headers: &HeaderMap) -> Self {
        let key = app.door.key(&app.gateway.directory(), headers);
        Self { actor, key: key.ok_or_else(|| headers.clone()) }
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
    pub fn holds(&self, app: &App) -> bool {
        let directory = app.gateway.directory();
        let live =
            |key: &KeyId| directory.key(*key).is_some_and(|key| key.is_live(app.gateway.now()));
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
    pub async fn still_holds(&self, app: &App) -> bool {
        if let Err(headers) = &self.key {
            let directory = app.gateway.directory();
            let again = app.door.human(&directory, headers, app.gateway.now()).await;
            if matches!(again, Err(Denied::Missing | Denied::Unknown)) {
                return false;
            }
        }
        self.holds(app)
    }
}
