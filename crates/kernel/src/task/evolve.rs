//! The state of a task, of an artifact and of a ledger entry after an event.

use super::checkpoint::{
    CheckpointKind, CheckpointOutcome, LapseReason, RaisedBy, RaisedCheckpoint, ResolutionAction,
};
use super::event::{ArtifactEvent, EntryWritten, TaskEvent};
use super::review::{ReviewKind, Verdict};
use super::{
    Artifact, Entry, Handover, OnSilence, Party, Reference, Run, Task, TaskState, Transfer, Trigger,
};
use crate::audit::Head;
use crate::ids::{AgentId, ArtifactId, AskId, EntryId, HumanId, RunId, TaskId};

/// Applies one event to a task. `None` if it cannot have happened.
pub(crate) fn evolve_task(
    id: TaskId,
    before: Option<Task>,
    head: Head,
    event: TaskEvent,
) -> Option<Task> {
    let Some(mut task) = before else {
        let TaskEvent::Created(created) = event else { return None };
        let assignee = Party::Human(created.principal.clone());
        return Some(Task {
            id,
            head,
            created_at: head.at,
            created: *created,
            state: TaskState::Created,
            revision: 0,
            worker: assignee.clone(),
            assignee,
            chain: Vec::new(),
            run: None,
            started_at: None,
            checkpoints: Vec::new(),
            delivered: Vec::new(),
            reviews: Vec::new(),
            steering: Vec::new(),
            granted: Vec::new(),
            sessions: Vec::new(),
            judged_in: None,
        });
    };
    task.head = head;
    task.apply(event)?;
    Some(task)
}

impl Task {
    fn apply(&mut self, event: TaskEvent) -> Option<()> {
        let at = self.head.at;
        self.revision += u64::from(self.increases_revision(&event));
        match event {
            TaskEvent::Created(_) => return None,
            TaskEvent::Assigned { agent, run, .. } => {
                self.transition(TaskState::Assigned, Trigger::Assign)?;
                self.set_worker(Party::Agent(agent.clone()), Handover::Assign);
                self.run = Some(Run { id: run, agent, depth: 0 });
            }
            TaskEvent::Started => {
                self.transition(TaskState::InProgress, Trigger::Start)?;
                self.started_at = Some(at);
            }
            TaskEvent::Cancelled { .. } => {
                self.transition(TaskState::Completed, Trigger::Cancel)?;
                self.set_assignee(self.owner(), Handover::Reject);
            }
            TaskEvent::Raised { checkpoint, kind, raised_by } => {
                self.apply_raised(checkpoint, kind, raised_by)?;
            }
            TaskEvent::Resolved { checkpoint, resolution, run } => {
                let (action, to) = (resolution.action, resolution.reassign_to.clone());
                self.pending_checkpoint(checkpoint)?.outcome =
                    CheckpointOutcome::Resolved(resolution);
                self.apply_resolved(action, to, run)?;
            }
            TaskEvent::Lapsed { checkpoint, why, .. } => {
                self.pending_checkpoint(checkpoint)?.outcome =
                    CheckpointOutcome::Expired { at, why: Some(why) };
            }
            TaskEvent::Amended { amendment } => self.steering.push(amendment),
            TaskEvent::Granted { grant } => self.granted.push(grant),
            TaskEvent::Transferred { to, via, run } => {
                if let (Some(agent), Some(run)) = (to.agent(), run) {
                    self.set_run(run, agent.clone(), 0);
                }
                self.set_worker(to, via);
            }
            TaskEvent::Delegated { to, run, .. } => {
                self.set_worker(Party::Agent(to.clone()), Handover::Assign);
                self.set_run(run, to, 1);
            }
            TaskEvent::Committed { artifact, ask } => {
                self.transition(TaskState::ReviewReady, Trigger::Commit)?;
                self.judged_in = ask;
                self.set_assignee(self.owner(), Handover::Handoff);
                self.delivered.push(artifact);
            }
            TaskEvent::Reviewed { review } => {
                if self.state == TaskState::ReviewReady {
                    self.transition(TaskState::UnderReview, Trigger::Begin)?;
                }
                let (kind, verdict) = (review.kind, review.verdict);
                self.reviews.push(*review);
                self.apply_reviews(kind, verdict)?;
            }
            TaskEvent::Remarked { review, remark } => {
                let review = self.reviews.iter_mut().find(|judged| judged.id == review)?;
                review.remarks.push(*remark);
            }
            TaskEvent::Completed => self.transition(TaskState::Completed, Trigger::Complete)?,
            TaskEvent::Interrupted
            | TaskEvent::Referenced { .. }
            | TaskEvent::Shared { .. }
            | TaskEvent::Wrote { .. } => {}
            TaskEvent::Erased => self.erase(),
            TaskEvent::CheckpointErased { checkpoint, reviews } => {
                self.erase_checkpoint(checkpoint, &reviews);
            }
            TaskEvent::WordsErased(erased) => self.erase_text_by(&erased),
        }
        self.bind_session_grants();
        Some(())
    }

