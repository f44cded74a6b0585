//! `GET /review/{case_id}?token=…`: one request for whoever holds its link; `POST /review/{case_id}`:
//! the forms on that page. HITL §7, §11.
//!
//! The first visit sets a cookie for this address alone, and the page's script takes the token out of
//! the address bar. Forms carry the token themselves, so the page works where cookies do not, and no
//! other website can post to it. Looking decides nothing.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use dialects::hitl;
use gateway::auth::Lane;
use gateway::ids::random;
use kernel::ask::{Ending, Purpose};
use kernel::{Actor, Ask, AskCommand};
use serde::Deserialize;

use super::machine::is_person;
use super::review_proof::CAME_IN_VAIN;
use super::{Instead, Page, html, parts, review_act};
use crate::http::body::BodyError;
use crate::http::hitl::{cookie, review_cookie};
use crate::http::name::Named;
use crate::http::submitted::{self, Proof, Unread};
use crate::http::{App, Shared};
use views::answer_form::confirm::Confirm;
use views::answer_form::problem::{FormProblem, Place};
use views::answer_form::second_step::SecondStep;
use views::banner::Notice;
use views::message_page;
use views::review::draft::Kept;
use views::site::{headers, paths};
use views::{Draft, Frame, review};

/// How long a browser remembers a link: as long as a case may live.
const COOKIE_SECONDS: u64 = 7 * 24 * 60 * 60;

/// Somebody who holds the link of a request.
pub(super) struct Guest {
    pub(super) case_id: String,
    pub(super) token: String,
    pub(super) frame: Frame,
    /// Who answers with that token.
    pub(super) holder: Actor,
    /// Whether the browser keeps the link, so that the address alone shows the page again.
    pub(super) remembered: bool,
    /// What addresses are built from, for whoever sends the person back.
    pub(super) base: String,
}

#[derive(Deserialize)]
pub(super) struct Visit {
    token: Option<String>,
    step: Option<usize>,
    #[serde(default)]
    done: String,
    #[serde(default)]
    proof: String,
}

pub(super) async fn show_review(
    State(app): State<Shared>,
    Named(case_id): Named<String>,
    Query(visit): Query<Visit>,
    from: Request,
) -> Page {
    let frame = app.guest_frame();
    let mut ask = app.case(&case_id, &frame).await?;
    let known = cookie(from.headers(), &case_id);
    let shown = [visit.token.as_deref(), known].into_iter().flatten();
    let found = shown.into_iter().find_map(|token| Some((token, app.link_holder(&ask, token)?)));
    let Some((token, holder)) = found else {
        return Err(no_link(StatusCode::UNAUTHORIZED, &frame));
    };
    let remembered = known == Some(token);
    let base = app.hitl_base(from.headers());
    let guest = Guest { case_id, token: token.to_owned(), frame, holder, remembered, base };
    if ask.is_open() && is_person(from.method(), from.headers()) {
        let looked = app.gateway.run(guest.holder.clone(), AskCommand::Open(ask.id)).await;
        if let Ok(Some(opened)) = looked.map(|outcome| outcome.ask) {
            ask = Arc::new(opened);
        }
    }
    let kept = if ask.is_open() { app.kept(&ask).await? } else { Kept::default() };
    let notice = match (visit.done.as_str(), ask.ending()) {
        ("sent", Some(Ending::Completed(_))) => Some(Notice::Sent),
        ("closed", Some(Ending::Cancelled { .. })) => Some(Notice::TurnedDown),
        ("saved", None) => Some(Notice::Saved),
        ("picked", None) => Some(Notice::Picked),
        _ => None,
    };
    let step = visit.step.unwrap_or(kept.step);
    let status = if has_run_out(&ask) { StatusCode::GONE } else { StatusCode::OK };
    let mut answer = match app.waiting_for_proof(&guest, &ask, &kept) {
        Some(mut confirm) => {
            if visit.proof == "refused" {
                confirm.problem = FormProblem::one(Place::Page, CAME_IN_VAIN);
            }
            app.confirm_page(&guest, &ask, status, &confirm)
        }
        None => app.review_page(&guest, &ask, status, step, notice.as_ref(), &kept),
    };
    if !guest.remembered {
        answer.headers_mut().insert(header::SET_COOKIE, app.review_cookie(&guest));
    }
    Ok(answer)
}

