//! The pages people answer on: `/`, `/history`, `/insights`, `/asks/{id}`, `/tasks`, `/ledger`,
//! `/sign-in`, `/settings/…`, and `/review/{id}` for the holder of a review link.
//!
//! A person is identified by a session cookie, which the server issues in exchange for a one-time
//! link. No GET decides anything. Every POST carries a token bound to the session, or the token of
//! the review link.

mod bot_detection;
mod cli_login;
mod conversation;
mod cookies;
mod form_files;
mod history;
mod inbox;
mod insights;
mod ledger;
mod live;
mod push_notification;
mod request;
mod review;
mod sealed_values;
mod settings;
mod sign_in;
mod tasks;
mod undo;
mod visitor;
mod web_app;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use gateway::Gateway;
use gateway::oidc::IdentityProvider;
use gateway::passkeys::Passkeys;
use notify::Notifier;
use store::StoreError;
use tower_http::compression::CompressionLayer;
use views::locale::{Language, ReaderLocale};
use views::site::{assets, headers, paths};
use views::{PageContext, message_page, t};

use self::visitor::Visitor;
use crate::http::body::BodyError;
use crate::http::posted_form::FormReadError;
use crate::http::services::{CoreServices, StorageServices};
use crate::http::{AppState, request_log};

pub(crate) use self::cli_login::installation_proof;
pub(in crate::http) use self::cookies::Cookies;
pub(in crate::http) use self::request::RequestPages;
pub(in crate::http) use self::review::ReviewPages;
pub(in crate::http) use self::sealed_values::SealedValues;
pub(in crate::http) use self::sign_in::SignInPages;
pub(in crate::http) use self::sign_in::passkeys::PasskeyPages;
pub(in crate::http) use self::tasks::TaskPages;
pub(in crate::http) use self::visitor::Visitors;

/// The routes of all pages.
pub fn routes() -> Router<AppState> {
    Router::new()
        .route("/history", get(history::show))
        .route("/history/export", get(history::export))
        .route(paths::INSIGHTS, get(insights::show))
        .route("/icon/{file}", get(icon))
        .route(paths::WRITE, get(conversation::show).post(conversation::send))
        .route("/ledger", get(ledger::list))
        .route("/ledger/{scope}", get(ledger::show))
        .route(paths::MANIFEST, get(web_app::manifest))
        .route(paths::WORKER, get(web_app::worker))
        .route(paths::OFFLINE, get(web_app::offline))
        .route(paths::UNSENT, get(web_app::unsent))
        .route(paths::PUSH_ANSWER, post(push_notification::answer))
        // Pages are not compressed: an attacker whose text is on a page could guess its token from
        // the compressed size (BREACH).
        .route("/assets/{file}", get(asset).layer(CompressionLayer::new()))
        .merge(inbox::routes())
        .merge(request::routes())
        .merge(review::routes())
        .merge(tasks::routes())
        .merge(sign_in::routes())
        .merge(cli_login::routes())
        .merge(settings::routes())
}

/// A page that is shown in place of the requested one, such as an error page.
struct PageError(Box<Response>);

type PageResult = Result<Response, PageError>;

async fn asset(State(gateway): State<Gateway>, Path(file): Path<String>) -> Response {
    match assets::asset(&file) {
        Some(asset) => {
            let headers = [
                (header::CONTENT_TYPE, asset.content_type),
                (header::CACHE_CONTROL, headers::CACHE_ASSET),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            (headers, asset.bytes).into_response()
        }
        None => html(
            StatusCode::NOT_FOUND,
            message_page::not_found(&PageContext::anonymous(gateway.now())),
        ),
    }
}

/// The favicon with the number of open requests in it.
async fn icon(State(gateway): State<Gateway>, Path(file): Path<String>) -> Response {
    let count = file.strip_suffix(".svg").and_then(|count| count.parse().ok());
    let Some(count) = count.filter(|count| (1..=100).contains(count)) else {
        return no_such_page(&gateway);
    };
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CACHE_CONTROL, headers::CACHE_ASSET),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, assets::counted_icon(count)).into_response()
}

/// The page for an unknown address.
pub fn no_such_page(gateway: &Gateway) -> Response {
    let frame = PageContext::anonymous(gateway.now());
    html(StatusCode::NOT_FOUND, message_page::not_found(&frame))
}

/// The page for a request that a library could not parse, or for a panic.
pub fn unreadable(gateway: &Gateway, broken: bool) -> Response {
    let frame = PageContext::anonymous(gateway.now());
    if broken {
        let shown = message_page::server_error(&frame, &t!("page-see-log"));
        return html(StatusCode::INTERNAL_SERVER_ERROR, shown);
    }
    html(StatusCode::BAD_REQUEST, message_page::not_found(&frame))
}

/// The page for an address that does not accept this method.
pub fn wrong_method(gateway: &Gateway) -> Response {
    let frame = PageContext::anonymous(gateway.now());
    html(StatusCode::METHOD_NOT_ALLOWED, message_page::not_found(&frame))
}

