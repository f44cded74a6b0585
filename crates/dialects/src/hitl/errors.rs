//! Error bodies of every route: `{error, message, …}`. Section 16; HITL-240, HITL-241.

use kernel::Refusal;
use kernel::form::FieldError;
use kernel::question::AnswerError;
use serde_json::{Map, Value, json};

use crate::codes::codes;

/// An error of this dialect.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct HitlWireError {
    pub status: u16,
    /// A stable code, one of [`CODES`].
    pub code: &'static str,
    /// A sentence that names the expected value.
    pub message: String,
    /// The additional members of the body.
    more: Map<String, Value>,
}

codes! {
    /// 400: not JSON.
    INVALID_JSON = "invalid_json";
    /// 400: a field is missing, unknown or wrong.
    INVALID_REQUEST = "invalid_request";
    /// 400: the answer has no action.
    MISSING_ACTION = "missing_action";
    /// 400: the type has no such action.
    INVALID_ACTION = "invalid_action";
    /// 400: the review type is unknown.
    INVALID_TYPE = "invalid_type";
    /// 400: `verification_policy` requires a proof that no provider of this server can verify.
    VERIFICATION_UNSUPPORTED = "verification_unsupported";
    /// 401: the credential is missing, wrong, or for another purpose.
    INVALID_TOKEN = "invalid_token";
    /// 403: this action may not be submitted inline.
    ACTION_NOT_INLINE = "action_not_inline";
    /// 403: the answer needs a proof that a person gives it.
    VERIFICATION_REQUIRED = "verification_required";
    /// 403: a proof is not valid.
    VERIFICATION_FAILED = "verification_failed";
    /// 403: the credential is valid but lacks permission.
    FORBIDDEN = "forbidden";
    /// 404: no such case or route.
    NOT_FOUND = "not_found";
    /// 405: the route has no such method.
    METHOD_NOT_ALLOWED = "method_not_allowed";
    /// 409: the case was answered before.
    DUPLICATE_SUBMISSION = "duplicate_submission";
    /// 409: the case was withdrawn.
    CASE_CANCELLED = "case_cancelled";
    /// 409: the case's state does not allow this.
    CONFLICT = "conflict";
    /// 409: the idempotency key was used for another request.
    IDEMPOTENCY_CONFLICT = "idempotency_conflict";
    /// 410: the case expired.
    CASE_EXPIRED = "case_expired";
    /// 413: the body is too large.
    TOO_LARGE = "too_large";
    /// 422: the answer does not fit the question.
    VALIDATION_FAILED = "validation_failed";
    /// 429: too many calls.
    RATE_LIMITED = "rate_limited";
    /// 500: an internal error.
    INTERNAL = "internal";
    /// 503: try again later.
    UNAVAILABLE = "unavailable";
}

impl HitlWireError {
    /// An error that is about no field.
    pub fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), more: Map::new() }
    }

    /// 400: one field is invalid.
    pub fn field(field: &str, expected: &str) -> Self {
        Self::named(400, code::INVALID_REQUEST, field, expected)
    }

    /// An error about one field, with its own code.
    pub fn named(status: u16, code: &'static str, field: &str, expected: &str) -> Self {
        Self::new(status, code, format!("{field}: expected {expected}"))
            .with("field", json!(field))
            .with("expected", json!(expected))
    }

    /// Adds one member to the body.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.more.insert(key.to_owned(), value);
        self
    }

    /// The JSON body of the response.
    pub fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("error".to_owned(), json!(self.code));
        body.insert("message".to_owned(), json!(self.message));
        body.extend(self.more.clone());
        Value::Object(body)
    }

    /// 400: no one can satisfy this policy on this server. `place` names the requirement that no
    /// provider meets.
    pub fn unprovable(place: &str, offered: &str) -> Self {
        let field = format!("{}.{place}", super::policy::FIELD);
        Self::named(400, code::VERIFICATION_UNSUPPORTED, &field, offered)
    }

    /// 401: the token is missing, wrong, or for another purpose. The response does not say which.
    pub fn invalid_token() -> Self {
        let message = "missing, unknown, expired or revoked token; send a valid token for this \
                       call as Authorization: Bearer <token>";
        Self::new(401, code::INVALID_TOKEN, message)
    }

    /// 404: the case does not exist, or the caller may not see it.
    pub fn no_case() -> Self {
        Self::new(404, code::NOT_FOUND, "case not found")
    }

    /// 404: no route has this path.
    pub fn no_route() -> Self {
        Self::new(404, code::NOT_FOUND, "unknown path; check the URL")
    }

    /// 405: the route has no such method.
    pub fn method_not_allowed() -> Self {
        Self::new(405, code::METHOD_NOT_ALLOWED, "this path does not support this method")
    }

    /// 413: the body is too large.
    pub fn too_large() -> Self {
        Self::new(413, code::TOO_LARGE, "the body exceeds this server's size limit")
    }

    /// 429: too many calls.
    pub fn rate_limited() -> Self {
        Self::new(
            429,
            code::RATE_LIMITED,
            "too many requests; retry after the seconds in Retry-After",
        )
    }

    /// 500: an internal error. The cause is in the log, not in the body.
    pub fn internal() -> Self {
        Self::new(500, code::INTERNAL, "internal error; the server's log has the details")
    }

    /// 503: try again later.
    pub fn unavailable() -> Self {
        Self::new(503, code::UNAVAILABLE, "the service is temporarily unavailable; try again")
    }

    /// Translates a refusal of the kernel. It names no person: the holder of a token may not know
    /// who else can answer.
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
                let expected = "skip, reject or abort, because this project does not allow an \
                                approval on silence";
                Self::field("default_action", expected)
            }
            Refusal::SilenceTooWeak { .. } => {
                Self::field("default_action", &format!("skip, reject or abort; {refusal}"))
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
            Refusal::TakenBy { .. } => {
                Self::new(409, code::CONFLICT, "another person has claimed this request")
            }
            Refusal::BeingAnswered { .. } => {
                Self::new(409, code::CONFLICT, "another person has just answered this request")
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

    /// Translates a refusal of the kernel at creation, which can also be about the case that this
    /// one continues.
    pub fn create_refused(refusal: &Refusal) -> Self {
        let field = "previous_case_id";
        match refusal {
            Refusal::NotFound { .. } => Self::field(field, "a case of this agent"),
            Refusal::NotOver { .. } => Self::field(field, "an answered case"),
            Refusal::Exists { .. } => {
                let expected = "a case that has no follow-up yet";
                Self::named(409, code::CONFLICT, field, expected)
            }
            other => Self::refused(other),
        }
    }

    /// 422: the answer does not fit the question, with an error per field (HITL-136).
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

/// Translates the kernel's field names to those of this protocol.
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
