//! `human.inbox`: what waits for somebody, of all the tasks they decide on. K-23.

use kernel::task::{self, ReviewKind, State};
use kernel::{ArtifactId, Ask, HumanId, ProjectId, TaskId, Time};
use serde::{Deserialize, Serialize};

use super::checkpoint_id;
use super::names::{agent, person};

/// Something that waits for somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxItem {
    /// What they are to do.
    pub kind: InboxKind,
    /// On which task.
    pub task_id: TaskId,
    /// Of which project.
    pub project: ProjectId,
    /// Who answers for it.
    pub principal: String,
    /// The agent that waits.
    pub agent_id: Option<String>,
    /// Which checkpoint.
    pub checkpoint_id: Option<String>,
    /// Or what was delivered.
    pub artifact_id: Option<ArtifactId>,
    /// In which version.
    pub artifact_version: Option<String>,
    /// What they are asked, or what the task is to reach.
    pub prompt: Option<String>,
    /// Since when it waits.
    pub since: Time,
    /// Until when.
    pub expires_at: Option<Time>,
}

/// What somebody is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InboxKind {
    /// Decide.
    ResolveCheckpoint,
    /// Judge.
    SubmitReview,
}

/// What of a task waits for somebody, if anything does. `ask` is the one of its pending checkpoint.
pub fn waits_for(who: &HumanId, task: &task::Task, ask: Option<&Ask>) -> Option<InboxItem> {
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
    let waits = matches!(task.state, State::ReviewReady | State::UnderReview);
    let delivered = task.delivered.last().filter(|_| waits)?;
    // Whoever judged this version has done their part, and the others have not (K-23).
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
