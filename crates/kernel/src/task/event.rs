//! The events of a task, of an artifact and of an entry of a ledger.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::artifact::{Role, Version, VersionRef};
use super::checkpoint::{CheckpointKind, LapseReason, RaisedBy, Resolution, ResolutionDetails};
use super::grants::Grant;
use super::ledger::LedgerScope;
use super::review::{Remark, Review, ReviewText};
use super::spec::TaskCreated;
use super::{Amendment, Handover, Party};
use crate::audit::{Erasable, Slot};
use crate::event::ErasureTrace;
use crate::ids::{
    AgentId, ArtifactId, AskId, EntryId, HumanId, ProjectId, ReviewId, RunId, TaskId,
};

/// The events of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "act")]
pub enum TaskEvent {
    /// It was created.
    Created(Box<TaskCreated>),
    /// It was assigned to an agent.
    Assigned {
        /// The assigned agent.
        agent: AgentId,
        /// The run that was begun for it.
        run: RunId,
        /// The initial input of the agent.
        given: Erasable<AgentInput>,
    },
    /// The agent started to work.
    Started,
    /// It was cancelled.
    Cancelled {
        /// The reason, if one was given.
        reason: Option<Erasable<String>>,
    },
    /// The principal stopped the agent; a checkpoint follows.
    Interrupted,
    /// A person must decide.
    Raised {
        /// The ask of the checkpoint.
        checkpoint: AskId,
        /// The kind of decision.
        kind: CheckpointKind,
        /// Who raised it.
        raised_by: RaisedBy,
    },
    /// A person decided.
    Resolved {
        /// The ask of the checkpoint.
        checkpoint: AskId,
        /// The decision of the person.
        resolution: Box<Resolution>,
        /// The run of the agent that continues instead, if it was reassigned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
    },
    /// A checkpoint ended without a decision.
    Lapsed {
        /// The ask of the checkpoint.
        checkpoint: AskId,
        /// Why it ended.
        why: LapseReason,
        /// The reason given by the person or agent that withdrew it. Absent in events from before
        /// this was recorded.
        #[serde(rename = "said", default, skip_serializing_if = "Option::is_none")]
        message: Option<Erasable<String>>,
    },
    /// The principal sent the agent an amendment.
    Amended {
        /// The amendment itself.
        amendment: Amendment,
    },
    /// The principal allowed or forbade something.
    Granted {
        /// The permission or prohibition.
        grant: Grant,
    },
    /// It has another assignee.
    Transferred {
        /// The new assignee.
        to: Party,
        /// The kind of transfer.
        via: Handover,
        /// The run of the new assignee, if it is an agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
    },
    /// Its agent delegated it.
    Delegated {
        /// The agent that received it.
        to: AgentId,
        /// The run that was begun for it.
        run: RunId,
        /// The initial input of the agent.
        given: Erasable<AgentInput>,
    },
    /// A version was delivered.
    Committed {
        /// The delivered version.
        artifact: VersionRef,
        /// The ask by which people review it; `None` if there is no agent on whose behalf to ask.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ask: Option<AskId>,
    },
    /// A delivery was reviewed.
    Reviewed {
        /// The review itself.
        review: Box<Review>,
    },
    /// A remark was added to a review.
    Remarked {
        /// The review it was added to.
        review: ReviewId,
        /// The remark itself.
        remark: Box<Remark>,
    },
    /// All required approvals were given.
    Completed,
    /// It uses an artifact.
    Referenced {
        /// The version it uses.
        artifact: VersionRef,
        /// How it uses the version.
        role: Role,
    },
    /// One of its artifacts may be used by tasks of another project.
    Shared {
        /// The shared artifact.
        artifact: ArtifactId,
        /// The project whose tasks may use it.
        with: ProjectId,
    },
    /// It wrote an entry of a ledger.
    Wrote {
        /// The id of the entry.
        entry: EntryId,
        /// The scope of the ledger.
        scope: LedgerScope,
        /// The key of the entry.
        key: String,
        /// The number of times it was written, including this one.
        revision: u64,
    },
    /// Its text was erased.
    Erased,
    /// The ask of a checkpoint or of a review was erased, and with it the task's copy.
    CheckpointErased {
        /// The ask of the checkpoint or review.
        checkpoint: AskId,
        /// The reviews that were given through it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reviews: Vec<ReviewId>,
    },
    /// The text that one erased person wrote on it was erased.
    WordsErased(Box<TaskTextErased>),
}

/// The text that one person wrote on a task was erased: comments, reasons, amendments and reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskTextErased {
    /// The person whose text was erased.
    pub human: HumanId,
    /// Their resolutions that had a comment, without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolutions: Vec<ResolutionWithoutComment>,
}

/// The data of a resolution, without the comment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolutionWithoutComment {
    /// The checkpoint that was resolved.
    pub checkpoint: AskId,
    /// The rest of the data.
    #[serde(rename = "said")]
    pub details: Erasable<ResolutionDetails>,
}

/// The initial input of an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentInput {
    /// The capability to use, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// Free data from the assigner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

