//! `GET /review/{case_id}?token=…`: one request for the holder of its link; `POST
//! /review/{case_id}`: the forms on that page. HITL §7, §11.
//!
//! The first visit sets a cookie for this address alone, and the page's script removes the token
//! from the address bar. Forms carry the token themselves, so the page works without cookies, and
//! no other website can post to it. Loading the page decides nothing.

mod actions;
mod proof;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use dialects::hitl;
use gateway::Gateway;
use gateway::auth::{Authenticator, CaseCallKind};
use gateway::ids::random;
use gateway::secrets::ServerSecrets;
use gateway::streams::ConnectionKind;
use gateway::vault::cipher;
use gateway::verification::ProofVerifiers;
use kernel::ask::{Ending, TokenPurpose};
use kernel::question::{Question, QuestionBody};
use kernel::{Actor, Ask, AskCommand, Subject};
use serde::Deserialize;
use store::StoreError;
use views::answer_form::ProofStep;
use views::answer_form::problem::{FormProblems, ProblemLocation};
use views::answer_form::second_step::SecondStep;
use views::answer_form::submitted as entered;
use views::banner::ActionOutcome;
use views::review::ReviewDraft;
use views::site::{headers, paths};
use views::{AnswerDraft, PageContext, message_page, review, t};

use super::bot_detection::is_person;
use super::{PageError, PageResult, html, parts};
use crate::config::Config;
use crate::http::body::BodyError;
use crate::http::hitl::{HitlCases, cookie, is_token, link_holder, review_cookie, review_token};
use crate::http::pages::request::live::{RequestStream, Watcher};
use crate::http::pages::sealed_values::SealedValues;
use crate::http::path_param::PathParam;
use crate::http::posted_form::{self, FormReadError, FormTokenCheck};
use crate::http::services::Streaming;
use crate::http::stream_credential::StreamToken;
use crate::http::uploads::AnswerUploads;
use crate::http::{AppState, sse};

/// The routes of review links.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/review/{id}", get(show).post(submit))
        .route("/review/{id}/end", get(follow))
        .route("/review/{id}/proof", get(proof::back).post(proof::return_from_provider))
}

/// How long a browser remembers a link: the longest life of a case.
const COOKIE_SECONDS: u64 = 7 * 24 * 60 * 60;

/// The holder of the review link of a request.
pub(super) struct Guest {
    pub(super) case_id: String,
    pub(super) token: String,
    pub(super) frame: PageContext,
    /// The actor who answers with that token.
    pub(super) holder: Actor,
    /// Whether the browser keeps the link in a cookie, so that the address without the token works.
    pub(super) remembered: bool,
    /// The base URL of addresses to which a provider sends the person back.
    pub(super) base: String,
}

#[derive(Deserialize)]
struct ReviewQuery {
    token: Option<String>,
    step: Option<usize>,
    #[serde(default)]
    done: String,
    #[serde(default)]
    proof: String,
}

