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
    /// Nobody did in time.
    Expired(Expired),
    /// It was withdrawn.
    Cancelled(Cancelled),
}

/// What a person decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completed {
    /// What they did: `approve`, `select`, …
    pub action: String,
    /// What goes with it.
    pub data: Map<String, Value>,
    /// Who it was, if the service says so.
    pub responded_by: Option<RespondedBy>,
    /// When.
    pub completed_at: Option<Timestamp>,
    /// The case that continues this one, if there is one already.
    pub next_case_id: Option<String>,
    /// The service's signature of the result, as it came.
    pub signature: Option<Value>,
    /// How it was answered, where the service speaks 0.8.
    pub submission_context: Option<Value>,
}

impl Completed {
    /// Whether the person wants another round.
    pub fn wants_edit(&self) -> bool {
        self.action == "edit"
    }

    /// The request to send next: `revised` with a word of which case it continues (HITL-142).
    #[must_use]
    pub fn resubmission(&self, case_id: &str, revised: Map<String, Value>) -> Map<String, Value> {
        let mut revised = revised;
        revised.insert("previous_case_id".to_owned(), Value::from(case_id));
        revised
    }
}

/// Nobody decided in time: the agent does `default_action` (HITL-150).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expired {
    /// `skip`, `approve`, `reject` or `abort`.
    pub default_action: String,
    /// When.
    pub expired_at: Timestamp,
    /// Who says so.
    pub judged_by: JudgedBy,
}

/// Who says that a case has expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    /// The service.
    Service,
    /// The agent's clock: the service was silent, or went on calling it open.
    Clock,
}

/// The case was withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// Why, if it was said.
    pub reason: Option<String>,
    /// When, if it was said.
    pub cancelled_at: Option<Timestamp>,
}

/// Who decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RespondedBy {
    /// What they are called.
    pub name: Option<String>,
    /// Their address.
    pub email: Option<String>,
}

/// What a poll or an event says, as far as it matters here.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Told {
    pub(super) case_id: Option<String>,
    pub(super) status: Option<String>,
    pub(super) expires_at: Option<Timestamp>,
    result: Option<Answer>,
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
struct Answer {
    action: String,
    #[serde(default)]
    data: Map<String, Value>,
    signature: Option<Value>,
}

impl Told {
    /// Reads what was said about `case_id`.
    pub(super) fn read(bytes: &[u8], case_id: &str) -> Result<Self> {
        let told: Self = serde_json::from_slice(bytes)
            .map_err(|error| HitlError::Malformed(format!("its status: {error}")))?;
        match &told.case_id {
            Some(other) if other != case_id => {
                Err(HitlError::Malformed(format!("asked about {case_id}, it told of {other}")))
            }
            _ => Ok(told),
        }
    }

    /// How it ended under this status; `None` if it goes on.
    pub(super) fn outcome(self, status: &str, case: &Terms) -> Result<Option<Outcome>> {
        Ok(match status {
            "completed" => {
                let said = "it is completed and has no result";
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
            // pending, opened, in_progress, and what later versions may add.
            _ => None,
        })
    }
}

/// What a case says about its end, where the service leaves it out.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub(super) default_action: String,
    pub(super) expires_at: Timestamp,
}
