//! Validates HXP eXperience messages: `POST /envelope/v1/validate`, `GET /envelope/v1/schema.json`,
//! and the page at `/envelope` that shows a message.
//!
//! Nothing is stored and no credential is needed, so each client address has a rate limit.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use dialects::hxp_experience::{
    Checker, ConformanceLevel, ExperienceReport, NamespaceRegistry, SCHEMA, Unreadable,
    ValidationOptions,
};
use gateway::Gateway;
use gateway::auth::Authenticator;
use views::site::paths;
use views::{PageContext, envelope, message_page};

use crate::config::Config;
use crate::http::body::{self, BodyError};
use crate::http::client_address::client_address;
use crate::http::problem::ApiProblem;
use crate::http::{AppState, pages};

/// The maximum size of a message, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// The maximum size of a form, in which every character of a message may take three bytes.
const MAX_FORM_BYTES: usize = 3 * MAX_MESSAGE_BYTES;

pub fn routes() -> Router<AppState> {
    Router::new()
        .route("/envelope/v1/validate", post(validate))
        .route("/envelope/v1/schema.json", get(schema))
        .route(paths::ENVELOPE, get(show).post(show_message))
}

/// Validates a message. Any JSON gets a verdict, and a verdict is a 200.
async fn validate(
    State(config): State<Arc<Config>>,
    State(authenticator): State<Arc<Authenticator>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let answer = async {
        count_check(&config, &authenticator, &parts)?;
        let rules = rules(parts.uri.query().unwrap_or_default())?;
        let message = body::read(body, MAX_MESSAGE_BYTES).await.map_err(|error| match error {
            BodyError::TooLarge => {
                ApiProblem::new(413, "too-large").detail("the message exceeds 8 MiB")
            }
            other => other.into(),
        })?;
        validate_blocking(message, rules).await?.map_err(|error| not_json(&error))
    };
    match answer.await {
        Ok(report) => axum::Json(report).into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// The schema the server validates against, for clients that validate themselves.
async fn schema() -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/schema+json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
    ];
    (headers, SCHEMA).into_response()
}

async fn show(State(gateway): State<Gateway>) -> Response {
    let frame = PageContext::anonymous(gateway.now());
    pages::html(StatusCode::OK, envelope::page(&frame, &envelope::EnvelopePage::default()))
}

/// `POST /envelope`: shows the message as a person would see it, with the findings in place.
async fn show_message(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(authenticator): State<Arc<Authenticator>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let frame = PageContext::anonymous(gateway.now());
    if check_rate_limit(&config, &authenticator, &parts).is_err() {
        return pages::html(StatusCode::TOO_MANY_REQUESTS, message_page::too_many_attempts(&frame));
    }
    let form = match body::read(body, MAX_FORM_BYTES).await {
        Ok(form) => form,
        Err(BodyError::TooLarge) => {
            let shown = message_page::too_large(&frame, paths::ENVELOPE, MAX_FORM_BYTES as u64);
            return pages::html(StatusCode::PAYLOAD_TOO_LARGE, shown);
        }
        Err(BodyError::BrokenOff | BodyError::TooSlow) => {
            return pages::unreadable(&gateway, false);
        }
    };
    let mut looked = envelope::EnvelopePage::default();
    let mut level = None;
    for (name, value) in url::form_urlencoded::parse(&form) {
        match &*name {
            "message" => looked.message = value.into_owned(),
            "level" => level = ConformanceLevel::named(&value),
            "strict" => looked.rules.strict = true,
            _ => {}
        }
    }
    looked.rules.level = level;
    match validate_blocking(looked.message.clone().into(), looked.rules).await {
        Ok(verdict) => looked.verdict = Some(verdict),
        Err(problem) => return problem.into_response(),
    }
    pages::html(StatusCode::OK, envelope::page(&frame, &looked))
}

/// Validates in a blocking task: a large message takes a while, and other requests must not wait.
async fn validate_blocking(
    message: Bytes,
    rules: ValidationOptions,
) -> Result<Result<ExperienceReport, Unreadable>, ApiProblem> {
    let judging = move || Checker::new(rules, NamespaceRegistry::default()).check(&message);
    tokio::task::spawn_blocking(judging).await.map_err(|error| {
        tracing::error!(%error, "could not check a message");
        ApiProblem::new(500, "internal").detail("internal error; the server's log has the details")
    })
}

/// Counts a message towards the rate limit of its client address. The error says how long to wait.
fn check_rate_limit(
    config: &Config,
    authenticator: &Authenticator,
    parts: &Parts,
) -> Result<(), Duration> {
    let ip = client_address(parts, &config.sign_in.trusted_proxies);
    ip.map_or(Ok(()), |ip| authenticator.login_rate_limit().count_message_check(ip))
}

fn count_check(
    config: &Config,
    authenticator: &Authenticator,
    parts: &Parts,
) -> Result<(), ApiProblem> {
    check_rate_limit(config, authenticator, parts).map_err(|wait| {
        ApiProblem::new(429, "rate-limited")
            .detail("too many messages from this IP address")
            .retry_after(wait.as_secs() + 1)
    })
}

/// `?level=core|standard|full&strict=true|false`; `strict` without a value is true.
fn rules(query: &str) -> Result<ValidationOptions, ApiProblem> {
    let bad = |field: &str, expected: &str| {
        let detail = format!("{field}: expected {expected}");
        ApiProblem::new(422, "invalid-field").detail(detail).field(field, expected)
    };
    let mut rules = ValidationOptions::default();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match (&*name, &*value) {
            ("level", value) => {
                let level = ConformanceLevel::named(value);
                rules.level = Some(level.ok_or_else(|| bad("level", "core, standard or full"))?);
            }
            ("strict", "true" | "1" | "") => rules.strict = true,
            ("strict", "false" | "0") => rules.strict = false,
            ("strict", _) => return Err(bad("strict", "true or false")),
            (other, _) => return Err(bad(other, "the parameters level and strict only")),
        }
    }
    Ok(rules)
}

fn not_json(error: &Unreadable) -> ApiProblem {
    ApiProblem::new(400, "invalid-json").detail(error.to_string())
}
