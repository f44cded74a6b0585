//! `human.inbox`: the open items of a person, over all tasks they decide on. K-23.

use kernel::task::{self, ReviewKind, TaskState};
use kernel::{ArtifactId, Ask, HumanId, ProjectId, TaskId, Time};
use serde::{Deserialize, Serialize};

use super::checkpoint_id;
use super::names::{agent, person};

/// An open item of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxItem {
    /// The action the person needs to take.
    pub kind: InboxKind,
    pub task_id: TaskId,
    pub project: ProjectId,
    /// The person who is accountable for the task.
    pub principal: String,
    /// The waiting agent.
    pub agent_id: Option<String>,
    /// The checkpoint to resolve.
    pub checkpoint_id: Option<String>,
    /// The artifact to review.
    pub artifact_id: Option<ArtifactId>,
    /// The version to review.
    pub artifact_version: Option<String>,
    /// The question, or the goal of the task.
    pub prompt: Option<String>,
    /// Since when the item is open.
    pub since: Time,
    pub expires_at: Option<Time>,
}

/// An action that a person needs to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InboxKind {
    ResolveCheckpoint,
    SubmitReview,
}

/// The open item that a task has for a person, if any. `ask` is the one of its pending checkpoint.
pub fn open_item(who: &HumanId, task: &task::Task, ask: Option<&Ask>) -> Option<InboxItem> {
    let item = |kind, since| InboxItem {
        kind,
        task_id: task.id,
        project: task.project.clone(),
        principal: person(&task.principal),
        agent_id: task.run.as_ref().map(|run| agent(&run.agent)),
        checkpoint_id: None,
        artifact_id: None,
        artifact_version: None,
        prompt: None,
        since,
        expires_at: None,
    };
    if let Some(raised) = task.pending() {
        let ask = ask.filter(|ask| ask.id == raised.ask);
        let prompt = ask.and_then(|ask| Some(ask.question.value()?.prompt().to_owned()));
        return task.is_decided_by(who).then(|| InboxItem {
            checkpoint_id: Some(checkpoint_id(raised.ask)),
            prompt,
            expires_at: ask.and_then(|ask| ask.expires_at),
            ..item(InboxKind::ResolveCheckpoint, raised.at)
        });
    }
    let waits = matches!(task.state, TaskState::ReviewReady | TaskState::UnderReview);
    let delivered = task.delivered.last().filter(|_| waits)?;
    // A reviewer who reviewed this version is done; the other reviewers are not (K-23).
    let judged = task.reviews.iter().any(|review| {
        review.reviewer == *who
            && review.artifact == *delivered
            && review.kind == ReviewKind::Deliverable
    });
    let wanted = task.reviewers().contains(who) && !judged;
    let since = task.chain.last().map_or(task.created_at, |step| step.at);
    wanted.then(|| InboxItem {
        artifact_id: Some(delivered.id),
        artifact_version: Some(delivered.version.clone()),
        prompt: task.spec.value().map(|spec| spec.goal.clone()),
        ..item(InboxKind::SubmitReview, since)
    })
}
