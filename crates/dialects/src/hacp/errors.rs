//! Errors: `{"error": {code, message, details, retryable, …}}` with the statuses of the protocol's
//! table. HACP-041, section 8 of our digest; K-21.

use kernel::form::FieldError;
use kernel::question::AnswerError;
use kernel::{Refusal, TaskId};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::version::HacpVersion;
use super::wire::Stamp;
use crate::codes::codes;

codes! {
    /// 400: a parameter is missing, unknown or wrong.
    INVALID_SPEC = "INVALID_SPEC";
    /// 401: the credential is missing or does not allow this.
    UNAUTHORIZED = "UNAUTHORIZED";
    /// 404: the object does not exist, or the caller may not know that it does.
    NOT_FOUND = "NOT_FOUND";
    /// 405: the path has no such method. A Countersign extension.
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED";
    /// 408: the task's deadline passed.
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED";
    /// 409: the object was changed in the meantime.
    CONFLICT = "CONFLICT";
    /// 409: the object cannot be changed.
    IMMUTABLE_VIOLATION = "IMMUTABLE_VIOLATION";
    /// 409: the client and the server share no version.
    VERSION_UNSUPPORTED = "VERSION_UNSUPPORTED";
    /// 410: the checkpoint expired before a decision.
    CHECKPOINT_EXPIRED = "CHECKPOINT_EXPIRED";
    /// 412: the task's state does not allow this.
    PRECONDITION_FAILED = "PRECONDITION_FAILED";
    /// 413: the body is too large. A Countersign extension.
    TOO_LARGE = "TOO_LARGE";
    /// 429: too many calls. A Countersign extension.
    RATE_LIMITED = "RATE_LIMITED";
    /// 500: an internal error. A Countersign extension.
    INTERNAL = "INTERNAL";
    /// 503: try again later. A Countersign extension.
    UNAVAILABLE = "UNAVAILABLE";
}

/// The status of a code, and whether the same call may succeed later.
fn terms(code: &str) -> (u16, bool) {
    match code {
        code::INVALID_SPEC => (400, false),
        code::UNAUTHORIZED => (401, false),
        code::NOT_FOUND => (404, false),
        code::METHOD_NOT_ALLOWED => (405, false),
        code::DEADLINE_EXCEEDED => (408, true),
        code::CONFLICT => (409, true),
        code::IMMUTABLE_VIOLATION | code::VERSION_UNSUPPORTED => (409, false),
        code::CHECKPOINT_EXPIRED => (410, false),
        code::PRECONDITION_FAILED => (412, false),
        code::TOO_LARGE => (413, false),
        code::RATE_LIMITED => (429, true),
        code::UNAVAILABLE => (503, true),
        _ => (500, true),
    }
}

/// An error of this dialect.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct HacpError {
    pub status: u16,
    /// A stable code, one of [`CODES`].
    pub code: &'static str,
    /// A sentence that names the expected value.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    pub details: Box<Map<String, Value>>,
    /// The call that failed, and its task.
    about: Box<ErrorContext>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct ErrorContext {
    operation: Option<String>,
    task: Option<TaskId>,
}

