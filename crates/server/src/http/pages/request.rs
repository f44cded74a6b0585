//! One request: `GET /asks/{id}`, and the forms on its page.

use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use gateway::Terms;
use kernel::ask::Shown as Displayed;
use kernel::directory::Human;
use kernel::question::{Body, Question};
use kernel::{Actor, Ask, AskCommand, AskId, Command, HumanId, Refusal, form};
use serde::Deserialize;
use store::{Outcome, StoreError};

use super::files::{NotKept, Unkept, again_after};
use super::machine::is_person;
use super::{Page, Visitor, html, page, parts};
use crate::http::submitted::Posted;
use crate::http::{App, Shared};
use views::answer_form::problem::Place;
use views::answer_form::second_step::{self, HELD, SecondStep};
use views::answer_form::submitted;
use views::answer_form::{CLOSE, Desk};
use views::banner::Notice;
use views::message_page;
use views::request::claim;
use views::site::paths;
use views::{Draft, FormProblem, Submitted, request};

/// How long a browser carries secrets and uploads between two steps.
const HELD_SECONDS: u64 = 24 * 60 * 60;
/// What they are sealed for.
const HELD_PURPOSE: &str = "held answer";

/// Looking counts as opened unless a machine looks; it never decides anything.
pub(super) async fn show_request(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Query(visit): Query<Visit>,
    from: Request,
) -> Page {
    let visitor = app.visitor(from.headers()).await?;
    let mut ask = app.seen_by(&visitor, &id).await?;
    let mine = ask.held_by() == Some(&visitor.human.id);
    if ask.is_open() && !mine && is_person(from.method(), from.headers()) {
        app.note_look(&visitor, ask.id, true).await?;
        let looked = app.gateway.run(visitor.actor.clone(), AskCommand::Open(ask.id)).await;
        if let Ok(Some(opened)) = looked.map(|outcome| outcome.ask) {
            ask = Arc::new(opened);
        }
    }
    let said = if mine || visit.sent.is_some() {
        app.answered_notice(&visitor, &ask, None).await?
    } else {
        None
    };
    let check = visit.verify.is_some();
    let page = Shown { notice: said.as_ref(), check, ..Shown::default() };
    app.request_page_with(&visitor, &ask, StatusCode::OK, page).await
}

#[derive(Deserialize)]
pub(super) struct Visit {
    verify: Option<String>,
    sent: Option<String>,
}

/// What a page shows beside the request itself.
#[derive(Default)]
pub(super) struct Shown<'a> {
    /// What just happened, or was refused.
    pub(super) notice: Option<&'a Notice>,
    /// What was entered before.
    pub(super) draft: Option<&'a Draft>,
    /// The second step in place of the answer card.
    pub(super) step: Option<&'a SecondStep>,
    /// Whether the receipt is checked.
    pub(super) check: bool,
}

/// Whoever reloads the address of a form that was refused gets the question again.
pub(super) async fn back_to_request(Path(id): Path<String>) -> Response {
    match id.parse::<AskId>() {
        Ok(id) => Redirect::to(&paths::request(id)).into_response(),
        Err(_) => Redirect::to(paths::INBOX).into_response(),
    }
}

/// The longest reason a request is closed with, in characters.
const LONGEST_REASON: usize = 1000;

