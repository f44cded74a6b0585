//! Two metrics per request, and a log line for every request that may change something or failed.
//! Reads are logged at `debug`. Each request has an id, which the response returns. Queries, bodies
//! and credentials are never logged.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::Response;
use gateway::ids::random;
use kernel::{AgentId, HumanId, KeyId};
use metrics::{Counter, Histogram};
use tracing::Span;
use tracing::field::display;

/// The sender of a request, for the log. It holds ids only, never a secret.
#[derive(Debug, Clone, Default)]
pub struct RequestCaller {
    /// The id of the credential.
    pub key: Option<KeyId>,
    /// The agent that holds it.
    pub agent: Option<AgentId>,
    /// The person who holds it.
    pub human: Option<HumanId>,
}

/// Facts about a request that handlers note while they answer it.
#[derive(Default)]
struct RequestNotes {
    caller: OnceLock<RequestCaller>,
    unavailable: OnceLock<String>,
}

tokio::task_local! {
    static NOTED: Arc<RequestNotes>;
}

/// Notes the sender of the current request. It does nothing outside a request.
pub fn note_caller(caller: impl FnOnce() -> RequestCaller) {
    let _ = NOTED.try_with(|noted| {
        noted.caller.get_or_init(caller);
    });
}

/// Notes that the current request failed because the database is not available.
pub fn note_unavailable(error: &dyn std::fmt::Display) {
    let inside = NOTED.try_with(|noted| {
        noted.unavailable.get_or_init(|| error.to_string());
    });
    if inside.is_err() {
        tracing::error!(%error, "the database is not available");
    }
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A request while the server answers it.
pub struct ObservedRequest {
    started: Instant,
    id: HeaderValue,
    method: Method,
    route: Option<MatchedPath>,
    noted: Arc<RequestNotes>,
}

impl ObservedRequest {
    /// Gives the request an id, unless the client sent one.
    pub fn begin(request: &Request) -> Self {
        let started = Instant::now();
        let id = request
            .headers()
            .get(REQUEST_ID)
            .filter(|id| id.len() <= 64)
            .filter(|id| id.as_bytes().iter().all(|c| c.is_ascii_alphanumeric() || *c == b'-'))
            .cloned()
            .unwrap_or_else(new_request_id);
        let method = request.method().clone();
        // The route pattern, not the address: ids and tokens stay out of labels and logs.
        let route = request.extensions().get::<MatchedPath>().cloned();
        Self { started, id, method, route, noted: Arc::default() }
    }

    /// Answers the request. Notes made meanwhile belong to this request.
    pub fn observe<F: Future>(&self, answer: F) -> impl Future<Output = F::Output> {
        NOTED.scope(Arc::clone(&self.noted), answer)
    }

    /// Why the store was not available; `None` if it was.
    pub fn unavailable(&self) -> Option<&str> {
        self.noted.unavailable.get().map(String::as_str)
    }

    /// The span of log lines about the request.
    pub fn span(&self) -> Span {
        tracing::info_span!("request", request.id = self.id_text())
    }

    /// Counts and logs the response.
    pub fn end(self, mut response: Response) -> Response {
        let route = self.route.as_ref().map_or("unmatched", MatchedPath::as_str);
        let (shown, method) = (self.id_text(), &self.method);
        let status = response.status().as_u16();
        let duration = self.started.elapsed();
        count(method_label(method), route, status, duration.as_secs_f64());
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let caller = self.noted.caller.get();
        let key = caller.and_then(|caller| caller.key.as_ref()).map(display);
        let agent = caller.and_then(|caller| caller.agent.as_ref()).map(display);
        let human = caller.and_then(|caller| caller.human.as_ref()).map(display);
        // The id is a field of its own, because a line outside the span is written in half the
        // time.
        macro_rules! log {
            ($level:ident, $what:literal) => {
                tracing::$level!(
                    request.id = shown,
                    %method,
                    route,
                    status,
                    duration_ms,
                    key.id = key,
                    agent.id = agent,
                    human.id = human,
                    $what
                )
            };
        }
        if status >= 500 {
            log!(error, "request failed");
        } else if !method.is_safe() {
            log!(info, "request served");
        } else {
            log!(debug, "request served");
        }
        response.headers_mut().insert(REQUEST_ID, self.id);
        response
    }

    fn id_text(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }
}

fn new_request_id() -> HeaderValue {
    let mut text = [0; 16];
    // Eight bytes become sixteen digits.
    let _ = hex::encode_to_slice(random::<8>(), &mut text);
    HeaderValue::from_bytes(&text).unwrap_or(HeaderValue::from_static("unknown"))
}

/// The method as a label. Clients can send any method, so only known ones become labels.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// The metrics of a route, kept because looking them up by labels costs more than counting. Their
/// number is bounded by the routes, methods and statuses.
#[derive(Default)]
struct RouteMetrics {
    requests: HashMap<(&'static str, u16), Counter>,
    seconds: Option<Histogram>,
}

static SERIES: LazyLock<RwLock<HashMap<String, RouteMetrics>>> = LazyLock::new(RwLock::default);

fn count(method: &'static str, route: &str, status: u16, seconds: f64) {
    let known = SERIES.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(series) = known.get(route)
        && let Some(requests) = series.requests.get(&(method, status))
        && let Some(histogram) = &series.seconds
    {
        requests.increment(1);
        histogram.record(seconds);
        return;
    }
    drop(known);
    let mut known = SERIES.write().unwrap_or_else(PoisonError::into_inner);
    let series = known.entry(route.to_owned()).or_default();
    let requests = series.requests.entry((method, status)).or_insert_with(|| {
        let (route, status) = (route.to_owned(), status.to_string());
        metrics::counter!(
            "countersign_http_requests_total",
            "method" => method, "route" => route, "status" => status,
        )
    });
    requests.increment(1);
    let histogram = series.seconds.get_or_insert_with(
        || metrics::histogram!("countersign_http_request_seconds", "route" => route.to_owned()),
    );
    histogram.record(seconds);
}