/// An error on the wire.
#[derive(Debug, Clone, Serialize)]
pub struct ProtocolError<'e> {
    pub code: &'static str,
    pub message: &'e str,
    pub details: &'e Map<String, Value>,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// The id of the failed call, if it has one.
    pub operation_id: Option<&'e str>,
    /// The task that the error is about.
    pub correlation_id: Option<TaskId>,
    /// The protocol version.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl HacpError {
    /// An error with the status of its code.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let (status, retryable) = terms(code);
        let message = message.into();
        Self { status, code, message, retryable, details: Box::default(), about: Box::default() }
    }

    /// 400: one parameter is invalid.
    pub fn field(field: &str, expected: &str) -> Self {
        Self::new(code::INVALID_SPEC, format!("{field}: expected {expected}"))
            .with("field", json!(field))
            .with("expected", json!(expected))
    }

    /// 404: a parameter names an object that does not exist.
    pub fn missing(field: &str, what: &str) -> Self {
        Self::new(code::NOT_FOUND, format!("{field}: {what} not found")).with("field", json!(field))
    }

    /// Adds one detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.details.insert(key.to_owned(), value);
        self
    }

    /// Names the call that failed.
    #[must_use]
    pub fn to_operation(mut self, id: impl Into<String>) -> Self {
        self.about.operation = Some(id.into());
        self
    }

    /// Names the task that the error is about.
    #[must_use]
    pub fn about(mut self, task: TaskId) -> Self {
        self.about.task = Some(task);
        self
    }

    /// The error on the wire.
    pub fn wire(&self, version: HacpVersion) -> ProtocolError<'_> {
        ProtocolError {
            code: self.code,
            message: &self.message,
            details: &self.details,
            retryable: self.retryable,
            operation_id: self.about.operation.as_deref(),
            correlation_id: self.about.task,
            stamp: version.stamp(),
        }
    }

    /// The JSON body of the response.
    pub fn body(&self, version: HacpVersion) -> Value {
        json!({ "error": self.wire(version) })
    }

    /// 401: the credential is missing, wrong, or for another purpose. The response does not say
    /// which.
    pub fn unauthorized() -> Self {
        Self::new(
            code::UNAUTHORIZED,
            "missing, unknown, expired or revoked credential; send an agent key or a human token \
             as Authorization: Bearer <credential>",
        )
    }

    /// 404: no route has this path.
    pub fn no_route() -> Self {
        Self::new(code::NOT_FOUND, "unknown path; check the URL")
    }

    /// 405: the path has no such method.
    pub fn method_not_allowed() -> Self {
        Self::new(code::METHOD_NOT_ALLOWED, "this path does not support this method")
    }

    /// 413: the body is too large.
    pub fn too_large() -> Self {
        Self::new(code::TOO_LARGE, "the body exceeds this server's size limit")
    }

    /// 429: too many calls.
    pub fn rate_limited() -> Self {
        Self::new(code::RATE_LIMITED, "too many requests; retry after the seconds in Retry-After")
    }

    /// 500: an internal error. The cause is in the log, not in the body.
    pub fn internal() -> Self {
        Self::new(code::INTERNAL, "internal error; the server's log has the details")
    }

    /// 503: try again later.
    pub fn unavailable() -> Self {
        Self::new(code::UNAVAILABLE, "the service is temporarily unavailable; try again")
    }

    /// Translates a refusal of the kernel.
    pub fn refused(refusal: &Refusal) -> Self {
        let said = |code| Self::new(code, refusal.to_string());
        match refusal {
            Refusal::NotFound { what } => {
                // The kernel calls a checkpoint a request.
                let what = if *what == "request" { "checkpoint" } else { what };
                Self::new(code::NOT_FOUND, format!("{what} not found"))
            }
            Refusal::NotAllowed { .. }
            | Refusal::AssuranceTooLow { .. }
            | Refusal::ApprovalTooWeak { .. }
            | Refusal::NotInline
            | Refusal::VerificationRequired { .. }
            | Refusal::VerificationFailed { .. } => said(code::UNAUTHORIZED),
            Refusal::TimedOut { at } => {
                let message = format!("this checkpoint expired at {at}");
                Self::new(code::CHECKPOINT_EXPIRED, message)
            }
            // The checkpoint names who decided, for callers that may see it.
            Refusal::AlreadyAnswered { at, .. } => {
                let message = format!("this checkpoint was resolved at {at}");
                Self::new(code::PRECONDITION_FAILED, message)
            }
            Refusal::AlreadyCancelled { at, .. } => {
                let message = format!("this checkpoint was withdrawn at {at}");
                Self::new(code::PRECONDITION_FAILED, message)
            }
            Refusal::TakenBy { .. } | Refusal::BeingAnswered { .. } => {
                Self::new(code::PRECONDITION_FAILED, "another person has claimed this checkpoint")
            }
            Refusal::NotOver { .. }
            | Refusal::Precondition { .. }
            | Refusal::NoDeadline
            | Refusal::NotDue => said(code::PRECONDITION_FAILED),
            Refusal::TooComplex { field, why } => {
                let field = format!("params.{field}");
                Self::new(code::INVALID_SPEC, format!("{field}: {why}")).with("field", json!(field))
            }
            Refusal::Quota(quota) => said(code::RATE_LIMITED)
                .with("quota", json!(quota.name()))
                .with("limit", json!(quota.limit))
                .with("resets_at", json!(quota.resets_at)),
            Refusal::Claims { pointer, .. } => {
                Self::new(code::INVALID_SPEC, refusal.to_string()).with("field", json!(pointer))
            }
            Refusal::Invalid { field, expected } => {
                Self::field(&format!("params.{field}"), expected)
            }
            Refusal::InvalidAt { field, expected } => {
                Self::field(&format!("params.{field}"), expected)
            }
            Refusal::DefaultForbidden => {
                let expected = "stay_blocked, because this project does not allow a default on \
                                silence";
                Self::field("params.on_expiry", expected)
            }
            Refusal::SilenceTooWeak { .. } => {
                Self::field("params.on_expiry", &format!("stay_blocked; {refusal}"))
            }
            Refusal::Answer(error) => Self::answer(error),
            Refusal::Immutable { .. } => said(code::IMMUTABLE_VIOLATION),
            Refusal::PastDeadline { at } => {
                said(code::DEADLINE_EXCEEDED).with("deadline", json!(at))
            }
            Refusal::Stale { what, revision } => {
                let detail = if *what == "task" { "task_revision" } else { "revision" };
                said(code::CONFLICT).with(detail, json!(revision))
            }
            Refusal::Changed { version } => said(code::CONFLICT).with("version", json!(version)),
            // The same call can never succeed: a retry needs another key or another name (K-21).
            Refusal::IdempotencyMismatch | Refusal::Exists { .. } => {
                Self { retryable: false, ..said(code::CONFLICT) }
            }
        }
    }

    /// 400: the resolution does not fit the question of its checkpoint.
    fn answer(error: &AnswerError) -> Self {
        let refused = Self::new(code::INVALID_SPEC, error.to_string());
        match error {
            AnswerError::Fields(errors) => {
                let one = |error: &FieldError| json!({ "field": error.key, "code": error.code.as_str(), "message": error.message });
                let fields: Vec<Value> = errors.iter().map(one).collect();
                refused.with("field", json!("input")).with("fields", json!(fields))
            }
            AnswerError::WrongKind { .. } | AnswerError::NotEditable => {
                refused.with("field", json!("action"))
            }
            AnswerError::UnknownOption | AnswerError::WrongCount { .. } => {
                refused.with("field", json!("choice"))
            }
            AnswerError::ReasonRequired => refused.with("field", json!("comment")),
            AnswerError::BadEdit { .. } => refused.with("field", json!("state_patch")),
            AnswerError::Empty => refused.with("field", json!("input")),
            AnswerError::BadText { field, .. } => refused.with("field", json!(field)),
        }
    }
}