    /// Whether the event increases the revision. Events that are part of a larger operation, or do
    /// not change the task itself, do not.
    fn increases_revision(&self, event: &TaskEvent) -> bool {
        match event {
            TaskEvent::Lapsed { why: LapseReason::Cancelled, .. }
            | TaskEvent::Interrupted
            | TaskEvent::Completed
            | TaskEvent::Remarked { .. }
            | TaskEvent::Referenced { .. }
            | TaskEvent::Shared { .. }
            | TaskEvent::Wrote { .. }
            | TaskEvent::CheckpointErased { .. }
            | TaskEvent::WordsErased(_)
            | TaskEvent::Erased => false,
            // If silence cancels the task, the cancellation is the change.
            TaskEvent::Lapsed { why, .. } => {
                !self.pending().is_some_and(|raised| self.ends_by_silence(raised.kind, *why))
            }
            TaskEvent::Created(_)
            | TaskEvent::Assigned { .. }
            | TaskEvent::Started
            | TaskEvent::Cancelled { .. }
            | TaskEvent::Raised { .. }
            | TaskEvent::Resolved { .. }
            | TaskEvent::Amended { .. }
            | TaskEvent::Granted { .. }
            | TaskEvent::Transferred { .. }
            | TaskEvent::Delegated { .. }
            | TaskEvent::Committed { .. }
            | TaskEvent::Reviewed { .. } => true,
        }
    }

    /// Changes the state, if the transition table allows it.
    fn transition(&mut self, to: TaskState, trigger: Trigger) -> Option<()> {
        if !self.state.leads_to(to, trigger) {
            return None;
        }
        self.state = to;
        Some(())
    }

    /// Sets the assignee. Assigning the task to the current assignee is no transfer.
    fn set_assignee(&mut self, to: Party, via: Handover) {
        if self.assignee == to {
            return;
        }
        let from = std::mem::replace(&mut self.assignee, to.clone());
        self.chain.push(Transfer { from, to, at: self.head.at, via });
    }

    /// Sets the assignee, who also does the work.
    fn set_worker(&mut self, worker: Party, via: Handover) {
        self.worker = worker.clone();
        self.set_assignee(worker, via);
    }

    fn owner(&self) -> Party {
        Party::Human(self.created.principal.clone())
    }

    /// Replaces the run. Its depth grows by `deeper`.
    fn set_run(&mut self, id: RunId, agent: AgentId, deeper: u32) {
        let depth = self.run.as_ref().map_or(0, |run| run.depth).saturating_add(deeper);
        self.run = Some(Run { id, agent, depth });
    }

