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
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// `POST /api/v1/asks/{id}/assign`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AssignBody {
    /// To whom.
    pub to: HumanId,
    /// A word for them; it becomes a comment.
    #[serde(default)]
    pub note: Option<String>,
}

/// `POST /api/v1/asks/{id}/extend`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ExtendBody {
    /// The new deadline, later than the one there is.
    pub until: Time,
}

/// `POST /api/v1/asks/{id}/comments`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CommentBody {
    /// What to say.
    pub text: String,
}

/// `POST /api/v1/asks/{id}/pick`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PickBody {
    /// Which of the actions in `hxp`, by its place from 0.
    pub action: usize,
}

/// `POST /api/v1/agents/{id}/conversations`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WriteBody {
    /// What to write.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 10_000))]
    pub text: String,
}

/// `GET /api/v1/agents/{id}/address`
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WriteAddress {
    /// Mail to it is written to the agent, by the person it is shown to: whoever has it writes in
    /// their name. `null` where no mail is heard.
    pub email: Option<String>,
}

/// An uploaded file. The whole of it is the value of a file field in an answer to the same ask, by
/// the person who uploaded it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Uploaded))]
pub struct UploadedFile {
    /// What was uploaded.
    #[serde(flatten)]
    pub file: FileRef,
    /// Says that it was, to this very ask.
    pub upload: String,
}

/// The attempts to tell an agent that its ask is over.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CallbacksView<'a> {
    /// Where to, without what an address may hold as a secret; `null` if it wants no call, or once
    /// erased.
    pub to: Option<String>,
    /// The newest fifty, oldest first.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<CallbackAttempt>))]
    pub attempts: &'a [CallbackAttempt],
}

// Results of erasing personal data.

/// What an erasure came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Erased))]
pub struct ErasureResult {
    /// The task or the artifact.
    pub id: String,
    /// Always `true`.
    pub erased: bool,
    /// The requests that were erased with a task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<AskId>,
}

// Bulk actions: one answer for several asks.

/// `POST /api/v1/asks/answers`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BulkAnswer {
    /// Which, each once.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 200))]
    pub asks: Vec<AskId>,
    /// The answer to all of them. `confirmed` means every item of each.
    pub answer: Answer,
    /// The words that go with it.
    #[serde(default)]
    pub comment: Option<String>,
    /// Only say what would become of each.
    #[serde(default)]
    pub dry_run: bool,
}

/// What became of many asks.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BulkResults<'a> {
    /// Whether nothing was answered.
    pub dry_run: bool,
    /// One for each ask, in order.
    pub results: Vec<BulkResult<'a>>,
}

/// What became of one of many asks.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BulkResult<'a> {
    /// Which.
    pub id: AskId,
    /// Whether it was answered, or would be.
    pub done: bool,
    /// The ask as it is then; `null` if it was refused.
    pub ask: Option<AskView<'a>>,
    /// The code of the refusal.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub code: Option<&'static str>,
    /// The refusal in words.
    pub why: Option<String>,
}
