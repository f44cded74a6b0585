//! The actions of the forms on the review page: answering, going from step to step, saving a draft,
//! and closing the request without an answer.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use gateway::CommandConditions;
use kernel::ask::DisplayedContent;
use kernel::form::Form;
use kernel::question::{AnswerError, Question, QuestionBody};
use kernel::verification::SubmitPath;
use kernel::{Ask, AskCommand, Assurance, Refusal};
use store::StoreError;
use views::answer_form::problem::FormProblems;
use views::answer_form::second_step::{SECOND_STEP_PROOF, SecondStep};
use views::answer_form::{AnswerFormContext, steps, submitted};
use views::banner::ActionOutcome;
use views::review::ReviewDraft;
use views::site::paths;
use views::{SubmittedForm, message_page};

use super::{Guest, guest_error};
use crate::http::pages::form_files::{FileNotStored, RejectedFiles, with_retry_after};
use crate::http::pages::review::ReviewPages;
use crate::http::pages::{PageError, PageResult};
use crate::http::posted_form::PostedForm;
use crate::http::uploads::AnswerUploads;

/// Executes the action of the pressed button.
pub(super) async fn act(
    pages: &ReviewPages,
    uploads: &AnswerUploads,
    guest: &Guest,
    ask: &Ask,
    posted: PostedForm,
) -> PageResult {
    let PostedForm { form: mut sent, files, too_large, .. } = posted;
    let action = sent.value("action").unwrap_or_default().to_owned();
    if action == "cancel" {
        return pages.decline(guest, ask, &sent).await;
    }
    if action == "pick" {
        return pages.pick_by_link(guest, ask, &sent).await;
    }
    let Some(question) = ask.question.value() else {
        return pages
            .answered_elsewhere(guest, ask, Refusal::NotFound { what: "request" }, None)
            .await;
    };
    let mut kept = pages.load_draft(ask).await?;
    let turn = ReviewSubmission { pages, guest, ask, question };
    match action.as_str() {
        "verify" => return turn.verify(kept, &sent).await,
        "change" => return turn.change(kept).await,
        _ => {}
    }
    // Files are stored before anything is decided, so that no answer names a missing file.
    let not_kept = uploads.store_files(ask, &guest.holder, &mut sent, files, &too_large).await;
    let not_kept = not_kept.map_err(|FileNotStored| {
        let shown = message_page::unavailable(&guest.frame);
        guest_error(StatusCode::SERVICE_UNAVAILABLE, &guest.frame, shown)
    })?;
    kept.merge(question, sent.clone());
    let step = kept.step;
    if let Some(RejectedFiles { problem, status, wait }) = not_kept {
        if action == "draft" {
            if ask.is_open() {
                turn.save_draft(&kept).await?;
            }
            return Ok(with_retry_after(status.into_response(), wait));
        }
        let mut page = turn.refused(&kept, problem).await?;
        if page.status() == StatusCode::UNPROCESSABLE_ENTITY {
            *page.status_mut() = status;
        }
        return Ok(with_retry_after(page, wait));
    }
    match (action.as_str(), question.body()) {
        ("draft", _) => {
            if ask.is_open() {
                turn.save_draft(&kept).await?;
            }
            Ok(StatusCode::NO_CONTENT.into_response())
        }
        ("save", _) => turn.go_to_step(kept, step, "saved").await,
        ("edit", _) => turn.go_to_step(kept, step, "").await,
        ("back", QuestionBody::Provide { form }) => {
            let before =
                kept.filled(question).and_then(|filled| steps::previous_step(form, &filled, step));
            turn.go_to_step(kept, before.unwrap_or(step), "").await
        }
        ("next", QuestionBody::Provide { form }) => turn.next(form, kept).await,
        (_, QuestionBody::Provide { form }) => {
            // The person has not seen a step that applies only since this input.
            let filled = kept.filled(question);
            if filled.is_some_and(|filled| steps::next_step(form, &filled, step).is_some()) {
                return turn.next(form, kept).await;
            }
            let mut whole = kept.form.clone();
            whole.pairs.push(("action".to_owned(), action));
            whole.pairs.extend(
                sent.value(SECOND_STEP_PROOF)
                    .map(|sure| (SECOND_STEP_PROOF.to_owned(), sure.to_owned())),
            );
            turn.answer(&whole, &kept, false).await
        }
        (
            _,
            QuestionBody::Approve { .. }
            | QuestionBody::Choose { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Escalate { .. }
            | QuestionBody::Converse,
        ) => turn.answer(&sent, &kept, false).await,
    }
}

/// One submitted form, by one person, about one question.
pub(super) struct ReviewSubmission<'a> {
    pub(super) pages: &'a ReviewPages,
    pub(super) guest: &'a Guest,
    pub(super) ask: &'a Ask,
    pub(super) question: &'a Question,
}

