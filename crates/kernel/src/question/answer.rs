//! Answers, typed to their question.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::form::Values;
use crate::strict::nothing_more;

/// A person's answer. Its type depends on the question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "verdict", deny_unknown_fields)]
#[serde(expecting = "an object with `verdict`")]
pub enum Answer {
    /// An approval, optionally with edited details.
    Approved {
        /// The edited details, if the agent accepts edits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
        edits: Option<Map<String, Value>>,
    },
    /// A rejection.
    Rejected {
        /// The ID of the chosen reason, if the agent offered reasons.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
    },
    /// A request for changes. The agent should ask again.
    #[serde(alias = "changes-requested")]
    ChangesRequested {
        /// The requested changes, if they could be entered. They are not approved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
        edits: Option<Map<String, Value>>,
    },
    /// A choice of options.
    Chosen {
        /// The IDs of the chosen options, in the order of the question.
        options: Vec<String>,
    },
    /// The values of a form.
    Provided {
        /// The values by field key.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        values: Values,
    },
    /// A confirmation.
    Confirmed {
        /// The ids of the confirmed items.
        items: Vec<String>,
    },
    /// A refusal to confirm.
    #[serde(deserialize_with = "nothing_more")]
    Declined,
    /// Try again, optionally with changed parameters.
    Retry {
        /// The changed parameters.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        params: Map<String, Value>,
    },
    /// Skip this step.
    #[serde(deserialize_with = "nothing_more")]
    Skip,
    /// Stop.
    #[serde(deserialize_with = "nothing_more")]
    Abort,
    /// A reply in free text.
    Replied {
        /// The text of the reply.
        text: String,
    },
}

impl Answer {
    /// A request for changes without edits; a comment says what to change.
    pub const CHANGES: Self = Self::ChangesRequested { edits: None };
    /// A rejection without one of the reasons the agent offered.
    pub const REJECTED: Self = Self::Rejected { option: None };

    /// The kind of the answer.
    pub fn stance(&self) -> AnswerKind {
        match self {
            Self::Approved { .. } => AnswerKind::Approve,
            Self::Rejected { .. } => AnswerKind::Reject,
            Self::ChangesRequested { .. } => AnswerKind::Change,
            Self::Chosen { .. } => AnswerKind::Choose,
            Self::Provided { .. } => AnswerKind::Provide,
            Self::Confirmed { .. } => AnswerKind::Confirm,
            Self::Declined => AnswerKind::Decline,
            Self::Retry { .. } => AnswerKind::Retry,
            Self::Skip => AnswerKind::Skip,
            Self::Abort => AnswerKind::Abort,
            Self::Replied { .. } => AnswerKind::Reply,
        }
    }
}

/// The kind of an answer, without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// The person approves; see [`Answer::Approved`].
    Approve,
    /// The person rejects; see [`Answer::Rejected`].
    Reject,
    /// The person requests changes; see [`Answer::ChangesRequested`].
    Change,
    /// The person chooses options; see [`Answer::Chosen`].
    Choose,
    /// The person fills in a form; see [`Answer::Provided`].
    Provide,
    /// The person confirms items; see [`Answer::Confirmed`].
    Confirm,
    /// The person declines; see [`Answer::Declined`].
    Decline,
    /// The agent retries the failed step; see [`Answer::Retry`].
    Retry,
    /// The agent skips the step; see [`Answer::Skip`].
    Skip,
    /// The agent stops; see [`Answer::Abort`].
    Abort,
    /// The person replies with text; see [`Answer::Replied`].
    Reply,
}

/// An answer with its comment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The answer.
    pub answer: Answer,
    /// The reason, note or feedback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}
