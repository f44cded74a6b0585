//! HACP: the bytes of artifacts, coming and going.
//!
//! | file | route |
//! |---|---|
//! | `uploads` | `POST`, `PUT /hacp/v1/uploads`; `GET`, `HEAD`, `PATCH`, `DELETE /hacp/v1/uploads/{id}` |
//! | `content` | `GET`, `HEAD /hacp/v1/uploads/{id}/content`, `/hacp/v1/artifacts/{id}/versions/{version}/content` |
//!
//! How they are named in a commit, and what a client does after a break, stands in
//! `docs/hacp-artifacts.md`.

mod content;
mod error;
mod range;
mod uploads;

use axum::Router;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use dialects::hacp::HacpError;
use kernel::{Actor, Subject};

use crate::auth::Denied;
use crate::blobs::Blobs;
use crate::http::{App, Shared};
use crate::streams::{Held, Wire};

pub use error::Error;

/// What every handler answers with.
type Answer = Result<Response, Error>;

/// Its routes.
pub fn routes() -> Router<Shared> {
    Router::new()
        .route("/hacp/v1/uploads", post(uploads::begin).put(uploads::all_at_once))
        .route(
            "/hacp/v1/uploads/{id}",
            get(uploads::stands).patch(uploads::append).delete(uploads::discard),
        )
        .route("/hacp/v1/uploads/{id}/content", get(content::of_upload))
        .route("/hacp/v1/artifacts/{id}/versions/{version}/content", get(content::of_version))
}

/// Whether an address belongs to this dialect.
pub fn is_here(path: &str) -> bool {
    path.strip_prefix("/hacp").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The answer for an address here that leads nowhere.
pub fn no_route() -> Response {
    Error::from(HacpError::no_route()).into_response()
}

/// The answer for a method an address does not take.
pub fn wrong_method() -> Response {
    Error::from(HacpError::method_not_allowed()).into_response()
}

/// The answer for what a library could not read, or for a panic.
pub fn unreadable(broken: bool) -> Response {
    let error = if broken {
        HacpError::internal()
    } else {
        HacpError::field("", "an address, a query and headers that can be read")
    };
    Error::from(error).into_response()
}

impl App {
    /// Where bytes of any size are kept.
    pub fn blobs(&self) -> Blobs {
        Blobs::new(self.files.clone(), self.gateway.clone())
    }

    /// An agent or a person, by what they show.
    async fn hacp_caller(&self, headers: &HeaderMap) -> Result<Actor, Denied> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        match self.door.agent(&directory, headers, now) {
            Err(Denied::Unknown) => self.door.human(&directory, headers, now).await,
            known => known,
        }
    }

    /// Counts bytes that come or go as one of the streams of a credential, until this is dropped: each
    /// has a piece in memory.
    fn transfer(&self, actor: &Actor, headers: &HeaderMap) -> Result<Held, Denied> {
        let key = self.door.key(&self.gateway.directory(), headers).map(Subject::Key);
        let who = key.or_else(|| match actor {
            Actor::Human { id, .. } => Some(Subject::Human(id.clone())),
            _ => None,
        });
        self.streams.open(who, Wire::Bytes)
    }
}
