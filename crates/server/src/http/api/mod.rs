//! The native API, `/api/v1`.

mod acknowledge;
mod actions;
mod ask_views;
mod asks;
mod audit;
pub(in crate::http) mod bulk;
mod callbacks;
mod conversations;
pub(in crate::http) mod deliveries;
mod dev;
mod directory;
mod erase;
mod explain;
mod files;
pub(in crate::http) mod filters;
pub(in crate::http) mod history;
mod insights;
mod keys;
mod lists;
mod messages;
mod notifications;
mod openapi;
mod paging;
mod people;
mod presence;
pub(in crate::http) mod projects;
mod push;
mod receipts;
mod rules;
mod search;
mod sessions;
pub mod signing_keys;
pub(in crate::http) mod snooze;
mod streams;
pub(in crate::http) mod thread;
pub(in crate::http) mod webhooks;

use axum::Router;
use axum::body::Body;
use axum::http::HeaderMap;
use dialects::nesting::{DEEPEST, too_deep};
use dialects::unique;
use kernel::{Actor, Refusal};
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

pub(super) use ask_views::AskViews;
pub(super) use asks::LongPolls;
pub use dev::Dev;
pub(super) use presence::LEASE;
pub(super) use streams::AskStreams;

use crate::config::Config;
use crate::http::api::explain::explain;
use crate::http::callers::Callers;
use crate::http::problem::Problem;
use crate::http::{Shared, body};

pub fn routes() -> Router<Shared> {
    described().into()
}

/// The OpenAPI document of the routes.
pub fn document() -> OpenApi {
    openapi::complete(described().into_openapi())
}

/// Routes and document come from one list, so neither has an operation that the other lacks.
fn described() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(asks::routes())
        .merge(acknowledge::routes())
        .merge(actions::routes())
        .merge(conversations::routes())
        .merge(thread::routes())
        .merge(bulk::routes())
        .merge(snooze::routes())
        .merge(presence::routes())
        .merge(history::routes())
        .merge(search::routes())
        .merge(streams::routes())
        .merge(files::routes())
        .merge(callbacks::routes())
        .merge(webhooks::routes())
        .merge(projects::routes())
        .merge(people::routes())
        .merge(erase::routes())
        .merge(keys::routes())
        .merge(sessions::routes())
        .merge(signing_keys::routes())
        .merge(push::routes())
        .merge(messages::routes())
        .merge(notifications::routes())
        .merge(rules::routes())
        .merge(receipts::routes())
        .merge(audit::routes())
        .merge(insights::routes())
        .merge(dev::routes())
}

impl Callers {
    /// The calling person, by their token. Agents are refused.
    async fn person(&self, headers: &HeaderMap) -> Result<Actor, Problem> {
        match self.anyone(headers).await? {
            person @ Actor::Human { .. } => Ok(person),
            Actor::Agent { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. }
            | Actor::System => {
                let why = "this takes a person's token; this is an agent key";
                Err(Refusal::NotAllowed { why }.into())
            }
        }
    }

    /// The calling agent, by its key. People are refused.
    async fn only_agent(&self, headers: &HeaderMap) -> Result<Actor, Problem> {
        match self.anyone(headers).await? {
            agent @ Actor::Agent { .. } => Ok(agent),
            Actor::Human { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. }
            | Actor::System => {
                let why = "this takes an agent key; this is a person's token";
                Err(Refusal::NotAllowed { why }.into())
            }
        }
    }
}

/// A JSON body. An error names the field that is wrong.
async fn json<T: DeserializeOwned>(config: &Config, raw: Body) -> Result<T, Problem> {
    parse(&body::read(raw, config.body_limit).await?)
}

/// The same, but an empty body is allowed.
async fn json_if_any<T: DeserializeOwned + Default>(
    config: &Config,
    raw: Body,
) -> Result<T, Problem> {
    let bytes = body::read(raw, config.body_limit).await?;
    if bytes.trim_ascii().is_empty() { Ok(T::default()) } else { parse(&bytes) }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    if too_deep(bytes) {
        let detail = format!("the body is nested more than {DEEPEST} levels deep");
        return Err(Problem::new(400, "invalid-json").detail(detail));
    }
    let invalid = |error: &serde_json::Error| {
        let detail = format!("the body is not JSON: {error}");
        Problem::new(400, "invalid-json").detail(detail)
    };
    // Serde accepts an array for a struct; this API does not.
    let object = bytes.trim_ascii_start().starts_with(b"{");
    match serde_json::from_slice(bytes) {
        // Types do not detect duplicate members inside free-form data.
        Ok(value) if object => unique::read(bytes).map(|_| value).map_err(|error| invalid(&error)),
        read => match serde_json::from_slice::<Value>(bytes) {
            Ok(body) => Err(explain::<T>(&body, read.err().as_ref())),
            Err(error) => Err(invalid(&error)),
        },
    }
}
