//! Bulk actions: one answer for several asks.

use kernel::AskId;
use kernel::question::Answer;
use serde::{Deserialize, Serialize};

use super::AskView;

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
