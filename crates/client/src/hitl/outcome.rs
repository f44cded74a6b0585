//! How a case ended, from a poll, an event or a callback. Sections 7.2, 12 and 13 of the protocol.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{HitlError, Result};

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "there is one of them, and it is matched on")]
pub enum Outcome {
    /// A person decided.
    Completed(Completed),
    /// No one decided in time.
    Expired(Expired),
    /// The case was withdrawn.
    Cancelled(Cancelled),
}

/// A person's decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completed {
    /// The action: `approve`, `select`, …
    pub action: String,
    /// The data of the action.
    pub data: Map<String, Value>,
    /// The person, if the service names them.
    pub responded_by: Option<RespondedBy>,
    pub completed_at: Option<Timestamp>,
    /// The case that continues this one, if there already is one.
    pub next_case_id: Option<String>,
    /// The service's signature of the result, unverified.
    pub signature: Option<Value>,
    /// How the case was answered, if the service uses 0.8.
    pub submission_context: Option<Value>,
}

impl Completed {
    /// Whether the person wants another round.
    pub fn wants_edit(&self) -> bool {
        self.action == "edit"
    }

    /// The next request: `revised` with the id of the case that it continues (HITL-142).
    #[must_use]
    pub fn resubmission(&self, case_id: &str, revised: Map<String, Value>) -> Map<String, Value> {
        let mut revised = revised;
        revised.insert("previous_case_id".to_owned(), Value::from(case_id));
        revised
    }
}

/// No one decided in time: the agent executes `default_action` (HITL-150).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expired {
    /// `skip`, `approve`, `reject` or `abort`.
    pub default_action: String,
    pub expired_at: Timestamp,
    pub judged_by: JudgedBy,
}

/// The source of the information that a case has expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    /// The service reported it.
    Service,
    /// The agent's clock: the service did not respond, or still reported the case as open.
    Clock,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// The reason, if the service names it.
    pub reason: Option<String>,
    /// The time, if the service names it.
    pub cancelled_at: Option<Timestamp>,
}

/// The person who decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RespondedBy {
    pub name: Option<String>,
    pub email: Option<String>,
}

/// The used members of a poll or an event.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct CaseStatus {
    pub(super) case_id: Option<String>,
    pub(super) status: Option<String>,
    pub(super) expires_at: Option<Timestamp>,
    result: Option<CaseAnswer>,
    responded_by: Option<RespondedBy>,
    completed_at: Option<Timestamp>,
    next_case_id: Option<String>,
    submission_context: Option<Value>,
    expired_at: Option<Timestamp>,
    default_action: Option<String>,
    reason: Option<String>,
    cancelled_at: Option<Timestamp>,
    pub(super) reminder_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Deserialize)]
struct CaseAnswer {
    action: String,
    #[serde(default)]
    data: Map<String, Value>,
    signature: Option<Value>,
}

impl CaseStatus {
    /// Reads a status of `case_id`.
    pub(super) fn read(bytes: &[u8], case_id: &str) -> Result<Self> {
        let told: Self = serde_json::from_slice(bytes)
            .map_err(|error| HitlError::Malformed(format!("its status: {error}")))?;
        match &told.case_id {
            Some(other) if other != case_id => {
                Err(HitlError::Malformed(format!("the status is of case {other}, not {case_id}")))
            }
            _ => Ok(told),
        }
    }

    /// The outcome under this status; `None` if the case is still open.
    pub(super) fn outcome(self, status: &str, case: &CaseTerms) -> Result<Option<Outcome>> {
        Ok(match status {
            "completed" => {
                let said = "the case is completed but has no result";
                let result = self.result.ok_or_else(|| HitlError::Malformed(said.to_owned()))?;
                Some(Outcome::Completed(Completed {
                    action: result.action,
                    data: result.data,
                    responded_by: self.responded_by,
                    completed_at: self.completed_at,
                    next_case_id: self.next_case_id,
                    signature: result.signature,
                    submission_context: self.submission_context,
                }))
            }
            "expired" => Some(Outcome::Expired(Expired {
                default_action: self.default_action.unwrap_or_else(|| case.default_action.clone()),
                expired_at: self.expired_at.unwrap_or(case.expires_at),
                judged_by: JudgedBy::Service,
            })),
            "cancelled" => Some(Outcome::Cancelled(Cancelled {
                reason: self.reason,
                cancelled_at: self.cancelled_at,
            })),
            // pending, opened, in_progress, and statuses of later versions.
            _ => None,
        })
    }
}

/// The case's own terms, used where the service leaves them out.
#[derive(Debug, Clone)]
pub(super) struct CaseTerms {
    pub(super) default_action: String,
    pub(super) expires_at: Timestamp,
}