async fn show(
    State(cases): State<Arc<HitlCases>>,
    State(review_pages): State<Arc<ReviewPages>>,
    PathParam(case_id): PathParam<String>,
    Query(visit): Query<ReviewQuery>,
    from: Request,
) -> PageResult {
    let frame = review_pages.guest_frame();
    let mut ask = review_pages.case(&case_id, &frame).await?;
    let known = cookie(from.headers(), &case_id);
    let shown = [visit.token.as_deref(), known].into_iter().flatten();
    let found = shown
        .into_iter()
        .find_map(|token| Some((token, link_holder(&review_pages.gateway, &ask, token)?)));
    let Some((token, holder)) = found else {
        return Err(invalid_link(StatusCode::UNAUTHORIZED, &frame));
    };
    let remembered = known == Some(token);
    let base = cases.base(from.headers());
    let guest = Guest { case_id, token: token.to_owned(), frame, holder, remembered, base };
    if ask.is_open() && is_person(from.method(), from.headers()) {
        let looked = review_pages.gateway.run(guest.holder.clone(), AskCommand::Open(ask.id)).await;
        if let Ok(Some(opened)) = looked.map(|outcome| outcome.ask) {
            ask = Arc::new(opened);
        }
    }
    let kept =
        if ask.is_open() { review_pages.load_draft(&ask).await? } else { ReviewDraft::default() };
    let notice = match (visit.done.as_str(), ask.ending()) {
        ("sent", Some(Ending::Completed(_))) => Some(ActionOutcome::Sent),
        ("closed", Some(Ending::Cancelled { .. })) => Some(ActionOutcome::TurnedDown),
        ("saved", None) => Some(ActionOutcome::Saved),
        ("picked", None) => Some(ActionOutcome::Picked),
        _ => None,
    };
    let step = visit.step.unwrap_or(kept.step);
    let status = if has_expired(&ask) { StatusCode::GONE } else { StatusCode::OK };
    let mut answer = match review_pages.waiting_for_proof(&guest, &ask, &kept) {
        Some(mut confirm) => {
            if visit.proof == "refused" {
                confirm.problem =
                    FormProblems::one(ProblemLocation::Page, t!("proof-returned-invalid"));
            }
            review_pages.confirm_page(&guest, &ask, status, &confirm)
        }
        None => review_pages.page(&guest, &ask, status, step, notice.as_ref(), &kept),
    };
    if !guest.remembered {
        answer.headers_mut().insert(header::SET_COOKIE, review_pages.cookie(&guest));
    }
    Ok(answer)
}

/// `POST /review/{case_id}`: the token in the form is the credential.
async fn submit(
    State(cases): State<Arc<HitlCases>>,
    State(uploads): State<Arc<AnswerUploads>>,
    State(review_pages): State<Arc<ReviewPages>>,
    State(authenticator): State<Arc<Authenticator>>,
    PathParam(case_id): PathParam<String>,
    from: Request,
) -> PageResult {
    let (headers, body) = parts(from);
    let frame = review_pages.guest_frame();
    let ask = review_pages.case(&case_id, &frame).await?;
    let back = paths::review(&case_id);
    let holds = |token: &str| is_token(&review_pages.gateway, &ask, TokenPurpose::Review, token);
    let proof = FormTokenCheck { name: "token", holds: &holds };
    let files = ask.question.value().map(super::request::file_fields).unwrap_or_default();
    let posted = match posted_form::read(&review_pages.config, &headers, body, proof, &files).await
    {
        Ok(posted) => posted,
        Err(FormReadError::Stale) => return Err(invalid_link(StatusCode::UNAUTHORIZED, &frame)),
        Err(FormReadError::Body(BodyError::TooLarge)) => {
            let shown =
                message_page::too_large(&frame, &back, review_pages.config.upload_limit as u64);
            return Err(guest_error(StatusCode::PAYLOAD_TOO_LARGE, &frame, shown));
        }
        Err(error) => return Err(error.into()),
    };
    if let Err(many) = authenticator.count_case_call(ask.id, CaseCallKind::Fill) {
        let shown = message_page::too_fast(&frame, &back);
        let mut answer = guest_html(StatusCode::TOO_MANY_REQUESTS, &frame, shown);
        let wait = HeaderValue::from(many.wait.as_secs().max(1));
        answer.headers_mut().insert(header::RETRY_AFTER, wait);
        return Err(PageError(Box::new(answer)));
    }
    let remembered = cookie(&headers, &case_id).is_some_and(holds);
    let base = cases.base(&headers);
    let token = posted.proof.clone();
    let Some(holder) = link_holder(&review_pages.gateway, &ask, &token) else {
        return Err(invalid_link(StatusCode::UNAUTHORIZED, &frame));
    };
    let guest = Guest { case_id, token, frame, holder, remembered, base };
    actions::act(&review_pages, &uploads, &guest, &ask, posted).await
}

/// Whether the request expired without an answer.
fn has_expired(ask: &Ask) -> bool {
    matches!(ask.ending(), Some(Ending::Expired { .. } | Ending::Failed { .. }))
}

