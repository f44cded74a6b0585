//! The pages people answer on: `/`, `/history`, `/insights`, `/asks/{id}`, `/tasks`, `/ledger`, `/sign-in`,
//! `/settings/…`, and `/review/{id}` for whoever holds a link.
//!
//! A person is known by a session cookie that a one-time link was exchanged for. No GET decides
//! anything; every POST carries a token bound to the session, or the link's own.

mod cookies;
mod files;
mod history;
mod inbox;
mod inbox_act;
mod inbox_bulk;
mod inbox_list;
mod inbox_live;
mod insights;
mod ledger;
mod live;
mod machine;
mod oidc;
mod passkeys;
mod push;
mod request;
mod request_acts;
mod request_around;
mod review;
mod review_act;
mod review_draft;
mod review_proof;
mod review_watch;
mod sealed;
mod second_step;
mod sessions;
mod settings;
mod sign_in;
mod task;
mod task_acts;
mod tasks;
mod tasks_live;
mod undo;
mod web_app;
mod write;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use gateway::Gateway;
use gateway::auth::Denied;
use kernel::directory::Human;
use kernel::{Actor, Ask, AskId, DirectoryCommand, KeyId};
use store::StoreError;
use subtle::ConstantTimeEq;
use tower_http::compression::CompressionLayer;

use self::cookies::Cookie;
use crate::http::body::BodyError;
use crate::http::observe::{Caller, note_caller};
use crate::http::submitted::{Posted, Proof, Unread};
use crate::http::{App, Shared, observe, submitted};
use views::message_page;
use views::site::{assets, headers, paths};
use views::{Frame, Submitted};

/// Its routes.
pub fn routes() -> Router<Shared> {
    Router::new()
        .route(paths::INBOX, get(inbox::show))
        .route("/inbox/live", get(inbox_live::follow))
        .route("/inbox/answer", get(inbox::back).post(inbox_act::answer))
        .route(paths::INBOX_UNDO, get(inbox::back).post(undo::from_list))
        .route(paths::INBOX_SENT, get(undo::sent))
        .route("/inbox/aside", get(inbox_act::show_aside))
        .route("/inbox/snooze", get(inbox::back).post(inbox_act::snooze))
        .route("/inbox/wake", get(inbox::back).post(inbox_act::wake))
        .route("/inbox/hand", get(inbox::back).post(inbox_act::hand))
        .route("/inbox/bulk", get(inbox_bulk::show).post(inbox_bulk::confirm))
        .route("/inbox/bulk/answer", get(inbox::back).post(inbox_bulk::answer))
        .route("/history", get(history::show))
        .route("/history/export", get(history::export))
        .route(paths::INSIGHTS, get(insights::show))
        .route("/icon/{file}", get(icon))
        .route(paths::WRITE, get(write::show).post(write::send))
        .route("/asks/{id}", get(request::show_request))
        .route("/asks/{id}/answer", get(request::back_to_request).post(request::answer))
        .route("/asks/{id}/undo", get(request::back_to_request).post(undo::one))
        .route("/asks/{id}/confirm", get(request::back_to_request).post(passkeys::confirm))
        .route("/asks/{id}/claim", get(request::back_to_request).post(request::claim))
        .route("/asks/{id}/assign", get(request::back_to_request).post(request::assign))
        .route("/asks/{id}/comment", get(request::back_to_request).post(request_acts::comment))
        .route("/asks/{id}/pick", get(request::back_to_request).post(request_acts::pick))
        .route("/asks/{id}/extend", get(request::back_to_request).post(request_acts::extend))
        .route("/asks/{id}/snooze", get(request::back_to_request).post(request_acts::snooze))
        .route("/asks/{id}/looking", get(request::back_to_request).post(request_acts::looking))
        .route("/asks/{id}/end", get(request_acts::watch))
        .route("/asks/{id}/receipt", get(request_acts::receipt))
        .route("/asks/{id}/files/{digest}", get(request_acts::file))
        .route("/tasks", get(tasks::board).post(tasks::create))
        .route("/tasks/new", get(tasks::show_new))
        .route("/tasks/live", get(tasks_live::follow))
        .route("/tasks/{id}", get(task::show))
        .route("/tasks/{id}/live", get(task::live))
        .route("/tasks/{id}/version", get(task::version))
        .route("/tasks/{id}/assign", get(task::back).post(task_acts::assign))
        .route("/tasks/{id}/cancel", get(task::back).post(task_acts::cancel))
        .route("/tasks/{id}/interrupt", get(task::back).post(task_acts::interrupt))
        .route("/tasks/{id}/amend", get(task::back).post(task_acts::amend))
        .route("/tasks/{id}/grant", get(task::back).post(task_acts::grant))
        .route("/tasks/{id}/transfer", get(task::back).post(task_acts::transfer))
        .route("/tasks/{id}/review", get(task::back).post(task_acts::review))
        .route("/tasks/{id}/remark", get(task::back).post(task_acts::remark))
        .route("/ledger", get(ledger::list))
        .route("/ledger/{scope}", get(ledger::show))
        .route("/review/{id}", get(review::show_review).post(review::post_review))
        .route("/review/{id}/end", get(review_watch::watch))
        .route(
            "/review/{id}/proof",
            get(review_proof::back_to_review).post(review_proof::come_back),
        )
        .route(paths::MANIFEST, get(web_app::manifest))
        .route(paths::WORKER, get(web_app::worker))
        .route(paths::OFFLINE, get(web_app::offline))
        .route(paths::UNSENT, get(web_app::unsent))
        .route(paths::PUSH_ANSWER, post(push::answer))
        .route(paths::SIGN_IN, get(sign_in::show_sign_in).post(sign_in::sign_in))
        .route(paths::SIGN_IN_MAIL, post(sign_in::mail_link))
        .route(paths::SIGN_IN_PASSKEY, post(passkeys::sign_in))
        .route(paths::SIGN_IN_OIDC, get(oidc::leave))
        .route(paths::OIDC_BACK, get(oidc::come_back))
        .route(paths::SIGN_OUT_OIDC, get(oidc::sign_out))
        .route(paths::SIGN_OUT, post(sign_in::sign_out))
        .route(paths::TOKENS, get(sign_in::show_tokens).post(sign_in::make_token))
        .route(paths::SESSIONS, get(sessions::show_sessions).post(sessions::end_sessions))
        .route(paths::PASSKEYS, get(passkeys::show_passkeys).post(passkeys::change_passkeys))
        // Pages are not compressed: beside a token, what others wrote could be used to guess it.
        .route("/assets/{file}", get(asset).layer(CompressionLayer::new()))
        .merge(settings::routes())
}

