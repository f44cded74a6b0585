//! A person's own view: the asks they snoozed, and who works on which ask.

use kernel::{AskId, HumanId, Time};
use serde::{Deserialize, Serialize};

use super::AskView;

/// `PUT /api/v1/asks/{id}/snooze`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SnoozeBody {
    /// When it comes back; within ten years.
    pub until: Time,
}

/// What a person has hidden.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Snoozed<'a> {
    /// Soonest first.
    pub snoozed: Vec<SnoozedAsk<'a>>,
}

/// One ask that is hidden.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SnoozedAsk<'a> {
    /// When it comes back.
    pub until: Time,
    /// Which.
    pub ask: AskView<'a>,
}

/// Who looks at asks.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Lookers {
    /// Whoever said so within the last minute.
    pub looking: Vec<Looker>,
}

/// Somebody who looks at an ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Looker {
    /// At which.
    pub ask: AskId,
    /// Who.
    pub human: HumanId,
}