/// `POST /review/{case_id}`: the token in the form is the credential.
pub(super) async fn post_review(
    State(app): State<Shared>,
    Named(case_id): Named<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let frame = app.guest_frame();
    let ask = app.case(&case_id, &frame).await?;
    let back = paths::review(&case_id);
    let holds = |token: &str| app.is_token(&ask, Purpose::Review, token);
    let proof = Proof { name: "token", holds: &holds };
    let files = ask.question.value().map(super::request::file_fields).unwrap_or_default();
    let posted = match submitted::read(&app, &headers, body, proof, &files).await {
        Ok(posted) => posted,
        Err(Unread::Stale) => return Err(no_link(StatusCode::UNAUTHORIZED, &frame)),
        Err(Unread::Body(BodyError::TooLarge)) => {
            let shown = message_page::too_large(&frame, &back, app.config.upload_limit as u64);
            return Err(guest_instead(StatusCode::PAYLOAD_TOO_LARGE, &frame, shown));
        }
        Err(error) => return Err(error.into()),
    };
    if let Err(many) = app.authenticator.count(ask.id, Lane::Fill) {
        let shown = message_page::too_fast(&frame, &back);
        let mut answer = guest_html(StatusCode::TOO_MANY_REQUESTS, &frame, shown);
        let wait = HeaderValue::from(many.wait.as_secs().max(1));
        answer.headers_mut().insert(header::RETRY_AFTER, wait);
        return Err(Instead(Box::new(answer)));
    }
    let remembered = cookie(&headers, &case_id).is_some_and(holds);
    let base = app.hitl_base(&headers);
    let token = posted.proof.clone();
    let Some(holder) = app.link_holder(&ask, &token) else {
        return Err(no_link(StatusCode::UNAUTHORIZED, &frame));
    };
    let guest = Guest { case_id, token, frame, holder, remembered, base };
    review_act::act(&app, &guest, &ask, posted).await
}

/// Whether nobody answered in time.
fn has_run_out(ask: &Ask) -> bool {
    matches!(ask.ending(), Some(Ending::Expired { .. } | Ending::Failed { .. }))
}

impl App {
    pub(super) fn guest_frame(&self) -> Frame {
        let nonce = BASE64_URL_SAFE_NO_PAD.encode(random::<16>());
        Frame::guest(self.gateway.now(), nonce)
    }

    /// The ask behind a case id. A case that is not there has no link: 401, as for a wrong link.
    pub(super) async fn case(&self, case_id: &str, frame: &Frame) -> Result<Arc<Ask>, Instead> {
        let missing = || no_link(StatusCode::UNAUTHORIZED, frame);
        let id = hitl::ask_id(case_id).ok_or_else(missing)?;
        self.gateway.ask(id).await?.ok_or_else(missing)
    }

    fn review_cookie(&self, guest: &Guest) -> HeaderValue {
        let secure = if self.config.public_url.scheme() == "https" { "; Secure" } else { "" };
        let text = format!(
            "{}={}; Path={}; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Lax{secure}",
            review_cookie(&guest.case_id),
            guest.token,
            paths::review(&guest.case_id),
        );
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }

    /// The page with what is kept, on this step or the next that applies.
    pub(super) fn review_page(
        &self,
        guest: &Guest,
        ask: &Ask,
        status: StatusCode,
        step: usize,
        notice: Option<&Notice>,
        kept: &Kept,
    ) -> Response {
        let question = ask.question.value().filter(|_| !kept.is_empty());
        let draft = question.map(|question| kept.draft(question, FormProblem::default()));
        let step = ask.question.value().map_or(0, |question| kept.nearest(question, step));
        self.review_page_with(guest, ask, status, step, notice, draft.as_ref())
    }

    /// The page with this draft.
    pub(super) fn review_page_with(
        &self,
        guest: &Guest,
        ask: &Ask,
        status: StatusCode,
        step: usize,
        notice: Option<&Notice>,
        draft: Option<&Draft>,
    ) -> Response {
        let directory = self.gateway.directory();
        let Guest { case_id, token, frame, holder, .. } = guest;
        let directory = &directory;
        let view = review::Review {
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

    /// The page with the step in which somebody shows that they are a person.
    pub(super) fn confirm_page(
        &self,
        guest: &Guest,
        ask: &Ask,
        status: StatusCode,
        confirm: &Confirm,
    ) -> Response {
        let directory = self.gateway.directory();
        let Guest { case_id, token, frame, holder, .. } = guest;
        let view = review::Review {
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
        let view = review::Review {
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

/// A page for whoever holds a link, with its own policy.
pub(super) fn guest_html(status: StatusCode, frame: &Frame, page: String) -> Response {
    let mut answer = html(status, page);
    let policy = frame.nonce.as_deref().map(headers::guest_policy);
    if let Some(policy) = policy.and_then(|policy| HeaderValue::from_str(&policy).ok()) {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

pub(super) fn guest_instead(status: StatusCode, frame: &Frame, page: String) -> Instead {
    Instead(Box::new(guest_html(status, frame, page)))
}

fn no_link(status: StatusCode, frame: &Frame) -> Instead {
    guest_instead(status, frame, message_page::no_such_link(frame))
}
