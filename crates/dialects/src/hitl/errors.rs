//! Error bodies of every route: `{error, message, …}`. Section 16; HITL-240, HITL-241.

use kernel::Refusal;
use kernel::form::FieldError;
use kernel::question::AnswerError;
use serde_json::{Map, Value, json};

use crate::codes::codes;

/// Why a call was refused, as this dialect says it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct WireError {
    /// The HTTP status.
    pub status: u16,
    /// A stable code, one of [`CODES`].
    pub code: &'static str,
    /// A sentence that says what was expected.
    pub message: String,
    /// What else the body has.
    more: Map<String, Value>,
}

codes! {
    /// 400: not JSON.
    INVALID_JSON = "invalid_json";
    /// 400: a field is missing, unknown or wrong.
    INVALID_REQUEST = "invalid_request";
    /// 400: an answer without an action.
    MISSING_ACTION = "missing_action";
    /// 400: an action the type does not have.
    INVALID_ACTION = "invalid_action";
    /// 400: no review type.
    INVALID_TYPE = "invalid_type";
    /// 400: `verification_policy` wants what no provider of this server can prove.
    VERIFICATION_UNSUPPORTED = "verification_unsupported";
    /// 401: no credential, a wrong one, or one for another purpose.
    INVALID_TOKEN = "invalid_token";
    /// 403: an action that may not be submitted inline.
    ACTION_NOT_INLINE = "action_not_inline";
    /// 403: the answer needs a proof that a person gives it.
    VERIFICATION_REQUIRED = "verification_required";
    /// 403: a proof that came does not count.
    VERIFICATION_FAILED = "verification_failed";
    /// 403: known, but not allowed.
    FORBIDDEN = "forbidden";
    /// 404: no such case or route.
    NOT_FOUND = "not_found";
    /// 405: the route has no such method.
    METHOD_NOT_ALLOWED = "method_not_allowed";
    /// 409: somebody answered before.
    DUPLICATE_SUBMISSION = "duplicate_submission";
    /// 409: it was withdrawn.
    CASE_CANCELLED = "case_cancelled";
    /// 409: it is in a state in which this cannot be done.
    CONFLICT = "conflict";
    /// 409: an idempotency key used for something else.
    IDEMPOTENCY_CONFLICT = "idempotency_conflict";
    /// 410: its time is up.
    CASE_EXPIRED = "case_expired";
    /// 413: the body is too large.
    TOO_LARGE = "too_large";
    /// 422: an answer that does not answer the question.
    VALIDATION_FAILED = "validation_failed";
    /// 429: too many calls.
    RATE_LIMITED = "rate_limited";
    /// 500: our fault.
    INTERNAL = "internal";
    /// 503: try again later.
    UNAVAILABLE = "unavailable";
}