/// The reader of a page, as far as the browser says: its preferred language.
pub fn browser_reader(request: &Request) -> ReaderLocale {
    let accepted = request.headers().get_all(header::ACCEPT_LANGUAGE).iter();
    let mut accepted = accepted.filter_map(|value| Language::negotiate(value.to_str().ok()?));
    ReaderLocale { language: accepted.next().unwrap_or_default(), time_zone: None }
}

fn parts(request: Request) -> (HeaderMap, Body) {
    let (parts, body) = request.into_parts();
    (parts.headers, body)
}

/// A page with its headers.
pub fn html(status: StatusCode, page: String) -> Response {
    let mut answer = (status, page).into_response();
    for (name, value) in headers::PAGE {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn page(status: StatusCode, shown: String) -> PageError {
    PageError(Box::new(html(status, shown)))
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        *self.0
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        let now = kernel::Time::from_millis(0);
        let frame = PageContext::anonymous(now);
        match error {
            StoreError::Unavailable(source) => {
                request_log::note_unavailable(&source);
                page(StatusCode::SERVICE_UNAVAILABLE, message_page::unavailable(&frame))
            }
            StoreError::Refused(refusal) => {
                tracing::warn!(%refusal, "a page was refused");
                page(StatusCode::FORBIDDEN, message_page::forbidden(&frame))
            }
            StoreError::Damaged { what, source } => {
                tracing::error!(error = %source, what, "stored data cannot be read");
                page(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    message_page::server_error(&frame, &t!("page-unreadable-data")),
                )
            }
        }
    }
}

impl From<FormReadError> for PageError {
    fn from(error: FormReadError) -> Self {
        let frame = PageContext::anonymous(kernel::Time::from_millis(0));
        let status = match error {
            FormReadError::Body(BodyError::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
            FormReadError::Body(BodyError::TooSlow) => StatusCode::REQUEST_TIMEOUT,
            FormReadError::Body(BodyError::BrokenOff) | FormReadError::Stale => {
                StatusCode::BAD_REQUEST
            }
        };
        page(status, message_page::stale_page(&frame, paths::INBOX))
    }
}

// The services of the pages, and how they are built.

/// The services of the pages.
pub(in crate::http) struct PageServices {
    pub(in crate::http) cookies: Arc<Cookies>,
    pub(in crate::http) sealed_values: Arc<SealedValues>,
    pub(in crate::http) passkeys: Arc<PasskeyPages>,
    pub(in crate::http) sign_in: Arc<SignInPages>,
    pub(in crate::http) visitors: Arc<Visitors>,
    pub(in crate::http) requests: Arc<RequestPages>,
    pub(in crate::http) reviews: Arc<ReviewPages>,
    pub(in crate::http) tasks: Arc<TaskPages>,
}

impl PageServices {
    pub(in crate::http) fn new(
        core: &CoreServices,
        storage: &StorageServices,
        notifier: &Notifier,
        oidc: Option<IdentityProvider>,
        passkeys: Result<Passkeys, &'static str>,
    ) -> Self {
        let cookies =
            Arc::new(Cookies { gateway: core.gateway.clone(), config: Arc::clone(&core.config) });
        let sealed_values = Arc::new(SealedValues {
            gateway: core.gateway.clone(),
            secrets: Arc::clone(&core.secrets),
        });
        let passkeys = Arc::new(PasskeyPages {
            gateway: core.gateway.clone(),
            authenticator: Arc::clone(&core.authenticator),
            passkeys,
            sealed_values: Arc::clone(&sealed_values),
        });
        let sign_in = Arc::new(SignInPages {
            gateway: core.gateway.clone(),
            config: Arc::clone(&core.config),
            secrets: Arc::clone(&core.secrets),
            authenticator: Arc::clone(&core.authenticator),
            channels: Arc::clone(&notifier.channels),
            provider: oidc,
            cookies: Arc::clone(&cookies),
            sealed_values: Arc::clone(&sealed_values),
            passkey_pages: Arc::clone(&passkeys),
        });
        let visitors = Arc::new(Visitors {
            gateway: core.gateway.clone(),
            config: Arc::clone(&core.config),
            secrets: Arc::clone(&core.secrets),
            authenticator: Arc::clone(&core.authenticator),
            sessions: core.sessions.clone(),
            cookies: Arc::clone(&cookies),
            sign_in: Arc::clone(&sign_in),
        });
        let requests = Arc::new(RequestPages {
            gateway: core.gateway.clone(),
            receipts: core.receipts.clone(),
            sealed_values: Arc::clone(&sealed_values),
            visitors: Arc::clone(&visitors),
        });
        let reviews = Arc::new(ReviewPages {
            gateway: core.gateway.clone(),
            config: Arc::clone(&core.config),
            secrets: Arc::clone(&core.secrets),
            providers: Arc::clone(&core.providers),
            sealed_values: Arc::clone(&sealed_values),
        });
        let tasks = Arc::new(TaskPages {
            gateway: core.gateway.clone(),
            blobs: storage.blobs.clone(),
            visitors: Arc::clone(&visitors),
        });
        Self { cookies, sealed_values, passkeys, sign_in, visitors, requests, reviews, tasks }
    }
}
