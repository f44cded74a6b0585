//! Reviews of deliveries.

use serde::{Deserialize, Serialize};

use super::artifact::VersionRef;
use crate::audit::Erasable;
use crate::ids::{HumanId, ReviewId, TaskId};
use crate::time::Time;

/// A verdict on one version. It never changes: a new opinion is a new review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// The id of the review.
    pub id: ReviewId,
    /// The reviewed version.
    pub artifact: VersionRef,
    /// The kind of review.
    pub kind: ReviewKind,
    /// The person who reviewed.
    pub reviewer: HumanId,
    /// The decision of the reviewer.
    pub verdict: Verdict,
    /// The text of the review.
    #[serde(rename = "words")]
    pub text: Erasable<ReviewText>,
    /// When it was given.
    pub at: Time,
    /// The remarks that were added later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// The part of an ask that makes it the review of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForReview {
    /// The task it was delivered for.
    pub task: TaskId,
    /// The delivered version.
    pub artifact: VersionRef,
}

/// The subject of a review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// The agent's plan for the work.
    Plan,
    /// The result of the work.
    #[default]
    Deliverable,
}

/// The decision of a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The reviewer accepts it.
    Approved,
    /// The reviewer requests changes.
    ChangesRequested,
    /// The reviewer rejects it.
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

/// The text of a review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewText {
    /// Comments on places in the version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<AnchoredComment>,
    /// The changes that the reviewer requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requested_changes: Vec<String>,
}

/// A comment on a place in the version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchoredComment {
    /// The place, such as `src/main.rs:12`; `None` for the whole version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// How important it is.
    pub severity: Severity,
    /// The text of the comment.
    pub body: String,
}

/// How important a comment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The version cannot be accepted like this.
    Blocker,
    /// A serious problem that should be fixed.
    Major,
    /// A small possible improvement.
    Minor,
    /// A matter of taste.
    Nit,
}

/// A comment that was added to an existing review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remark {
    /// Who added it.
    pub by: HumanId,
    /// The comment itself.
    pub comment: Erasable<AnchoredComment>,
    /// When it was added.
    pub at: Time,
}