impl WireError {
    /// An error that is its sentence.
    pub fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), more: Map::new() }
    }

    /// 400 about one field.
    pub fn field(field: &str, expected: &str) -> Self {
        Self::named(400, code::INVALID_REQUEST, field, expected)
    }

    /// An error about one field, with a code of its own.
    pub fn named(status: u16, code: &'static str, field: &str, expected: &str) -> Self {
        Self::new(status, code, format!("{field}: expected {expected}"))
            .with("field", json!(field))
            .with("expected", json!(expected))
    }

    /// With one more member.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.more.insert(key.to_owned(), value);
        self
    }

    /// The JSON that is sent.
    pub fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("error".to_owned(), json!(self.code));
        body.insert("message".to_owned(), json!(self.message));
        body.extend(self.more.clone());
        Value::Object(body)
    }

    /// 400: a policy that nobody could ever satisfy here, by the place of what cannot be had.
    pub fn unprovable(place: &str, offered: &str) -> Self {
        let field = format!("{}.{place}", super::policy::FIELD);
        Self::named(400, code::VERIFICATION_UNSUPPORTED, &field, offered)
    }

    /// 401: whichever of missing, wrong, or good for something else it is.
    pub fn invalid_token() -> Self {
        let message = "a valid token for this call is needed";
        Self::new(401, code::INVALID_TOKEN, message)
    }

    /// 404 for a case that is not there, or not for the caller.
    pub fn no_case() -> Self {
        Self::new(404, code::NOT_FOUND, "there is no such case")
    }

    /// 404 for a path that leads nowhere.
    pub fn no_route() -> Self {
        Self::new(404, code::NOT_FOUND, "there is nothing at this path")
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        Self::new(405, code::METHOD_NOT_ALLOWED, "this path has no such method")
    }

    /// 413.
    pub fn too_large() -> Self {
        Self::new(413, code::TOO_LARGE, "the body is too large")
    }

    /// 429.
    pub fn rate_limited() -> Self {
        Self::new(429, code::RATE_LIMITED, "too many calls, wait a little")
    }

    /// 500. What went wrong is in the log, not in the body.
    pub fn internal() -> Self {
        Self::new(500, code::INTERNAL, "something went wrong here, and it was noted")
    }

    /// 503.
    pub fn unavailable() -> Self {
        Self::new(503, code::UNAVAILABLE, "the service cannot answer now, try again")
    }

    /// What the kernel refused. Nobody is named: whoever holds a token is not told who else answers.
    pub fn refused(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::NotFound { .. } => Self::no_case(),
            Refusal::AlreadyAnswered { at, .. } => {
                Self::new(409, code::DUPLICATE_SUBMISSION, format!("already answered at {at}"))
            }
            Refusal::AlreadyCancelled { at, .. } => {
                Self::new(409, code::CASE_CANCELLED, format!("cancelled at {at}"))
            }
            Refusal::TimedOut { at } => {
                Self::new(410, code::CASE_EXPIRED, format!("this case expired at {at}"))
            }
            Refusal::NotInline => Self::new(403, code::ACTION_NOT_INLINE, refusal.to_string()),
            Refusal::VerificationRequired { .. } => {
                Self::new(403, code::VERIFICATION_REQUIRED, refusal.to_string())
            }
            Refusal::VerificationFailed { .. } => {
                Self::new(403, code::VERIFICATION_FAILED, refusal.to_string())
            }
            Refusal::NotAllowed { .. }
            | Refusal::AssuranceTooLow { .. }
            | Refusal::ApprovalTooWeak { .. } => {
                Self::new(403, code::FORBIDDEN, refusal.to_string())
            }
            Refusal::DefaultForbidden => {
                let expected = "skip, reject or abort: this project takes no approval from silence";
                Self::field("default_action", expected)
            }
            Refusal::SilenceTooWeak { .. } => {
                Self::field("default_action", &format!("skip, reject or abort: {refusal}"))
            }
            Refusal::Answer(error) => Self::answer(error),
            Refusal::Invalid { field, expected } => Self::field(wire_name(field), expected),
            Refusal::TooComplex { field, why } => {
                let field = format!("context.{field}");
                Self::new(400, code::INVALID_REQUEST, format!("{field}: {why}"))
                    .with("field", json!(field))
            }
            Refusal::Quota(quota) => Self::new(429, code::RATE_LIMITED, refusal.to_string())
                .with("quota", json!(quota.name()))
                .with("limit", json!(quota.limit))
                .with("resets_at", json!(quota.resets_at)),
            Refusal::InvalidAt { field, expected } => Self::field(field, expected),
            Refusal::Claims { pointer, .. } => {
                Self::new(400, code::INVALID_REQUEST, refusal.to_string())
                    .with("field", json!(pointer))
            }
            Refusal::IdempotencyMismatch => {
                Self::new(409, code::IDEMPOTENCY_CONFLICT, refusal.to_string())
            }
            Refusal::TakenBy { .. } => Self::new(409, code::CONFLICT, "somebody has taken this on"),
            Refusal::BeingAnswered { .. } => {
                Self::new(409, code::CONFLICT, "somebody has just answered this")
            }
            Refusal::NotOver { .. }
            | Refusal::Exists { .. }
            | Refusal::Changed { .. }
            | Refusal::Precondition { .. }
            | Refusal::Immutable { .. }
            | Refusal::PastDeadline { .. }
            | Refusal::Stale { .. }
            | Refusal::NoDeadline
            | Refusal::NotDue => Self::new(409, code::CONFLICT, refusal.to_string()),
        }
    }

    /// What the kernel refused when the case was made: about the case it continues, too.
    pub fn create_refused(refusal: &Refusal) -> Self {
        let field = "previous_case_id";
        match refusal {
            Refusal::NotFound { .. } => Self::field(field, "a case of this agent"),
            Refusal::NotOver { .. } => Self::field(field, "a case that was answered"),
            Refusal::Exists { .. } => {
                let expected = "a case that was not continued yet";
                Self::named(409, code::CONFLICT, field, expected)
            }
            other => Self::refused(other),
        }
    }

    /// 422: an answer that does not answer the question, by field (HITL-136).
    pub fn answer(error: &AnswerError) -> Self {
        let field = |key: &str, code: &str, message: &str| json!({ "field": key, "code": code, "message": message });
        let text = error.to_string();
        let fields = match error {
            AnswerError::Fields(errors) => {
                let one =
                    |error: &FieldError| field(&error.key, error.code.as_str(), &error.message);
                errors.iter().map(one).collect()
            }
            AnswerError::WrongKind { .. } => vec![field("action", "wrong_kind", &text)],
            AnswerError::UnknownOption => vec![field("selected", "not_an_option", &text)],
            AnswerError::WrongCount { .. } => vec![field("selected", "wrong_count", &text)],
            AnswerError::ReasonRequired => vec![field("feedback", "required", &text)],
            AnswerError::NotEditable => vec![field("edits", "not_editable", &text)],
            AnswerError::BadEdit { place, expected } => {
                vec![field(&format!("edits.{place}"), "wrong_type", expected)]
            }
            AnswerError::Empty => vec![field("response", "required", &text)],
            AnswerError::BadText { field: place, expected } => {
                vec![field(place, "bad_text", expected)]
            }
        };
        Self::new(422, code::VALIDATION_FAILED, text).with("fields", Value::Array(fields))
    }
}

/// The kernel's names of fields under those of this protocol.
fn wire_name(field: &str) -> &str {
    match field {
        "timeout_seconds" => "timeout",
        "reminders" => "reminder_at",
        "route.human" => "person",
        "route.group" => "role",
        "callback" => "hitl_callback_url",
        "labels" => "project",
        "metadata" => "context",
        other => other,
    }
}