impl TaskEvent {
    /// The event's name, as stored.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Created(_) => "task_created",
            Self::Assigned { .. } => "task_assigned",
            Self::Started => "task_started",
            Self::Cancelled { .. } => "task_cancelled",
            Self::Interrupted => "task_interrupted",
            Self::Raised { .. } => "checkpoint_raised",
            Self::Resolved { .. } => "checkpoint_resolved",
            Self::Lapsed { .. } => "checkpoint_expired",
            Self::Amended { .. } => "task_amended",
            Self::Granted { .. } => "task_granted",
            Self::Transferred { .. } => "ownership_transferred",
            Self::Delegated { .. } => "ownership_delegated",
            Self::Committed { .. } => "artifact_committed",
            Self::Reviewed { .. } => "review_submitted",
            Self::Remarked { .. } => "review_commented",
            Self::Completed => "task_completed",
            Self::Referenced { .. } => "artifact_referenced",
            Self::Shared { .. } => "delivery_shared",
            Self::Wrote { .. } => "ledger_written",
            Self::Erased => "erased",
            Self::CheckpointErased { .. } => "checkpoint_erased",
            Self::WordsErased(_) => "task_words_erased",
        }
    }

    /// Whether it erases the values of an earlier event of its task.
    pub(crate) fn erases(&self, earlier: &ErasureTrace) -> bool {
        if matches!(self, Self::Erased) {
            return true;
        }
        if let Self::CheckpointErased { checkpoint, reviews } = self {
            return earlier.checkpoint == Some(*checkpoint)
                || earlier.review.is_some_and(|review| reviews.contains(&review));
        }
        let Self::WordsErased(erased) = self else { return false };
        let resolved = |id| erased.resolutions.iter().any(|one| one.checkpoint == id);
        let wrote = match earlier.what {
            "task_cancelled" | "task_amended" | "review_submitted" | "review_commented" => true,
            "checkpoint_resolved" => earlier.checkpoint.is_some_and(resolved),
            _ => false,
        };
        wrote && earlier.human.as_ref() == Some(&erased.human)
    }

    /// Whether it holds a comment, a reason, an amendment or a review.
    pub(crate) fn has_free_text(&self) -> bool {
        if let Self::Cancelled { reason: Some(text) }
        | Self::Amended { amendment: Amendment { text, .. } } = self
        {
            return text.value().is_some();
        }
        if let Self::Reviewed { review } = self {
            let worded = |words: &ReviewText| {
                !words.comments.is_empty() || !words.requested_changes.is_empty()
            };
            return review.text.value().is_some_and(worded);
        }
        if let Self::Remarked { remark, .. } = self {
            return remark.comment.value().is_some();
        }
        if let Self::Resolved { resolution, .. } = self {
            return resolution.details.value().is_some_and(|said| said.comment.is_some());
        }
        false
    }

    /// Visits every erasable value, always in the same order.
    pub fn slots(&mut self, visit: &mut dyn FnMut(&mut dyn Slot)) {
        match self {
            Self::Created(created) => visit(&mut created.spec),
            Self::Assigned { given, .. } | Self::Delegated { given, .. } => visit(given),
            Self::Cancelled { reason: Some(text) } | Self::Lapsed { message: Some(text), .. } => {
                visit(text);
            }
            Self::Resolved { resolution, .. } => visit(&mut resolution.details),
            Self::Amended { amendment } => visit(&mut amendment.text),
            Self::Reviewed { review } => visit(&mut review.text),
            Self::Remarked { remark, .. } => visit(&mut remark.comment),
            Self::WordsErased(erased) => {
                erased.resolutions.iter_mut().for_each(|one| visit(&mut one.details));
            }
            Self::Started
            | Self::Cancelled { reason: None }
            | Self::Interrupted
            | Self::Raised { .. }
            | Self::Lapsed { message: None, .. }
            | Self::Granted { .. }
            | Self::Transferred { .. }
            | Self::Committed { .. }
            | Self::Completed
            | Self::Referenced { .. }
            | Self::Shared { .. }
            | Self::Wrote { .. }
            | Self::CheckpointErased { .. }
            | Self::Erased => {}
        }
    }
}

/// The events of an artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "act")]
pub enum ArtifactEvent {
    /// It has a new version; the first version creates the artifact.
    Committed {
        /// The project it belongs to.
        project: ProjectId,
        /// The type of artifact.
        sort: String,
        /// The new version.
        version: Box<Version>,
    },
    /// A task uses a version.
    Referenced {
        /// The name of the version.
        version: String,
        /// The task that uses it.
        task: TaskId,
        /// How the task uses it.
        role: Role,
    },
    /// Tasks of another project may use it.
    Shared {
        /// The project whose tasks may use it.
        with: ProjectId,
    },
    /// The bytes of all its versions were erased.
    Erased,
}

impl ArtifactEvent {
    /// The event's name, as stored.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Committed { .. } => "version_committed",
            Self::Referenced { .. } => "version_referenced",
            Self::Shared { .. } => "artifact_shared",
            Self::Erased => "artifact_erased",
        }
    }
}

/// The only event of a ledger entry: a value was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryWritten {
    /// The scope of the ledger.
    pub scope: LedgerScope,
    /// The key of the entry.
    pub key: String,
    /// The new value.
    pub value: Erasable<Value>,
    /// The task that wrote it.
    pub task: TaskId,
}
