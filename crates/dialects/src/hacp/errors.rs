//! Errors: `{"error": {code, message, details, retryable, …}}` with the statuses of the protocol's
//! table. HACP-041, section 8 of our digest; K-21.

use kernel::form::FieldError;
use kernel::question::AnswerError;
use kernel::{Refusal, TaskId};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::version::Version;
use super::wire::Stamp;
use crate::codes::codes;

codes! {
    /// 400: a parameter is missing, unknown or wrong.
    INVALID_SPEC = "INVALID_SPEC";
    /// 401: no credential, or one that may not do this.
    UNAUTHORIZED = "UNAUTHORIZED";
    /// 404: it does not exist, or the caller may not know that it does.
    NOT_FOUND = "NOT_FOUND";
    /// 405: the path has no such method. Ours.
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED";
    /// 408: the time for the task is over.
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED";
    /// 409: somebody changed it meanwhile.
    CONFLICT = "CONFLICT";
    /// 409: what is written stays as it is.
    IMMUTABLE_VIOLATION = "IMMUTABLE_VIOLATION";
    /// 409: no version in common.
    VERSION_UNSUPPORTED = "VERSION_UNSUPPORTED";
    /// 410: nobody decided in time.
    CHECKPOINT_EXPIRED = "CHECKPOINT_EXPIRED";
    /// 412: the task does not stand where this can be done.
    PRECONDITION_FAILED = "PRECONDITION_FAILED";
    /// 413: the body is too large. Ours.
    TOO_LARGE = "TOO_LARGE";
    /// 429: too many calls. Ours.
    RATE_LIMITED = "RATE_LIMITED";
    /// 500: our fault. Ours.
    INTERNAL = "INTERNAL";
    /// 503: try again later. Ours.
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

/// Why a call was refused, as this dialect says it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct HacpError {
    /// The HTTP status.
    pub status: u16,
    /// A stable code, one of [`CODES`].
    pub code: &'static str,
    /// A sentence that says what was expected.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// What else there is to say.
    pub details: Box<Map<String, Value>>,
    /// The call it answers, and the task that is about.
    about: Box<About>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct About {
    operation: Option<String>,
    task: Option<TaskId>,
}

/// An error on the wire.
#[derive(Debug, Clone, Serialize)]
pub struct ProtocolError<'e> {
    /// A stable code.
    pub code: &'static str,
    /// A sentence.
    pub message: &'e str,
    /// What else there is to say.
    pub details: &'e Map<String, Value>,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// The call it answers, where that has a name.
    pub operation_id: Option<&'e str>,
    /// The task it is about.
    pub correlation_id: Option<TaskId>,
    /// Which protocol.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl HacpError {
    /// An error that is its sentence, with the status of its code.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let (status, retryable) = terms(code);
        let message = message.into();
        Self { status, code, message, retryable, details: Box::default(), about: Box::default() }
    }

    /// 400 about one parameter.
    pub fn field(field: &str, expected: &str) -> Self {
        Self::new(code::INVALID_SPEC, format!("{field}: expected {expected}"))
            .with("field", json!(field))
            .with("expected", json!(expected))
    }

    /// 404 for something a parameter names.
    pub fn missing(field: &str, what: &str) -> Self {
        Self::new(code::NOT_FOUND, format!("{field}: there is no such {what}"))
            .with("field", json!(field))
    }

    /// With one more detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.details.insert(key.to_owned(), value);
        self
    }

    /// As the answer to a call of this name.
    #[must_use]
    pub fn to_operation(mut self, id: impl Into<String>) -> Self {
        self.about.operation = Some(id.into());
        self
    }

    /// As something about a task.
    #[must_use]
    pub fn about(mut self, task: TaskId) -> Self {
        self.about.task = Some(task);
        self
    }

    /// The error on the wire.
    pub fn wire(&self, version: Version) -> ProtocolError<'_> {
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

    /// The JSON that is sent.
    pub fn body(&self, version: Version) -> Value {
        json!({ "error": self.wire(version) })
    }

    /// 401: whichever of missing, wrong, or good for something else it is.
    pub fn unauthorized() -> Self {
        Self::new(code::UNAUTHORIZED, "a valid credential is needed: an agent key or a human token")
    }

    /// 404 for a path that leads nowhere.
    pub fn no_route() -> Self {
        Self::new(code::NOT_FOUND, "there is nothing at this path")
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        Self::new(code::METHOD_NOT_ALLOWED, "this path has no such method")
    }

    /// 413.
    pub fn too_large() -> Self {
        Self::new(code::TOO_LARGE, "the body is too large")
    }

    /// 429.
    pub fn rate_limited() -> Self {
        Self::new(code::RATE_LIMITED, "too many calls, wait a little")
    }

    /// 500. What went wrong is in the log, not in the body.
    pub fn internal() -> Self {
        Self::new(code::INTERNAL, "something went wrong here, and it was noted")
    }

    /// 503.
    pub fn unavailable() -> Self {
        Self::new(code::UNAVAILABLE, "the service cannot answer now, try again")
    }

    /// What the kernel refused.
    pub fn refused(refusal: &Refusal) -> Self {
        let said = |code| Self::new(code, refusal.to_string());
        match refusal {
            Refusal::NotFound { what } => {
                // A checkpoint is a request everywhere else.
                let what = if *what == "request" { "checkpoint" } else { what };
                Self::new(code::NOT_FOUND, format!("there is no such {what}"))
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
            // Who decided is in the checkpoint, for those who may see it.
            Refusal::AlreadyAnswered { at, .. } => {
                let message = format!("this checkpoint was resolved at {at}");
                Self::new(code::PRECONDITION_FAILED, message)
            }
            Refusal::AlreadyCancelled { at, .. } => {
                let message = format!("this checkpoint was withdrawn at {at}");
                Self::new(code::PRECONDITION_FAILED, message)
            }
            Refusal::TakenBy { .. } | Refusal::BeingAnswered { .. } => {
                Self::new(code::PRECONDITION_FAILED, "somebody else has taken this on")
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
                let expected = "stay_blocked: this project takes nothing from silence";
                Self::field("params.on_expiry", expected)
            }
            Refusal::SilenceTooWeak { .. } => {
                Self::field("params.on_expiry", &format!("stay_blocked: {refusal}"))
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
            // The same call will never do: a retry needs another key, or another name (K-21).
            Refusal::IdempotencyMismatch | Refusal::Exists { .. } => {
                Self { retryable: false, ..said(code::CONFLICT) }
            }
        }
    }

    /// 400: a resolution that does not answer the question of its checkpoint.
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
