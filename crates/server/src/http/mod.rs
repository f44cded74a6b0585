//! The HTTP interface. Status codes appear here and nowhere else.

pub mod a2h;
pub mod api;
pub mod body;
pub mod callers;
pub(crate) mod channel_webhooks;
pub mod client_address;
pub mod conditional_headers;
pub mod cors;
pub mod dialect_error;
pub mod docs;
pub mod envelope_checker;
pub mod envelope_headers;
pub mod hacp;
pub mod health;
pub mod hitl;
pub mod hxp_execution;
pub mod pages;
pub mod path_param;
pub mod posted_form;
pub mod problem;
pub mod request_log;
pub mod services;
pub mod sse;
pub mod stream_credential;
pub mod unread_body;
pub mod uploads;
pub mod well_known;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::Either;
use gateway::auth::Denied;
use gateway::{DATABASE_USER, Gateway};
use tower::{Layer, Service, ServiceExt};
use tower_http::cors::CorsLayer;
use tracing::Instrument;
use views::locale;

use crate::config::Config;
use crate::http::problem::ApiProblem;
use crate::http::request_log::ObservedRequest;
use crate::http::unread_body::DrainLimits;

pub use self::services::AppState;

pub fn router(app: AppState) -> Router {
    let local = app.core.config.listen.iter().all(|address| address.ip().is_loopback());
    let surroundings = Arc::new(RequestLayer::new(&app, local));
    let with_metrics = app.core.config.operations_listen.is_empty();
    Router::new()
        .merge(hxp_execution::routes())
        .merge(hitl::routes())
        .merge(a2h::routes())
        .merge(hacp::routes())
        .merge(channel_webhooks::routes())
        .merge(api::routes())
        .merge(pages::routes())
        .merge(docs::routes())
        .merge(envelope_checker::routes())
        .merge(health::routes(with_metrics))
        .merge(well_known::routes())
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::from_fn_with_state(surroundings, request_layer))
        .with_state(app)
}

/// The routes of the operations address: health, readiness and metrics.
pub fn operations_router(app: AppState, local: bool) -> Router {
    let surroundings = Arc::new(RequestLayer::new(&app, local));
    health::operations()
        .fallback(no_operation)
        .layer(middleware::from_fn_with_state(surroundings, request_layer))
        .with_state(app)
}

async fn no_operation() -> ApiProblem {
    ApiProblem::new(404, "not-found")
        .detail("this address serves only /healthz, /readyz and /metrics")
}

/// The response to connections beyond the limits, for every path.
pub fn refusal_router() -> Router {
    Router::new().fallback(too_many_connections)
}

/// 503 in the caller's dialect, with the hint to try again in five seconds.
async fn too_many_connections(uri: Uri) -> Response {
    let busy = Denied::Unavailable;
    match ErrorFormat::for_path(uri.path()) {
        ErrorFormat::Hxp => hxp_execution::error::HxpError::from(busy).into_response(),
        ErrorFormat::Hitl => hitl::HitlError::from(busy).into_response(),
        ErrorFormat::A2h => a2h::A2hError::from(busy).into_response(),
        ErrorFormat::Hacp => hacp::HacpFailure::from(busy).into_response(),
        ErrorFormat::Native | ErrorFormat::Person => ApiProblem::new(503, "unavailable")
            .detail("the server has reached its connection limit; try again in a few seconds")
            .retry_after(5)
            .into_response(),
    }
}

/// A service that removes slashes at the end of the paths of its requests.
#[derive(Clone)]
pub struct WithoutTrailingSlashes<S>(pub S);

impl<S, B> Service<axum::http::Request<B>> for WithoutTrailingSlashes<S>
where
    S: Service<axum::http::Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: axum::http::Request<B>) -> S::Future {
        self.0.call(without_trailing_slashes(request))
    }
}

