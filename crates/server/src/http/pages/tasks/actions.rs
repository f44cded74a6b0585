//! The actions on the page of a task. Every form runs the same kernel commands as the protocol's
//! operations, as the person who is signed in.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use gateway::CommandConditions;
use jiff::tz::TimeZone;
use kernel::ask::DisplayedContent;
use kernel::directory::profile_settings::ProfileSettings;
use kernel::task::{AgentInput, Handover, TaskCommand};
use kernel::{Command, Task};
use store::StoreError;
use views::components::task_labels::INTENTS;
use views::site::paths;
use views::tasks::room::TaskActionResult;
use views::tasks::{actions, review};
use views::{SubmittedForm, t};

use super::form_idempotency;
use crate::http::pages::tasks::TaskPages;
use crate::http::pages::{PageResult, Visitor, parts};

/// The command of a form, or the correction it needs.
type FormCommand = Result<TaskCommand, String>;

/// `POST /tasks/{id}/assign`
pub(super) async fn assign(
    State(task_pages): State<Arc<TaskPages>>,
    Path(id): Path<String>,
    from: Request,
) -> PageResult {
    let done = || TaskActionResult::Done(t!("task-assigned"), t!("task-assigned-text"));
    task_pages
        .run_form_command(&id, "assign", from, done, |_, task, sent| {
            let agent = sent.value("agent").and_then(|name| name.parse().ok());
            let agent = agent.ok_or_else(|| t!("task-assign-choose"))?;
            Ok(TaskCommand::Assign(task.id, agent, AgentInput::default()))
        })
        .await
}

/// `POST /tasks/{id}/cancel`
pub(super) async fn cancel(
    State(task_pages): State<Arc<TaskPages>>,
    Path(id): Path<String>,
    from: Request,
) -> PageResult {
    let done = || TaskActionResult::Done(t!("task-cancelled"), t!("task-cancelled-text"));
    task_pages
        .run_form_command(&id, "cancel", from, done, |_, task, sent| {
            let reason = sent.text("reason").filter(|text| !text.trim().is_empty());
            Ok(TaskCommand::Cancel(task.id, reason))
        })
        .await
}

/// `POST /tasks/{id}/interrupt`
pub(super) async fn interrupt(
    State(task_pages): State<Arc<TaskPages>>,
    Path(id): Path<String>,
    from: Request,
) -> PageResult {
    let done = || TaskActionResult::Done(t!("task-interrupted"), t!("task-interrupted-text"));
    task_pages
        .run_form_command(&id, "interrupt", from, done, |_, task, sent| {
            let prompt = text_field(sent, "prompt").ok_or_else(|| t!("task-interrupt-missing"))?;
            Ok(TaskCommand::Interrupt(task.id, prompt))
        })
        .await
}

/// `POST /tasks/{id}/amend`
pub(super) async fn amend(
    State(task_pages): State<Arc<TaskPages>>,
    Path(id): Path<String>,
    from: Request,
) -> PageResult {
    let done = || TaskActionResult::Done(t!("task-amended"), t!("task-amended-text"));
    task_pages
        .run_form_command(&id, "amend", from, done, |_, task, sent| {
            let text = text_field(sent, "text").ok_or_else(|| t!("task-amend-missing"))?;
            let intent = sent.value("intent").unwrap_or_default();
            let intent = INTENTS.into_iter().find(|one| one.as_str() == intent);
            let intent = intent.ok_or_else(|| t!("task-amend-no-intent"))?;
            Ok(TaskCommand::Amend(task.id, text, intent))
        })
        .await
}

/// `POST /tasks/{id}/grant`
pub(super) async fn grant(
    State(task_pages): State<Arc<TaskPages>>,
    Path(id): Path<String>,
    from: Request,
) -> PageResult {
    let done = || TaskActionResult::Done(t!("task-granted"), t!("task-granted-text"));
    task_pages
        .run_form_command(&id, "grant", from, done, |visitor, task, sent| {
            let zone =
                visitor.human.profile_settings().map_or(TimeZone::UTC, ProfileSettings::zone);
            let grant = actions::parse_grant(sent, &zone);
            let grant = grant.ok_or_else(|| t!("task-grant-missing"))?;
            Ok(TaskCommand::Grant(task.id, grant))
        })
        .await
}