impl ReviewSubmission<'_> {
    async fn save_draft(&self, kept: &ReviewDraft) -> Result<(), PageError> {
        Ok(self.pages.save_draft(self.ask, self.question, kept).await?)
    }

    /// Saves the input and continues at another step.
    pub(super) async fn go_to_step(
        &self,
        mut kept: ReviewDraft,
        step: usize,
        done: &str,
    ) -> PageResult {
        let Self { pages, guest, ask, question } = *self;
        kept.step = kept.nearest_step(question, step);
        match pages.save_draft(ask, question, &kept).await {
            Ok(()) => {}
            Err(StoreError::Refused(refusal)) => {
                return pages.answered_elsewhere(guest, ask, refusal, Some(&kept)).await;
            }
            Err(error) => return Err(error.into()),
        }
        if guest.remembered {
            return Ok(redirect_to_page(guest, &format!("?step={}&done={done}", kept.step)));
        }
        let notice = (done == "saved").then_some(ActionOutcome::Saved);
        Ok(pages.page(guest, ask, StatusCode::OK, kept.step, notice.as_ref(), &kept))
    }

    /// Continues at the next step, if this one has no problems.
    async fn next(&self, form: &Form, kept: ReviewDraft) -> PageResult {
        let step = kept.step;
        let wrong = form.validate(&submitted::values(form, &kept.form)).err().unwrap_or_default();
        let problem = FormProblems::of(&AnswerError::Fields(wrong), self.question)
            .for_fields(|key| steps::step_of(form, key) == Some(step));
        if problem.problems.is_empty() {
            let filled = kept.filled(self.question);
            let after = filled.and_then(|filled| steps::next_step(form, &filled, step));
            return self.go_to_step(kept, after.unwrap_or(step), "").await;
        }
        self.refused(&kept, problem).await
    }

    /// The page again with its problems. The input is saved nevertheless.
    async fn refused(&self, kept: &ReviewDraft, problem: FormProblems) -> PageResult {
        let Self { pages, guest, ask, question } = *self;
        if let Err(error) = pages.save_draft(ask, question, kept).await {
            return match error {
                StoreError::Refused(refusal) => {
                    pages.answered_elsewhere(guest, ask, refusal, Some(kept)).await
                }
                error => Err(error.into()),
            };
        }
        let mut step = kept.step;
        let mut problem = problem;
        if let QuestionBody::Provide { form } = question.body() {
            let first = problem.first_field().and_then(|key| steps::step_of(form, key));
            step = first.unwrap_or(step);
            problem = problem.for_fields(|key| steps::step_of(form, key) == Some(step));
        }
        let draft = kept.draft(question, problem);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Ok(pages.page_with(guest, ask, status, step, None, Some(&draft)))
    }

    /// Sends an answer. `confirmed` says whether the button of the step for proofs was pressed.
    pub(super) async fn answer(
        &self,
        sent: &SubmittedForm,
        kept: &ReviewDraft,
        confirmed: bool,
    ) -> PageResult {
        let Self { pages, guest, ask, question } = *self;
        if let Err(refusal) = ask.check_open(pages.gateway.now()) {
            return pages.answered_elsewhere(guest, ask, refusal, Some(kept)).await;
        }
        let reply = match submitted::reply(question, sent) {
            Ok(reply) => reply,
            Err(problem) => return self.refused(kept, problem).await,
        };
        let holder = guest.holder.clone();
        // A missing sign-in, for which the kernel would refuse, is reported before anything is
        // confirmed.
        let worth = ask.proven_by(&holder, &pages.gateway.directory());
        let have = worth.map_or(Assurance::None, |(_, assurance)| assurance);
        if let Err(refusal) = ask.check_assurance(&reply.answer, have) {
            return pages.answered_elsewhere(guest, ask, refusal, Some(kept)).await;
        }
        let proven = ask.verification.as_ref().zip(SubmitPath::of(&holder));
        let demanded =
            proven.is_some_and(|(it, door)| it.requires_proofs(door, reply.answer.stance()));
        let desk = AnswerFormContext::link(&guest.case_id, &guest.token, kept.step);
        let before = pages.sealed_values.before_step(&guest.token, ask, &reply, sent, demanded);
        let step = SecondStep::if_required(ask, &reply, sent, desk, before);
        if let Some(step) = step.filter(|_| !confirmed) {
            return match pages.save_draft(ask, question, kept).await {
                Ok(()) => Ok(pages.second_step_page(guest, ask, &step)),
                Err(StoreError::Refused(refusal)) => {
                    pages.answered_elsewhere(guest, ask, refusal, Some(kept)).await
                }
                Err(error) => Err(error.into()),
            };
        }
        let came = self.presented(kept, &reply).await?;
        let command = AskCommand::AnswerWithProofs(ask.id, Box::new(reply.clone()), came.clone());
        let terms =
            CommandConditions { shown: DisplayedContent::Question, ..CommandConditions::default() };
        match pages.gateway.run_with_conditions(terms, holder, command).await {
            Ok(outcome) => {
                let ask = outcome.ask.as_ref().unwrap_or(ask);
                Ok(pages.done(guest, ask, "sent", &ActionOutcome::Sent))
            }
            Err(StoreError::Refused(
                Refusal::VerificationRequired { .. } | Refusal::VerificationFailed { .. },
            )) => self.confirm(sent, kept, &reply, &came, confirmed).await,
            Err(StoreError::Refused(refusal)) => {
                if let Some(problem) = FormProblems::of_refusal(&refusal, question) {
                    return self.refused(kept, problem).await;
                }
                pages.answered_elsewhere(guest, ask, refusal, Some(kept)).await
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Redirects to the page, at an address that can be reloaded.
pub(super) fn redirect_to_page(guest: &Guest, query: &str) -> Response {
    Redirect::to(&format!("{}{query}", paths::review(&guest.case_id))).into_response()
}

impl ReviewPages {
    async fn decline(&self, guest: &Guest, ask: &Ask, sent: &SubmittedForm) -> PageResult {
        let reason = sent.text("reason").filter(|text| !text.trim().is_empty());
        let holder = guest.holder.clone();
        match self.gateway.run(holder, AskCommand::Cancel(ask.id, reason)).await {
            Ok(outcome) => {
                let ask = outcome.ask.as_ref().unwrap_or(ask);
                Ok(self.done(guest, ask, "closed", &ActionOutcome::TurnedDown))
            }
            Err(StoreError::Refused(refusal)) => {
                self.answered_elsewhere(guest, ask, refusal, None).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// One of the agent's actions, by its index. The saved input stays as it is.
    async fn pick_by_link(&self, guest: &Guest, ask: &Ask, sent: &SubmittedForm) -> PageResult {
        let place = sent.value("pick").and_then(|place| place.parse().ok());
        let command = AskCommand::Pick(ask.id, place.unwrap_or(usize::MAX));
        match self.gateway.run(guest.holder.clone(), command).await {
            Ok(outcome) => {
                let ask = outcome.ask.as_ref().unwrap_or(ask);
                if guest.remembered {
                    return Ok(redirect_to_page(guest, "?done=picked"));
                }
                let kept = self.load_draft(ask).await?;
                let notice = Some(&ActionOutcome::Picked);
                Ok(self.page(guest, ask, StatusCode::OK, kept.step, notice, &kept))
            }
            Err(StoreError::Refused(refusal)) => {
                self.answered_elsewhere(guest, ask, refusal, None).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The page of a closed request, at an address that can be reloaded if the browser keeps the
    /// link.
    fn done(&self, guest: &Guest, ask: &Ask, done: &str, notice: &ActionOutcome) -> Response {
        if guest.remembered {
            return redirect_to_page(guest, &format!("?done={done}"));
        }
        self.page(guest, ask, StatusCode::OK, 0, Some(notice), &ReviewDraft::default())
    }

    /// Another person answered first, or the request expired: the page shows the outcome together
    /// with this person's input.
    pub(super) async fn answered_elsewhere(
        &self,
        guest: &Guest,
        ask: &Ask,
        refusal: Refusal,
        kept: Option<&ReviewDraft>,
    ) -> PageResult {
        let status = match &refusal {
            Refusal::TimedOut { .. } => StatusCode::GONE,
            Refusal::AssuranceTooLow { .. }
            | Refusal::ApprovalTooWeak { .. }
            | Refusal::NotAllowed { .. } => StatusCode::FORBIDDEN,
            Refusal::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::CONFLICT,
        };
        let now = self.gateway.ask(ask.id).await?;
        let ask = now.as_deref().unwrap_or(ask);
        let notice = match refusal {
            Refusal::BeingAnswered { .. } => ActionOutcome::JustAnswered,
            refusal => ActionOutcome::Refused(refusal),
        };
        let question = ask.question.value();
        let draft = kept
            .zip(question)
            .map(|(kept, question)| kept.draft(question, FormProblems::default()));
        let step = kept.map_or(0, |kept| kept.step);
        Ok(self.page_with(guest, ask, status, step, Some(&notice), draft.as_ref()))
    }
}
