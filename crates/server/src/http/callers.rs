//! Identifies the caller of a request by the credential in its headers, and notes it for the log.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use gateway::Gateway;
use gateway::auth::{Authenticator, Denied};
use kernel::audit::Digest;
use kernel::directory::Directory;
use kernel::{Actor, KeyId};

use crate::http::request_log::{RequestCaller, note_caller};

/// Identifies callers by their credentials.
#[derive(Clone)]
pub struct Callers {
    gateway: Gateway,
    authenticator: Arc<Authenticator>,
}

impl Callers {
    pub fn new(gateway: Gateway, authenticator: Arc<Authenticator>) -> Self {
        Self { gateway, authenticator }
    }

    /// The directory as of the last commit.
    pub fn directory(&self) -> Arc<Directory> {
        self.gateway.directory()
    }

    /// The agent of `Authorization: Bearer`.
    pub fn agent(&self, headers: &HeaderMap) -> Result<Actor, Denied> {
        self.agent_by(bearer(headers)?)
    }

    /// The agent of a key that did not come in the header, such as in a WebSocket's query.
    pub fn agent_by(&self, secret: &str) -> Result<Actor, Denied> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let actor = self.authenticator.agent(&directory, secret, now)?;
        if let Actor::Agent { id, key, .. } = &actor {
            note_caller(|| RequestCaller {
                key: Some(*key),
                agent: Some(id.clone()),
                ..RequestCaller::default()
            });
        }
        Ok(actor)
    }

    /// The person of `Authorization: Bearer`: by a token of this server, or a JWT of the issuer.
    pub async fn human(&self, headers: &HeaderMap) -> Result<Actor, Denied> {
        let secret = bearer(headers)?;
        if is_from_hidden_origin(headers) {
            tracing::warn!(
                "refused a human token from a web page with `Origin: null`, because any website \
                 can send that"
            );
            return Err(Denied::Unknown);
        }
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let (actor, key) = self.authenticator.human(&directory, secret, now).await?;
        if let Actor::Human { id, .. } = &actor {
            note_caller(|| RequestCaller {
                key,
                human: Some(id.clone()),
                ..RequestCaller::default()
            });
        }
        Ok(actor)
    }

    /// An agent or a person, by their credential.
    pub async fn anyone(&self, headers: &HeaderMap) -> Result<Actor, Denied> {
        match self.agent(headers) {
            Err(Denied::Unknown) => self.human(headers).await,
            known => known,
        }
    }

    /// The key of this server in `Authorization: Bearer`, if it is one.
    pub fn key(&self, headers: &HeaderMap) -> Option<KeyId> {
        let hash = Digest::of(bearer(headers).ok()?.as_bytes());
        self.gateway.directory().key_by_hash(&hash).map(|key| key.id)
    }
}

/// The token after `Bearer`, which may be in upper or lower case.
pub fn bearer(headers: &HeaderMap) -> Result<&str, Denied> {
    let value = headers.get(header::AUTHORIZATION).ok_or(Denied::Missing)?;
    let text = value.to_str().map_err(|_| Denied::Unknown)?;
    let (scheme, token) = text.split_once(' ').ok_or(Denied::Unknown)?;
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Err(Denied::Unknown);
    }
    Ok(token.trim())
}

/// Whether the request comes from a web page with a hidden origin: one in a sandboxed frame, or a
/// file.
fn is_from_hidden_origin(headers: &HeaderMap) -> bool {
    headers.get_all(header::ORIGIN).iter().any(|origin| origin == "null")
}
