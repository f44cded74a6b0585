//! One request: `GET /asks/{id}`, and the forms on its page.

use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use kernel::directory::Human;
use kernel::question::{Answer, Body, Question};
use kernel::{Ask, AskId, Assurance, Command, HumanId, Refusal, form};
use serde::Deserialize;
use store::StoreError;

use super::machine::is_person;
use super::{Page, Visitor, html, page, parts};
use crate::http::submitted::Posted;
use crate::http::uploads::Unkept;
use crate::http::{App, Shared};
use crate::web::notices::{self, Notice};
use crate::web::request_changes::Step;
use crate::web::{Draft, FormProblem, form_body, paths, request};

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
        let looked = app.gateway.run(visitor.actor.clone(), Command::Open(ask.id)).await;
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
    /// The step in place of the answer card.
    pub(super) step: Option<&'a Step>,
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
        return Err(page(StatusCode::NOT_FOUND, notices::not_found(&visitor.frame)));
    };
    let back = paths::request(ask.id);
    let Posted { form: submitted, files, .. } =
        app.posted(&visitor, &headers, body, &back, &file_fields(question)).await?;
    let refuse = async |ask: &Ask, problem: FormProblem| {
        let draft = Draft::new(question, &submitted, problem);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        app.request_page(&visitor, ask, status, None, Some(&draft)).await
    };
    if submitted.value("action") == Some("edit") {
        let draft = Draft::new(question, &submitted, FormProblem::default());
        return app.request_page(&visitor, &ask, StatusCode::OK, None, Some(&draft)).await;
    }
    let reply = match form_body::reply(question, &submitted) {
        Ok(reply) => reply,
        Err(problem) => return refuse(&ask, problem).await,
    };
    if let (Body::Approve { details, editable, .. }, Answer::Approved { edits: Some(edits) }) =
        (question.body(), &reply.answer)
        && let Some(step) = Step::wanted(details, editable.form(), edits, &submitted)
    {
        let page = Shown { step: Some(&step), ..Shown::default() };
        return app.request_page_with(&visitor, &ask, StatusCode::OK, page).await;
    }
    // Kept before the answer is decided: an answer never names a file we do not have.
    for file in files {
        app.keep_upload(ask.id, file).await.map_err(|Unkept| {
            let shown = notices::unavailable(&visitor.frame);
            page(StatusCode::SERVICE_UNAVAILABLE, shown)
        })?;
    }
    // What the kernel would refuse is asked for first. It judges again what comes back.
    if ask.floor == Assurance::Passkey && ask.is_open() {
        return Ok(app.step_up_page(&visitor, &ask, reply));
    }
    let command = Command::HoldAnswer(ask.id, Box::new(reply));
    match app.gateway.run(visitor.actor.clone(), command).await {
        Ok(_) => Ok(Redirect::to(&paths::answered(ask.id)).into_response()),
        Err(StoreError::Refused(refusal)) => {
            if let Some(problem) = FormProblem::of_refusal(&refusal, question) {
                return refuse(&ask, problem).await;
            }
            // A lost race: show who won, with what this person had written kept.
            let draft = Draft::new(question, &submitted, FormProblem { problems: Vec::new() });
            let now = app.seen_by(&visitor, &id).await?;
            let notice = Notice::Refused(refusal);
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
    app.acted(&visitor, &ask, Command::Claim(ask.id), Notice::Taken).await
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
    let command = Command::Assign(ask.id, to.clone(), note);
    app.acted(&visitor, &ask, command, Notice::Handed(to)).await
}

impl App {
    pub(super) async fn acted(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        command: Command,
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