/// Renders the page of a review link and keeps its drafts.
pub struct ReviewPages {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) config: Arc<Config>,
    pub(in crate::http) secrets: Arc<ServerSecrets>,
    pub(in crate::http) providers: Arc<ProofVerifiers>,
    pub(in crate::http) sealed_values: Arc<SealedValues>,
}

impl ReviewPages {
    pub(super) fn guest_frame(&self) -> PageContext {
        let nonce = BASE64_URL_SAFE_NO_PAD.encode(random::<16>());
        PageContext::guest(self.gateway.now(), nonce)
    }

    /// The ask of a case id. An unknown case answers 401, like a wrong link.
    pub(super) async fn case(
        &self,
        case_id: &str,
        frame: &PageContext,
    ) -> Result<Arc<Ask>, PageError> {
        let missing = || invalid_link(StatusCode::UNAUTHORIZED, frame);
        let id = hitl::ask_id(case_id).ok_or_else(missing)?;
        self.gateway.ask(id).await?.ok_or_else(missing)
    }

    fn cookie(&self, guest: &Guest) -> HeaderValue {
        let secure = if self.config.public_url.scheme() == "https" { "; Secure" } else { "" };
        let text = format!(
            "{}={}; Path={}; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Lax{secure}",
            review_cookie(&guest.case_id),
            guest.token,
            paths::review(&guest.case_id),
        );
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }

    /// The page with the saved draft, at this step or the next one that applies.
    pub(super) fn page(
        &self,
        guest: &Guest,
        ask: &Ask,
        status: StatusCode,
        step: usize,
        notice: Option<&ActionOutcome>,
        kept: &ReviewDraft,
    ) -> Response {
        let question = ask.question.value().filter(|_| !kept.is_empty());
        let draft = question.map(|question| kept.draft(question, FormProblems::default()));
        let step = ask.question.value().map_or(0, |question| kept.nearest_step(question, step));
        self.page_with(guest, ask, status, step, notice, draft.as_ref())
    }

    /// The page with this draft.
    pub(super) fn page_with(
        &self,
        guest: &Guest,
        ask: &Ask,
        status: StatusCode,
        step: usize,
        notice: Option<&ActionOutcome>,
        draft: Option<&AnswerDraft>,
    ) -> Response {
        let directory = self.gateway.directory();
        let Guest { case_id, token, frame, holder, .. } = guest;
        let directory = &directory;
        let view = review::ReviewPage {
            ask,
            case_id,
            token,
            holder,
            directory,
            step,
            notice,
            draft,
            confirm: None,
            second: None,
        };
        guest_html(status, frame, review::page(frame, &view))
    }

    /// The page with the step in which the visitor proves that they are a person.
    pub(super) fn confirm_page(
        &self,
        guest: &Guest,
        ask: &Ask,
        status: StatusCode,
        confirm: &ProofStep,
    ) -> Response {
        let directory = self.gateway.directory();
        let Guest { case_id, token, frame, holder, .. } = guest;
        let view = review::ReviewPage {
            ask,
            case_id,
            token,
            holder,
            directory: &directory,
            step: 0,
            notice: None,
            draft: None,
            confirm: Some(confirm),
            second: None,
        };
        guest_html(status, frame, review::page(frame, &view))
    }

    /// The page with the second step before an answer is sent.
    pub(super) fn second_step_page(&self, guest: &Guest, ask: &Ask, step: &SecondStep) -> Response {
        let directory = self.gateway.directory();
        let Guest { case_id, token, frame, holder, .. } = guest;
        let view = review::ReviewPage {
            ask,
            case_id,
            token,
            holder,
            directory: &directory,
            step: 0,
            notice: None,
            draft: None,
            confirm: None,
            second: Some(step),
        };
        guest_html(StatusCode::OK, frame, review::page(frame, &view))
    }
}

