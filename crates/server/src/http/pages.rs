//! The pages people answer on: `/`, `/asks/{id}`, `/sign-in`, `/settings/tokens`.
//!
//! A person is known by a session cookie that a one-time link was exchanged for. No GET decides
//! anything; every POST carries a token bound to the session.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use dialects::hxp_execution::Cursor;
use kernel::audit::Digest;
use kernel::directory::{Holder, Human, NewKey};
use kernel::question::{self, Question};
use kernel::{Actor, Ask, AskId, Command, HumanId, Phase, Refusal, form};
use serde::Deserialize;
use store::{Filter, List, Scope, StoreError};

use crate::auth::Denied;
use crate::http::body::BodyError;
use crate::http::submitted::{Posted, Unread};
use crate::http::{App, Shared, submitted};
use crate::web::notices::{self, NewToken, Notice};
use crate::web::{
    Draft, FormProblem, Frame, Submitted, assets, form_body, headers, inbox, paths, request,
};

/// How long a browser stays signed in.
const SESSION_SECONDS: u64 = 30 * 24 * 60 * 60;
/// How many requests a page of the inbox shows.
const PAGE: usize = 50;
/// How many answered ones are shown below.
const RECENT: usize = 10;

/// Its routes.
pub fn routes() -> Router<Shared> {
    Router::new()
        .route(paths::INBOX, get(show_inbox))
        .route("/asks/{id}", get(show_request))
        .route("/asks/{id}/answer", get(back_to_request).post(answer))
        .route("/asks/{id}/claim", get(back_to_request).post(claim))
        .route("/asks/{id}/assign", get(back_to_request).post(assign))
        .route(paths::SIGN_IN, get(show_sign_in).post(sign_in))
        .route(paths::SIGN_OUT, post(sign_out))
        .route(paths::TOKENS, get(show_tokens).post(make_token))
        .route("/assets/{file}", get(asset))
}

/// Somebody who is signed in, and the visit they are on.
struct Visitor {
    actor: Actor,
    human: Human,
    secret: String,
    frame: Frame,
}

/// A page instead of what was wanted.
struct Instead(Box<Response>);

type Page = Result<Response, Instead>;

#[derive(Deserialize)]
struct After {
    after: Option<String>,
    sent: Option<String>,
}

async fn show_inbox(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(query): Query<After>,
) -> Page {
    let visitor = app.visitor(&headers).await?;
    let after = query.after.and_then(|text| text.parse::<Cursor>().ok());
    let open = List {
        scopes: Scope::inbox(&visitor.human),
        phases: Phase::OPEN.to_vec(),
        filter: Filter::default(),
        after: after.map(|cursor| store::Cursor { rank: cursor.rank, ask: cursor.ask }),
        limit: PAGE,
    };
    let over = List {
        scopes: vec![Scope::Human(visitor.human.id.clone())],
        phases: Phase::ALL.into_iter().filter(|phase| !Phase::OPEN.contains(phase)).collect(),
        after: None,
        limit: RECENT,
        ..open.clone()
    };
    let waiting = app.gateway.inbox(&visitor.human, open).await?;
    let recent = app.gateway.inbox(&visitor.human, over).await?;
    let next = waiting.next.map(|at| {
        let cursor = Cursor { rank: at.rank, ask: at.ask };
        format!("{}?after={cursor}", paths::INBOX)
    });
    let count = app.gateway.waiting(&visitor.human).await?;
    let total =
        if count.exact { count.n.to_string() } else { format!("{}+", store::listing::EXAMINED) };
    let directory = app.gateway.directory();
    let notice = query.sent.map(|_| Notice::Sent);
    let frame = Frame { waiting: Some(count.n), ..visitor.frame };
    let page = inbox::page(
        &frame,
        &inbox::Inbox {
            me: &visitor.human,
            directory: &directory,
            waiting: &waiting.asks,
            total: &total,
            next: next.as_deref(),
            later_page: after.is_some(),
            recent: &recent.asks,
            server_url: app.config.public_url.as_str().trim_end_matches('/'),
            notice: notice.as_ref(),
        },
    );
    Ok(html(StatusCode::OK, page))
}

/// Looking counts as opened unless a machine looks; it never decides anything.
async fn show_request(State(app): State<Shared>, Path(id): Path<String>, from: Request) -> Page {
    let visitor = app.visitor(from.headers()).await?;
    let mut ask = app.seen_by(&visitor, &id).await?;
    if ask.is_open() && from.method() == "GET" && !is_prefetch(from.headers()) {
        let looked = app.gateway.run(visitor.actor.clone(), Command::Open(ask.id)).await;
        if let Ok(Some(opened)) = looked.map(|outcome| outcome.ask) {
            ask = opened;
        }
    }
    Ok(app.request_page(&visitor, &ask, StatusCode::OK, None, None))
}

