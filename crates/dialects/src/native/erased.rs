//! Results of erasing personal data.

use kernel::AskId;
use serde::{Deserialize, Serialize};

/// What an erasure came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Erased {
    /// The task or the artifact.
    pub id: String,
    /// Always `true`.
    pub erased: bool,
    /// The requests that were erased with a task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<AskId>,
}
