//! Operations on an ask, and the files of an answer.

use kernel::ask::CallbackAttempt;
use kernel::form::FileRef;
use kernel::question::Answer;
use kernel::{AskId, HumanId, Time};
use serde::{Deserialize, Serialize};

use super::AskView;

/// `POST /api/v1/asks/{id}/cancel`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CancelBody {
    /// The reason.
    #[serde(default)]
    pub reason: Option<String>,
}

/// `POST /api/v1/asks/{id}/assign`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AssignBody {
    /// The person who gets the ask.
    pub to: HumanId,
    /// A note for that person, which becomes a comment.
    #[serde(default)]
    pub note: Option<String>,
}

/// `POST /api/v1/asks/{id}/extend`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ExtendBody {
    /// The new deadline, after the current one.
    pub until: Time,
}

/// `POST /api/v1/asks/{id}/comments`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CommentBody {
    /// The text of the comment.
    pub text: String,
}

/// `POST /api/v1/asks/{id}/pick`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PickBody {
    /// The index of an action in `hxp`, counted from 0.
    pub action: usize,
}

/// `POST /api/v1/agents/{id}/conversations`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WriteBody {
    /// The text of the message.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 10_000))]
    pub text: String,
}

/// `GET /api/v1/agents/{id}/address`
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WriteAddress {
    /// An email address that belongs to this person and this agent: an email to it is a message to
    /// the agent in this person's name, so keep it secret. `null` if the server does not receive
    /// email.
    pub email: Option<String>,
}

/// An uploaded file. Use the whole object as the value of a file field, in an answer to the same
/// ask by the person who uploaded it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Uploaded))]
pub struct UploadedFile {
    /// The uploaded file.
    #[serde(flatten)]
    pub file: FileRef,
    /// A token that proves the upload to this ask.
    pub upload: String,
}

/// The callback attempts of an ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CallbacksView<'a> {
    /// The callback URL without secrets; `null` without a callback or after an erasure.
    pub to: Option<String>,
    /// The newest fifty attempts, oldest first.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<CallbackAttempt>))]
    pub attempts: &'a [CallbackAttempt],
}

// Results of erasing personal data.

/// The result of an erasure.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Erased))]
pub struct ErasureResult {
    /// The ID of the task or the artifact.
    pub id: String,
    /// Always `true`.
    pub erased: bool,
    /// The requests that were erased together with the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<AskId>,
}

// Bulk actions: one answer for several asks.

/// `POST /api/v1/asks/answers`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BulkAnswer {
    /// The IDs of the asks, each at most once.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 200))]
    pub asks: Vec<AskId>,
    /// The answer to all of them. `confirmed` confirms every item of each ask.
    pub answer: Answer,
    /// A comment on the answer.
    #[serde(default)]
    pub comment: Option<String>,
    /// Only report what would happen, without answering.
    #[serde(default)]
    pub dry_run: bool,
}

/// The results of a bulk answer.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BulkResults<'a> {
    /// Whether this was a dry run, so that nothing was answered.
    pub dry_run: bool,
    /// One result per ask, in the order of the request.
    pub results: Vec<BulkResult<'a>>,
}

/// The result for one ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BulkResult<'a> {
    /// The ID of the ask.
    pub id: AskId,
    /// Whether it was answered, or would be answered.
    pub done: bool,
    /// The updated ask; `null` if the answer was refused.
    pub ask: Option<AskView<'a>>,
    /// The code of the refusal.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub code: Option<&'static str>,
    /// The refusal as a sentence.
    pub why: Option<String>,
}