    fn apply_raised(
        &mut self,
        ask: AskId,
        kind: CheckpointKind,
        raised_by: RaisedBy,
    ) -> Option<()> {
        let trigger = match kind {
            CheckpointKind::Interrupt => Trigger::Interrupt,
            CheckpointKind::Approval
            | CheckpointKind::Choice
            | CheckpointKind::Input
            | CheckpointKind::Escalation => Trigger::Raise,
        };
        // If the last checkpoint expired, the task is already blocked and stays so.
        if !(self.is_stranded() && trigger == Trigger::Interrupt) {
            self.transition(TaskState::Blocked, trigger)?;
        }
        let (worker, at) = (self.worker.clone(), self.head.at);
        self.set_assignee(self.owner(), Handover::Checkpoint);
        self.checkpoints.push(RaisedCheckpoint {
            ask,
            kind,
            raised_by,
            worker,
            at,
            outcome: CheckpointOutcome::Pending,
        });
        Some(())
    }

    /// The checkpoint it waits for, if it is this one.
    fn pending_checkpoint(&mut self, ask: AskId) -> Option<&mut RaisedCheckpoint> {
        let last = self.checkpoints.last_mut()?;
        (last.ask == ask && last.outcome == CheckpointOutcome::Pending).then_some(last)
    }

    fn apply_resolved(
        &mut self,
        action: ResolutionAction,
        to: Option<AgentId>,
        run: Option<RunId>,
    ) -> Option<()> {
        if action == ResolutionAction::Reject {
            self.set_assignee(self.owner(), Handover::Reject);
            return self.transition(TaskState::Completed, Trigger::Refuse);
        }
        self.transition(TaskState::InProgress, Trigger::Resolve)?;
        if let (Some(agent), Some(run)) = (&to, run) {
            self.set_run(run, agent.clone(), 0);
        }
        let worker = to.map_or_else(|| self.worker.clone(), Party::Agent);
        self.set_worker(worker, Handover::Approve);
        Some(())
    }

    /// Changes the state according to the reviews of the last delivery.
    fn apply_reviews(&mut self, kind: ReviewKind, verdict: Verdict) -> Option<()> {
        let (to, trigger, via) = match self.review_result(kind, verdict) {
            ReviewResult::Pending => return self.transition(TaskState::UnderReview, Trigger::Pend),
            ReviewResult::Rejected => {
                self.set_assignee(self.owner(), Handover::Reject);
                return self.transition(TaskState::Rejected, Trigger::Reject);
            }
            ReviewResult::Accepted => {
                self.set_assignee(self.owner(), Handover::Approve);
                return self.transition(TaskState::Accepted, Trigger::Accept);
            }
            ReviewResult::Rework => (TaskState::InProgress, Trigger::Rework, Handover::Reject),
            ReviewResult::PlanApproved => {
                (TaskState::InProgress, Trigger::PlanApproved, Handover::Approve)
            }
        };
        self.transition(to, trigger)?;
        self.set_assignee(self.worker.clone(), via);
        Some(())
    }

    /// The result of the reviews of the newest version. The last review of each reviewer counts.
    pub(crate) fn review_result(&self, kind: ReviewKind, verdict: Verdict) -> ReviewResult {
        let Some(policy) =
            self.created.review_policy.as_ref().filter(|_| kind == ReviewKind::Deliverable)
        else {
            return match (kind, verdict) {
                (_, Verdict::ChangesRequested) => ReviewResult::Rework,
                (_, Verdict::Rejected) => ReviewResult::Rejected,
                (ReviewKind::Plan, Verdict::Approved) => ReviewResult::PlanApproved,
                (ReviewKind::Deliverable, Verdict::Approved) => ReviewResult::Accepted,
            };
        };
        let current = self.delivered.last();
        let last = |reviewer: &HumanId| {
            self.reviews
                .iter()
                .rev()
                .find(|review| {
                    review.reviewer == *reviewer
                        && review.kind == ReviewKind::Deliverable
                        && Some(&review.artifact) == current
                })
                .map(|review| review.verdict)
        };
        let verdicts: Vec<_> = policy.required_reviewers.iter().filter_map(last).collect();
        let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        if count(Verdict::Rejected) > 0 {
            ReviewResult::Rejected
        } else if policy.is_met_by(count(Verdict::Approved)) {
            ReviewResult::Accepted
        } else if count(Verdict::ChangesRequested) > 0 {
            ReviewResult::Rework
        } else {
            ReviewResult::Pending
        }
    }