/// A page for the holder of a link, with its own content security policy.
pub(super) fn guest_html(status: StatusCode, frame: &PageContext, page: String) -> Response {
    let mut answer = html(status, page);
    let policy = frame.nonce.as_deref().map(headers::guest_policy);
    if let Some(policy) = policy.and_then(|policy| HeaderValue::from_str(&policy).ok()) {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

pub(super) fn guest_error(status: StatusCode, frame: &PageContext, page: String) -> PageError {
    PageError(Box::new(guest_html(status, frame, page)))
}

fn invalid_link(status: StatusCode, frame: &PageContext) -> PageError {
    guest_error(status, frame, message_page::no_such_link(frame))
}

// Drafts of review links: input that the holder of a link entered and has not sent. The store
// keeps them encrypted, so that a copy of the database alone reveals no drafts.

impl ReviewPages {
    /// The draft for this ask; empty if there is none, or if it can no longer be decrypted.
    async fn load_draft(&self, ask: &Ask) -> Result<ReviewDraft, StoreError> {
        let Some(closed) = self.gateway.store().draft(ask.id).await? else {
            return Ok(ReviewDraft::default());
        };
        let about = ask.id.to_string();
        let plain = cipher::decrypt(&self.secrets.draft_key(ask.id), about.as_bytes(), &closed);
        let kept = plain.and_then(|plain| serde_json::from_slice(&plain).ok());
        if kept.is_none() {
            tracing::warn!(ask.id = %ask.id, "a draft cannot be opened; it is begun again");
        }
        Ok(kept.unwrap_or_default())
    }

    /// Saves a draft, and reports the person's progress to the agent. Refused once
    /// the ask is closed.
    async fn save_draft(
        &self,
        ask: &Ask,
        question: &Question,
        kept: &ReviewDraft,
    ) -> Result<(), StoreError> {
        ask.check_open(self.gateway.now())?;
        let about = ask.id.to_string();
        let plain =
            serde_json::to_vec(kept).map_err(|error| StoreError::Unavailable(error.into()))?;
        let closed = cipher::encrypt(&self.secrets.draft_key(ask.id), about.as_bytes(), &plain);
        let closed =
            closed.ok_or_else(|| StoreError::Unavailable("a draft is too large".into()))?;
        // The store keeps no draft for an ask that was closed meanwhile. The next response reports
        // that.
        self.gateway.store().put_draft(ask.id, closed).await?;
        let progress = match question.body() {
            QuestionBody::Provide { form } => {
                Some(form.progress(&entered::values(form, &kept.form)))
            }
            QuestionBody::Approve { .. }
            | QuestionBody::Choose { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Escalate { .. }
            | QuestionBody::Converse => None,
        };
        let holder = Actor::link_holder(ask.id);
        self.gateway.run(holder, AskCommand::Progress(ask.id, progress)).await.map(drop)
    }
}

// `GET /review/{case_id}/end?token=…`: notifies an open review page when its request is resolved,
// with a single server-sent event.

async fn follow(
    State(gateway): State<Gateway>,
    State(authenticator): State<Arc<Authenticator>>,
    State(streaming): State<Streaming>,
    PathParam(case_id): PathParam<String>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, StatusCode> {
    let id = hitl::ask_id(&case_id).ok_or(StatusCode::UNAUTHORIZED)?;
    let ask = gateway.ask(id).await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    let ask = ask.ok_or(StatusCode::UNAUTHORIZED)?;
    let token = review_token(&pairs, &headers, &case_id);
    let token = token.filter(|token| is_token(&gateway, &ask, TokenPurpose::Review, token));
    let credential =
        StreamToken::new(&ask, TokenPurpose::Review, token.ok_or(StatusCode::UNAUTHORIZED)?);
    // The request is read again after the subscription, so that its end in between is not missed.
    let waiter = gateway.wake().subscribe(credential.topics());
    authenticator
        .count_case_call(id, CaseCallKind::Watch)
        .map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let held = streaming.watchers.open(Some(Subject::Ask(id)), ConnectionKind::Events);
    let held = held.map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let returned = headers.contains_key("last-event-id");
    let by = Watcher::Link(credential);
    let watched = RequestStream::new(gateway.clone(), streaming.stop.clone(), id, by, waiter, held)
        .showing(None, returned);
    Ok(sse::respond(watched).into_response())
}
