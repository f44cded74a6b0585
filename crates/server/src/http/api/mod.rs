//! Our own API, `/api/v1`.

mod acts;
mod asks;
mod audit;
mod dev;
mod files;
mod identities;
mod keys;
mod lists;
mod openapi;
mod page;
mod people;
mod projects;
mod receipts;
mod rules;
mod streams;

use axum::Router;
use axum::body::Body;
use axum::http::HeaderMap;
use dialects::nesting::{DEEPEST, too_deep};
use kernel::Actor;
use serde::de::DeserializeOwned;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

pub use dev::Dev;

use crate::auth::Denied;
use crate::http::problem::Problem;
use crate::http::{App, Shared, body};

/// Its routes.
pub fn routes() -> Router<Shared> {
    described().into()
}

/// The document that describes them.
pub fn document() -> OpenApi {
    openapi::complete(described().into_openapi())
}

/// Routes and document from one list, so that neither has what the other lacks.
fn described() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(asks::routes())
        .merge(acts::routes())
        .merge(streams::routes())
        .merge(files::routes())
        .merge(projects::routes())
        .merge(people::routes())
        .merge(keys::routes())
        .merge(rules::routes())
        .merge(receipts::routes())
        .merge(audit::routes())
        .merge(dev::routes())
}

impl App {
    async fn person(&self, headers: &HeaderMap) -> Result<Actor, Problem> {
        let directory = self.gateway.directory();
        Ok(self.door.human(&directory, headers, self.gateway.now()).await?)
    }

    fn agent(&self, headers: &HeaderMap) -> Result<Actor, Problem> {
        Ok(self.door.agent(&self.gateway.directory(), headers, self.gateway.now())?)
    }

    /// Whoever it is.
    async fn anyone(&self, headers: &HeaderMap) -> Result<Actor, Problem> {
        match self.door.agent(&self.gateway.directory(), headers, self.gateway.now()) {
            Ok(agent) => Ok(agent),
            Err(Denied::Unknown) => self.person(headers).await,
            Err(denied) => Err(denied.into()),
        }
    }

    /// A JSON body; what is wrong with it is said with its place.
    async fn json<T: DeserializeOwned>(&self, raw: Body) -> Result<T, Problem> {
        parse(&body::read(raw, self.config.body_limit).await?)
    }

    /// The same, where no body at all is fine.
    async fn json_if_any<T: DeserializeOwned + Default>(&self, raw: Body) -> Result<T, Problem> {
        let bytes = body::read(raw, self.config.body_limit).await?;
        if bytes.trim_ascii().is_empty() { Ok(T::default()) } else { parse(&bytes) }
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    if too_deep(bytes) {
        let detail = format!("the body is nested more than {DEEPEST} levels deep");
        return Err(Problem::new(400, "invalid-json").detail(detail));
    }
    let not_json = |error: &serde_json::Error| {
        Problem::new(400, "invalid-json").detail(format!("the body is not JSON: {error}"))
    };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        if !error.inner().is_data() {
            return not_json(error.inner());
        }
        // The place in the document says more than a line and a column of the body.
        let (place, inner) = (error.path().to_string(), error.inner().to_string());
        let inner = inner.split_once(" at line ").map_or(&*inner, |(what, _)| what);
        Problem::new(422, "invalid-field").detail(format!("{place}: {inner}")).field(&place, inner)
    })?;
    reader.end().map_err(|error| not_json(&error))?;
    Ok(value)
}