    /// Whether it is completed because a delivery was accepted. Any other completion is a
    /// cancellation.
    pub fn is_accepted(&self) -> bool {
        // The review that accepted it is the last there can be.
        let good = |last: &super::Review| {
            self.review_result(last.kind, last.verdict) == ReviewResult::Accepted
        };
        self.state == TaskState::Completed && self.reviews.last().is_some_and(good)
    }

    /// Whether silence on this kind of checkpoint cancels the task. A withdrawal is not silence.
    pub(crate) fn ends_by_silence(&self, kind: CheckpointKind, why: LapseReason) -> bool {
        self.created.on_silence == OnSilence::Cancel
            && kind != CheckpointKind::Interrupt
            && matches!(why, LapseReason::TimedOut | LapseReason::Expired)
    }
}

/// The result of the reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReviewResult {
    /// Other reviewers have not judged it yet.
    Pending,
    /// The delivery needs changes.
    Rework,
    /// The plan is approved.
    PlanApproved,
    /// The delivery is accepted.
    Accepted,
    /// The delivery is rejected.
    Rejected,
}

impl super::ReviewPolicy {
    /// Whether this number of approvals is enough.
    fn is_met_by(&self, approvals: usize) -> bool {
        let needed = self.required_reviewers.len();
        match self.quorum {
            super::Quorum::All => approvals >= needed,
            super::Quorum::Majority => approvals * 2 > needed,
            super::Quorum::Any => approvals >= 1,
        }
    }
}

/// Applies one event to an artifact. `None` if it cannot have happened.
pub(crate) fn evolve_artifact(
    id: ArtifactId,
    before: Option<Artifact>,
    head: Head,
    event: ArtifactEvent,
) -> Option<Artifact> {
    match (before, event) {
        (None, ArtifactEvent::Committed { project, sort, version }) => {
            let versions = vec![*version];
            let shared_with = Vec::new();
            Some(Artifact { id, head, project, sort, versions, shared_with, erased: false })
        }
        (Some(mut artifact), event) => {
            artifact.head = head;
            match event {
                ArtifactEvent::Committed { version, .. } => {
                    if artifact.version(Some(&version.name)).is_some() {
                        return None;
                    }
                    artifact.versions.push(*version);
                }
                ArtifactEvent::Referenced { version, task, role } => {
                    let named = |kept: &&mut super::Version| kept.name == version;
                    let version = artifact.versions.iter_mut().find(named)?;
                    version.references.push(Reference { task, role });
                }
                ArtifactEvent::Shared { with } => artifact.shared_with.push(with),
                ArtifactEvent::Erased => artifact.erased = true,
            }
            Some(artifact)
        }
        (
            None,
            ArtifactEvent::Referenced { .. } | ArtifactEvent::Shared { .. } | ArtifactEvent::Erased,
        ) => None,
    }
}

