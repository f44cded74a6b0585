//! What can happen to a task, to an artifact and to a key of a ledger.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::artifact::{Role, Version, VersionRef};
use super::checkpoint::{CheckpointKind, Ended, RaisedBy, Resolution, Said};
use super::grants::Grant;
use super::ledger::Scope;
use super::review::{Remark, Review, Words};
use super::spec::Created;
use super::{Amendment, Handover, Party};
use crate::audit::{Erasable, Slot};
use crate::event::Trace;
use crate::ids::{
    AgentId, ArtifactId, AskId, EntryId, HumanId, ProjectId, ReviewId, RunId, TaskId,
};

/// What can happen to a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "act")]
pub enum TaskEvent {
    /// It was written down.
    Created(Box<Created>),
    /// It was given to an agent.
    Assigned {
        /// To which.
        agent: AgentId,
        /// The run that was begun for it.
        run: RunId,
        /// What the agent was given to begin with.
        given: Erasable<Given>,
    },
    /// The agent began.
    Started,
    /// It was called off.
    Cancelled {
        /// Why.
        reason: Option<Erasable<String>>,
    },
    /// The principal stopped the agent; a checkpoint follows.
    Interrupted,
    /// A person has to decide.
    Raised {
        /// The ask.
        checkpoint: AskId,
        /// What sort of decision.
        kind: CheckpointKind,
        /// Who wanted it.
        raised_by: RaisedBy,
    },
    /// A person decided.
    Resolved {
        /// The ask.
        checkpoint: AskId,
        /// What.
        resolution: Box<Resolution>,
        /// The run of whoever goes on instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
    },
    /// Nobody decided.
    Lapsed {
        /// The ask.
        checkpoint: AskId,
        /// Why.
        why: Ended,
        /// What was said by whoever withdrew it. Events of before this was recorded have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<Erasable<String>>,
    },
    /// The principal said something the agent is to take into account.
    Amended {
        /// What.
        amendment: Amendment,
    },
    /// The principal allowed or forbade something.
    Granted {
        /// What.
        grant: Grant,
    },
    /// It is with somebody else now.
    Transferred {
        /// With whom.
        to: Party,
        /// In what way.
        via: Handover,
        /// Their run, if it is an agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
    },
    /// Its agent handed it down.
    Delegated {
        /// To which.
        to: AgentId,
        /// The run that was begun for it.
        run: RunId,
        /// What the agent was given to begin with.
        given: Erasable<Given>,
    },
    /// Something was delivered.
    Committed {
        /// What.
        artifact: VersionRef,
        /// The ask by which people judge it; none where there is no agent that could ask.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ask: Option<AskId>,
    },
    /// What was delivered was judged.
    Reviewed {
        /// How.
        review: Box<Review>,
    },
    /// Something was added to a review.
    Remarked {
        /// To which.
        review: ReviewId,
        /// What.
        remark: Box<Remark>,
    },
    /// Everybody who had to approve did.
    Completed,
    /// It uses an artifact.
    Referenced {
        /// Which.
        artifact: VersionRef,
        /// As what.
        role: Role,
    },
    /// What it made may be used by tasks of another project.
    Shared {
        /// What.
        artifact: ArtifactId,
        /// Whose tasks.
        with: ProjectId,
    },
    /// It wrote into a ledger.
    Wrote {
        /// Where.
        entry: EntryId,
        /// Whose ledger.
        scope: Scope,
        /// Which key.
        key: String,
        /// How often it was written, with this.
        revision: u64,
    },
    /// Its words were forgotten.
    Erased,
    /// The ask of a checkpoint or of a review was erased: so is what the task holds of it.
    CheckpointErased {
        /// The ask.
        checkpoint: AskId,
        /// The reviews that were given by it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reviews: Vec<ReviewId>,
    },
    /// What one person wrote on it was erased, because that person was.
    WordsErased(Box<TaskWordsErased>),
}

/// What one person wrote on a task was erased: comments, reasons, amendments and reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskWordsErased {
    /// The person.
    pub human: HumanId,
    /// The resolutions of theirs that had a comment, without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolutions: Vec<Uncommented>,
}

/// What was said with a resolution, without the comment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Uncommented {
    /// The checkpoint that was resolved.
    pub checkpoint: AskId,
    /// The rest of what was said.
    pub said: Erasable<Said>,
}

/// What an agent is given to begin with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Given {
    /// What it is to do it with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// Whatever whoever assigned it wants to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

impl TaskEvent {
    /// Its name, as stored.
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

    /// Whether it erased the values of an earlier event of its task.
    pub(crate) fn erases(&self, earlier: &Trace) -> bool {
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
    pub(crate) fn has_words(&self) -> bool {
        if let Self::Cancelled { reason: Some(text) }
        | Self::Amended { amendment: Amendment { text, .. } } = self
        {
            return text.value().is_some();
        }
        if let Self::Reviewed { review } = self {
            let worded =
                |words: &Words| !words.comments.is_empty() || !words.requested_changes.is_empty();
            return review.words.value().is_some_and(worded);
        }
        if let Self::Remarked { remark, .. } = self {
            return remark.comment.value().is_some();
        }
        if let Self::Resolved { resolution, .. } = self {
            return resolution.said.value().is_some_and(|said| said.comment.is_some());
        }
        false
    }

    /// Visits every erasable value, always in the same order.
    pub fn slots(&mut self, visit: &mut dyn FnMut(&mut dyn Slot)) {
        match self {
            Self::Created(created) => visit(&mut created.spec),
            Self::Assigned { given, .. } | Self::Delegated { given, .. } => visit(given),
            Self::Cancelled { reason: Some(text) } | Self::Lapsed { said: Some(text), .. } => {
                visit(text);
            }
            Self::Resolved { resolution, .. } => visit(&mut resolution.said),
            Self::Amended { amendment } => visit(&mut amendment.text),
            Self::Reviewed { review } => visit(&mut review.words),
            Self::Remarked { remark, .. } => visit(&mut remark.comment),
            Self::WordsErased(erased) => {
                erased.resolutions.iter_mut().for_each(|one| visit(&mut one.said));
            }
            Self::Started
            | Self::Cancelled { reason: None }
            | Self::Interrupted
            | Self::Raised { .. }
            | Self::Lapsed { said: None, .. }
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

/// What can happen to an artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "act")]
pub enum ArtifactEvent {
    /// It has a new version; the first one makes it.
    Committed {
        /// Whose it is.
        project: ProjectId,
        /// What sort of thing.
        sort: String,
        /// The version.
        version: Box<Version>,
    },
    /// A task uses a version.
    Referenced {
        /// Which version.
        version: String,
        /// Which task.
        task: TaskId,
        /// As what.
        role: Role,
    },
    /// Tasks of another project may use it.
    Shared {
        /// Which.
        with: ProjectId,
    },
    /// The bytes of all its versions were erased.
    Erased,
}

impl ArtifactEvent {
    /// Its name, as stored.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Committed { .. } => "version_committed",
            Self::Referenced { .. } => "version_referenced",
            Self::Shared { .. } => "artifact_shared",
            Self::Erased => "artifact_erased",
        }
    }
}

/// What can happen to a key of a ledger: it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryWritten {
    /// Whose ledger.
    pub scope: Scope,
    /// Which key.
    pub key: String,
    /// What it says now.
    pub value: Erasable<Value>,
    /// The task that wrote it.
    pub task: TaskId,
}