/// The same request without slashes at the end of its path: `/api/v1/asks/` is `/api/v1/asks`. This
/// runs before routing, so it applies to every method. The server does not redirect, because
/// clients turn a redirected `POST` into a `GET`. No route ends in a slash or in free text, and a
/// slash inside a name is written `%2F`.
fn without_trailing_slashes<B>(mut request: axum::http::Request<B>) -> axum::http::Request<B> {
    let path = request.uri().path();
    let bare = path.trim_end_matches('/');
    if bare.len() == path.len() || path == "/" {
        return request;
    }
    let bare = if bare.is_empty() { "/" } else { bare };
    let whole = match request.uri().query() {
        Some(query) => format!("{bare}?{query}"),
        None => bare.to_owned(),
    };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = whole.parse().ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
    request
}

/// The error format a caller expects, by the path of its request.
enum ErrorFormat {
    Hxp,
    Hitl,
    A2h,
    Hacp,
    Native,
    Person,
}

impl ErrorFormat {
    fn for_path(path: &str) -> Self {
        if path == "/hxp" || path.starts_with("/hxp/") {
            Self::Hxp
        } else if path.starts_with("/hitl/") || path == "/.well-known/hitl.json" {
            Self::Hitl
        } else if a2h::is_a2h_path(path) {
            Self::A2h
        } else if path.starts_with("/hacp/") {
            Self::Hacp
        } else if ["/api/", "/channels/", "/envelope/"].iter().any(|of| path.starts_with(of)) {
            Self::Native
        } else {
            Self::Person
        }
    }
}

async fn not_found(
    State(app): State<AppState>,
    State(gateway): State<Gateway>,
    request: Request,
) -> Response {
    let request = match a2h::retry_without_repeated_slashes(&app, request).await {
        Ok(answer) => return answer,
        Err(request) => request,
    };
    match ErrorFormat::for_path(request.uri().path()) {
        ErrorFormat::Hxp => hxp_execution::no_route(),
        ErrorFormat::Hitl => hitl::no_route(),
        ErrorFormat::A2h => a2h::no_route(),
        ErrorFormat::Hacp => hacp::no_route(),
        ErrorFormat::Native => ApiProblem::new(404, "not-found")
            .detail("unknown path; check the URL, or see /docs")
            .into_response(),
        ErrorFormat::Person => pages::no_such_page(&gateway),
    }
}

async fn method_not_allowed(State(gateway): State<Gateway>, request: Request) -> Response {
    match ErrorFormat::for_path(request.uri().path()) {
        ErrorFormat::Hxp => hxp_execution::wrong_method(),
        ErrorFormat::Hitl => hitl::wrong_method(),
        ErrorFormat::A2h => a2h::wrong_method(),
        ErrorFormat::Hacp => hacp::wrong_method(),
        ErrorFormat::Native => ApiProblem::new(405, "method-not-allowed")
            .detail("this path does not support this method")
            .into_response(),
        ErrorFormat::Person => pages::wrong_method(&gateway),
    }
}

/// The state of the layer around every handler.
struct RequestLayer {
    gateway: Gateway,
    config: Arc<Config>,
    cors: CorsLayer,
    /// Whether the server listens on loopback only.
    local: bool,
}

impl RequestLayer {
    fn new(app: &AppState, local: bool) -> Self {
        let config = Arc::clone(&app.core.config);
        Self { gateway: app.core.gateway.clone(), cors: cors::layer(&config), config, local }
    }
}