/// Whoever reloads the address of a form that was refused gets the question again.
async fn back_to_request(Path(id): Path<String>) -> Response {
    match id.parse::<AskId>() {
        Ok(id) => Redirect::to(&paths::request(id)).into_response(),
        Err(_) => Redirect::to(paths::INBOX).into_response(),
    }
}

/// `POST /asks/{id}/answer`
async fn answer(State(app): State<Shared>, Path(id): Path<String>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.visitor(&headers).await?;
    let ask = app.seen_by(&visitor, &id).await?;
    let Some(question) = ask.question.value() else {
        return Err(page(StatusCode::NOT_FOUND, notices::not_found(&visitor.frame)));
    };
    let back = paths::request(ask.id);
    let Posted { form: submitted, files } =
        app.posted(&visitor, &headers, body, &back, &file_fields(question)).await?;
    let refuse = |ask: &Ask, problem: FormProblem| {
        let draft = Draft::new(question, &submitted, problem);
        app.request_page(&visitor, ask, StatusCode::UNPROCESSABLE_ENTITY, None, Some(&draft))
    };
    let reply = match form_body::reply(question, &submitted) {
        Ok(reply) => reply,
        Err(problem) => return Ok(refuse(&ask, problem)),
    };
    // Kept before the answer is decided: an answer never names a file we do not have.
    for file in files {
        app.files.keep(file).await.map_err(|error| {
            tracing::error!(error = format!("{error:#}"), "cannot keep an upload");
            let shown = notices::unavailable(&visitor.frame);
            page(StatusCode::SERVICE_UNAVAILABLE, shown)
        })?;
    }
    let command = Command::Answer(ask.id, Box::new(reply));
    match app.gateway.run(visitor.actor.clone(), command).await {
        Ok(_) => Ok(Redirect::to(&format!("{}?sent=1", paths::INBOX)).into_response()),
        Err(StoreError::Refused(refusal)) => {
            if let Some(problem) = FormProblem::of_refusal(&refusal, question) {
                return Ok(refuse(&ask, problem));
            }
            // A lost race: show who won, with what this person had written kept.
            let draft = Draft::new(question, &submitted, FormProblem { problems: Vec::new() });
            let now = app.seen_by(&visitor, &id).await?;
            let notice = Notice::Refused(refusal);
            Ok(app.request_page(&visitor, &now, StatusCode::CONFLICT, Some(&notice), Some(&draft)))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /asks/{id}/claim`
async fn claim(State(app): State<Shared>, Path(id): Path<String>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.visitor(&headers).await?;
    let ask = app.seen_by(&visitor, &id).await?;
    app.submitted(&visitor, &headers, body, &paths::request(ask.id)).await?;
    app.acted(&visitor, &ask, Command::Claim(ask.id), Notice::Taken).await
}

/// `POST /asks/{id}/assign`
async fn assign(State(app): State<Shared>, Path(id): Path<String>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.visitor(&headers).await?;
    let ask = app.seen_by(&visitor, &id).await?;
    let submitted = app.submitted(&visitor, &headers, body, &paths::request(ask.id)).await?;
    let to = submitted.value("to").and_then(|to| to.parse::<HumanId>().ok());
    let Some(to) = to else {
        let expected = "a person who is a member of this project";
        let notice = Notice::Refused(Refusal::Invalid { field: "to", expected });
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return Ok(app.request_page(&visitor, &ask, status, Some(&notice), None));
    };
    let command = Command::Assign(ask.id, to.clone());
    app.acted(&visitor, &ask, command, Notice::Handed(to)).await
}

#[derive(Deserialize)]
struct LinkToken {
    token: Option<String>,
}

async fn show_sign_in(State(app): State<Shared>, Query(link): Query<LinkToken>) -> Response {
    let frame = Frame::anonymous(app.gateway.now());
    html(StatusCode::OK, notices::sign_in(&frame, link.token.as_deref()))
}

/// `POST /sign-in`: exchanges a link for a session. The link is then used up.
async fn sign_in(State(app): State<Shared>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let frame = Frame::anonymous(app.gateway.now());
    let stale = || page(StatusCode::UNAUTHORIZED, notices::stale_link(&frame));
    if from_elsewhere(&headers) {
        return Err(page(StatusCode::FORBIDDEN, notices::stale_page(&frame, paths::SIGN_IN)));
    }
    let submitted = submitted::small(body).await?;
    let token = submitted.value("token").ok_or_else(stale)?;
    let directory = app.gateway.directory();
    let key = directory.key_by_hash(&Digest::of(token.as_bytes())).ok_or_else(stale)?;
    let Holder::Link { human } = &key.holder else { return Err(stale()) };
    let session = app.gateway.ids().mint("");
    let new = NewKey {
        hash: session.hash,
        holder: Holder::Session { human: human.clone() },
        label: "browser".to_owned(),
        expires_at: Some(app.gateway.now().plus_seconds(SESSION_SECONDS)),
    };
    match app.gateway.run(Actor::System, Command::SignIn(key.id, new)).await {
        Ok(_) => {
            let cookie = app.cookie(&session.secret, SESSION_SECONDS);
            Ok(([(header::SET_COOKIE, cookie)], Redirect::to(paths::INBOX)).into_response())
        }
        Err(StoreError::Refused(_)) => Err(stale()),
        Err(error) => Err(error.into()),
    }
}

/// `POST /sign-out`: the session is revoked, not only forgotten by the browser.
async fn sign_out(State(app): State<Shared>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.visitor(&headers).await?;
    app.submitted(&visitor, &headers, body, paths::INBOX).await?;
    let directory = app.gateway.directory();
    if let Some(key) = directory.key_by_hash(&Digest::of(visitor.secret.as_bytes())) {
        app.gateway.run(visitor.actor, Command::RevokeKey(key.id)).await?;
    }
    let frame = Frame::anonymous(app.gateway.now());
    let mut answer = html(StatusCode::OK, notices::signed_out(&frame));
    answer.headers_mut().insert(header::SET_COOKIE, app.cookie("", 0));
    Ok(answer)
}

async fn show_tokens(State(app): State<Shared>, headers: HeaderMap) -> Page {
    let visitor = app.visitor(&headers).await?;
    Ok(html(StatusCode::OK, notices::token_form(&visitor.frame)))
}

/// `POST /settings/tokens`: a token for this person's terminal, shown once.
async fn make_token(State(app): State<Shared>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.visitor(&headers).await?;
    let submitted = app.submitted(&visitor, &headers, body, paths::TOKENS).await?;
    let label = submitted.value("label").unwrap_or_default().to_owned();
    let minted = app.gateway.ids().mint("cs_human_");
    let holder = Holder::Token { human: visitor.human.id.clone() };
    let new = NewKey { hash: minted.hash, holder, label: label.clone(), expires_at: None };
    app.gateway.run(visitor.actor, Command::IssueKey(new)).await?;
    let new = NewToken {
        token: &minted.secret,
        label: &label,
        expires: None,
        server_url: app.config.public_url.as_str().trim_end_matches('/'),
    };
    Ok(html(StatusCode::CREATED, notices::token_made(&visitor.frame, &new)))
}

async fn asset(State(app): State<Shared>, Path(file): Path<String>) -> Response {
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
            html(StatusCode::NOT_FOUND, notices::not_found(&Frame::anonymous(app.gateway.now())))
        }
    }
}

/// The page for an address that leads nowhere.
pub fn no_such_page(app: &App) -> Response {
    let frame = Frame::anonymous(app.gateway.now());
    html(StatusCode::NOT_FOUND, notices::not_found(&frame))
}

/// The page for what a library could not read, or for a panic.
pub fn unreadable(app: &App, broken: bool) -> Response {
    let frame = Frame::anonymous(app.gateway.now());
    if broken {
        let shown = notices::server_error(&frame, "the log knows more");
        return html(StatusCode::INTERNAL_SERVER_ERROR, shown);
    }
    html(StatusCode::BAD_REQUEST, notices::not_found(&frame))
}

/// The page for an address that takes forms, not visits.
pub fn wrong_method(app: &App) -> Response {
    let frame = Frame::anonymous(app.gateway.now());
    html(StatusCode::METHOD_NOT_ALLOWED, notices::not_found(&frame))
}

impl App {
    /// Whoever is signed in; everybody else is shown how to.
    async fn visitor(&self, headers: &HeaderMap) -> Result<Visitor, Instead> {
        let now = self.gateway.now();
        let directory = self.gateway.directory();
        let anonymous = || {
            let frame = Frame::anonymous(now);
            page(StatusCode::UNAUTHORIZED, notices::sign_in(&frame, None))
        };
        let secret = session_cookie(headers, self.cookie_name()).ok_or_else(anonymous)?;
        let (actor, _) = match self.door.session(&directory, &secret, now) {
            // Still signed in, but in too much of a hurry.
            Err(Denied::TooFast(wait)) => {
                let busy = notices::unavailable(&Frame::anonymous(now));
                let after = [(header::RETRY_AFTER, wait.as_secs().max(1).to_string())];
                let busy = (after, html(StatusCode::TOO_MANY_REQUESTS, busy)).into_response();
                return Err(Instead(Box::new(busy)));
            }
            known => known.map_err(|_| anonymous())?,
        };
        let Actor::Human { id, .. } = &actor else { return Err(anonymous()) };
        let human = directory.human(id).ok_or_else(anonymous)?.clone();
        let waiting = self.gateway.waiting(&human).await?.n;
        let frame = Frame {
            now,
            person: Some(crate::web::words::person(&directory, &human.id)),
            csrf: self.secrets.csrf(&secret),
            waiting: Some(waiting),
        };
        Ok(Visitor { actor, human, secret, frame })
    }

    /// A request the visitor may see; to everybody else it does not exist.
    async fn seen_by(&self, visitor: &Visitor, id: &str) -> Result<Ask, Instead> {
        let missing = || page(StatusCode::NOT_FOUND, notices::not_found(&visitor.frame));
        let id: AskId = id.parse().map_err(|_| missing())?;
        let found = self.gateway.ask(id).await?.filter(|ask| ask.admits(&visitor.human));
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
        let csrf = &visitor.frame.csrf;
        match submitted::read(self, headers, body, csrf, file_fields).await {
            Err(Unread::Body(BodyError::TooLarge)) => {
                let shown = notices::too_large(&visitor.frame, back);
                Err(page(StatusCode::PAYLOAD_TOO_LARGE, shown))
            }
            Err(Unread::Stale) => {
                let shown = notices::stale_page(&visitor.frame, back);
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

    async fn acted(&self, visitor: &Visitor, ask: &Ask, command: Command, done: Notice) -> Page {
        let (ask, notice, status) = match self.gateway.run(visitor.actor.clone(), command).await {
            Ok(outcome) => (outcome.ask.unwrap_or_else(|| ask.clone()), done, StatusCode::OK),
            Err(StoreError::Refused(refusal)) => {
                let now = self.seen_by(visitor, &ask.id.to_string()).await?;
                (now, Notice::Refused(refusal), StatusCode::CONFLICT)
            }
            Err(error) => return Err(error.into()),
        };
        Ok(self.request_page(visitor, &ask, status, Some(&notice), None))
    }

    fn request_page(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        status: StatusCode,
        notice: Option<&Notice>,
        draft: Option<&Draft>,
    ) -> Response {
        let directory = self.gateway.directory();
        let me = &visitor.human;
        let colleague = |human: &&Human| {
            human.active && human.id != me.id && human.projects.contains(&ask.project)
        };
        let people: Vec<HumanId> = if ask.is_open() {
            directory.humans().filter(colleague).map(|human| human.id.clone()).collect()
        } else {
            Vec::new()
        };
        let view =
            request::Request { ask, me, directory: &directory, people: &people, notice, draft };
        html(status, request::page(&visitor.frame, &view))
    }

    /// Over HTTPS the cookie is bound to this host.
    fn cookie_name(&self) -> &'static str {
        if self.config.public_url.scheme() == "https" {
            "__Host-countersign"
        } else {
            "countersign"
        }
    }

    fn cookie(&self, value: &str, seconds: u64) -> HeaderValue {
        let secure = if self.config.public_url.scheme() == "https" { "; Secure" } else { "" };
        let text = format!(
            "{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}",
            self.cookie_name()
        );
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }
}

fn session_cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.to_owned())
}

fn is_prefetch(headers: &HeaderMap) -> bool {
    ["purpose", "sec-purpose", "x-moz"]
        .iter()
        .filter_map(|name| headers.get(*name)?.to_str().ok())
        .any(|value| value.contains("prefetch") || value.contains("preview"))
}

fn parts(request: Request) -> (HeaderMap, Body) {
    let (parts, body) = request.into_parts();
    (parts.headers, body)
}

fn html(status: StatusCode, page: String) -> Response {
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
                tracing::error!(error = %source, "the store is not available");
                page(StatusCode::SERVICE_UNAVAILABLE, notices::unavailable(&frame))
            }
            StoreError::Refused(refusal) => {
                tracing::warn!(%refusal, "a page was refused");
                page(StatusCode::FORBIDDEN, notices::forbidden(&frame))
            }
            StoreError::Damaged { what, source } => {
                tracing::error!(error = %source, what, "stored data cannot be read");
                page(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    notices::server_error(&frame, "stored data cannot be read"),
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
        page(status, notices::stale_page(&frame, paths::INBOX))
    }
}

/// The names under which files of this question's form are posted.
fn file_fields(question: &Question) -> Vec<String> {
    let question::Body::Provide { form } = question.body() else { return Vec::new() };
    let files = form.fields().filter(|field| matches!(field.kind(), form::Kind::File));
    files.map(|field| format!("field.{}", field.key())).collect()
}

/// Whether another website sent this browser here with a form of its own.
fn from_elsewhere(headers: &HeaderMap) -> bool {
    headers
        .get("sec-fetch-site")
        .is_some_and(|site| site != "same-origin" && site != "none" && site != "same-site")
}