/// `POST /tasks/{id}/transfer`
pub(super) async fn transfer(
    State(task_pages): State<Arc<TaskPages>>,
    Path(id): Path<String>,
    from: Request,
) -> PageResult {
    let done = || TaskActionResult::Done(t!("task-transferred"), t!("task-transferred-text"));
    task_pages
        .run_form_command(&id, "transfer", from, done, |_, task, sent| {
            let to = sent.value("to").and_then(actions::parse_party);
            let to = to.ok_or_else(|| t!("task-transfer-choose"))?;
            Ok(TaskCommand::Transfer(task.id, to, Handover::Handoff))
        })
        .await
}

/// `POST /tasks/{id}/review`
pub(super) async fn review(
    State(task_pages): State<Arc<TaskPages>>,
    Path(id): Path<String>,
    from: Request,
) -> PageResult {
    let done = || TaskActionResult::Done(t!("task-reviewed"), t!("task-reviewed-text"));
    task_pages
        .run_form_command(&id, "review", from, done, |_, task, sent| {
            Ok(TaskCommand::Review(task.id, Box::new(review::parse_review(sent)?)))
        })
        .await
}

/// `POST /tasks/{id}/remark`
pub(super) async fn remark(
    State(task_pages): State<Arc<TaskPages>>,
    Path(id): Path<String>,
    from: Request,
) -> PageResult {
    let done = || TaskActionResult::Done(t!("task-remarked"), t!("task-remarked-text"));
    task_pages
        .run_form_command(&id, "remark", from, done, |_, task, sent| {
            let review = sent.value("review").and_then(|id| id.parse().ok());
            let review = review.ok_or_else(|| t!("task-load-again"))?;
            text_field(sent, "body").ok_or_else(|| t!("task-remark-missing"))?;
            Ok(TaskCommand::Remark(task.id, review, review::parse_remark(sent)))
        })
        .await
}

/// The trimmed text of a field, if it is not empty.
fn text_field(sent: &SubmittedForm, name: &str) -> Option<String> {
    sent.text(name).filter(|text| !text.trim().is_empty())
}

impl TaskPages {
    /// Executes the command of a form and shows the task again. A refused form keeps its input.
    async fn run_form_command(
        &self,
        id: &str,
        act: &'static str,
        from: Request,
        done: impl FnOnce() -> TaskActionResult,
        meant: impl FnOnce(&Visitor, &Task, &SubmittedForm) -> FormCommand,
    ) -> PageResult {
        let (headers, body) = parts(from);
        let visitor = self.visitors.visitor(&headers).await?;
        let task = self.visible_task(&visitor, id).await?;
        let sent = self.visitors.submitted(&visitor, &headers, body, &paths::task(task.id)).await?;
        let draft = Some((act, &sent));
        // The button for more comment fields is no verdict.
        if act == "review" && sent.value("verdict") == Some("more") {
            return self.room(&visitor, &task, StatusCode::OK, None, draft).await;
        }
        let command = match meant(&visitor, &task, &sent) {
            Ok(command) => command,
            Err(wrong) => {
                let (told, status) =
                    (TaskActionResult::Wrong(wrong), StatusCode::UNPROCESSABLE_ENTITY);
                return self.room(&visitor, &task, status, Some(&told), draft).await;
            }
        };
        let scope = format!("{act}/{}", task.id);
        let idempotency = form_idempotency(&visitor, &sent, &scope);
        // The page of a task shows a summary with the deliverables, not the whole question.
        let terms = CommandConditions {
            idempotency,
            shown: DisplayedContent::Summary,
            ..CommandConditions::default()
        };
        let command = Command::Task(Box::new(command));
        match self.gateway.run_with_conditions(terms, visitor.actor.clone(), command).await {
            Ok(outcome) => {
                let now = outcome.task.map_or(task, |now| *now);
                self.room(&visitor, &now, StatusCode::OK, Some(&done()), None).await
            }
            Err(StoreError::Refused(refusal)) => {
                let now = self.visible_task(&visitor, id).await?;
                let told = TaskActionResult::Refused(refusal);
                self.room(&visitor, &now, StatusCode::CONFLICT, Some(&told), draft).await
            }
            Err(error) => Err(error.into()),
        }
    }
}
