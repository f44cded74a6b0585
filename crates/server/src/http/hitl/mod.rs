//! HITL 0.7 (0.8 on request): `/hitl/v1/…`, `/.well-known/hitl.json`, `/skill.md`.
//!
//! | file | route |
//! |---|---|
//! | `create` | `POST /hitl/v1/cases`, `GET /hitl/v1/callback-secret` |
//! | `status` | `GET /hitl/v1/reviews/{id}/status` |
//! | `events` | `GET /hitl/v1/reviews/{id}/events` |
//! | `respond` | `POST /hitl/v1/reviews/{id}/respond`, `…/submit`, `…/cancel` |
//! | `files` | `POST /hitl/v1/reviews/{id}/files`, `GET …/files/{digest}` |
//! | `discovery` | `GET /.well-known/hitl.json`, `GET /skill.md` |
//! | `demo` | `POST /api/demo?type=…`, with `--dev` |
//!
//! A token is good for one thing: the review token for answering as whoever holds the link, the
//! submit token for passing an answer on, the poll token for reading. The key that made the case
//! reads and cancels it too.

mod create;
mod demo;
mod discovery;
mod error;
mod events;
mod files;
mod respond;
mod status;

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use dialects::hitl::{self, WireError};
use gateway::Gateway;
use gateway::answer_files::AnswerFiles;
use gateway::auth::Authenticator;
use gateway::receipts::Receipts;
use gateway::verification::Providers;
use kernel::ask::Purpose;
use kernel::audit::Digest;
use kernel::{Actor, Ask};

use crate::config::Config;
use crate::http::Shared;
use crate::http::callers::Callers;
use crate::http::hxp_execution::is_loopback;
use crate::http::stream_credential::StreamToken;

pub use error::HitlError;

/// What every handler answers with.
type Answer = Result<Response, HitlError>;

/// Its routes.
pub fn routes() -> Router<Shared> {
    Router::new()
        .route("/hitl/v1/cases", post(create::create))
        .route("/hitl/v1/callback-secret", get(create::callback_secret))
        .route("/hitl/v1/reviews/{id}/status", get(status::status))
        .route("/hitl/v1/reviews/{id}/events", get(events::events))
        .route("/hitl/v1/reviews/{id}/respond", post(respond::respond))
        .route("/hitl/v1/reviews/{id}/submit", post(respond::respond))
        .route("/hitl/v1/reviews/{id}/cancel", post(respond::cancel))
        .route("/hitl/v1/reviews/{id}/files", post(files::upload))
        .route("/hitl/v1/reviews/{id}/files/{digest}", get(files::file))
        .route("/.well-known/hitl.json", get(discovery::document))
        .route("/skill.md", get(discovery::skill))
        .route("/api/demo", post(demo::demo))
}

/// The answer for an address under `/hitl` that leads nowhere.
pub fn no_route() -> Response {
    HitlError::from(WireError::no_route()).into_response()
}

/// The answer for a method an address does not take.
pub fn wrong_method() -> Response {
    HitlError::from(WireError::method_not_allowed()).into_response()
}

/// The answer for what a library could not read, or for a panic.
pub fn unreadable(broken: bool) -> Response {
    let error = if broken {
        WireError::internal()
    } else {
        WireError::field("request", "an address, a query and headers that can be read")
    };
    HitlError::from(error).into_response()
}

/// The name of the cookie in which a browser keeps the review token of a case.
pub fn review_cookie(case_id: &str) -> String {
    format!("countersign_{case_id}")
}

/// The review token a browser sends as a cookie.
pub(crate) fn cookie<'h>(headers: &'h HeaderMap, case_id: &str) -> Option<&'h str> {
    let name = review_cookie(case_id);
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((name.trim(), value.trim()))
    });
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// The value of a parameter; the last one, if it is there twice.
fn param<'p>(pairs: &'p [(String, String)], name: &str) -> Option<&'p str> {
    pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// The review token that comes with a request, in its address or as a cookie.
