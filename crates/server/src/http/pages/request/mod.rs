//! One request: `GET /asks/{id}`, and the forms on its page.

mod actions;
pub(crate) mod live;
mod related;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use gateway::receipts::Receipts;
use gateway::{CommandConditions, Gateway};
use kernel::ask::DisplayedContent as Displayed;
use kernel::directory::Human;
use kernel::question::{Question, QuestionBody};
use kernel::{Actor, Ask, AskCommand, AskId, Command, HumanId, Refusal, form};
use serde::Deserialize;
use store::{JobOutcome, StoreError};
use views::answer_form::problem::ProblemLocation;
use views::answer_form::second_step::{self, SEALED_VALUES, SecondStep};
use views::answer_form::{AnswerFormContext, CLOSE, submitted};
use views::banner::ActionOutcome;
use views::request::{self, claim};
use views::site::paths;
use views::{AnswerDraft, FormProblems, SubmittedForm, message_page, t};

use super::bot_detection::is_person;
use super::form_files::{FileNotStored, RejectedFiles, with_retry_after};
use super::sign_in::passkeys;
use super::{PageResult, Visitor, html, page, parts, undo};
use crate::http::AppState;
use crate::http::pages::request::related::note_viewing;
use crate::http::pages::sealed_values::SealedValues;
use crate::http::pages::sign_in::passkeys::PasskeyPages;
use crate::http::pages::undo::answered_notice;
use crate::http::pages::visitor::{AskForm, Visitors};
use crate::http::posted_form::PostedForm;
use crate::http::uploads::AnswerUploads;

/// The routes of one request.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/asks/{id}", get(show))
        .route("/asks/{id}/answer", get(back).post(answer))
        .route("/asks/{id}/undo", get(back).post(undo::undo_one))
        .route("/asks/{id}/confirm", get(back).post(passkeys::confirm))
        .route("/asks/{id}/claim", get(back).post(claim))
        .route("/asks/{id}/assign", get(back).post(assign))
        .route("/asks/{id}/comment", get(back).post(actions::comment))
        .route("/asks/{id}/pick", get(back).post(actions::pick))
        .route("/asks/{id}/extend", get(back).post(actions::extend))
        .route("/asks/{id}/snooze", get(back).post(actions::snooze))
        .route("/asks/{id}/looking", get(back).post(actions::looking))
        .route("/asks/{id}/end", get(live::follow))
        .route("/asks/{id}/receipt", get(actions::receipt))
        .route("/asks/{id}/files/{digest}", get(actions::file))
}

/// How long the secrets and uploads that a browser carries between two steps are valid.
const HELD_SECONDS: u64 = 24 * 60 * 60;
/// The purpose that they are sealed for.
const HELD_PURPOSE: &str = "held answer";

/// Shows the request. It then counts as opened, unless a bot loads the page. Loading
/// it never decides anything.
async fn show(
    State(visitors): State<Arc<Visitors>>,
    State(request_pages): State<Arc<RequestPages>>,
    Path(id): Path<String>,
    Query(visit): Query<RequestQuery>,
    from: Request,
) -> PageResult {
    let visitor = visitors.visitor(from.headers()).await?;
    let mut ask = visitors.visible_ask(&visitor, &id).await?;
    let mine = ask.held_by() == Some(&visitor.human.id);
    if ask.is_open() && !mine && is_person(from.method(), from.headers()) {
        note_viewing(&request_pages.gateway, &visitor, ask.id, true).await?;
        let looked =
            request_pages.gateway.run(visitor.actor.clone(), AskCommand::Open(ask.id)).await;
        if let Ok(Some(opened)) = looked.map(|outcome| outcome.ask) {
            ask = Arc::new(opened);
        }
    }
    let said = if mine || visit.sent.is_some() {
        answered_notice(&request_pages.gateway, &visitor, &ask, None).await?
    } else {
        None
    };
    let check = visit.verify.is_some();
    let page = RequestPageState { notice: said.as_ref(), check, ..RequestPageState::default() };
    request_pages.page_with(&visitor, &ask, StatusCode::OK, page).await
}

#[derive(Deserialize)]
struct RequestQuery {
    verify: Option<String>,
    sent: Option<String>,
}

/// The parts of the page besides the request itself.
#[derive(Default)]
pub(super) struct RequestPageState<'a> {
    /// The result of the last action, or why it was refused.
    pub(super) notice: Option<&'a ActionOutcome>,
    /// The input of the last form.
    pub(super) draft: Option<&'a AnswerDraft>,
    /// The second step, shown in place of the answer form.
    pub(super) step: Option<&'a SecondStep>,
    /// Whether to verify the receipt.
    pub(super) check: bool,
}

