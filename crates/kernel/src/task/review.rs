//! What people say of what was delivered.

use serde::{Deserialize, Serialize};

use super::artifact::VersionRef;
use crate::audit::Erasable;
use crate::ids::{HumanId, ReviewId, TaskId};
use crate::time::Time;

/// A verdict on one version. Never changed: a new opinion is a new review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// Its name.
    pub id: ReviewId,
    /// What was judged.
    pub artifact: VersionRef,
    /// As what.
    pub kind: ReviewKind,
    /// Who judged.
    pub reviewer: HumanId,
    /// How.
    pub verdict: Verdict,
    /// In which words.
    pub words: Erasable<Words>,
    /// When.
    pub at: Time,
    /// What was added later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// What makes an ask the judgement of something delivered; stands on the ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForReview {
    /// The task it was delivered for.
    pub task: TaskId,
    /// What was delivered.
    pub artifact: VersionRef,
}

/// What was judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// How the agent means to go about it.
    Plan,
    /// What came of it.
    #[default]
    Deliverable,
}

/// A verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is good.
    Approved,
    /// It needs changes.
    ChangesRequested,
    /// It is no good.
    Rejected,
}

impl Verdict {
    /// The verdict as it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::ChangesRequested => "changes_requested",
            Self::Rejected => "rejected",
        }
    }
}

/// The words of a review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Line by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Comment>,
    /// What has to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requested_changes: Vec<String>,
}

/// A comment on a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Where, such as `src/main.rs:12`; nothing for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// How much it matters.
    pub severity: Severity,
    /// What is said.
    pub body: String,
}

/// How much a comment matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It cannot stay like this.
    Blocker,
    /// It should not.
    Major,
    /// It could be better.
    Minor,
    /// A matter of taste.
    Nit,
}

/// A comment added to a review that stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remark {
    /// Who.
    pub by: HumanId,
    /// What.
    pub comment: Erasable<Comment>,
    /// When.
    pub at: Time,
}
