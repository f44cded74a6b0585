//! Our own API, `/api/v1`.

mod asks;
mod identities;

use axum::Router;
use axum::http::HeaderMap;
use kernel::Actor;
use serde::de::DeserializeOwned;

use crate::http::problem::Problem;
use crate::http::{App, Shared, body};

/// Its routes.
pub fn routes() -> Router<Shared> {
    Router::new().merge(asks::routes()).merge(identities::routes())
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
        match self.agent(headers) {
            Ok(agent) => Ok(agent),
            Err(_) => self.person(headers).await,
        }
    }

    /// A JSON body; what is wrong with it is said with its place.
    async fn json<T: DeserializeOwned>(&self, raw: axum::body::Body) -> Result<T, Problem> {
        let bytes = body::read(raw, self.config.body_limit).await?;
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let inner = error.inner().to_string();
            if error.inner().is_data() {
                let place = error.path().to_string();
                Problem::new(422, "invalid-field")
                    .detail(format!("{place}: {inner}"))
                    .field(&place, &inner)
            } else {
                Problem::new(400, "invalid-json").detail(format!("the body is not JSON: {inner}"))
            }
        })
    }
}