/// The layer around every handler. There is one layer, because each costs every request a copy of
/// the router's service and a future of its own. That future has space for the request at each
/// place that passes it on, for as long as the request runs; so one place passes it on.
async fn request_layer(
    State(surroundings): State<Arc<RequestLayer>>,
    request: Request,
    next: Next,
) -> Response {
    let RequestLayer { gateway, config, cors, local } = &*surroundings;
    let observed = ObservedRequest::begin(&request);
    let (request, unread) = unread_body::watch(request);
    let (body_limit, upload_limit) = (config.body_limit, config.upload_limit);
    let bounds =
        DrainLimits { connection: body_limit, stream: upload_limit.saturating_add(body_limit) };
    if *local && !is_known_host(config, &request) {
        drop(request);
        let refused = ApiProblem::new(421, "wrong-host").detail(
            "the Host header is not a host name of this server; set public_url to the URL that \
             clients use",
        );
        let mut answer = refused.into_response();
        unread.drain_or_close(&mut answer, bounds).await;
        return observed.end(answer);
    }
    let speaks = ErrorFormat::for_path(request.uri().path());
    // A page is in the language of its reader. Protocols and the API are in English.
    let reader = matches!(speaks, ErrorFormat::Person).then(|| pages::browser_reader(&request));
    let foreign = cors::needs_cors(&request);
    let answer = if foreign {
        let answer = cors.layer(next).oneshot(request);
        Either::Left(answer.map(|Ok(answer)| answer).boxed())
    } else if let Some(reader) = reader.clone() {
        Either::Left(locale::scope(reader, next.run(request)).boxed())
    } else {
        Either::Right(next.run(request))
    };
    let span = observed.span();
    let answer =
        AssertUnwindSafe(observed.observe(answer)).catch_unwind().instrument(span.clone()).await;
    let said = || in_dialect(gateway, &speaks, answer.unwrap_or_else(panicked));
    let mut answer = span.in_scope(|| locale::with(reader.unwrap_or_default(), said));
    if let Some(error) = observed.unavailable() {
        gateway.database().failed(DATABASE_USER, error);
    }
    unread.drain_or_close(&mut answer, bounds).await;
    if !foreign {
        // Caches must know that the response depends on the origin, even if the first request had
        // none.
        answer.headers_mut().append(header::VARY, HeaderValue::from_static("origin"));
    }
    observed.end(answer)
}

/// Replaces a plain-text error of a library, or of a panic, by one in the caller's dialect. Keeps
/// responses that only one caller may see out of caches.
fn in_dialect(gateway: &Gateway, speaks: &ErrorFormat, mut answer: Response) -> Response {
    let plain = answer
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    let status = answer.status();
    if plain && (status.is_client_error() || status.is_server_error()) {
        answer = match (speaks, status.is_server_error()) {
            (ErrorFormat::Hxp, broken) => hxp_execution::unreadable(broken),
            (ErrorFormat::Hitl, broken) => hitl::unreadable(broken),
            (ErrorFormat::A2h, broken) => a2h::unreadable(broken),
            (ErrorFormat::Hacp, broken) => hacp::unreadable(broken),
            (ErrorFormat::Native, false) => ApiProblem::new(400, "invalid-field")
                .detail("the path or the query is not valid UTF-8 or not percent-encoded correctly")
                .into_response(),
            (ErrorFormat::Native, true) => ApiProblem::new(500, "internal")
                .detail("internal error; the server's log has the details")
                .into_response(),
            (ErrorFormat::Person, broken) => pages::unreadable(gateway, broken),
        };
    }
    if !matches!(speaks, ErrorFormat::Person) {
        let keep = HeaderValue::from_static("no-store");
        answer.headers_mut().entry(header::CACHE_CONTROL).or_insert(keep);
    }
    answer
}

/// On loopback, a host name that is not this server's means that a web page pretends to be on this
/// machine (DNS rebinding). HTTP/2 and absolute URLs name the host in the URI, HTTP/1 in `Host`:
/// every name that is given must be this server's.
fn is_known_host(config: &Config, request: &Request) -> bool {
    let ours =
        |host: &str| hxp_execution::is_loopback(host) || host == config.public_url.authority();
    let authority = request.uri().authority();
    let mut hosts = request.headers().get_all(header::HOST).iter();
    authority.is_none_or(|authority| ours(authority.as_str()))
        && hosts.all(|host| host.to_str().is_ok_and(ours))
}

#[expect(clippy::needless_pass_by_value, reason = "a caught panic is passed on")]
fn panicked(what: Box<dyn std::any::Any + Send>) -> Response {
    let what = what
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| what.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    tracing::error!(panic = what, "a request handler panicked");
    (StatusCode::INTERNAL_SERVER_ERROR, "panicked").into_response()
}
