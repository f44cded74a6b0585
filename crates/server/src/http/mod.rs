//! Everything that is spoken over HTTP. Status codes appear here and nowhere else.

pub mod api;
pub mod body;
pub mod cors;
pub mod health;
pub mod hxp_execution;
pub mod hxp_socket;
pub mod observe;
pub mod pages;
pub mod problem;
pub mod submitted;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_http::catch_panic::CatchPanicLayer;

use crate::auth::Door;
use crate::config::Config;
use crate::files::Files;
use crate::gateway::Gateway;
use crate::secrets::Secrets;

/// What every handler shares.
pub struct App {
    /// The door to the kernel.
    pub gateway: Gateway,
    /// The settings.
    pub config: Config,
    /// The server's own keys.
    pub secrets: Secrets,
    /// Who may come in.
    pub door: Arc<Door>,
    /// Uploads.
    pub files: Files,
    /// What `/metrics` shows.
    pub metrics: PrometheusHandle,
    /// Ends long connections when the server stops.
    pub stop: CancellationToken,
    /// Whoever must have ended before the process does.
    pub tasks: TaskTracker,
}

/// Shared by handlers.
pub type Shared = Arc<App>;

/// Every route.
pub fn router(app: Shared) -> Router {
    Router::new()
        .merge(hxp_execution::routes())
        .merge(hxp_socket::routes())
        .merge(api::routes())
        .merge(pages::routes())
        .merge(health::routes())
        .fallback(nowhere)
        .method_not_allowed_fallback(not_that_way)
        .layer(cors::layer(&app.config))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(observe::observe))
        // Bodies are bounded where they are read, so that each dialect can say so in its own words.
        .layer(DefaultBodyLimit::disable())
        .with_state(app)
}

/// Which error shape a caller expects, by the address they used.
enum Speaks {
    Hxp,
    Native,
    Person,
}

impl Speaks {
    fn at(path: &str) -> Self {
        if path == "/hxp" || path.starts_with("/hxp/") {
            Self::Hxp
        } else if path.starts_with("/api/") {
            Self::Native
        } else {
            Self::Person
        }
    }
}

async fn nowhere(State(app): State<Shared>, request: Request) -> Response {
    match Speaks::at(request.uri().path()) {
        Speaks::Hxp => hxp_execution::no_route(),
        Speaks::Native => problem::Problem::new(404, "not-found")
            .detail("there is nothing at this address")
            .into_response(),
        Speaks::Person => pages::no_such_page(&app),
    }
}

async fn not_that_way(request: Request) -> Response {
    match Speaks::at(request.uri().path()) {
        Speaks::Hxp => hxp_execution::wrong_method(),
        Speaks::Native | Speaks::Person => problem::Problem::new(405, "method-not-allowed")
            .detail("this address does not take this method")
            .into_response(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the layer hands it over")]
fn panicked(what: Box<dyn std::any::Any + Send>) -> Response {
    let what = what
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| what.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    tracing::error!(panic = what, "a handler panicked");
    let mut answer = problem::Problem::new(500, "internal")
        .detail("something went wrong here; the log knows more")
        .into_response();
    answer
        .headers_mut()
        .insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    answer
}