/// Applies a write to a ledger entry.
pub(crate) fn evolve_entry(
    id: EntryId,
    before: Option<&Entry>,
    head: Head,
    written: EntryWritten,
) -> Option<Entry> {
    let EntryWritten { scope, key, value, task: by } = written;
    if before.is_some_and(|before| before.scope != scope || before.key != key) {
        return None;
    }
    Some(Entry { id, head, scope, key, value, by, written_at: head.at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::ActorRef;
    use crate::audit::Digest;
    use crate::event::{DomainEvent, Event};
    use crate::evolve::{Entity, evolve};
    use crate::ids::Subject;
    use crate::task::VersionRef;
    use crate::testing::{Cast, new_task, raising, version};

    /// HACP-024, HACP-030: a record with an impossible event is damaged, and is refused.
    #[test]
    fn what_cannot_have_happened_is_no_history() {
        let mut cast = Cast::new();
        let (written, begun) = (cast.written(new_task()), cast.begun(new_task()));
        let blocked = cast.begun(new_task());
        let ask = cast.raised(blocked, raising(CheckpointKind::Approval));
        let other = cast.ask(crate::testing::new_ask());
        let artifact =
            VersionRef { id: ArtifactId::new(ulid::Ulid::from(7_u128)), version: "v1".to_owned() };
        let created = TaskEvent::Created(Box::new(cast.task(written).created.clone()));
        let committed = TaskEvent::Committed { artifact, ask: None };
        let lapsed =
            |checkpoint| TaskEvent::Lapsed { checkpoint, why: LapseReason::Expired, message: None };
        let raised = |checkpoint, kind| {
            let raised_by = RaisedBy::Agent;
            TaskEvent::Raised { checkpoint, kind, raised_by }
        };
        for (id, what, fits) in [
            (written, created, false),
            (written, TaskEvent::Started, false),
            (written, committed.clone(), false),
            (written, TaskEvent::Cancelled { reason: None }, true),
            (begun, TaskEvent::Started, false),
            (begun, TaskEvent::Completed, false),
            (begun, committed.clone(), true),
            (begun, raised(other, CheckpointKind::Interrupt), true),
            (begun, lapsed(ask), false),
            (blocked, raised(other, CheckpointKind::Input), false),
            (blocked, lapsed(other), false),
            (blocked, lapsed(ask), true),
            (blocked, committed, false),
        ] {
            let task = cast.task(id);
            let event = Event {
                subject: Subject::Task(id),
                seq: task.head.seq + 1,
                at: cast.now(),
                by: ActorRef::System,
                what: DomainEvent::Task(Box::new(what)),
            };
            let before = Some(Entity::Task(Box::new(task.clone())));
            let after = evolve(before, &event, Digest::ZERO);
            assert_eq!(after.is_ok(), fits, "{} after {:?}", event.what.name(), task.state);
        }
    }

    /// HACP-021, HACP-023: a version is not written twice, and an entry keeps its key.
    #[test]
    fn versions_and_keys_stay_what_they_are() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let made = cast.delivered(id, version());
        let artifact = cast.artifact(made.id).clone();
        let (project, sort) = (artifact.project.clone(), artifact.sort.clone());
        let again = Box::new(artifact.versions[0].clone());
        let again = ArtifactEvent::Committed { project, sort, version: again };
        let head = artifact.head;
        assert_eq!(evolve_artifact(made.id, Some(artifact.clone()), head, again), None);
        let unknown = ArtifactEvent::Referenced {
            version: "v9".to_owned(),
            task: id,
            role: crate::task::Role::Input,
        };
        assert_eq!(evolve_artifact(made.id, Some(artifact), head, unknown.clone()), None);
        assert_eq!(evolve_artifact(made.id, None, head, unknown), None);

        let scope: crate::task::LedgerScope = "project:acme".parse().unwrap();
        let written = |key: &str| EntryWritten {
            scope: scope.clone(),
            key: key.to_owned(),
            value: crate::audit::Erasable::new(
                serde_json::json!(1),
                &mut crate::audit::Salts::new([0; 32]),
            ),
            task: id,
        };
        let entry = EntryId::of("project:acme", "a");
        let first = evolve_entry(entry, None, head, written("a")).unwrap();
        assert!(evolve_entry(entry, Some(&first), head, written("a")).is_some());
        assert_eq!(evolve_entry(entry, Some(&first), head, written("b")), None);
    }
}