/// Somebody who is signed in, and the visit they are on.
struct Visitor {
    actor: Actor,
    human: Human,
    session: KeyId,
    frame: Frame,
}

/// A page instead of what was wanted.
struct Instead(Box<Response>);

type Page = Result<Response, Instead>;

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
        None => {
            html(StatusCode::NOT_FOUND, message_page::not_found(&Frame::anonymous(gateway.now())))
        }
    }
}

/// The icon with a count in it: the tab of the browser says how many wait.
async fn icon(State(app): State<Shared>, Path(file): Path<String>) -> Response {
    let count = file.strip_suffix(".svg").and_then(|count| count.parse().ok());
    let Some(count) = count.filter(|count| (1..=100).contains(count)) else {
        return no_such_page(&app);
    };
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CACHE_CONTROL, headers::CACHE_ASSET),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, assets::counted_icon(count)).into_response()
}

/// The page for an address that leads nowhere.
pub fn no_such_page(app: &App) -> Response {
    let frame = Frame::anonymous(app.gateway.now());
    html(StatusCode::NOT_FOUND, message_page::not_found(&frame))
}

/// The page for what a library could not read, or for a panic.
pub fn unreadable(app: &App, broken: bool) -> Response {
    let frame = Frame::anonymous(app.gateway.now());
    if broken {
        let shown = message_page::server_error(&frame, "the log knows more");
        return html(StatusCode::INTERNAL_SERVER_ERROR, shown);
    }
    html(StatusCode::BAD_REQUEST, message_page::not_found(&frame))
}

/// The page for an address that takes forms, not visits.
pub fn wrong_method(app: &App) -> Response {
    let frame = Frame::anonymous(app.gateway.now());
    html(StatusCode::METHOD_NOT_ALLOWED, message_page::not_found(&frame))
}

impl App {
    /// Whoever is signed in; everybody else is shown how to.
    async fn visitor(&self, headers: &HeaderMap) -> Result<Visitor, Instead> {
        let now = self.gateway.now();
        let directory = self.gateway.directory();
        let anonymous =
            || Instead(Box::new(self.sign_in_page(headers, StatusCode::UNAUTHORIZED, None)));
        let secret = self.cookie(headers, Cookie::Session).ok_or_else(anonymous)?;
        let browser = self.cookie(headers, Cookie::Browser).ok_or_else(anonymous)?;
        let known = self.authenticator.session(&directory, secret, browser, now);
        let (actor, key) = known.map_err(|_| anonymous())?;
        let Actor::Human { id, .. } = &actor else { return Err(anonymous()) };
        note_caller(|| Caller { key: Some(key.id), human: Some(id.clone()), ..Caller::default() });
        if self.sessions.is_idle(self.sessions.last_used(key).await?, now) {
            self.gateway.run(Actor::System, DirectoryCommand::RevokeKey(key.id)).await?;
            return Err(anonymous());
        }
        if let Err(denied) = self.authenticator.admit(key.id, now) {
            // Still signed in, but in too much of a hurry.
            let wait = if let Denied::TooFast(wait) = denied { wait.as_secs() } else { 0 };
            let busy = message_page::unavailable(&Frame::anonymous(now));
            let after = [(header::RETRY_AFTER, wait.max(1).to_string())];
            let busy = (after, html(StatusCode::TOO_MANY_REQUESTS, busy)).into_response();
            return Err(Instead(Box::new(busy)));
        }
        let human = directory.human(id).ok_or_else(anonymous)?.clone();
        let waiting = self.gateway.waiting(&human).await?.n;
        let frame = Frame {
            now,
            person: Some(views::components::words::person(&directory, &human.id)),
            csrf: self.secrets.csrf(secret),
            waiting: Some(waiting),
            nonce: None,
        };
        Ok(Visitor { actor, human, session: key.id, frame })
    }

