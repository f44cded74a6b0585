//! HITL 0.7 (0.8 on request): `/hitl/v1/…`, `/.well-known/hitl.json`, `/skill.md`.
//!
//! | file | route |
//! |---|---|
//! | `create` | `POST /hitl/v1/cases`, `GET /hitl/v1/callback-secret`; with `--dev`, `POST /api/demo?type=…` |
//! | `events` | `GET /hitl/v1/reviews/{id}/events` |
//! | `respond` | `POST /hitl/v1/reviews/{id}/respond`, `…/submit`, `…/cancel`, `…/files`; `GET …/files/{digest}` |
//! | this one | `GET /hitl/v1/reviews/{id}/status`, `GET /.well-known/hitl.json`, `GET /skill.md` |
//!
//! Each token has one purpose: the review token for answering as the holder of the link, the submit
//! token for relaying an answer, the poll token for reading. The key that created the case can also
//! read and cancel it.

mod create;
mod error;
mod events;
mod respond;

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use dialects::hitl::discovery::{CaseRetention, discovery};
use dialects::hitl::{self, HitlVersion, HitlWireError};
use gateway::Gateway;
use gateway::answer_files::AnswerFiles;
use gateway::auth::{Authenticator, CaseCallKind};
use gateway::receipts::Receipts;
use gateway::verification::ProofVerifiers;
use kernel::ask::TokenPurpose;
use kernel::audit::Digest;
use kernel::directory::Project;
use kernel::{Actor, Ask};
use store::StoreError;

use crate::config::{Config, Retention};
use crate::http::AppState;
use crate::http::callers::Callers;
use crate::http::conditional_headers::{self, KnownVersions};
use crate::http::hxp_execution::is_loopback;
use crate::http::path_param::PathParam;
use crate::http::stream_credential::StreamToken;

pub use error::HitlError;

type HitlResult = Result<Response, HitlError>;

pub fn routes() -> Router<AppState> {
    Router::new()
        .route("/hitl/v1/cases", post(create::create))
        .route("/hitl/v1/callback-secret", get(create::callback_secret))
        .route("/hitl/v1/reviews/{id}/status", get(status))
        .route("/hitl/v1/reviews/{id}/events", get(events::events))
        .route("/hitl/v1/reviews/{id}/respond", post(respond::respond))
        .route("/hitl/v1/reviews/{id}/submit", post(respond::respond))
        .route("/hitl/v1/reviews/{id}/cancel", post(respond::cancel))
        .route("/hitl/v1/reviews/{id}/files", post(respond::upload))
        .route("/hitl/v1/reviews/{id}/files/{digest}", get(respond::file))
        .route("/.well-known/hitl.json", get(document))
        .route("/skill.md", get(skill))
        .route("/api/demo", post(create::demo))
}

/// The response for an unknown path under `/hitl`.
pub fn no_route() -> Response {
    HitlError::from(HitlWireError::no_route()).into_response()
}

/// The response for a method that a path does not support.
pub fn wrong_method() -> Response {
    HitlError::from(HitlWireError::method_not_allowed()).into_response()
}

/// The response for a request that a library rejected, or for a panic.
pub fn unreadable(broken: bool) -> Response {
    let error = if broken {
        HitlWireError::internal()
    } else {
        HitlWireError::field("request", "a path, a query and headers that can be parsed")
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

/// The value of a parameter. If it occurs twice, the last one counts.
fn param<'p>(pairs: &'p [(String, String)], name: &str) -> Option<&'p str> {
    pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// The review token of a request, from its query or a cookie.
pub(crate) fn review_token<'r>(
    pairs: &'r [(String, String)],
    headers: &'r HeaderMap,
    case_id: &str,
) -> Option<&'r str> {
    param(pairs, "token").or_else(|| cookie(headers, case_id))
}

/// Whether the presented token is a valid one of this ask for this purpose. Only hashes are
/// compared, in constant time.
pub(crate) fn is_token(gateway: &Gateway, ask: &Ask, purpose: TokenPurpose, token: &str) -> bool {
    ask.token_works(purpose, &Digest::of(token.as_bytes()), &gateway.directory())
}

/// The holder of a review token; `None` if it is not one of this ask, or was revoked. The token
/// records whether the server sent it to a verified address or an agent received it.
pub(crate) fn link_holder(gateway: &Gateway, ask: &Ask, token: &str) -> Option<Actor> {
    ask.link_holder(&Digest::of(token.as_bytes()), &gateway.directory())
}

/// The reader of a case.
enum CaseReader {
    /// The key that created the case, or another key that may see it.
    Key(Actor),
    /// The holder of a poll token.
    Token(StreamToken),
}

/// HITL cases: who may read and answer them, and how they are rendered.
pub struct HitlCases {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) config: Arc<Config>,
    pub(in crate::http) callers: Callers,
    pub(in crate::http) receipts: Receipts,
    pub(in crate::http) authenticator: Arc<Authenticator>,
    pub(in crate::http) providers: Arc<ProofVerifiers>,
    pub(in crate::http) answer_files: AnswerFiles,
}

