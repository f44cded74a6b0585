//! Extractors of the native API: who calls, on which object, and with which body. A handler names
//! them in its signature, after its parameters of the query, so that these are checked first.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use kernel::ask::Ask;
use kernel::directory::Directory;
use kernel::{Actor, AgentId, AskId, HumanId, KeyId, Refusal};
use serde::de::DeserializeOwned;

use crate::http::api::parse;
use crate::http::path_param::path_id;
use crate::http::problem::ApiProblem;
use crate::http::{AppState, body};

/// An agent or a person, by their credential.
pub(super) struct AnyCaller(pub(super) Actor);

impl FromRequestParts<AppState> for AnyCaller {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, ApiProblem> {
        Ok(Self(shared.core.callers.anyone(&parts.headers).await?))
    }
}

/// A person, by their token. Agents are refused.
pub(super) struct PersonCaller {
    pub(super) id: HumanId,
    pub(super) actor: Actor,
}

impl FromRequestParts<AppState> for PersonCaller {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, ApiProblem> {
        let AnyCaller(actor) = AnyCaller::from_request_parts(parts, shared).await?;
        match &actor {
            Actor::Human { id, .. } => Ok(Self { id: id.clone(), actor }),
            Actor::Agent { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. }
            | Actor::System => {
                let why = "this path requires a person's token, but this is an agent key";
                Err(Refusal::NotAllowed { why }.into())
            }
        }
    }
}

/// A person who is an administrator, and the directory.
pub(super) struct AdminCaller {
    pub(super) directory: Arc<Directory>,
    pub(super) actor: Actor,
}

impl FromRequestParts<AppState> for AdminCaller {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, ApiProblem> {
        let PersonCaller { actor, .. } = PersonCaller::from_request_parts(parts, shared).await?;
        let directory = shared.core.gateway.directory();
        if directory.administers(&actor) {
            return Ok(Self { directory, actor });
        }
        Err(Refusal::NotAllowed { why: "only an administrator can do this" }.into())
    }
}

/// An agent, by its key. People are refused.
pub(super) struct AgentCaller {
    pub(super) id: AgentId,
    pub(super) key: KeyId,
    pub(super) actor: Actor,
}

impl FromRequestParts<AppState> for AgentCaller {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, ApiProblem> {
        let AnyCaller(actor) = AnyCaller::from_request_parts(parts, shared).await?;
        match &actor {
            Actor::Agent { id, key, .. } => Ok(Self { id: id.clone(), key: *key, actor }),
            Actor::Human { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. }
            | Actor::System => {
                let why = "this path requires an agent key, but this is a person's token";
                Err(Refusal::NotAllowed { why }.into())
            }
        }
    }
}

/// The ask that the path names, if the caller may see it, and the caller.
pub(super) struct VisibleAsk {
    pub(super) ask: Arc<Ask>,
    pub(super) actor: Actor,
}

impl FromRequestParts<AppState> for VisibleAsk {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, ApiProblem> {
        let AnyCaller(actor) = AnyCaller::from_request_parts(parts, shared).await?;
        let id = ask_id(&path_id(parts, shared).await)?;
        Ok(Self { ask: shared.core.gateway.visible_ask(&actor, id).await?, actor })
    }
}

/// The calling person, and the ask that the path names, if they may see it.
pub(super) struct PersonAndAsk {
    pub(super) human: HumanId,
    pub(super) ask: AskId,
}

impl FromRequestParts<AppState> for PersonAndAsk {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, ApiProblem> {
        let PersonCaller { id: human, actor } =
            PersonCaller::from_request_parts(parts, shared).await?;
        let id = ask_id(&path_id(parts, shared).await)?;
        Ok(Self { human, ask: shared.core.gateway.visible_ask(&actor, id).await?.id })
    }
}

pub(super) fn ask_id(id: &str) -> Result<AskId, ApiProblem> {
    id.parse().map_err(|_| ApiProblem::from(Refusal::NotFound { what: "request" }))
}

/// A JSON body. An error names the field that is wrong.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<AppState> for JsonBody<T> {
    type Rejection = ApiProblem;

    async fn from_request(request: Request, shared: &AppState) -> Result<Self, ApiProblem> {
        let bytes = body::read(request.into_body(), shared.core.config.body_limit).await?;
        Ok(Self(parse(&bytes)?))
    }
}

/// The same, but an empty body is allowed.
pub(super) struct OptionalJsonBody<T>(pub(super) T);

impl<T: DeserializeOwned + Default> FromRequest<AppState> for OptionalJsonBody<T> {
    type Rejection = ApiProblem;

    async fn from_request(request: Request, shared: &AppState) -> Result<Self, ApiProblem> {
        let bytes = body::read(request.into_body(), shared.core.config.body_limit).await?;
        let empty = bytes.trim_ascii().is_empty();
        Ok(Self(if empty { T::default() } else { parse(&bytes)? }))
    }
}