pub(crate) fn shown<'r>(
    pairs: &'r [(String, String)],
    headers: &'r HeaderMap,
    case_id: &str,
) -> Option<&'r str> {
    param(pairs, "token").or_else(|| cookie(headers, case_id))
}

/// Whether a token that was presented is one of this ask for this purpose, and was not ended. Only its
/// hash is looked at, and that in constant time.
pub(crate) fn is_token(gateway: &Gateway, ask: &Ask, purpose: Purpose, token: &str) -> bool {
    ask.token_works(purpose, &Digest::of(token.as_bytes()), &gateway.directory())
}

/// Who answers with a review token; `None` if it is not one of this ask, or was ended. The token
/// itself says whether the server sent it to a verified address or an agent was given it.
pub(crate) fn link_holder(gateway: &Gateway, ask: &Ask, token: &str) -> Option<Actor> {
    ask.link_holder(&Digest::of(token.as_bytes()), &gateway.directory())
}

/// Who reads a case.
enum Reader {
    /// The key that made it, or one that sees it.
    Key(Actor),
    /// Whoever holds a poll token.
    Token(StreamToken),
}

/// HITL cases: who may read and answer them, and how they are rendered.
pub struct HitlCases {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) config: Arc<Config>,
    pub(in crate::http) callers: Callers,
    pub(in crate::http) receipts: Receipts,
    pub(in crate::http) authenticator: Arc<Authenticator>,
    pub(in crate::http) providers: Arc<Providers>,
    pub(in crate::http) answer_files: AnswerFiles,
}

impl HitlCases {
    fn agent(&self, headers: &HeaderMap) -> Result<Actor, HitlError> {
        Ok(self.callers.agent(headers)?)
    }

    /// The ask behind a case id.
    async fn ask(&self, case_id: &str) -> Result<Arc<Ask>, HitlError> {
        let id = hitl::ask_id(case_id).ok_or_else(WireError::no_case)?;
        Ok(self.gateway.ask(id).await?.ok_or_else(WireError::no_case)?)
    }

    /// The ask behind a case id, for a caller whose credential is a token of that case. A case that is
    /// not there has no token, so the token is wrong: 401. Only a key can learn that there is no such
    /// case (HITL-086).
    async fn ask_by_token(&self, case_id: &str) -> Result<Arc<Ask>, HitlError> {
        let id = hitl::ask_id(case_id).ok_or_else(WireError::invalid_token)?;
        Ok(self.gateway.ask(id).await?.ok_or_else(WireError::invalid_token)?)
    }

    /// A case for whoever reads it: with its poll token in the query, else with a key. The token comes
    /// first, because agents send along whatever authorisation their own service wants.
    async fn readable(
        &self,
        case_id: &str,
        headers: &HeaderMap,
        pairs: &[(String, String)],
    ) -> Result<(Arc<Ask>, Reader), HitlError> {
        if let Some(token) = param(pairs, "token") {
            let ask = self.ask_by_token(case_id).await?;
            if !is_token(&self.gateway, &ask, Purpose::Poll, token) {
                return Err(WireError::invalid_token().into());
            }
            let credential = StreamToken::new(&ask, Purpose::Poll, token);
            return Ok((ask, Reader::Token(credential)));
        }
        let actor = self.agent(headers)?;
        let ask = self.ask(case_id).await?;
        if !ask.within_reach(&actor) {
            return Err(WireError::no_case().into());
        }
        Ok((ask, Reader::Key(actor)))
    }

    /// What addresses are built from: the public address; on loopback the host the caller used, where
    /// the protocol's pattern for addresses knows it.
    pub(crate) fn base(&self, headers: &HeaderMap) -> String {
        let public = &self.config.public_url;
        let given = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let local = self.config.listen.iter().all(|address| address.ip().is_loopback());
        let usable = |host: &&str| local && is_loopback(host) && !host.starts_with('[');
        match given.filter(usable) {
            Some(host) => format!("{}://{host}", public.scheme()),
            None => public.as_str().trim_end_matches('/').to_owned(),
        }
    }
}