impl HitlCases {
    fn agent(&self, headers: &HeaderMap) -> Result<Actor, HitlError> {
        Ok(self.callers.agent(headers)?)
    }

    async fn ask(&self, case_id: &str) -> Result<Arc<Ask>, HitlError> {
        let id = hitl::ask_id(case_id).ok_or_else(HitlWireError::no_case)?;
        Ok(self.gateway.ask(id).await?.ok_or_else(HitlWireError::no_case)?)
    }

    /// The ask of a case id, for a caller whose credential is a token of that case. A case that
    /// does not exist has no token, so the token is wrong: 401. Only a key can learn that a case
    /// does not exist (HITL-086).
    async fn ask_by_token(&self, case_id: &str) -> Result<Arc<Ask>, HitlError> {
        let id = hitl::ask_id(case_id).ok_or_else(HitlWireError::invalid_token)?;
        Ok(self.gateway.ask(id).await?.ok_or_else(HitlWireError::invalid_token)?)
    }

    /// A case and its reader: by the poll token in the query, else by a key. The token comes first,
    /// because agents may send an `Authorization` header for their own service along.
    async fn readable_case(
        &self,
        case_id: &str,
        headers: &HeaderMap,
        pairs: &[(String, String)],
    ) -> Result<(Arc<Ask>, CaseReader), HitlError> {
        if let Some(token) = param(pairs, "token") {
            let ask = self.ask_by_token(case_id).await?;
            if !is_token(&self.gateway, &ask, TokenPurpose::Poll, token) {
                return Err(HitlWireError::invalid_token().into());
            }
            let credential = StreamToken::new(&ask, TokenPurpose::Poll, token);
            return Ok((ask, CaseReader::Token(credential)));
        }
        let actor = self.agent(headers)?;
        let ask = self.ask(case_id).await?;
        if !ask.is_visible_to_key(&actor) {
            return Err(HitlWireError::no_case().into());
        }
        Ok((ask, CaseReader::Key(actor)))
    }

    /// The base of the URLs in responses: the public URL, or on loopback the host the caller used,
    /// if the protocol's URL pattern accepts it.
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

// `GET /hitl/v1/reviews/{id}/status`: the status of a case. Specification §8.

async fn status(
    State(cases): State<Arc<HitlCases>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> HitlResult {
    let (ask, _) = cases.readable_case(&id, &headers, &pairs).await?;
    let left = cases.authenticator.count_case_call(ask.id, CaseCallKind::Poll)?;
    // An `If-None-Match` that cannot be read is ignored: polling continues (HITL-082).
    let seen = KnownVersions::read(&headers).unwrap_or(KnownVersions::Unsaid);
    let mut answer = if seen.has(ask.version()) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        cases.poll(&*cases.gateway.with_secret_answers(Arc::clone(&ask)).await?).await?
    };
    let headers = answer.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&conditional_headers::tag(&ask)) {
        headers.insert(header::ETAG, tag);
    }
    if ask.is_open() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(hitl::POLL_EVERY));
    }
    headers.insert("x-ratelimit-limit", HeaderValue::from(left.limit));
    headers.insert("x-ratelimit-remaining", HeaderValue::from(left.remaining));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(answer)
}

impl HitlCases {
    /// The response of a poll.
    async fn poll(&self, ask: &Ask) -> Result<Response, StoreError> {
        let (name, signature) =
            (self.receipts.respondent_name(ask), self.receipts.hitl_signature(ask).await?);
        Ok(Json(hitl::poll(ask, name, signature)).into_response())
    }
}

// `GET /.well-known/hitl.json` and `GET /skill.md`: a description of this server for programs and
// for agents. HITL appendix D and §12.

/// The page for agents. `{base}` is the server's base URL.
const SKILL: &str = include_str!("skill.md");
/// The section that is added if proofs of a person can be checked.
const PROOFS: &str = include_str!("skill-proofs.md");

async fn document(
    State(cases): State<Arc<HitlCases>>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> HitlResult {
    let version = match param(&pairs, "spec_version") {
        None => HitlVersion::default(),
        Some(name) => HitlVersion::named(name)
            .ok_or_else(|| HitlWireError::field("spec_version", "\"0.7\" or \"0.8\""))?,
    };
    let proofs = cases.providers.description();
    let cache = [(header::CACHE_CONTROL, "public, max-age=86400")];
    let usual = cases.config.retention;
    let other = |project: &Project| project.retention.is_some_and(|keep| keep.period() != usual);
    let unless_told = cases.gateway.directory().projects().any(other);
    let kept = CaseRetention { days: usual.map(Retention::days), unless_told };
    let document = discovery(&cases.base(&headers), version, kept, proofs.as_deref());
    Ok((cache, Json(document)).into_response())
}

async fn skill(State(cases): State<Arc<HitlCases>>, headers: HeaderMap) -> Response {
    let proofs = cases.providers.description().map(|words| PROOFS.replace("{proofs}", &words));
    let text = format!("{SKILL}{}", proofs.unwrap_or_default());
    let text = text.replace("{base}", &cases.base(&headers));
    let headers = [
        (header::CONTENT_TYPE, "text/markdown; charset=utf-8"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ];
    (headers, text).into_response()
}