/// `POST /asks/{id}/answer`
pub(super) async fn answer(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.visitor(&headers).await?;
    let ask = app.seen_by(&visitor, &id).await?;
    let Some(question) = ask.question.value() else {
        return Err(page(StatusCode::NOT_FOUND, message_page::not_found(&visitor.frame)));
    };
    let back = paths::request(ask.id);
    let Posted { form: mut submitted, files, too_large, .. } =
        app.posted(&visitor, &headers, body, &back, &file_fields(question)).await?;
    let closes = submitted.value("action") == Some(CLOSE);
    // Kept before the answer is decided: an answer never names a file we do not have.
    let not_kept = if closes {
        None
    } else {
        let kept = app.keep_files(&ask, &visitor.actor, &mut submitted, files, &too_large).await;
        kept.map_err(|Unkept| {
            let shown = message_page::unavailable(&visitor.frame);
            page(StatusCode::SERVICE_UNAVAILABLE, shown)
        })?
    };
    app.restore_held(&visitor, &ask, &mut submitted);
    let drafted = |problem: FormProblem| {
        let carried = app.hold(&visitor, &ask, question, &submitted);
        Draft::new(question, &submitted, problem).carrying(question, &submitted, carried)
    };
    let refuse = async |ask: &Ask, problem: FormProblem| {
        let draft = drafted(problem);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        app.request_page(&visitor, ask, status, None, Some(&draft)).await
    };
    if closes {
        let reason = submitted.text("comment").filter(|text| !text.trim().is_empty());
        if reason.as_ref().is_some_and(|text| text.chars().count() > LONGEST_REASON) {
            let message = "At most 1000 characters, to close the request with it";
            return refuse(&ask, FormProblem::one(Place::Comment, message)).await;
        }
        let command = AskCommand::Cancel(ask.id, reason);
        return match app.gateway.run(visitor.actor.clone(), command).await {
            Ok(_) => Ok(Redirect::to(&paths::answered(ask.id)).into_response()),
            Err(StoreError::Refused(refusal)) => {
                let draft = drafted(FormProblem::default());
                let now = app.seen_by(&visitor, &id).await?;
                let notice = Notice::Refused(refusal);
                let status = StatusCode::CONFLICT;
                app.request_page(&visitor, &now, status, Some(&notice), Some(&draft)).await
            }
            Err(error) => Err(error.into()),
        };
    }
    if let Some(NotKept { problem, status, wait }) = not_kept {
        let draft = drafted(problem);
        let page = app.request_page(&visitor, &ask, status, None, Some(&draft)).await?;
        return Ok(again_after(page, wait));
    }
    if submitted.value("action") == Some("edit") {
        let draft = drafted(FormProblem::default());
        return app.request_page(&visitor, &ask, StatusCode::OK, None, Some(&draft)).await;
    }
    let reply = match submitted::reply(question, &submitted) {
        Ok(reply) => reply,
        Err(problem) => return refuse(&ask, problem).await,
    };
    let over = submitted.value(claim::OVER).and_then(|text| text.parse().ok());
    if let Some(by) = unseen_claim(&ask, &visitor.human, over.as_ref()) {
        let draft = drafted(FormProblem::default());
        let notice = Notice::ClaimedMeanwhile(by.clone());
        let status = StatusCode::CONFLICT;
        return app.request_page(&visitor, &ask, status, Some(&notice), Some(&draft)).await;
    }
    let guarded = second_step::takes_passkey(&ask, &reply.answer) || !ask.is_open();
    let desk = Desk::inbox(ask.id, &visitor.frame);
    let before = app.before_step(&visitor.session.to_string(), &ask, &reply, &submitted, guarded);
    if let Some(mut step) = SecondStep::wanted(&ask, &reply, &submitted, desk, before) {
        let held = app.hold(&visitor, &ask, question, &submitted);
        step.hidden.extend(held.map(|sealed| (HELD.to_owned(), sealed)));
        let page = Shown { step: Some(&step), ..Shown::default() };
        return app.request_page_with(&visitor, &ask, StatusCode::OK, page).await;
    }
    // What the kernel would refuse is asked for first. It judges again what comes back.
    if second_step::takes_passkey(&ask, &reply.answer) && ask.is_open() {
        return Ok(app.step_up_page(&visitor, &ask, reply, over));
    }
    let command = AskCommand::HoldAnswer(ask.id, Box::new(reply));
    match app.answer_unless_claimed(&visitor, &visitor.actor, &ask, over.as_ref(), command).await {
        Ok(_) => Ok(Redirect::to(&paths::answered(ask.id)).into_response()),
        Err(StoreError::Refused(refusal)) => {
            if let Some(problem) = FormProblem::of_refusal(&refusal, question) {
                return refuse(&ask, problem).await;
            }
            // A lost race: show who won, with what this person had written kept.
            let draft = drafted(FormProblem::default());
            let now = app.seen_by(&visitor, &id).await?;
            let notice = refused(refusal, &now, &visitor.human);
            let status = StatusCode::CONFLICT;
            app.request_page(&visitor, &now, status, Some(&notice), Some(&draft)).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /asks/{id}/claim`
pub(super) async fn claim(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, ask, _) = app.acting_on(&id, from).await?;
    app.acted(&visitor, &ask, AskCommand::Claim(ask.id), Notice::Taken).await
}

/// `POST /asks/{id}/assign`
pub(super) async fn assign(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, ask, submitted) = app.acting_on(&id, from).await?;
    let to = submitted.value("to").and_then(|to| to.parse::<HumanId>().ok());
    let Some(to) = to else {
        let expected = "a person who is a member of this project";
        let notice = Notice::Refused(Refusal::Invalid { field: "to", expected });
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return app.request_page(&visitor, &ask, status, Some(&notice), None).await;
    };
    let note = submitted.text("note").filter(|text| !text.trim().is_empty());
    let command = AskCommand::Assign(ask.id, to.clone(), note);
    app.acted(&visitor, &ask, command, Notice::Handed(to)).await
}

/// Who has claimed the request that its owner is about to answer, unless they were shown that claim
/// (`over`). Nobody else may answer over a claim: the kernel refuses them.
fn unseen_claim<'a>(ask: &'a Ask, human: &Human, over: Option<&HumanId>) -> Option<&'a HumanId> {
    let by = ask.claimed_by_other(human)?;
    // While an answer is held, the kernel refuses every other one and says so.
    if !ask.is_open() || human.id != ask.owner || ask.held.is_some() {
        return None;
    }
    Some(by).filter(|by| over != Some(*by))
}

/// How a refused answer is reported: the owner is asked again, everybody else learns who has it.
pub(super) fn refused(refusal: Refusal, ask: &Ask, human: &Human) -> Notice {
    match refusal {
        Refusal::TakenBy { by } if human.id == ask.owner => Notice::ClaimedMeanwhile(by),
        refusal => Notice::Refused(refusal),
    }
}

/// How often an answer is judged again when the request changed at that very moment.
const ATTEMPTS: usize = 5;

impl App {
    /// Seals the secrets and uploads of a form for its browser to carry; nothing where there are none.
    fn hold(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        question: &Question,
        sent: &Submitted,
    ) -> Option<String> {
        let held = second_step::held(question, sent);
        let holder = format!("{} {}", visitor.session, ask.id);
        if held.is_empty() {
            return None;
        }
        self.entrust_for(HELD_SECONDS, HELD_PURPOSE, &holder, held)
    }

    /// Takes in the secrets and uploads that a form carries sealed. One that cannot be opened any more
    /// carries nothing, and the fields are asked for again.
    fn restore_held(&self, visitor: &Visitor, ask: &Ask, sent: &mut Submitted) {
        let holder = format!("{} {}", visitor.session, ask.id);
        let held =
            sent.value(HELD).and_then(|sealed| self.entrusted(HELD_PURPOSE, &holder, sealed));
        if let Some(held) = held {
            sent.restore(held);
        }
    }

    /// Answers from a page that displays the whole question. The owner of the agent answers over a claim
    /// only if they were shown who holds it (`over`), also if the claim was made at this very moment.
    pub(super) async fn answer_unless_claimed(
        &self,
        visitor: &Visitor,
        actor: &Actor,
        ask: &Ask,
        over: Option<&HumanId>,
        command: AskCommand,
    ) -> Result<Outcome, StoreError> {
        self.answer_seeing(Displayed::Question, visitor, actor, ask, over, command).await
    }

    /// The same from a page that displays as much of the question as `shown` says.
    pub(super) async fn answer_seeing(
        &self,
        shown: Displayed,
        visitor: &Visitor,
        actor: &Actor,
        ask: &Ask,
        over: Option<&HumanId>,
        command: AskCommand,
    ) -> Result<Outcome, StoreError> {
        let me = &visitor.human;
        if me.id != ask.owner {
            let terms = Terms { shown, ..Terms::default() };
            return self.gateway.run_on(terms, actor.clone(), command).await;
        }
        let mut ask = Arc::new(ask.clone());
        let mut last = Refusal::NotFound { what: "request" };
        for _ in 0..ATTEMPTS {
            if let Some(by) = unseen_claim(&ask, me, over) {
                return Err(StoreError::Refused(Refusal::TakenBy { by: by.clone() }));
            }
            let terms = Terms { expected: Some(ask.version()), shown, ..Terms::default() };
            match self.gateway.run_on(terms, actor.clone(), command.clone()).await {
                Err(StoreError::Refused(refusal @ Refusal::Changed { .. })) => last = refusal,
                decided => return decided,
            }
            match self.gateway.ask(ask.id).await? {
                Some(now) => ask = now,
                None => break,
            }
        }
        Err(StoreError::Refused(last))
    }

    pub(super) async fn acted(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        command: impl Into<Command>,
        done: Notice,
    ) -> Page {
        let (ask, notice, status) = match self.gateway.run(visitor.actor.clone(), command).await {
            Ok(outcome) => (outcome.ask.unwrap_or_else(|| ask.clone()), done, StatusCode::OK),
            Err(StoreError::Refused(refusal)) => {
                let now = self.seen_by(visitor, &ask.id.to_string()).await?;
                (Arc::unwrap_or_clone(now), Notice::Refused(refusal), StatusCode::CONFLICT)
            }
            Err(error) => return Err(error.into()),
        };
        self.request_page(visitor, &ask, status, Some(&notice), None).await
    }

    pub(super) async fn request_page(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        status: StatusCode,
        notice: Option<&Notice>,
        draft: Option<&Draft>,
    ) -> Page {
        let page = Shown { notice, draft, ..Shown::default() };
        self.request_page_with(visitor, ask, status, page).await
    }

    /// The page with all that stands around the request.
    pub(super) async fn request_page_with(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        status: StatusCode,
        shown: Shown<'_>,
    ) -> Page {
        let around = self.around(visitor, ask, shown.check).await?;
        let Shown { notice, draft, step, .. } = shown;
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
        let view = request::Request {
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

/// The names under which files of this question's form are posted.
pub(super) fn file_fields(question: &Question) -> Vec<String> {
    let Body::Provide { form } = question.body() else { return Vec::new() };
    let files = form.fields().filter(|field| matches!(field.kind(), form::Kind::File));
    files.map(|field| format!("field.{}", field.key())).collect()
}