    /// A request the visitor may see: one they may answer, and for an administrator any. To everybody
    /// else it does not exist.
    async fn seen_by(&self, visitor: &Visitor, id: &str) -> Result<Arc<Ask>, Instead> {
        let missing = || page(StatusCode::NOT_FOUND, message_page::not_found(&visitor.frame));
        let id: AskId = id.parse().map_err(|_| missing())?;
        let directory = self.gateway.directory();
        let shown = |ask: &Arc<Ask>| ask.is_shown_to(&visitor.actor, &directory);
        let found = self.gateway.ask(id).await?.filter(shown);
        found.ok_or_else(missing)
    }

    /// What the browser posted, once its token was found to be this session's.
    async fn posted(
        &self,
        visitor: &Visitor,
        headers: &HeaderMap,
        body: Body,
        back: &str,
        file_fields: &[String],
    ) -> Result<Posted, Instead> {
        let csrf = visitor.frame.csrf.as_bytes();
        let holds = |given: &str| bool::from(given.as_bytes().ct_eq(csrf));
        let proof = Proof { name: "csrf", holds: &holds };
        match submitted::read(self, headers, body, proof, file_fields).await {
            Err(Unread::Body(BodyError::TooLarge)) => {
                let shown =
                    message_page::too_large(&visitor.frame, back, self.config.upload_limit as u64);
                Err(page(StatusCode::PAYLOAD_TOO_LARGE, shown))
            }
            Err(Unread::Stale) => {
                let shown = message_page::stale_page(&visitor.frame, back);
                Err(page(StatusCode::FORBIDDEN, shown))
            }
            Ok(posted) => Ok(posted),
            Err(error) => Err(error.into()),
        }
    }

    /// The same for forms that hold no files.
    async fn submitted(
        &self,
        visitor: &Visitor,
        headers: &HeaderMap,
        body: Body,
        back: &str,
    ) -> Result<Submitted, Instead> {
        Ok(self.posted(visitor, headers, body, back, &[]).await?.form)
    }

    /// Whoever sent the form of a page, and what it says.
    async fn acting(&self, from: Request, back: &str) -> Result<(Visitor, Submitted), Instead> {
        let (headers, body) = parts(from);
        let visitor = self.visitor(&headers).await?;
        let form = self.submitted(&visitor, &headers, body, back).await?;
        Ok((visitor, form))
    }

    /// The same on the page of a request they may see.
    async fn acting_on(
        &self,
        id: &str,
        from: Request,
    ) -> Result<(Visitor, Arc<Ask>, Submitted), Instead> {
        let (headers, body) = parts(from);
        let visitor = self.visitor(&headers).await?;
        let ask = self.seen_by(&visitor, id).await?;
        let form = self.submitted(&visitor, &headers, body, &paths::request(ask.id)).await?;
        Ok((visitor, ask, form))
    }
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

fn page(status: StatusCode, shown: String) -> Instead {
    Instead(Box::new(html(status, shown)))
}

impl IntoResponse for Instead {
    fn into_response(self) -> Response {
        *self.0
    }
}

impl From<StoreError> for Instead {
    fn from(error: StoreError) -> Self {
        let now = kernel::Time::from_millis(0);
        let frame = Frame::anonymous(now);
        match error {
            StoreError::Unavailable(source) => {
                observe::note_unavailable(&source);
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
                    message_page::server_error(&frame, "stored data cannot be read"),
                )
            }
        }
    }
}

impl From<Unread> for Instead {
    fn from(error: Unread) -> Self {
        let frame = Frame::anonymous(kernel::Time::from_millis(0));
        let status = match error {
            Unread::Body(BodyError::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
            Unread::Body(BodyError::TooSlow) => StatusCode::REQUEST_TIMEOUT,
            Unread::Body(BodyError::BrokenOff) | Unread::Stale => StatusCode::BAD_REQUEST,
        };
        page(status, message_page::stale_page(&frame, paths::INBOX))
    }
}