/// A browser that reloads the address of a refused form gets the question again.
async fn back(Path(id): Path<String>) -> Response {
    match id.parse::<AskId>() {
        Ok(id) => Redirect::to(&paths::request(id)).into_response(),
        Err(_) => Redirect::to(paths::INBOX).into_response(),
    }
}

/// The longest reason for closing a request, in characters.
const LONGEST_REASON: usize = 1000;

/// `POST /asks/{id}/answer`
async fn answer(
    State(uploads): State<Arc<AnswerUploads>>,
    State(passkey_pages): State<Arc<PasskeyPages>>,
    State(sealed_values): State<Arc<SealedValues>>,
    State(request_pages): State<Arc<RequestPages>>,
    Path(id): Path<String>,
    from: Request,
) -> PageResult {
    let (headers, body) = parts(from);
    let visitor = request_pages.visitors.visitor(&headers).await?;
    let ask = request_pages.visitors.visible_ask(&visitor, &id).await?;
    let Some(question) = ask.question.value() else {
        return Err(page(StatusCode::NOT_FOUND, message_page::not_found(&visitor.frame)));
    };
    let back = paths::request(ask.id);
    let PostedForm { form: mut submitted, files, too_large, .. } = request_pages
        .visitors
        .posted(&visitor, &headers, body, &back, &file_fields(question))
        .await?;
    let closes = submitted.value("action") == Some(CLOSE);
    // Files are stored before the answer is decided, so that no answer names a missing file.
    let not_kept = if closes {
        None
    } else {
        let kept =
            uploads.store_files(&ask, &visitor.actor, &mut submitted, files, &too_large).await;
        kept.map_err(|FileNotStored| {
            let shown = message_page::unavailable(&visitor.frame);
            page(StatusCode::SERVICE_UNAVAILABLE, shown)
        })?
    };
    request_pages.restore_form_secrets(&visitor, &ask, &mut submitted);
    let drafted = |problem: FormProblems| {
        let carried = request_pages.seal_form_secrets(&visitor, &ask, question, &submitted);
        AnswerDraft::new(question, &submitted, problem)
            .with_sealed_values(question, &submitted, carried)
    };
    let refuse = async |ask: &Ask, problem: FormProblems| {
        let draft = drafted(problem);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        request_pages.page(&visitor, ask, status, None, Some(&draft)).await
    };
    if closes {
        let reason = submitted.text("comment").filter(|text| !text.trim().is_empty());
        if reason.as_ref().is_some_and(|text| text.chars().count() > LONGEST_REASON) {
            let message = t!("problem-close-reason", max = LONGEST_REASON);
            return refuse(&ask, FormProblems::one(ProblemLocation::Comment, message)).await;
        }
        let command = AskCommand::Cancel(ask.id, reason);
        return match request_pages.gateway.run(visitor.actor.clone(), command).await {
            Ok(_) => Ok(Redirect::to(&paths::answered(ask.id)).into_response()),
            Err(StoreError::Refused(refusal)) => {
                let draft = drafted(FormProblems::default());
                let now = request_pages.visitors.visible_ask(&visitor, &id).await?;
                let notice = ActionOutcome::Refused(refusal);
                let status = StatusCode::CONFLICT;
                request_pages.page(&visitor, &now, status, Some(&notice), Some(&draft)).await
            }
            Err(error) => Err(error.into()),
        };
    }
    if let Some(RejectedFiles { problem, status, wait }) = not_kept {
        let draft = drafted(problem);
        let page = request_pages.page(&visitor, &ask, status, None, Some(&draft)).await?;
        return Ok(with_retry_after(page, wait));
    }
    if submitted.value("action") == Some("edit") {
        let draft = drafted(FormProblems::default());
        return request_pages.page(&visitor, &ask, StatusCode::OK, None, Some(&draft)).await;
    }
    let reply = match submitted::reply(question, &submitted) {
        Ok(reply) => reply,
        Err(problem) => return refuse(&ask, problem).await,
    };
    let over = submitted.value(claim::OVER).and_then(|text| text.parse().ok());
    if let Some(by) = unseen_claim(&ask, &visitor.human, over.as_ref()) {
        let draft = drafted(FormProblems::default());
        let notice = ActionOutcome::ClaimedMeanwhile(by.clone());
        let status = StatusCode::CONFLICT;
        return request_pages.page(&visitor, &ask, status, Some(&notice), Some(&draft)).await;
    }
    let guarded = second_step::takes_passkey(&ask, &reply.answer) || !ask.is_open();
    let desk = AnswerFormContext::inbox(ask.id, &visitor.frame);
    let before =
        sealed_values.before_step(&visitor.session.to_string(), &ask, &reply, &submitted, guarded);
    if let Some(mut step) = SecondStep::if_required(&ask, &reply, &submitted, desk, before) {
        let held = request_pages.seal_form_secrets(&visitor, &ask, question, &submitted);
        step.hidden.extend(held.map(|sealed| (SEALED_VALUES.to_owned(), sealed)));
        let page = RequestPageState { step: Some(&step), ..RequestPageState::default() };
        return request_pages.page_with(&visitor, &ask, StatusCode::OK, page).await;
    }
    // The page asks for the passkey that the kernel would require. The kernel checks the result
    // again.
    if second_step::takes_passkey(&ask, &reply.answer) && ask.is_open() {
        return Ok(passkey_pages.step_up_page(&visitor, &ask, reply, over));
    }
    let command = AskCommand::HoldAnswer(ask.id, Box::new(reply));
    match answer_unless_claimed(
        &request_pages.gateway,
        &visitor,
        &visitor.actor,
        &ask,
        over.as_ref(),
        command,
    )
    .await
    {
        Ok(_) => Ok(Redirect::to(&paths::answered(ask.id)).into_response()),
        Err(StoreError::Refused(refusal)) => {
            if let Some(problem) = FormProblems::of_refusal(&refusal, question) {
                return refuse(&ask, problem).await;
            }
            // Another answer came first: show it, and keep the input of this person.
            let draft = drafted(FormProblems::default());
            let now = request_pages.visitors.visible_ask(&visitor, &id).await?;
            let notice = refused(refusal, &now, &visitor.human);
            let status = StatusCode::CONFLICT;
            request_pages.page(&visitor, &now, status, Some(&notice), Some(&draft)).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /asks/{id}/claim`
async fn claim(
    State(request_pages): State<Arc<RequestPages>>,
    AskForm { visitor, ask, .. }: AskForm,
) -> PageResult {
    request_pages
        .run_and_show(&visitor, &ask, AskCommand::Claim(ask.id), ActionOutcome::Taken)
        .await
}

/// `POST /asks/{id}/assign`
async fn assign(
    State(request_pages): State<Arc<RequestPages>>,
    AskForm { visitor, ask, form: submitted }: AskForm,
) -> PageResult {
    let to = submitted.value("to").and_then(|to| to.parse::<HumanId>().ok());
    let Some(to) = to else {
        let expected = "a person who is a member of this project";
        let notice = ActionOutcome::Refused(Refusal::Invalid { field: "to", expected });
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return request_pages.page(&visitor, &ask, status, Some(&notice), None).await;
    };
    let note = submitted.text("note").filter(|text| !text.trim().is_empty());
    let command = AskCommand::Assign(ask.id, to.clone(), note);
    request_pages.run_and_show(&visitor, &ask, command, ActionOutcome::Handed(to)).await
}

/// The person who has claimed the request that its owner is about to answer, unless the owner was
/// shown that claim (`over`). The kernel refuses an answer over a claim from anyone but the owner.
fn unseen_claim<'a>(ask: &'a Ask, human: &Human, over: Option<&HumanId>) -> Option<&'a HumanId> {
    let by = ask.claimed_by_other(human)?;
    // While an answer is held, the kernel refuses every other one and gives that reason.
    if !ask.is_open() || human.id != ask.owner || ask.held.is_some() {
        return None;
    }
    Some(by).filter(|by| over != Some(*by))
}

/// The outcome to show for a refused answer: the owner is asked again, anyone else learns
/// who has claimed it.
pub(super) fn refused(refusal: Refusal, ask: &Ask, human: &Human) -> ActionOutcome {
    match refusal {
        Refusal::TakenBy { by } if human.id == ask.owner => ActionOutcome::ClaimedMeanwhile(by),
        refusal => ActionOutcome::Refused(refusal),
    }
}

/// The most attempts at an answer if the request changes at the same moment.
const ATTEMPTS: usize = 5;

/// Renders the page of a request.
pub struct RequestPages {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) receipts: Receipts,
    pub(in crate::http) sealed_values: Arc<SealedValues>,
    pub(in crate::http) visitors: Arc<Visitors>,
}

impl RequestPages {
    /// Seals the secrets and uploads of a form for its browser to carry; `None` if there are none.
    fn seal_form_secrets(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        question: &Question,
        sent: &SubmittedForm,
    ) -> Option<String> {
        let held = second_step::hidden_values(question, sent);
        let holder = format!("{} {}", visitor.session, ask.id);
        if held.is_empty() {
            return None;
        }
        self.sealed_values.seal_for_seconds(HELD_SECONDS, HELD_PURPOSE, &holder, held)
    }

    /// Adds the sealed secrets and uploads that a form carries. If they cannot be opened any more,
    /// they are ignored and the fields are asked for again.
    fn restore_form_secrets(&self, visitor: &Visitor, ask: &Ask, sent: &mut SubmittedForm) {
        let holder = format!("{} {}", visitor.session, ask.id);
        let held = sent
            .value(SEALED_VALUES)
            .and_then(|sealed| self.sealed_values.open(HELD_PURPOSE, &holder, sealed));
        if let Some(held) = held {
            sent.restore(held);
        }
    }

    pub(super) async fn run_and_show(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        command: impl Into<Command>,
        done: ActionOutcome,
    ) -> PageResult {
        let (ask, notice, status) = match self.gateway.run(visitor.actor.clone(), command).await {
            Ok(outcome) => (outcome.ask.unwrap_or_else(|| ask.clone()), done, StatusCode::OK),
            Err(StoreError::Refused(refusal)) => {
                let now = self.visitors.visible_ask(visitor, &ask.id.to_string()).await?;
                (Arc::unwrap_or_clone(now), ActionOutcome::Refused(refusal), StatusCode::CONFLICT)
            }
            Err(error) => return Err(error.into()),
        };
        self.page(visitor, &ask, status, Some(&notice), None).await
    }

    pub(super) async fn page(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        status: StatusCode,
        notice: Option<&ActionOutcome>,
        draft: Option<&AnswerDraft>,
    ) -> PageResult {
        let page = RequestPageState { notice, draft, ..RequestPageState::default() };
        self.page_with(visitor, ask, status, page).await
    }

    /// The page with everything related to the request.
    pub(super) async fn page_with(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        status: StatusCode,
        shown: RequestPageState<'_>,
    ) -> PageResult {
        let around = self.related(visitor, ask, shown.check).await?;
        let RequestPageState { notice, draft, step, .. } = shown;
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
        let view = request::RequestPage {
            ask,
            me,
            directory: &directory,
            people: &people,
            notice,
            draft,
            around: &around,
            step,
        };
        Ok(html(status, request::page(&visitor.frame, &view)))
    }
}

/// Answers from a page that displays the whole question. The owner of the agent answers over a
/// claim only if they were shown who holds it (`over`), even if the claim was made
/// at the same moment.
pub(super) async fn answer_unless_claimed(
    gateway: &Gateway,
    visitor: &Visitor,
    actor: &Actor,
    ask: &Ask,
    over: Option<&HumanId>,
    command: AskCommand,
) -> Result<JobOutcome, StoreError> {
    answer_with_shown(gateway, Displayed::Question, visitor, actor, ask, over, command).await
}

/// Like [`answer_unless_claimed`], from a page that displays as much of the
/// question as `shown` says.
pub(super) async fn answer_with_shown(
    gateway: &Gateway,
    shown: Displayed,
    visitor: &Visitor,
    actor: &Actor,
    ask: &Ask,
    over: Option<&HumanId>,
    command: AskCommand,
) -> Result<JobOutcome, StoreError> {
    let me = &visitor.human;
    if me.id != ask.owner {
        let terms = CommandConditions { shown, ..CommandConditions::default() };
        return gateway.run_with_conditions(terms, actor.clone(), command).await;
    }
    let mut ask = Arc::new(ask.clone());
    let mut last = Refusal::NotFound { what: "request" };
    for _ in 0..ATTEMPTS {
        if let Some(by) = unseen_claim(&ask, me, over) {
            return Err(StoreError::Refused(Refusal::TakenBy { by: by.clone() }));
        }
        let terms = CommandConditions {
            expected: Some(ask.version()),
            shown,
            ..CommandConditions::default()
        };
        match gateway.run_with_conditions(terms, actor.clone(), command.clone()).await {
            Err(StoreError::Refused(refusal @ Refusal::Changed { .. })) => last = refusal,
            decided => return decided,
        }
        match gateway.ask(ask.id).await? {
            Some(now) => ask = now,
            None => break,
        }
    }
    Err(StoreError::Refused(last))
}

/// The names under which files of this question's form are posted.
pub(super) fn file_fields(question: &Question) -> Vec<String> {
    let QuestionBody::Provide { form } = question.body() else { return Vec::new() };
    let files = form.fields().filter(|field| matches!(field.kind(), form::FieldKind::File));
    files.map(|field| format!("field.{}", field.key())).collect()
}
